"""Tensors of requests and answers: JSON, and the bytes of .npy files."""

import functools
import io
import json
import math
import tokenize

import numpy as np

DTYPES = {"trit": "int8"}  # the others have NumPy's names


class Refused(Exception):
    """A request that cannot be answered: a status, a name and a text that says what to do."""

    def __init__(self, status, name, text):
        super().__init__(text)
        self.status, self.name = status, name


def array_of_json(values, tensor):
    """The array of an input, from lists of numbers."""
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise Refused(400, "ShapeError", f"{tensor}: the rows have different lengths") from error
    dtype = np.dtype(DTYPES.get(tensor.dtype, tensor.dtype))
    if given.dtype.kind not in "biuf" and given.size:
        raise Refused(400, "DtypeError", f"{tensor}: pass lists of numbers")
    with np.errstate(all="ignore"):
        array = given.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(array, given):
        raise Refused(400, "RangeError", f"{tensor}: a number is no {tensor.dtype}")
    return array


def arrays_of_json(body, tensors):
    """The arrays of all inputs, from an object with their names."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "ArgumentError", f"the body is no JSON: {error}") from error
    if not isinstance(given, dict) or sorted(given) != sorted(t.name for t in tensors):
        raise Refused(400, "ArgumentError", f"send an object with {', '.join(map(str, tensors))}")
    return [array_of_json(given[t.name], t) for t in tensors]


@functools.lru_cache(maxsize=64)
def read_npy_header(head):
    """(shape, True if the first index runs fastest, dtype). Parsing takes longer than running a small model."""
    file = io.BytesIO(head)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("write version 1.0, as numpy.save does")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError(f"its header has {dtype} {shape}")
    return shape, fortran, dtype


def array_of_npy(body):
    """The array in the bytes of a .npy file, which is not copied. Pickled objects are refused."""
    begin = 10 + int.from_bytes(body[8:10], "little")
    try:
        shape, fortran, dtype = read_npy_header(body[:begin])
        count = math.prod(shape)
        if count * dtype.itemsize != len(body) - begin:
            raise ValueError(f"{count} elements do not fit {len(body) - begin} bytes")
        return np.frombuffer(body, dtype, count, begin).reshape(shape, order="F" if fortran else "C")
    except (ValueError, SyntaxError, tokenize.TokenError) as error:
        raise Refused(400, "ArgumentError", f"the body is no .npy file of numbers: {error}") from error


def npy_of_array(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
