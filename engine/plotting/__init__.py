"""Plots: the hierarchy around an entity, hyperbolic norms by depth, and the tree of a text."""
