"""Computes what a graph computes from the shapes of tensors: Shape, Gather, Concat, … on lists of sizes."""

from __future__ import annotations

import numpy as np

from . import graph
from .values import Size, Value


def compute(node, inputs, dims_of):
    """The value that a node computes from shapes, or None if it does not. `dims_of` gives the sizes of a value."""
    row, attributes = ROWS.get(node.op_type), graph.attributes(node)
    dtype = inputs[0].dtype
    if node.op_type in ("Shape", "Size"):
        dims = dims_of(inputs[0])
        dims = dims[attributes.get("start", 0) : attributes.get("end", len(dims))]
        return value(np.array(dims if node.op_type == "Shape" else np.prod(np.array(dims, object)), object), "int64")
    if node.op_type == "Cast":
        dtype = graph.TYPES.get(attributes["to"])
    arrays = [None if item is None else item.known() for item in inputs]
    missing = any(item is not None and array is None for item, array in zip(inputs, arrays))
    if row is None or missing or dtype not in ("int32", "int64", "bool"):
        return None
    if node.op_type in INDEXED and any(item is not None and item.sizes is not None for item in inputs[1:]):
        return None  # a part of a tensor, whose size is known at run time only
    made = row([a if a is None or a.dtype == bool else a.astype(object) for a in arrays], attributes)
    return value(np.asarray(made, object), dtype)


def value(array, dtype):
    """The value of an array of integers, bools and sizes."""
    if any(isinstance(item, Size) for item in array.reshape(-1)):
        return Value(None, dtype, list(array.shape), sizes=array)
    flat = array.reshape(-1)
    kind = "bool" if flat.size and all(isinstance(item, (bool, np.bool_)) for item in flat) else dtype
    return Value(None, kind, list(array.shape), const=array.astype(kind))


def _slice(arrays, attributes):
    data, starts, ends, axes, steps = [*arrays, None, None][:5]
    axes = range(len(starts)) if axes is None else axes
    index = [slice(None)] * data.ndim
    for i, axis in enumerate(axes):
        index[axis] = slice(int(starts[i]), int(ends[i]), 1 if steps is None else int(steps[i]))
    return data[tuple(index)]


def _unsqueeze(arrays, attributes):
    axes = attributes.get("axes") if len(arrays) < 2 else arrays[1]
    rank = arrays[0].ndim + len(axes)
    return np.expand_dims(arrays[0], tuple(int(a) % rank for a in axes))


def _squeeze(arrays, attributes):
    axes = attributes.get("axes") if len(arrays) < 2 or arrays[1] is None else arrays[1]
    return np.squeeze(arrays[0], None if axes is None else tuple(int(a) for a in axes))


def _equal(arrays, attributes):
    a, b = np.broadcast_arrays(*arrays)
    return np.array([bool(x == y) for x, y in zip(a.reshape(-1), b.reshape(-1))], dtype=bool).reshape(a.shape)


def _where(arrays, attributes):
    return np.where(arrays[0].astype(bool), arrays[1], arrays[2])


def _concat(arrays, attributes):
    return np.concatenate(arrays, attributes["axis"])


def _gather(arrays, attributes):
    return np.take(arrays[0], arrays[1].astype(np.int64), attributes.get("axis", 0))


def _reshape(arrays, attributes):
    return arrays[0].reshape([int(n) for n in arrays[1]])


def _prod(arrays, attributes):
    axes = arrays[1] if len(arrays) > 1 and arrays[1] is not None else None
    axes = None if axes is None else tuple(int(a) for a in axes)
    return np.prod(arrays[0], axis=axes, keepdims=bool(attributes.get("keepdims", 1)))


INDEXED = ("Slice", "Gather", "Unsqueeze", "Squeeze", "Reshape", "ReduceProd")  # all but their first inputs are numbers
ROWS = {
    "Slice": _slice,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Concat": _concat,
    "Gather": _gather,
    "Reshape": _reshape,
    "ReduceProd": _prod,
    "Where": _where,
    "Equal": _equal,
    "Identity": lambda arrays, attributes: arrays[0],
    "Cast": lambda arrays, attributes: arrays[0],
    "Add": lambda arrays, attributes: arrays[0] + arrays[1],
    "Sub": lambda arrays, attributes: arrays[0] - arrays[1],
    "Mul": lambda arrays, attributes: arrays[0] * arrays[1],
    "Div": lambda arrays, attributes: arrays[0] // arrays[1],
    "Mod": lambda arrays, attributes: arrays[0] % arrays[1],
}
