"""Random tensors of every element type, rounded as trib rounds them, for interp_numpy.py."""
import math

import numpy as np

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["uint8", "int8", "int16", "int32", "int64"]
NP = {"bool": np.bool_, "trit": np.int8, "uint8": np.uint8, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
      "float16": np.float16, "bfloat16": np.float32, "float32": np.float32, "float64": np.float64}
ULP = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}


def to_bfloat16(x):
    """float64 values rounded to bfloat16, half to even, kept as float32."""
    x = np.asarray(x, np.float64)
    m, e = np.frexp(x)
    e = np.maximum(e, -125)
    unit = np.ldexp(1.0, e - 8)
    with np.errstate(all="ignore"):
        y = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        y = np.where(np.abs(y) > 3.3895313892515355e38, np.copysign(np.inf, x), y)
        return np.where(np.isnan(x), np.nan, np.copysign(y, x)).astype(np.float32)


def rounded(values, dtype):
    with np.errstate(all="ignore"):
        return to_bfloat16(values) if dtype == "bfloat16" else np.asarray(values).astype(NP[dtype])


def shape_of(rng, low=0, high=4, most=5):
    return tuple(rng.choice([1, 2, 3, most]) for _ in range(rng.randint(low, high)))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-6, 65504.0, 3e4]


def values(rng, dtype, shape, kind="any"):
    n = int(np.prod(shape))
    if dtype == "bool":
        flat = [rng.random() < 0.5 for _ in range(n)]
    elif dtype == "trit":
        flat = [rng.randint(-1, 1) for _ in range(n)]
    elif dtype in INTS:
        info = np.iinfo(NP[dtype])
        extremes = [info.min, info.max, 0, 1, -1 if info.min else 128]
        low, high = (-20, 20) if info.min else (0, 255)
        flat = [rng.choice(extremes) if rng.random() < 0.2 and kind == "any" else rng.randint(low, high) for _ in range(n)]
    else:
        flat = [rng.choice(SPECIAL) if rng.random() < 0.25 and kind == "any" else rng.gauss(0, 3) for _ in range(n)]
        if kind == "positive":
            flat = [abs(v) + 0.01 for v in flat]
    return rounded(np.array(flat, dtype=np.float64 if dtype in FLOATS else NP[dtype]).reshape(shape), dtype)


def wide(x, dtype):
    return x.astype(np.float64) if dtype in FLOATS else x
