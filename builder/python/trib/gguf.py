"""The head of GGUF files: metadata, and the shapes of the tensors."""

from __future__ import annotations

import struct

from . import errors

_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def read_head(path):
    """Returns (metadata by key, shapes by name) of a file; a shape is PyTorch's, the last dimension adjacent in memory.

    Raises: ArgumentError if the file is damaged.
    """
    try:
        with open(path, "rb") as file:
            return _Reader(file).head()
    except (struct.error, UnicodeDecodeError, KeyError):
        raise errors.ArgumentError(
            f"{path} is no GGUF file of version 2 or 3, or it is cut off: download it again"
        ) from None


class _Reader:
    def __init__(self, file):
        self.file = file

    def head(self):
        if self.file.read(4) != b"GGUF" or self.one("I") not in (2, 3):
            raise struct.error
        tensors, values = self.one("Q"), self.one("Q")
        metadata = {}
        for _ in range(values):
            key = self.text()
            metadata[key] = self.value(self.one("I"))
        shapes = {}
        for _ in range(tensors):
            name = self.text()
            shapes[name] = [self.one("Q") for _ in range(self.one("I"))][::-1]
            self.one("I")
            self.one("Q")
        return metadata, shapes

    def one(self, form):
        return struct.unpack("<" + form, self.file.read(struct.calcsize("<" + form)))[0]

    def text(self):
        return self.file.read(self.one("Q")).decode()

    def value(self, kind):
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            inner, count = self.one("I"), self.one("Q")
            return [self.value(inner) for _ in range(count)]
        return self.one(_FORMATS[kind])
