"""Options come from the estimators and the readers, with their defaults and their words."""

import inspect
import re

import click
import pytest
from command_line import run, write_rows

from recalltree.cli import cli
from recalltree.cli.generated_options import (
    ALGORITHMS,
    NOT_OPTIONS,
    estimator_options,
    given_parameters,
)
from recalltree.cli.options import IntervalType
from recalltree.cli.train import DEFAULT_ALGORITHM
from recalltree.estimators.loading import CLASSIFIERS
from recalltree.readers import open_rows

#: Arguments of open_rows that the command line gives by itself.
NOT_READER_OPTIONS = {"paths", "require_labels", "frozen", "keep_names", "state"}


def options_of(command):
    return {p.name: p for p in cli.commands[command].params if isinstance(p, click.Option)}


def test_every_estimator_has_its_table():
    assert {name: kind._parameters for name, kind in CLASSIFIERS.items()} == ALGORITHMS


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_train_has_every_parameter_of_the_estimators_with_its_default(algorithm):
    options = options_of("train")
    parameters = inspect.signature(CLASSIFIERS[algorithm]).parameters
    for name, parameter in parameters.items():
        if name in NOT_OPTIONS:
            assert name not in options
        else:
            assert "--" + name.replace("_", "-") in options[name].opts
            assert options[name].help
            assert options[name].default == parameter.default
    arguments = ["rows", "-m", "model", "--algorithm", algorithm]
    ctx = cli.commands["train"].make_context("train", [*arguments])
    assert given_parameters(ctx, algorithm, ctx.params) == {}
    ctx = cli.commands["train"].make_context("train", [*arguments, "--l2", "0.5"])
    assert given_parameters(ctx, algorithm, ctx.params) == {"l2": 0.5}


def test_help_is_plain_text():
    for option in options_of("train").values():
        assert not re.search(r"[`\\]|\bNone\b|\w_\w", option.help), option.help


#: Escapes and markup of docstrings, and values as only Python writes them.
MARKUP = re.compile(r"[`\\]|:[a-z]+:|\s\*\w|\b(None|True|False)\b")


@pytest.mark.parametrize("command", [[], *([name] for name in cli.commands)], ids=str)
def test_no_help_has_markup(command):
    text = run(*command, "--help").stdout
    assert "Show this message" in text
    assert not MARKUP.search(text), MARKUP.search(text)


def test_docstrings_have_no_escapes():
    for kind in CLASSIFIERS.values():
        methods = [getattr(kind, name).__doc__ for name in dir(kind) if not name.startswith("_")]
        for text in [kind.__doc__, *methods]:
            assert "\\" not in (text or ""), text


@pytest.mark.parametrize("command", ["train", "evaluate", "predict", "inspect", "explain"])
def test_every_command_that_reads_rows_has_the_options_of_the_readers(command):
    options = options_of(command)
    for name, argument in inspect.signature(open_rows).parameters.items():
        if name in NOT_READER_OPTIONS:
            assert name not in options
            continue
        assert options[name].help
        if not options[name].multiple:
            assert options[name].default == argument.default


@pytest.mark.parametrize("command", cli.commands)
def test_help_has_text_and_examples_that_parse(command):
    help_text = run(command, "--help").stdout
    assert "Examples:" in help_text
    for option in options_of(command).values():
        assert option.hidden or option.help
    shown = re.findall(rf"recalltree ({command} [^|<>\n]*)", help_text.split("Examples:")[1])
    assert shown
    for example in shown:
        arguments = example.split()[1:]
        cli.commands[command].make_parser(click.Context(cli.commands[command])).parse_args(
            arguments
        )


def test_commands_are_listed_in_the_order_of_use():
    text = run("--help").stdout
    names = re.findall(r"^  (\w+) ", text.split("Commands:")[1], re.M)
    assert names == ["train", "evaluate", "predict", "merge", "inspect", "explain", "completion"]


def test_the_default_algorithm_is_one():
    assert DEFAULT_ALGORITHM in ALGORITHMS


def test_an_option_of_another_algorithm_is_refused(tmp_path):
    rows = write_rows(tmp_path / "rows.vw", 10)
    arguments = ("--algorithm", "lom-tree", "--max-candidates", 5)
    result = run("train", rows, "-m", tmp_path / "m.rt", *arguments, exit_code=2)
    assert "--max-candidates has no meaning for --algorithm lom-tree" in result.stderr
    assert "recall-tree" in result.stderr


def test_a_bad_value_is_refused_before_anything_is_read(tmp_path):
    rows = write_rows(tmp_path / "rows.vw", 10)
    result = run("train", rows, "-m", tmp_path / "m.rt", "--learning-rate", -1, exit_code=2)
    assert "--learning-rate" in result.stderr
    assert "x>0" in result.stderr
    assert not (tmp_path / "m.rt").exists()


def test_a_value_that_only_another_algorithm_takes_is_refused(tmp_path):
    rows = write_rows(tmp_path / "rows.vw", 10)
    arguments = ("--algorithm", "one-against-some", "--max-depth", 41)
    result = run("train", rows, "-m", tmp_path / "m.rt", *arguments, exit_code=2)
    assert "max_depth" in result.stderr
    assert "[1, 40]" in result.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5rows", (5, None)), ("1 row", (1, None)), ("30s", (None, 0.5)), ("2h", (None, 120.0))],
)
def test_intervals(text, expected):
    interval = IntervalType().convert(text, None, None)
    assert (interval.every_rows, interval.every_minutes) == expected


@pytest.mark.parametrize("text", ["", "5", "rows", "0rows", "1.5rows", "-3min", "10 days"])
def test_bad_intervals(text):
    with pytest.raises(click.BadParameter):
        IntervalType().convert(text, None, None)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_writes_a_script_for_the_shell(shell):
    script = run("completion", shell).stdout
    assert "_RECALLTREE_COMPLETE" in script
    assert "recalltree" in script


def test_the_shell_is_given_completions(monkeypatch):
    from click.testing import CliRunner

    words = "recalltree train --algorithm "
    env = {
        "_RECALLTREE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": "3",
    }
    result = CliRunner().invoke(
        cli, [], env=env, prog_name="recalltree", complete_var="_RECALLTREE_COMPLETE"
    )
    assert result.stdout.split() == [f"plain,{name}" for name in ALGORITHMS]


def test_options_are_made_once_for_each_parameter():
    names = [option.name for option in estimator_options()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect", "explain"])
def test_commands_that_use_a_model_map_it(command):
    assert options_of(command)["mmap"].default is True
