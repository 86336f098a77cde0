"""Writes safetensors files: a header in JSON, then the bytes of the tensors."""

from __future__ import annotations

import json
import struct

from . import errors

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
}
_ALIGN = 8


def _bytes_of(tensor):
    """Returns (dtype, shape, bytes) of a NumPy array or a PyTorch tensor."""
    if hasattr(tensor, "detach"):
        import torch

        tensor = tensor.detach().cpu().contiguous()
        dtype = str(tensor.dtype).replace("torch.", "")
        raw = tensor.view(torch.int16) if dtype == "bfloat16" else tensor
        return dtype, list(tensor.shape), raw.numpy().tobytes()
    import numpy

    array = numpy.asarray(tensor)
    return array.dtype.name, list(array.shape), array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def encode(tensors) -> bytes:
    """Returns the content of a file with these tensors, a mapping by name: such as a `state_dict`."""
    header, parts, at = {}, [], 0
    for name, tensor in tensors.items():
        dtype, shape, raw = _bytes_of(tensor)
        if dtype not in _NAMES:
            raise errors.DtypeError(f"weights {name}: {dtype} is none of {', '.join(_NAMES)}: convert it")
        header[name] = {"dtype": _NAMES[dtype], "shape": shape, "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGN)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)
