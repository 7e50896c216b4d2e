"""The one exception of model files."""


class ModelFileError(ValueError):
    """A model file cannot be used: it is damaged, of another kind, or made to do harm.

    Nothing was changed, neither the file nor an estimator.

    Examples
    --------
    >>> import recalltree
    >>> recalltree.load("README.md")  # doctest: +SKIP
    Traceback (most recent call last):
        ...
    recalltree.model_file.errors.ModelFileError: README.md: ...
    """
