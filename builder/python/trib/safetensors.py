"""Files of safetensors: a header in JSON, then the bytes of the tensors."""

from __future__ import annotations

import json
import struct

from . import errors

NAMES = {
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
        return dtype, list(tensor.shape), raw.numpy().reshape(-1).view("uint8").data
    import numpy

    array = numpy.asarray(tensor)
    flat = array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1)
    return array.dtype.name, list(array.shape), flat.view("uint8").data


def _pieces(tensors):
    """The content of a file in pieces: its head, and the bytes of each tensor without a copy."""
    header, parts, at = {}, [], 0
    for name, tensor in tensors.items():
        dtype, shape, raw = _bytes_of(tensor)
        if dtype not in NAMES:
            raise errors.DtypeError(f"weights {name}: {dtype} is none of {', '.join(NAMES)}: convert it")
        header[name] = {"dtype": NAMES[dtype], "shape": shape, "data_offsets": [at, at + raw.nbytes]}
        parts.append(raw)
        at += raw.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGN)
    return [struct.pack("<Q", len(text)) + text, *parts]


def encode(tensors) -> bytes:
    """Returns the content of a file with these tensors, a mapping by name: such as a `state_dict`."""
    return b"".join(_pieces(tensors))


def write(path, tensors):
    """Writes the file `path` with these tensors."""
    with open(path, "wb") as file:
        file.writelines(_pieces(tensors))


def read(path):
    """Returns the tensors of the file `path`, of PyTorch and by name."""
    import torch

    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = bytearray(file.read())
    dtypes, tensors = {word: getattr(torch, name) for name, word in NAMES.items()}, {}
    for name, row in header.items():
        if name != "__metadata__":
            start, end = row["data_offsets"]
            flat = torch.frombuffer(body[start:end] or bytearray(1), dtype=torch.uint8)[: end - start]
            tensors[name] = flat.view(dtypes[row["dtype"]]).reshape(row["shape"])
    return tensors
