"""Benchmarks: speed and memory of ontodex and its peers, and the tables of the papers.

Not part of the wheel.
"""
