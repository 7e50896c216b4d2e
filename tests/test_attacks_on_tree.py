"""Hostile model files, numbered as in docs/model-file.md: attacks on the tree."""

import numpy as np
import pytest
from hostile import MODELS, NONE, changed, forge, refused, refused_when_read, use

import recalltree


def inner_node(model):
    tensors = forge(model).tensors
    return int(np.flatnonzero((tensors["tree.left"] != NONE) & (tensors["tree.parent"] != NONE))[0])


@pytest.mark.parametrize("model", ["tree", "sparse lom", "sparse some"])
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


@pytest.mark.parametrize("model", ["tree", "sparse lom", "some"])
@pytest.mark.parametrize("name", ["tree.left", "tree.right", "tree.parent"])
def test_attack_30_nodes_that_do_not_exist(tmp_path, model, name):
    n_nodes = len(forge(model).tensors["tree.left"])
    for value in (n_nodes, n_nodes + 1, 2**31, NONE - 1):
        for node in (0, inner_node(model)):
            forged = changed(model, name, node, value)
            refused(forged.write(tmp_path / "model.rt"), "parent|children|root")


@pytest.mark.parametrize("model", ["tree", "lom", "some"])
def test_attack_31_routers_that_do_not_exist(tmp_path, model):
    forged = forge(model)
    n_routers = len(forged.tensors["routers.bias"])
    for value in (n_routers, NONE - 1):
        forged = changed(model, "tree.router", inner_node(model), value)
        refused(forged.write(tmp_path / "model.rt"), "router does not exist")


def test_attack_32_nodes_with_two_parents_or_none(tmp_path):
    path = tmp_path / "model.rt"
    for model in ("tree", "lom", "some"):
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
    ("model", "offsets"),
    [
        ("tree", "histograms.offsets"),
        ("lom", "labels.offsets"),
        ("some", "histograms.offsets"),
        ("some", "class_nodes.offsets"),
        ("some", "keys.offsets"),
        ("sparse some", "pairs.offsets"),
    ],
)
def test_attack_33_offsets_of_histograms(tmp_path, model, offsets):
    size = len(forge(model).tensors[offsets])
    for position, value in ((0, 1), (1, 2**63), (2, 10**9), (size - 1, 0), (size - 1, 2**40)):
        forged = changed(model, offsets, position, value)
        refused(forged.write(tmp_path / "model.rt"), f"'{offsets}' does not increase")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("tree", "histograms.labels"),
        ("lom", "labels.labels"),
        ("all", "classes.order"),
        ("some", "frequent.labels"),
    ],
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
    refused(changed("some", "counted.n", 0, 10**6).write(path), "counted.n")
    refused(changed("some", "counted.n", 0, 0).write(path), "counted.n")
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
    labels = forge("some").tensors["keys.labels"]
    for name, position, value, match in (
        ("keys.labels", 0, labels[1], "repeats a class"),
        ("keys.labels", 0, NONE, "names class"),
        ("keys.roots", 1, 1e9, "not ranked"),
        ("keys.roots", 1, -1.0, "not ranked"),
    ):
        refused_when_read(changed("some", name, position, value).write(path), "some", match)
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


@pytest.mark.parametrize("model", ["some", "sparse some"])
def test_attack_49_keys_and_pairs_out_of_order(tmp_path, model):
    path = tmp_path / "model.rt"
    keys = forge(model).tensors["keys.features"]
    for position, value in ((1, keys[0]), (0, keys[-1]), (len(keys) - 1, 64), (0, NONE)):
        refused(changed(model, "keys.features", position, value).write(path), "keys.features")
    pairs = forge(model).tensors["pairs.keys"]
    for position, value in ((1, pairs[0]), (1, 64), (slice(None, None, 3), NONE)):
        forged = changed(model, "pairs.keys", position, value)
        refused_when_read(forged.write(path), model, "pairs.keys")
    forged = forge(model)
    lengths = np.diff(forged.tensors["keys.offsets"])
    longest = int(lengths.argmax())
    forged.tensors["keys.offsets"][longest + 1 : longest + 2] += 5
    refused(forged.write(path), "keys.offsets")


@pytest.mark.parametrize(
    "change", [{"max_labels": 1}, {"n_trees": 3}, {"n_trees": 2**32 - 1}, {"keys": "features"}]
)
def test_attack_50_votes_of_other_parameters(tmp_path, change):
    forged = forge("some")
    forged.change_json("config", change)
    refused(
        forged.write(tmp_path / "model.rt"), "long|root|parent|differ|does not increase|histogram"
    )


@pytest.mark.parametrize("change", [{"max_entries": 2**32 - 1}, {"max_candidates": 2**32 - 1}])
def test_attack_51_limits_as_large_as_can_be(tmp_path, change):
    forged = forge("some")
    forged.change_json("config", change)
    use(recalltree.load(forged.write(tmp_path / "model.rt")), "some")
