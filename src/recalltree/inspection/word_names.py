"""Names of the features of a text that scikit-learn's vectorizers have counted."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def word_names(vectorizer: Any, text: str) -> dict[int, str]:
    """Return what the features of a text are called, by their columns.

    For ``explain(..., feature_names=word_names(vectorizer, text))``: a hash does not tell its word,
    but the text has it.

    Parameters
    ----------
    vectorizer : HashingVectorizer, CountVectorizer or TfidfVectorizer
        The one that makes rows of texts; fitted, if it has a vocabulary.
    text : str

    Returns
    -------
    dict from int to str
        Words (or n-grams) of the text; where several share a column, all of them.

    Examples
    --------
    >>> from recalltree.inspection import word_names
    >>> from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
    >>> words = CountVectorizer(ngram_range=(1, 2)).fit(["the cat", "the dog"])
    >>> word_names(words, "The cat meows")
    {2: 'the', 0: 'cat', 3: 'the cat'}
    >>> sorted(word_names(HashingVectorizer(n_features=1), "the cat").values())
    ['the or cat']
    """
    words = list(dict.fromkeys(vectorizer.build_analyzer()(text)))
    names: dict[int, str] = {}
    for column, word in zip(_columns(vectorizer, words), words, strict=True):
        if column is not None:
            names[column] = f"{names[column]} or {word}" if column in names else word
    return names


def _columns(vectorizer: Any, words: list[str]) -> list[int | None]:
    if not words:
        return []
    vocabulary = getattr(vectorizer, "vocabulary_", None)
    if vocabulary is not None:
        return [None if word not in vocabulary else int(vocabulary[word]) for word in words]
    # Each word as a text of its own, which is one word already.
    one_word = clone(vectorizer).set_params(analyzer=_as_they_are, norm=None)
    rows = one_word.transform([[word] for word in words])
    return [int(row.indices[0]) for row in rows]


def _as_they_are(words: list[str]) -> list[str]:
    return words
