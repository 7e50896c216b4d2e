"""Model files: safetensors that are mapped, not read. ``docs/model-file.md`` specifies them."""

from recalltree.model_file.checkpoint import Checkpointer
from recalltree.model_file.container import ModelFileError
from recalltree.model_file.model import FORMAT_VERSION, read_header

__all__ = ["FORMAT_VERSION", "Checkpointer", "ModelFileError", "read_header"]
