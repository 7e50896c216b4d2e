"""Estimators made of model files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# Each adds itself to the table of classifiers.
from recalltree.estimators import lom_tree, one_against_all, one_against_some, recall_tree  # noqa: F401
from recalltree.estimators.base import CLASSIFIERS, OnlineClassifier
from recalltree.model_file.container import ModelFileError, open_file
from recalltree.model_file.model import read_model

__all__ = ["CLASSIFIERS", "load"]


def load(path: str | os.PathLike[str], *, mmap: bool = True, verify: bool = False) -> Any:
    """Return the estimator that was saved to a file.

    It predicts exactly what the saved estimator predicts, and resumes training exactly where that
    one stopped.

    Parameters
    ----------
    path : path-like
    mmap : bool, default=True
        Map the file into memory instead of reading it: loading takes milliseconds, weights are read
        when a prediction needs them, and processes share them. The first ``partial_fit`` reads
        everything. A mapped file may be replaced (``save`` does), but must not be changed in place.
    verify : bool, default=False
        Read everything now: check that the checksum is right and that all numbers are finite. A
        file that is read to continue learning (``mmap=False``, or ``partial_fit`` later) is always
        verified, and the structure of a file (types, sizes, links, labels) is checked in any case.

    Returns
    -------
    RecallTreeClassifier, OneAgainstAllClassifier, ...
        Of the class, with the parameters, that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged or is no model file.

    Examples
    --------
    >>> import tempfile
    >>> import recalltree
    >>> clf = recalltree.RecallTreeClassifier(learning_rate=0.5).fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/model.rt")
    ...     clf = recalltree.load(f"{folder}/model.rt")
    >>> clf
    RecallTreeClassifier(learning_rate=0.5)
    >>> clf.partial_fit([[2.0]], ["very"]).classes_
    array(['no', 'yes', 'very'], dtype=object)
    """
    container = open_file(Path(path), use_mmap=mmap)
    if verify or not mmap:
        container.check_sum()
    model = read_model(container)
    classifier = CLASSIFIERS.get(model.algorithm)
    if classifier is None:
        raise ModelFileError(
            f"{path}: its algorithm is {model.algorithm!r}; known are {', '.join(CLASSIFIERS)}."
        )
    model = classifier._upgraded(model)
    try:
        clf = _with_parameters(classifier, model.parameters)
        clf._take_model(model, container, mapped=mmap)
        if verify and clf._is_mapped:
            clf._fitted.core.check()
    except ValueError as error:
        raise ModelFileError(f"{path}: {str(error).removeprefix('state: ')}") from error
    return clf


def _with_parameters(
    classifier: type[OnlineClassifier], parameters: dict[str, Any]
) -> OnlineClassifier:
    expected = set(classifier._get_param_names())
    parameters = {**classifier._newer_parameters, **parameters}
    missing = expected - set(parameters)
    if odd := sorted(missing | (set(parameters) - expected)):
        raise ModelFileError(f"parameters: {odd[0]!r} is missing or unknown.")
    clf = classifier(**parameters)
    clf._validate_params()
    return clf
