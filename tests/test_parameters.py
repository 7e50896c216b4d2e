"""Tables of parameters: what signatures, docstrings, constraints and the references say."""

import inspect
import re

import pytest

from recalltree import reference
from recalltree.estimators.loading import CLASSIFIERS
from recalltree.parameters import Parameter, Range, defaults_of, make_table
from recalltree.readers import open_rows
from recalltree.readers.parameters import ROWS

ALGORITHMS = [pytest.param(kind, id=name) for name, kind in CLASSIFIERS.items()]
TABLES = [*(kind._parameters for kind in CLASSIFIERS.values()), ROWS]

algorithms = pytest.mark.parametrize("classifier", ALGORITHMS)


def signature_of(function):
    return {name: p.default for name, p in inspect.signature(function).parameters.items()}


@algorithms
def test_signature_is_the_table(classifier):
    assert list(signature_of(classifier).items()) == list(
        defaults_of(classifier._parameters).items()
    )
    assert list(classifier._parameter_constraints) == list(classifier._parameters)


def test_signature_of_open_rows_is_the_table():
    signature = signature_of(open_rows)
    assert set(signature) - set(ROWS) == {
        "paths",
        "require_labels",
        "frozen",
        "keep_names",
        "state",
    }
    assert {name: signature[name] for name in ROWS} == defaults_of(ROWS)


def type_in_docstring(documented, name):
    """Return what the docstring says of a parameter after its name."""
    (said,) = re.findall(rf"^(?:\w+, )*{name}(?:, \w+)* : (.*)$", inspect.getdoc(documented), re.M)
    return said


@algorithms
def test_docstring_lists_the_choices(classifier):
    for name, parameter in classifier._parameters.items():
        listed = type_in_docstring(classifier, name).split(", default=")[0]
        assert re.findall(r'"([\w+]+)"', listed) == list(parameter.choices)


def test_docstring_of_open_rows_lists_choices_and_defaults():
    for name, parameter in ROWS.items():
        said = type_in_docstring(open_rows, name)
        listed, _, default = said.partition(", default=")
        assert re.findall(r'"([^"]+)"', listed) == list(parameter.choices)
        if parameter.choices:
            assert parameter.choices[0] == parameter.default
        elif name != "max_line_bytes":  # said in MiB
            assert default.replace('"', "'") == repr(parameter.default)


@algorithms
def test_reference_has_the_same_defaults(classifier):
    name = classifier.__name__.replace("Classifier", "Reference")
    signature = signature_of(getattr(reference, name))
    own = {"n_features", "sparse", "keys", "seed", "sample", "loss"}
    for parameter, default in signature.items():
        if parameter in classifier._parameters and parameter not in own:
            assert default == classifier._parameters[parameter].default
        else:
            assert parameter in own


def test_one_name_has_one_help():
    helps = {}
    for kind in CLASSIFIERS.values():
        for parameter in kind._parameters.values():
            assert helps.setdefault(parameter.name, parameter.help) == parameter.help


@pytest.mark.parametrize("table", TABLES)
def test_defaults_are_allowed(table):
    for parameter in table.values():
        default = parameter.default
        fits_range = not isinstance(default, bool | str | tuple | None) and any(
            default in allowed for allowed in parameter.ranges
        )
        is_value = any(default is allowed or default == allowed for allowed in parameter.allowed)
        is_instance = any(isinstance(default, a) for a in parameter.allowed if isinstance(a, type))
        assert fits_range or is_value or is_instance, parameter


def test_two_parameters_of_one_name_are_refused():
    parameter = Parameter("k", 1, (Range(int, 1),), "How many.")
    with pytest.raises(ValueError, match="same name"):
        make_table(parameter, parameter)
