"""Hierarchies: training of HiT, and the baselines it is compared with."""
