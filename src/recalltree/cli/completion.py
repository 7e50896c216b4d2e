"""``recalltree completion``: let the shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from recalltree.cli.common import command


def completion(ctx: click.Context, /, shell: str) -> None:
    """Write the script that makes a shell complete the commands and options of recalltree."""
    kind = get_completion_class(shell)
    assert kind is not None
    root = ctx.find_root()
    click.echo(kind(root.command, {}, "recalltree", "_RECALLTREE_COMPLETE").source())


_EXAMPLES = (
    ("Bash, for all sessions to come:", "recalltree completion bash >> ~/.bashrc"),
    ("Zsh:", "recalltree completion zsh >> ~/.zshrc"),
    ("Fish:", "recalltree completion fish > ~/.config/fish/completions/recalltree.fish"),
)

completion_command = command(
    "completion",
    completion,
    [click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
    _EXAMPLES,
)
