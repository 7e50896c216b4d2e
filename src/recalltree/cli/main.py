"""The command ``recalltree``: its subcommands, how errors become messages, and how it ends."""

from __future__ import annotations

import os
import sys
from typing import IO, Any

import click
from click.shell_completion import get_completion_class

from recalltree.cli.evaluate import evaluate_command
from recalltree.cli.explain import explain_command
from recalltree.cli.inspect import inspect_command
from recalltree.cli.merge import merge_command
from recalltree.cli.messages import plain_warnings
from recalltree.cli.options import command
from recalltree.cli.predict import predict_command
from recalltree.cli.train import train_command

# Exit codes; click has 0 and, for a command line that is not understood, 2.
FAILED = 1  # something is wrong with rows, a model or a file
INTERRUPTED = 130  # by Ctrl-C: 128 + the number of the signal, as shells have it
BROKEN_PIPE = 141  # the reader of the output has gone


class Failure(click.ClickException):
    """Something is wrong with rows, a model or a file."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message to standard error."""
        click.echo(f"recalltree: error: {self.message}", file=file, err=file is None)


class _Commands(click.Group):
    """Lists its commands in the order in which they were added; makes messages of errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with plain_warnings():
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # Here, where click does not yet have another number for it.
            _forget_output()
            ctx.exit(BROKEN_PIPE)
        except (OSError, ValueError, ImportError, MemoryError) as error:
            if ctx.params["debug"]:
                raise
            raise Failure(_message(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="recalltree", prog_name="recalltree")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def cli(debug: bool) -> None:
    """Classify rows into thousands or millions of classes, online.

    The work per row of one-against-some, the default, does not grow with the number of classes;
    that of a Recall Tree grows with its logarithm, that of one-against-all in proportion.

    Results go to standard output, progress and messages to standard error. Each command has
    examples: recalltree COMMAND --help.
    """


def completion(ctx: click.Context, /, shell: str) -> None:
    """Write a script for shell completion."""
    kind = get_completion_class(shell)
    assert kind is not None
    root = ctx.find_root()
    click.echo(kind(root.command, {}, "recalltree", "_RECALLTREE_COMPLETE").source())


completion_command = command(
    "completion",
    completion,
    [click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
    (
        ("Bash:", "recalltree completion bash >> ~/.bashrc"),
        ("Zsh:", "recalltree completion zsh >> ~/.zshrc"),
        ("Fish:", "recalltree completion fish > ~/.config/fish/completions/recalltree.fish"),
    ),
)

for _command in (
    train_command,
    evaluate_command,
    predict_command,
    merge_command,
    inspect_command,
    explain_command,
    completion_command,
):
    cli.add_command(_command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code.

    Parameters
    ----------
    arguments : list of str, default=None
        None: those of this process.

    Returns
    -------
    int

    Examples
    --------
    >>> from recalltree.cli import main
    >>> main(["--version"])
    recalltree, version ...
    0
    """
    try:
        return _run(arguments)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("recalltree: interrupted", err=True)
        return INTERRUPTED


def _run(arguments: list[str] | None) -> int:
    try:
        code: Any = cli.main(arguments, prog_name="recalltree", standalone_mode=False)
    except SystemExit as exit_:
        code = exit_.code
    return int(code or 0)


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _forget_output() -> None:
    """Keep Python from complaining, at its end, about output that nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
