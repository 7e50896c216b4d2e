"""``recalltree train``: rows in, a model out."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from recalltree.cli.generated_options import (
    estimator_options,
    given_parameters,
    given_reader_options,
    is_given,
    reader_options,
)
from recalltree.cli.inputs import check_output, extra_of, load_model, open_like, paths_of
from recalltree.cli.interrupts import Interrupts
from recalltree.cli.messages import as_json as to_json
from recalltree.cli.messages import counted, say
from recalltree.cli.options import (
    Interval,
    IntervalType,
    SectionOption,
    command,
    json_option,
    quiet_option,
    rows_argument,
)
from recalltree.cli.progress import Display, Meter, as_time
from recalltree.parameters import ALGORITHMS
from recalltree.training import TrainingPosition, learn_from

if TYPE_CHECKING:
    from recalltree.model_file import Checkpointer
    from recalltree.readers import RowReader

DEFAULT_ALGORITHM = "one-against-some"


def train(
    ctx: click.Context,
    /,
    rows: Sequence[str],
    model: str,
    resume: str | None,
    algorithm: str,
    checkpoint_every: Interval | None,
    skip_rows: int | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Learn from rows and write a model.

    ROWS are files, patterns, or - for standard input, which is the default. Files may be
    compressed. Rows are learned in the order given.

    Ctrl-C writes the model as it is and says how to continue; a second Ctrl-C stops at once.
    """
    paths = paths_of(ctx, rows, resume)
    check_output(model)
    if resume is None:
        from recalltree.estimators.loading import CLASSIFIERS

        kind: type[Any] = CLASSIFIERS[algorithm]
        clf = kind(**given_parameters(ctx, algorithm, values))
    else:
        clf = _load_to_resume(ctx, resume, algorithm, values)
    try:
        clf._validate_params()
    except ValueError as error:
        raise click.UsageError(str(error), ctx) from error
    run = TrainingRun(clf, paths, given_reader_options(ctx, values), skip_rows, quiet=quiet)
    if run.columns_found:
        say(f"columns: {run.columns_found}", quiet=quiet)
    has_cells = algorithm == DEFAULT_ALGORITHM and resume is None
    if has_cells and run.reader.n_dense_features and not is_given(ctx, "n_dense_features"):
        clf.set_params(n_dense_features=run.reader.n_dense_features)
    if resume is not None and not run.goes_on and not is_given(ctx, "n_passes"):
        # The number of passes was chosen for other rows.
        clf.set_params(n_passes=type(clf)().n_passes)
    if clf.n_passes > 1:
        _check_files(ctx, paths, clf.n_passes)
    if run.start != TrainingPosition():
        say(
            f"continuing in pass {run.start.pass_number + 1} after {counted(run.start.row, 'row')}",
            quiet=quiet,
        )
    with Interrupts() as interrupts:
        run.learn(_checkpointer(model, checkpoint_every), interrupts)
        if run.n_examples == 0:
            raise ValueError("no rows were learned, so no model was written: the input is empty.")
        _save_model(clf, model, run.extra())
    if not quiet:
        say(run.summary())
    if as_json:
        # The model may have gone to standard output: then this is a message.
        click.echo(to_json(run.as_dict()), err=model == "-")
    if interrupts.received is not None:
        say(run.how_to_go_on(model))
        sys.exit(interrupts.exit_code)


class TrainingRun:
    """One run of ``train``.

    Parameters
    ----------
    clf : estimator
    paths : list of str
    given : dict
        Options for reading that the user gave.
    skip_rows : int or None
        How many rows of the first pass to leave out; None: those that the model had learned when
        its training on the same files was interrupted.
    quiet : bool
    """

    def __init__(
        self,
        clf: Any,
        paths: list[str],
        given: dict[str, Any],
        skip_rows: int | None,
        *,
        quiet: bool,
    ) -> None:
        self.clf = clf
        self.paths = paths
        self.quiet = quiet
        self.finished = False
        self.n_rows = 0
        self.seconds = 0.0
        extra = extra_of(clf)
        kept = extra.get("rows")
        unfinished = extra.get("training") or {}
        same = unfinished.get("rows") == paths and "-" not in paths
        self.goes_on = same and skip_rows is None
        self.start = TrainingPosition()
        more: dict[str, Any] = {}
        if self.goes_on:
            self.start = TrainingPosition(**unfinished["position"])
            if self.start.pass_number > 0:
                more["frozen"] = True  # every row was counted in the first pass
            else:
                # The rows are read again from the first one, so the features are, too.
                more["state"] = unfinished.get("state_before")
        elif skip_rows is not None:
            self.start = TrainingPosition(row=skip_rows)
        self.state_before = more.get("state", (kept or {}).get("state"))
        self.position = self.start
        self.reader: RowReader = open_like(paths, kept, given, **more)
        self.columns_found = _columns_found(self.reader.options, {**(kept or {}), **given})

    @property
    def n_examples(self) -> int:
        """Number of examples that the model has learned, in this run and before."""
        return getattr(self.clf, "n_examples_", 0)

    def learn(self, checkpointer: Checkpointer | None, interrupts: Interrupts) -> None:
        """Learn until the rows end or an interrupt comes; write checkpoints on the way."""
        clf = self.clf
        n_passes = clf.n_passes
        meter = Meter(self.reader, n_passes=n_passes, first_pass=self.start.pass_number, clf=clf)
        began = monotonic()
        try:
            with Display(meter, quiet=self.quiet) as display:
                watched = interrupts.watch(self.reader)
                for position in learn_from(clf, watched, start=self.start):
                    n_learned = self._count(position)
                    if interrupts.received is not None:
                        break
                    display.update(self.n_rows, position.pass_number)
                    if checkpointer is not None:
                        checkpointer.learned(clf, n_learned, self.extra)
                else:
                    # A pipe may have ended because of the interrupt.
                    self.finished = interrupts.received is None
        except KeyboardInterrupt:
            if interrupts.received is None:
                raise
        finally:
            self.seconds = monotonic() - began
            self.reader.close()

    def _count(self, position: TrainingPosition) -> int:
        same_pass = position.pass_number == self.position.pass_number
        n_learned = position.row - (self.position.row if same_pass else 0)
        self.n_rows += n_learned
        self.position = position
        return n_learned

    def extra(self) -> dict[str, Any]:
        """Return what goes into the file beside the model: how rows are read, and what is left."""
        extra: dict[str, Any] = {"rows": self.reader.options}
        if not self.finished:
            extra["training"] = {
                "rows": self.paths,
                "position": self.position.as_dict(),
                "state_before": self.state_before,
            }
        return extra

    def as_dict(self) -> dict[str, Any]:
        """Return what happened."""
        clf = self.clf
        return {
            "algorithm": clf._algorithm,
            "finished": self.finished,
            "n_rows": self.n_rows,
            "n_skipped": self.reader.n_skipped,
            "n_classes": clf.n_classes_seen_,
            "n_features": clf.n_features_in_,
            "n_examples": self.n_examples,
            "progressive_error": clf.progressive_error_,
            "seconds": self.seconds,
            "memory_bytes": clf.memory_bytes_,
        }

    def summary(self) -> str:
        """Return what happened, in words."""
        rate = self.n_rows / max(self.seconds, 1e-9)
        text = (
            f"{counted(self.n_rows, 'row')} learned in {as_time(self.seconds)} "
            f"({rate:,.0f} rows/s), {self.clf.n_classes_seen_:,} classes, "
            f"progressive error {self.clf.progressive_error_:.4f}"
        )
        n_skipped = self.reader.n_skipped
        if n_skipped:
            text += f", {counted(n_skipped, 'bad row')} skipped"
        return text

    def how_to_go_on(self, model: str) -> str:
        """Return what to type to continue after an interrupt."""
        where = f"pass {self.position.pass_number + 1} after {counted(self.position.row, 'row')}"
        if model == "-" or "-" in self.paths:
            return (
                f"interrupted in {where}; to continue, give the model to --resume and the "
                f"remaining rows, or all rows with --skip-rows {self.position.row}"
            )
        go_on = ["recalltree", "train", *self.paths, "--resume", model, "-m", model]
        return f"interrupted in {where}; to continue: {shlex.join(go_on)}"


def _columns_found(options: dict[str, Any], named: dict[str, Any]) -> str:
    """Return the columns of a table that were found without being named, empty if none was."""
    names = ("label_column", "text_column", "numeric_columns", "embedding_columns")
    found = {name: options[name] for name in names if options.get(name) and not named.get(name)}
    return ", ".join(
        f"--{name.replace('_', '-')} {column if isinstance(column, str) else ','.join(column)}"
        for name, column in found.items()
    )


def _check_files(ctx: click.Context, paths: Sequence[str], n_passes: int) -> None:
    """Refuse at once what could only be found out after the first pass."""
    for path in paths:
        if path == "-" or Path(path).is_fifo():
            raise click.UsageError(
                f"--passes {n_passes} reads the rows several times, but a pipe ({path}) can be "
                "read only once; save the rows to a file.",
                ctx,
            )


def _checkpointer(model: str, every: Interval | None) -> Checkpointer | None:
    if every is None or model == "-":
        return None
    from recalltree.model_file import Checkpointer

    return Checkpointer(model, every_rows=every.every_rows, every_minutes=every.every_minutes)


def _load_to_resume(ctx: click.Context, resume: str, algorithm: str, values: dict[str, Any]) -> Any:
    clf = load_model(resume, mmap=False)
    known = clf._algorithm
    if is_given(ctx, "algorithm") and algorithm != known:
        raise click.UsageError(
            f"--algorithm {algorithm}: the model of --resume is a {known}; leave the option out.",
            ctx,
        )
    return clf.set_params(**given_parameters(ctx, known, values))


def _save_model(clf: Any, path: str, extra: dict[str, Any]) -> None:
    """Save a model to a file, or to standard output if `path` is ``-``."""
    if path != "-":
        clf.save(path, extra=extra)
        return
    with tempfile.TemporaryDirectory() as folder:
        spooled = Path(folder) / "model"
        clf.save(spooled, extra=extra)
        with spooled.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


_OPTIONS = [
    SectionOption(
        ["-m", "--model"],
        required=True,
        metavar="MODEL",
        type=click.Path(allow_dash=True),
        help="Where to write the model; - is standard output.",
    ),
    SectionOption(
        ["--resume"],
        metavar="MODEL",
        type=click.Path(allow_dash=True),
        help="Continue exactly where this model stopped, with its parameters. After an interrupt, "
        "rows of the same files that it has learned are skipped.",
    ),
    SectionOption(
        ["--algorithm"],
        type=click.Choice(list(ALGORITHMS)),
        default=DEFAULT_ALGORITHM,
        show_default=True,
        help="Learning algorithm.",
    ),
    SectionOption(
        ["--checkpoint-every"],
        type=IntervalType(),
        metavar="N(rows|s|min|h)",
        help="Also write the model at this interval while learning: 100000rows, 10min.",
    ),
    SectionOption(
        ["--skip-rows"],
        type=click.IntRange(min=0),
        metavar="N",
        help="Read the first N rows without learning them.",
    ),
    json_option,
    quiet_option,
]

_EXAMPLES = (
    (
        "Learn from Vowpal Wabbit text in three passes, comparing 64 classes:",
        "recalltree train data.vw -m model.rt --passes 3 --max-candidates 64",
    ),
    ("Continue with more rows:", "recalltree train more.vw --resume model.rt -m model2.rt"),
    (
        "Read the output of another program, and save the model every ten minutes:",
        "zcat logs/*.gz | prepare | recalltree train - -m model.rt --checkpoint-every 10min",
    ),
    (
        "A table, whose columns of labels and text are found:",
        "recalltree train items.csv -m model.rt",
    ),
    (
        "A table with more columns:",
        "recalltree train items.tsv -m model.rt --label-column category --text-column title",
    ),
)

train_command = command(
    "train", train, [rows_argument, *_OPTIONS, *reader_options(), *estimator_options()], _EXAMPLES
)

__all__ = ["train_command"]
