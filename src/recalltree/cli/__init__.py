"""The command line: train, evaluate, predict, inspect, explain."""

from recalltree.cli.commands import cli, main

__all__ = ["cli", "main"]
