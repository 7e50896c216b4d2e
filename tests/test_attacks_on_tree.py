"""Hostile model files, numbered as in docs/model-file.md: attacks on the tree."""

import numpy as np
import pytest
from hostile import MODELS, NONE, changed, forge, refused, refused_when_read, use

import recalltree


def inner_node(model):
    return int(np.flatnonzero(forge(model).tensors["tree.left"] != NONE)[1])


@pytest.mark.parametrize("model", ["tree", "sparse lom"])
@pytest.mark.parametrize("side", ["tree.left", "tree.right"])
def test_attack_29_cycles_of_nodes(tmp_path, model, side):
    path = tmp_path / "model.rt"
    node = inner_node(model)
    for ancestor in {node, int(forge(model).tensors["tree.parent"][node]), 0}:
        refused(changed(model, side, node, ancestor).write(path), "children are not its own|do not")
    # A cycle whose nodes all name each other as parents, out of reach of the root.
    forged = forge(model)
    left, parent = forged.tensors["tree.left"], forged.tensors["tree.parent"]
    child = int(left[node])
    if left[child] == NONE:
        left[child], forged.tensors["tree.right"][child] = node, node
    parent[node] = child
    refused(forged.write(path), "parent|children|tree")


@pytest.mark.parametrize("model", ["tree", "sparse lom"])
@pytest.mark.parametrize("name", ["tree.left", "tree.right", "tree.parent"])
def test_attack_30_nodes_that_do_not_exist(tmp_path, model, name):
    n_nodes = len(forge(model).tensors["tree.left"])
    for value in (n_nodes, n_nodes + 1, 2**31, NONE - 1):
        for node in (0, inner_node(model)):
            forged = changed(model, name, node, value)
            refused(forged.write(tmp_path / "model.rt"), "parent|children|root")


@pytest.mark.parametrize("model", ["tree", "lom"])
def test_attack_31_routers_that_do_not_exist(tmp_path, model):
    forged = forge(model)
    n_routers = len(forged.tensors["routers.bias"])
    for value in (n_routers, NONE - 1):
        forged = changed(model, "tree.router", inner_node(model), value)
        refused(forged.write(tmp_path / "model.rt"), "router does not exist")


def test_attack_32_nodes_with_two_parents_or_none(tmp_path):
    path = tmp_path / "model.rt"
    for model in ("tree", "lom"):
        forged = forge(model)
        node = inner_node(model)
        forged.tensors["tree.right"][node] = forged.tensors["tree.left"][node]
        refused(forged.write(path), "children")
        forged = forge(model)  # cut off a branch
        forged.tensors["tree.left"][0] = NONE
        refused(forged.write(path), "child|tree")
    refused(changed("lom", "tree.root", 0, 10**6).write(path), "root does not exist")
    refused(changed("lom", "tree.root", 0, inner_node("lom")).write(path), "root does not exist")
    refused(changed("tree", "tree.depth", 1, 5).write(path), "children|depth")


@pytest.mark.parametrize(
    ("model", "offsets"), [("tree", "histograms.offsets"), ("lom", "labels.offsets")]
)
def test_attack_33_offsets_of_histograms(tmp_path, model, offsets):
    size = len(forge(model).tensors[offsets])
    for position, value in ((0, 1), (1, 2**63), (2, 10**9), (size - 1, 0), (size - 1, 2**40)):
        forged = changed(model, offsets, position, value)
        refused(forged.write(tmp_path / "model.rt"), f"'{offsets}' does not increase")


@pytest.mark.parametrize(
    ("model", "name"),
    [("tree", "histograms.labels"), ("lom", "labels.labels"), ("all", "classes.order")],
)
def test_attack_34_classes_that_do_not_exist(tmp_path, model, name):
    for value in (10, 2**31, NONE):
        refused(
            changed(model, name, 0, value).write(tmp_path / "model.rt"), f"'{name}' names class"
        )
    refused(changed("lom", "tree.majority", 0, 10).write(tmp_path / "model.rt"), "label does not")


def test_attack_35_counts_that_lie(tmp_path):
    path = tmp_path / "model.rt"
    refused(changed("tree", "tree.max_candidates", 0, 2**32 - 1).write(path), "max_candidates")
    refused(changed("tree", "tree.max_candidates", 0, 0).write(path), "max_candidates")
    refused(changed("all", "classes.seen", 0, 7).write(path), "classes.seen")
    refused(changed("all", "classes.seen", 0, 0).write(path), "classes.order")
    refused(
        changed("all", "classes.order", 0, forge("all").tensors["classes.order"][1]).write(path),
        "repeats",
    )
    for value in (0, 9):
        refused(changed("all", "n_examples", 0, value).write(path), "n_examples")
    for model in MODELS:  # a number that is only a number
        forged = changed(model, "n_examples", 0, 2**64 - 1)
        use(recalltree.load(forged.write(path), verify=True), model)
    forged = forge("all")
    forged.tensors["classes.seen"] = np.ones(10**6, dtype="<u4")
    forged.tensors["n_examples"][0] = 10**9
    forged.tensors["classes.order"] = np.arange(10**6, dtype="<u4")
    refused(forged.write(path), "differ in number")


def test_attack_36_histograms_out_of_order(tmp_path):
    path = tmp_path / "model.rt"
    labels = forge("tree").tensors["histograms.labels"]
    for name, position, value, match in (
        ("histograms.labels", 0, labels[1], "repeats a class"),
        ("histograms.counts", 1, 1e9, "not ranked"),
        ("histograms.arrivals", 0, 10**6, "not an order"),
        ("histograms.arrivals", 0, forge("tree").tensors["histograms.arrivals"][1], "not an order"),
    ):
        refused_when_read(changed("tree", name, position, value).write(path), "tree", match)
    labels = forge("lom").tensors
    node = int(np.flatnonzero(np.diff(labels["labels.offsets"]) > 1)[0])
    begin = int(labels["labels.offsets"][node])
    forged = changed("lom", "labels.labels", begin, labels["labels.labels"][begin + 1])
    refused_when_read(forged.write(path), "lom", "repeats a class")


def test_attack_37_interactions_out_of_order(tmp_path):
    path = tmp_path / "model.rt"
    keys = forge("tree").tensors["interactions.node_and_class"]
    for value in (keys[0], keys[0] - 1, 2**64 - 1):
        forged = changed("tree", "interactions.node_and_class", 1, value)
        refused(forged.write(path), "not increasing")
