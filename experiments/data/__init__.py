"""Data sets of the experiments."""
