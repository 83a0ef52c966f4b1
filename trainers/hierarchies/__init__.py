"""Hierarchies: HiT, and the baselines that it is measured beside."""
