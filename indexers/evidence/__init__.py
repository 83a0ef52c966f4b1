"""What tells of links beside the texts: structure, rules, analogies, ranges, names, and kin."""
