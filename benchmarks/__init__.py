"""Benchmarks of recalltree against other programs: ``python -m benchmarks --help``."""
