"""A backend for Annif, the subject indexing tool of libraries (extra ``annif``).

Annif knows its own backends only. Importing this module adds ``recalltree`` to them, and Annif
imports it where its configuration class is one of this module's::

    export ANNIF_CONFIG=recalltree.annif.Config

``docs/annif.md`` shows the rest.
"""

from __future__ import annotations

import io
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import annif.backend
import annif.util
from annif.backend.backend import AnnifLearningBackend
from annif.default_config import Config as AnnifConfig
from annif.default_config import ProductionConfig as AnnifProductionConfig
from annif.exception import (
    ConfigurationException,
    NotInitializedException,
    NotSupportedException,
    OperationFailedException,
)
from annif.suggestion import SubjectSuggestion, SuggestionBatch

import recalltree
from recalltree.model_file import ModelFileError
from recalltree.parameters import Parameter, Range, defaults_of, make_table
from recalltree.parameters.algorithms import ONE_AGAINST_SOME
from recalltree.readers import open_rows
from recalltree.readers.parameters import ROWS
from recalltree.training import learn_from

__all__ = ["Config", "ProductionConfig", "RecallTreeBackend"]

_WORD = re.compile(r"\w+")
_LABEL = "__label__"
_LEARNING = threading.Lock()  # in this process: each call continues what the one before has saved
_OF_ESTIMATOR = ("n_passes", "learning_rate", "memory_budget", "max_candidates", "feature_dropout")

#: Settings of a project by their names in projects.cfg, without Annif's own.
PARAMETERS = make_table(
    Parameter("limit", 100, (Range(int, 1),), "How many subjects are suggested."),
    replace(ROWS["ngrams"], name="ngram"),
    replace(ROWS["bits"], default=20),
    Parameter(
        "chunksize",
        0,
        (Range(int, 0),),
        "Sentences per chunk; suggestions are averaged over chunks. 0 is the whole document.",
    ),
    *(ONE_AGAINST_SOME[name] for name in _OF_ESTIMATOR),
)


@dataclass(frozen=True)
class _Opened:
    """A model from a file. Its classes are URIs, for which the vocabulary has numbers."""

    stamp: tuple[int, int]
    model: Any
    subject_ids: dict[str, int | None]


class RecallTreeBackend(AnnifLearningBackend):
    """``OneAgainstSomeClassifier`` as a backend of Annif: it learns online.

    A project uses it with ``backend=recalltree``. Words are those of the project's analyzer; a
    project without one has words of letters, digits and underscores in lower case, as
    ``recalltree.readers`` finds them in tables. Subjects are kept by their URI, so the vocabulary
    may grow and change its order.

    Examples
    --------
    >>> from recalltree.annif import RecallTreeBackend
    >>> RecallTreeBackend.name, RecallTreeBackend.DEFAULT_PARAMETERS["ngram"]
    ('recalltree', 1)
    """

    name = "recalltree"

    MODEL_FILE = "recalltree-model.rt"
    TRAIN_FILE = "recalltree-train.txt"

    DEFAULT_PARAMETERS = defaults_of(PARAMETERS)

    _opened: _Opened | None = None

    def _checked(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters as numbers, or say which one is wrong."""
        return {name: self._number(PARAMETERS[name], params[name]) for name in PARAMETERS}

    def _number(self, parameter: Parameter, given: Any) -> Any:
        if given is None or (
            str(given).strip().lower() in ("", "none") and None in parameter.allowed
        ):
            return None
        (numbers,) = parameter.ranges
        try:
            value = numbers.kind(given)
        except (TypeError, ValueError):
            value = None
        if value is None or value not in numbers:
            kind = "an integer" if numbers.kind is int else "a number"
            raise ConfigurationException(
                f"{parameter.name}={given}: it must be {kind}{_limits(numbers)}",
                project_id=self.project.project_id,
            )
        return value

    # --- learning ----------------------------------------------------------------------------

    def _train(self, corpus: Any, params: dict[str, Any], jobs: int = 0) -> None:
        chosen = self._checked(params)
        path = Path(self.datadir) / self.TRAIN_FILE
        if corpus == "cached":
            if not path.exists():
                raise NotInitializedException(
                    f"no training data from a previous run in {path}", backend_id=self.backend_id
                )
            self.info("Reusing cached training data from previous run.")
        else:
            if corpus.is_empty():
                raise NotSupportedException("Cannot train recalltree project with no documents")
            self.info("creating train file")
            annif.util.atomic_save(corpus, self.datadir, self.TRAIN_FILE, method=self._write_rows)
        model = recalltree.OneAgainstSomeClassifier(
            n_jobs=jobs or None, random_state=0, **{name: chosen[name] for name in _OF_ESTIMATOR}
        )
        self._learn_file(model, path, {"ngrams": chosen["ngram"], "bits": chosen["bits"]})

    def _learn(self, corpus: Any, params: dict[str, Any]) -> None:
        self._checked(params)
        self.initialize()
        if corpus.is_empty():
            return
        with _LEARNING, self._temporary_rows(corpus) as path:
            # Another copy than the one that goes on answering while this one learns.
            model = self._load(mmap=False)
            kept = {name: model.model_extra_["rows"][name] for name in ("ngrams", "n_features")}
            self._learn_file(model, path, kept, n_passes=1)

    def _learn_file(
        self, model: Any, path: Path, features: dict[str, Any], n_passes: int | None = None
    ) -> None:
        self.info("learning")
        rows = open_rows(path, "fasttext", label_prefix=_LABEL, multilabel="all", **features)
        for _ in learn_from(model, rows, n_passes=n_passes):
            pass
        if not hasattr(model, "n_examples_"):
            raise NotSupportedException(
                "Cannot train recalltree project: no document has both words and subjects of the "
                "vocabulary"
            )
        model.save(Path(self.datadir) / self.MODEL_FILE, extra={"rows": rows.options})
        self.initialize()

    @contextmanager
    def _temporary_rows(self, corpus: Any) -> Iterator[Path]:
        # A name that Annif does not take for a model.
        with tempfile.TemporaryDirectory(prefix="tmp-", dir=self.datadir) as folder:
            path = Path(folder) / "learn-train.txt"
            self._write_rows(corpus, str(path))
            yield path

    def _write_rows(self, corpus: Any, path: str) -> None:
        subjects = self.project.subjects
        with Path(path).open("w", encoding="utf-8") as file:
            for document in corpus.documents:
                uris = [subjects[subject_id].uri for subject_id in document.subject_set]
                words = self._words(document.text)
                if uris and words:
                    file.write(" ".join([*(_LABEL + uri for uri in uris), *words]) + "\n")

    def _words(self, text: str) -> list[str]:
        if self.project.analyzer_spec:
            words = self.project.analyzer.tokenize_words(text)
        else:
            words = _WORD.findall(text.lower())
        # No analyzer should, but one that gives blanks would break the lines of the file.
        words = " ".join(words).split()
        return [word for word in words if not word.startswith(_LABEL)]

    # --- suggesting --------------------------------------------------------------------------

    def initialize(self, parallel: bool = False) -> None:
        """Open the model, and again after ``annif learn`` has replaced its file."""
        path = Path(self.datadir) / self.MODEL_FILE
        try:
            found = path.stat()
        except FileNotFoundError:
            raise NotInitializedException(
                f"model {path} not found", backend_id=self.backend_id
            ) from None
        stamp = (found.st_ino, found.st_mtime_ns)
        if self._opened is None or self._opened.stamp != stamp:
            self.debug(f"loading model from {path}")
            model, by_uri = self._load(mmap=True), self.project.subjects.by_uri
            ids = {uri: by_uri(uri, warnings=False) for uri in model.classes_}
            self._opened = _Opened(stamp, model, ids)

    def _load(self, *, mmap: bool) -> Any:
        try:
            return recalltree.load(Path(self.datadir) / self.MODEL_FILE, mmap=mmap)
        except ModelFileError as error:
            raise OperationFailedException(str(error), backend_id=self.backend_id) from error

    def _suggest_batch(self, documents: list[Any], params: dict[str, Any]) -> SuggestionBatch:
        chosen = self._checked(params)
        chunks = [self._chunks(document.text, chosen["chunksize"]) for document in documents]
        lines = [" ".join(self._words(chunk)) for row in chunks for chunk in row]
        found = iter(self._scores(lines, chosen["limit"]))
        suggestions = []
        for row in chunks:
            scores: dict[int, float] = {}
            for _ in row:
                for subject_id, score in next(found):
                    scores[subject_id] = scores.get(subject_id, 0.0) + score / len(row)
            best = sorted(scores.items(), key=lambda item: -item[1])[: chosen["limit"]]
            suggestions.append([SubjectSuggestion(subject_id=i, score=s) for i, s in best])
        return SuggestionBatch.from_sequence(suggestions, self.project.subjects)

    def _chunks(self, text: str, size: int) -> list[str]:
        if size == 0:
            return [text]
        if not self.project.analyzer_spec:
            raise ConfigurationException(
                f"chunksize={size} needs sentences, which the setting analyzer finds: add one, or "
                "leave chunksize at 0",
                project_id=self.project.project_id,
            )
        sentences = self.project.analyzer.tokenize_sentences(text)
        return [" ".join(sentences[i : i + size]) for i in range(0, len(sentences), size)]

    def _scores(self, lines: list[str], limit: int) -> list[list[tuple[int, float]]]:
        """Return subjects and their probabilities for each line of words, the best first."""
        opened = self._opened
        assert opened is not None  # initialize() was called
        model, ids = opened.model, opened.subject_ids
        out: list[list[tuple[int, float]]] = [[] for _ in lines]
        some = [i for i, line in enumerate(lines) if line]
        if not some:
            return out
        # Subjects that are not in the vocabulary any more leave room for the next ones.
        k = min(len(ids), limit + sum(subject_id is None for subject_id in ids.values()))
        text = io.BytesIO("\n".join([*(lines[i] for i in some), ""]).encode())
        options = model.model_extra_["rows"]
        row = iter(some)
        for batch in open_rows(text, **options, require_labels=False, frozen=True):
            for uris, shares in zip(*model.predict_topk(batch.X, k=k), strict=True):
                known = ((ids[uri], float(p)) for uri, p in zip(uris, shares, strict=True) if p > 0)
                out[next(row)] = [(j, p) for j, p in known if j is not None][:limit]
        return out


def _limits(numbers: Range) -> str:
    low, high = numbers.low, numbers.high
    above = "" if low is None else f" {'above' if numbers.low_open else 'of at least'} {low:g}"
    below = "" if high is None else f" {'below' if numbers.high_open else 'of at most'} {high:g}"
    return f"{above}{' and' if above and below else ''}{below}"


def _register() -> None:
    """Add the backend to Annif's, which offers no public way to do it."""
    functions = getattr(annif.backend, "_backend_fns", None)
    if not isinstance(functions, dict):
        version = metadata.version("annif")
        raise ImportError(
            f"recalltree.annif does not know where Annif {version} keeps its backends; "
            "it was written for 1.3 and 1.4"
        )
    functions[RecallTreeBackend.name] = lambda: RecallTreeBackend


class Config(AnnifConfig):
    """Annif's configuration for its commands, with the backend ``recalltree``."""


class ProductionConfig(AnnifProductionConfig):
    """Annif's configuration for servers, which open all models at the start, with the backend."""


_register()
