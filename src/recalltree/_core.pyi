"""The compiled core: learners over plain arrays. No validation beyond memory safety happens here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def simd() -> str: ...
def simd_levels() -> list[str]: ...

# two of the strings bytes[offsets[i] : offsets[i + 1]] that are the same
def find_duplicate(
    bytes: NDArray[np.uint8], offsets: NDArray[np.uint64]
) -> tuple[int, int] | None: ...
def lines_of_pairs(texts: list[str], numbers: NDArray[np.float64], k: int) -> str: ...

# begins, ends, ids, names; counts, weights and accumulators beside the ids
Lists = tuple[
    NDArray[np.uint64],
    NDArray[np.uint64],
    NDArray[np.uint32],
    NDArray[np.uint32] | None,
    NDArray[np.float32] | None,
    NDArray[np.float32] | None,
    NDArray[np.float32] | None,
]

def merged_sizes(models: list[Lists]) -> NDArray[np.uint64]: ...
def merge_lists(
    models: list[Lists], factors: list[tuple[float, float, float]], rule: str, offset: float
) -> tuple[
    NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]
]: ...
def rank_lists(
    offsets: NDArray[np.uint64],
    keys: NDArray[np.uint32],
    counts: NDArray[np.float32],
    weights: NDArray[np.float32] | None,
    of_keys: NDArray[np.uint32],
    limit: int,
    n_threads: int = 1,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]]: ...
def draw_cells(
    class_vectors: dict[str, NDArray[Any]], n_features: int, n_classes: int
) -> dict[str, NDArray[Any]]: ...

class Rows:
    @staticmethod
    def dense(X: NDArray[Any]) -> Rows: ...
    @staticmethod
    def csr(
        indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], n_features: int
    ) -> Rows: ...
    def find_invalid(self) -> tuple[int, int] | None: ...
    def __len__(self) -> int: ...
    @property
    def n_features(self) -> int: ...

class Moment:
    """Context manager of ``reading`` and ``learning`` of a model."""

    def __enter__(self) -> None: ...
    def __exit__(self, *args: object) -> None: ...

class _Model:
    """Methods of all models (not a class of the module; written once here)."""

    def predict(self, rows: Rows, n_threads: int) -> NDArray[np.int32]: ...
    def predict_topk(
        self, rows: Rows, k: int, n_threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
        """Return the k best ids and scores of each row, and indptr and scores of its candidates."""
        ...

    def candidates(
        self, rows: Rows, n_threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
    # every call sees one moment of the model; these make several calls see the same one, or hide
    # from other threads what happens before the end
    def reading(self) -> Moment: ...
    def learning(self) -> Moment: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def memory_bytes(self) -> dict[str, int]: ...
    @property
    def work(self) -> dict[str, int]: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def n_examples(self) -> int: ...
    # whether rows had lists of labels
    @property
    def has_lists(self) -> bool: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def n_classes_seen(self) -> int: ...
    @property
    def progressive_weight(self) -> float: ...
    @property
    def progressive_errors(self) -> float: ...

class _Learner(_Model):
    """Methods of all learners."""

    def learn(
        self,
        rows: Rows,
        labels: NDArray[np.uint32],
        weights: NDArray[np.float32] | None,
        order: NDArray[np.int64] | None,
        n_threads: int,
        first_pass: bool,
        label_offsets: NDArray[np.int64] | None = None,
        checkpoints: Sequence[int] = [],
    ) -> NDArray[np.float64]: ...

class _Mapped(_Model):
    """Methods of models that view the state of a learner: they predict, and cannot learn."""

    # whether a learner could continue from its state
    @property
    def is_complete(self) -> bool: ...
    # raises ValueError where a number is not finite, or out of order
    def check(self) -> None: ...

class _HasPredictors(_Model):
    # the weights of a class: "weights" and "accumulators" (float32[n_features]), "bias",
    # "bias_accumulator", and "path_nodes" with "path_weights" and "path_accumulators"
    def predictor(self, class_id: int) -> dict[str, Any]: ...
    # why one row has its scores: "features" (uint32[m]), and for each class "bias", "path" and
    # "contributions" (float32[n, m]), which add up to its score
    def explain_classes(self, rows: Rows, class_ids: NDArray[np.uint32]) -> dict[str, Any]: ...

class _RecallTreeViews(_HasPredictors):
    def explain_routers(self, rows: Rows, nodes: NDArray[np.uint32]) -> dict[str, Any]: ...
    def tree(self) -> dict[str, NDArray[Any]]: ...
    def histogram(self, node: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...
    def route(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def router(self, node: int) -> dict[str, Any]: ...
    def interaction(self, class_id: int, node: int) -> dict[str, Any]: ...
    @property
    def max_candidates_now(self) -> int: ...
    @property
    def max_depth_now(self) -> int: ...

class RecallTree(_RecallTreeViews, _Learner):
    def __init__(
        self,
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        max_candidates: int = 0,
        max_depth: int = 0,
        bound_lambda: float = 1.0,
        path_features: str = "none",
        path_interactions: bool = False,
        router_weighting: str = "total_entropy",
        routing_order: str = "route_first",
        count_decay: float = 0.0,
        min_gradient: float = 0.1,
    ) -> None: ...
    @staticmethod
    def from_state(state: dict[str, Any], **config: Any) -> RecallTree: ...

class MappedRecallTree(_RecallTreeViews, _Mapped):
    def __init__(
        self,
        state: dict[str, NDArray[Any]],
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        max_candidates: int = 0,
        max_depth: int = 0,
        bound_lambda: float = 1.0,
        path_features: str = "none",
        path_interactions: bool = False,
        router_weighting: str = "total_entropy",
        routing_order: str = "route_first",
        count_decay: float = 0.0,
        min_gradient: float = 0.1,
    ) -> None: ...

class OneAgainstAll(_HasPredictors, _Learner):
    def __init__(
        self,
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        negative_samples: int = 0,
        seed: int = 0,
    ) -> None: ...
    @staticmethod
    def from_state(state: dict[str, Any], **config: Any) -> OneAgainstAll: ...

class MappedOneAgainstAll(_HasPredictors, _Mapped):
    def __init__(
        self,
        state: dict[str, NDArray[Any]],
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        negative_samples: int = 0,
        seed: int = 0,
    ) -> None: ...

class _OneAgainstSomeViews(_Model):
    # a class: "counts", "weights" and "accumulators" (of n_features each), "bias",
    # "bias_accumulator", "examples" and "count" (the sum of the counts)
    def predictor(self, class_id: int) -> dict[str, Any]: ...
    # the nodes that vote on a row: where it ends, one per tree, then the second ones
    def key_nodes(self, rows: Rows) -> NDArray[np.uint32]: ...
    # weight of the examples of each class; later passes do not count them again
    def class_examples(self) -> NDArray[np.float64]: ...
    def frequent_classes(self) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...
    # why one row has its scores: "features" (uint32[m]) and "nodes" (uint32[t]), and for each class
    # "bias", "votes" and "predictors" (float32[n, m]) and "node_votes" (float32[n, t]), which add
    # up to its score
    def explain_classes(self, rows: Rows, class_ids: NDArray[np.uint32]) -> dict[str, Any]: ...
    # what cells do for one row: "cells" that are read, the nearest first (uint32), "found" (the
    # classes that look best, uint32), "n_compared", and for each class "mean", "weights" and "bias"
    # (float32), which add up to what cells add to its score, and "cell_of" (uint32)
    def cells_for(self, rows: Rows, class_ids: NDArray[np.uint32]) -> dict[str, Any]: ...
    # the cell of each class, or 2^32 - 1
    def class_cells(self) -> NDArray[np.uint32]: ...
    # mean and weights added up, as rows are compared with: float32[n, n_features]
    def class_vectors(self, class_ids: NDArray[np.uint32]) -> NDArray[np.float32]: ...
    @property
    def has_cells(self) -> bool: ...
    # whether the mean of a class has a part of its own in a score
    @property
    def has_class_means(self) -> bool: ...
    @property
    def n_cells(self) -> int: ...
    # of the tree of cells
    @property
    def n_cell_levels(self) -> int: ...
    @property
    def max_candidates_now(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def vote_scales(self) -> tuple[float, float, float]: ...
    @property
    def marginals(self) -> tuple[float, float] | None: ...

class OneAgainstSome(_OneAgainstSomeViews, _Learner):
    def __init__(
        self,
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        keys: str = "auto",
        max_candidates: int = 0,
        max_labels: int = 512,
        max_entries: int = 1024,
        sublinear_tf: bool = True,
        use_idf: bool = True,
        normalize: bool = True,
        center: bool = True,
        n_trees: int = 4,
        max_depth: int = 0,
        bound_lambda: float = 1.0,
        count_decay: float = 0.0,
        seed: int = 0,
        memory_budget: int = 0,
        feature_dropout: float = 0.0,
        cells_read: int = 64,
        idle_cells: int = 16,
        n_dense_features: int = 0,
    ) -> None: ...
    @staticmethod
    def from_state(state: dict[str, Any], **config: Any) -> OneAgainstSome: ...
    # a key: "examples", "weight", "labels" and "counts", the largest first
    def histogram(self, feature: int) -> dict[str, Any]: ...
    # with cells: the dense features of a row as they see them, the classes they find for it, and
    # "sum", "weights", "bias", "squares" and "rows" of a class
    def whitened(self, rows: Rows) -> NDArray[np.float32]: ...
    def near_classes(self, rows: Rows) -> NDArray[np.uint32]: ...
    def class_vector(self, class_id: int) -> dict[str, Any]: ...
    # bytes of pairs and histograms: "used", and "most_held", the most ever taken from the system
    @property
    def pairs_memory(self) -> dict[str, int]: ...
    # a node of the trees: "labels" and "counts", "left", "right", "depth", and its router
    def node(self, node: int) -> dict[str, Any]: ...

class MappedOneAgainstSome(_OneAgainstSomeViews, _Mapped):
    def __init__(
        self,
        state: dict[str, NDArray[Any]],
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        keys: str = "auto",
        max_candidates: int = 0,
        max_labels: int = 512,
        max_entries: int = 1024,
        sublinear_tf: bool = True,
        use_idf: bool = True,
        normalize: bool = True,
        center: bool = True,
        n_trees: int = 4,
        max_depth: int = 0,
        bound_lambda: float = 1.0,
        count_decay: float = 0.0,
        seed: int = 0,
        memory_budget: int = 0,
        feature_dropout: float = 0.0,
        cells_read: int = 64,
        idle_cells: int = 16,
        n_dense_features: int = 0,
    ) -> None: ...

class _LOMTreeViews(_Model):
    def explain_routers(self, rows: Rows, nodes: NDArray[np.uint32]) -> dict[str, Any]: ...
    def tree(self) -> dict[str, NDArray[Any]]: ...
    def histogram(self, node: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...
    def route(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    def router(self, node: int) -> dict[str, Any]: ...
    def margins(
        self, node: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]: ...

class LOMTree(_LOMTreeViews, _Learner):
    def __init__(
        self,
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        max_nodes: int = 0,
        swap_resistance: float = 4.0,
    ) -> None: ...
    @staticmethod
    def from_state(state: dict[str, Any], **config: Any) -> LOMTree: ...

class MappedLOMTree(_LOMTreeViews, _Mapped):
    def __init__(
        self,
        state: dict[str, NDArray[Any]],
        *,
        n_features: int,
        sparse: bool = False,
        loss: str = "logistic",
        learning_rate: float = 1.0,
        l2: float = 0.0,
        max_nodes: int = 0,
        swap_resistance: float = 4.0,
    ) -> None: ...

def parse_floats(
    offsets: NDArray[np.int64], data: NDArray[np.uint8]
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]: ...
def parse_integers(
    offsets: NDArray[np.int64], data: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
def check_text(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
def split_delimited(
    data: bytes,
    *,
    delimiter: str,
    quotes: bool,
    n_columns: int,
    wanted: list[int],
    is_last: bool,
) -> tuple[
    int,
    int,
    NDArray[np.int64],
    list[tuple[NDArray[np.int64], NDArray[np.uint8]]],
    list[tuple[int, str, bytes]],
]: ...
def encode_words(
    space: FeatureSpace,
    columns: list[tuple[NDArray[np.int64], NDArray[np.uint8], str]],
    max_ngram: int,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.uint8],
    list[dict[int, list[str]]] | None,
]: ...

class FeatureSpace:
    def __init__(self, *, n_features: int, hashed: bool, tf_idf: bool) -> None: ...
    def names(self) -> list[str] | None: ...
    def restore_names(self, names: list[str]) -> None: ...
    def frequencies(self) -> tuple[int, NDArray[np.uint32]] | None: ...
    def restore_frequencies(self, n_documents: int, counts: NDArray[np.uint32]) -> None: ...
    def freeze(self) -> None: ...
    def keep_names(self) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def frozen(self) -> bool: ...

class TextParser:
    def __init__(
        self,
        format: str,
        space: FeatureSpace | None,
        *,
        batch_rows: int,
        max_line_bytes: int,
        label_type: str,
        multilabel: str,
        require_labels: bool,
        stop_at_bad_row: bool,
        n_features: int,
        zero_based: bool,
        quadratic: list[str],
        ngrams: int,
        label_prefix: str,
    ) -> None: ...
    def feed(self, bytes: bytes, start: int) -> int: ...
    def end_file(self) -> None: ...
    def take(self, flush: bool) -> dict[str, Any] | None: ...
    def take_problems(self) -> list[tuple[int, int, int, str, bytes]]: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def n_skipped(self) -> int: ...
    @property
    def label_type(self) -> str: ...
