"""Pictures: the hierarchy around an entity, norms by depth, and the tree of a text."""
