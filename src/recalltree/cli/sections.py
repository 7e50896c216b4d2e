"""Help in sections: options under the headings that they belong to."""

from __future__ import annotations

from typing import Any

import click


class SectionOption(click.Option):
    """An option that knows its section of the help.

    Parameters
    ----------
    *args, **kwargs
        As of ``click.Option``.
    section : str, default="Options"
    """

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class SectionCommand(click.Command):
    """A command whose help has its options in sections, and then examples as they were written.

    Parameters
    ----------
    *args, **kwargs
        As of ``click.Command``.
    examples : sequence of (str, str), default=()
        What is done, and the command that does it.
    """

    def __init__(
        self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                name = getattr(parameter, "section", "Options")
                sections.setdefault(name, []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for what, command in self.examples:
                    formatter.write_text(what)
                    formatter.indent()
                    formatter.write(f"{'':>{formatter.current_indent}}{command}\n\n")
                    formatter.dedent()
        super().format_epilog(ctx, formatter)
