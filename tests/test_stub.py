"""The type stub `_core.pyi`, written by hand, says what the compiled module has.

The oracle is the stub that nanobind generates from the module. Types are not compared (the
generated ones know arrays only by their element type); names, parameters and defaults are.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

import recalltree
from recalltree import _core

STUB = Path(recalltree.__file__).with_name("_core.pyi")


@dataclass(frozen=True)
class Signature:
    kind: str  # "function", "method", "staticmethod" or "property"
    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    defaults: tuple[str, ...]


def signature(node: ast.FunctionDef, in_class: bool) -> Signature:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    kind = "method" if in_class else "function"
    kind = next((k for k in ("staticmethod", "property") if k in decorators), kind)
    arguments = node.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    if kind in ("method", "property"):
        names = names[1:]  # self
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        keyword_only.append("**" + arguments.kwarg.arg)
    defaults = [d for d in arguments.defaults + arguments.kw_defaults if d is not None]
    return Signature(
        kind, tuple(names), tuple(keyword_only), tuple(str(ast.literal_eval(d)) for d in defaults)
    )


def members(body: list[ast.stmt], in_class: bool) -> dict[str, Signature]:
    return {
        node.name: signature(node, in_class) for node in body if isinstance(node, ast.FunctionDef)
    }


def interface(stub: str) -> dict[str, Signature]:
    """Every function and method by its dotted name; what a base of this stub has, is inherited."""
    tree = ast.parse(stub)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found = members(tree.body, in_class=False)

    def with_inherited(node: ast.ClassDef) -> dict[str, Signature]:
        own: dict[str, Signature] = {}
        for base in map(ast.unparse, node.bases):
            if base in classes:
                own |= with_inherited(classes[base])
        return own | members(node.body, in_class=True)

    for name, node in classes.items():
        if not name.startswith("_"):
            found |= {f"{name}.{member}": value for member, value in with_inherited(node).items()}
    return found


@pytest.fixture(scope="module")
def generated() -> dict[str, Signature]:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_core)
    generator.put(_core)
    return interface(generator.get())


@pytest.fixture(scope="module")
def written() -> dict[str, Signature]:
    return interface(STUB.read_text())


def test_stub_and_module_have_the_same_names(written, generated):
    assert sorted(generated.keys() - written.keys()) == [], "the stub lacks these"
    assert sorted(written.keys() - generated.keys()) == [], "the module lacks these"


def test_stub_and_module_have_the_same_signatures(written, generated):
    for name in written.keys() & generated.keys():
        assert written[name] == generated[name], name
