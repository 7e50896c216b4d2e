"""Model files: safetensors that are mapped, not read. ``docs/model-file.md`` specifies them."""

from recalltree.model_file.checkpoint import Checkpointer
from recalltree.model_file.errors import ModelFileError
from recalltree.model_file.header import read_header
from recalltree.model_file.model import FORMAT_VERSION

__all__ = ["FORMAT_VERSION", "Checkpointer", "ModelFileError", "read_header"]
