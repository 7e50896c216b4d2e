"""The command line: train, evaluate, predict, inspect, explain."""

from recalltree.cli.main import cli, main

__all__ = ["cli", "main"]
