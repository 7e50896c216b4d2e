"""Model files that nobody honest would write."""

import hashlib
import json

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "U64": "<u8", "U32": "<u4", "I64": "<i8", "U8": "u1"}


class Forged:
    """A model file taken apart, to be changed at will and put together again.

    Whoever forges a file also makes its checksum right, and so does this.
    """

    def __init__(self, data):
        start = 8 + int.from_bytes(data[:8], "little")
        self.entries = json.loads(data[8:start])
        self.metadata = self.entries.pop("__metadata__")
        self.tensors = {}
        for name, entry in self.entries.items():
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[start + begin : start + end], DTYPES[entry["dtype"]])
            self.tensors[name] = array.reshape(entry["shape"]).copy()

    def json(self, name):
        return json.loads(self.metadata[name])

    def change_json(self, name, changes):
        found = {**self.json(name), **changes}
        self.metadata[name] = json.dumps({k: v for k, v in found.items() if v is not ...})

    def write(self, path, *, change_header=None, change_text=None, padding=64):
        """Write the file; the header, or its text, may be changed last."""
        end, entries, parts = 0, {}, []
        for name in sorted(self.tensors, key=lambda name: (self._rank(name), name)):
            array = self.tensors[name]
            dtype = {v: k for k, v in DTYPES.items()}[array.dtype.str.replace("|", "")]
            offsets = [end, end + array.nbytes]
            entries[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
            parts.append(array.tobytes())
            end += array.nbytes
        header = {"__metadata__": {**self.metadata, "sha256": "0" * 64}, **entries}
        if change_header:
            change_header(header)
        text = json.dumps(header)
        if change_text:
            text = change_text(text)
        text = text.encode() if isinstance(text, str) else text
        text += b" " * (-(8 + len(text)) % padding)
        head = len(text).to_bytes(8, "little") + text
        body = b"".join(parts)
        digest = hashlib.sha256(head + body).hexdigest()
        path.write_bytes(head.replace(b"0" * 64, digest.encode(), 1) + body)
        return path

    def _rank(self, name):
        array = self.tensors[name]
        whole_lines = array.ndim == 2 and array.shape[1] * array.itemsize % 64 == 0
        return -64 if whole_lines else -array.itemsize
