"""The one exception of model files."""


class ModelFileError(ValueError):
    """A model file cannot be used: it is damaged, of another kind, or made to do harm.

    Nothing was changed, neither the file nor an estimator.

    Examples
    --------
    >>> import recalltree
    >>> from pathlib import Path
    >>> try:
    ...     recalltree.load(Path(recalltree.__file__))
    ... except recalltree.model_file.ModelFileError as error:
    ...     print(error)
    /...__init__.py: it is not a model file (it does not begin as one).
    """
