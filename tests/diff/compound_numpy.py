"""Cases of compound operations for interp_numpy.py: NumPy computes in float64."""
import math

import numpy as np

from numpy_values import rounded, shape_of, values, wide

REALS = ["float32", "float64"]


def padded(x, pad, value=0):
    return np.pad(x, [(0, 0), (0, 0), tuple(pad[:2]), tuple(pad[2:])], constant_values=value)


def windows(x, kernel, stride, dilation):
    """[N, C, H, W, KH, KW]"""
    for k in range(2):
        x = np.lib.stride_tricks.sliding_window_view(x, (kernel[k] - 1) * dilation[k] + 1, 2 + k)[..., ::dilation[k]]
        x = x[(slice(None),) * (2 + k) + (slice(None, None, stride[k]),)]
    return x


def op_conv(c, _):
    rng = c.rng
    xt, wt, to = rng.choice([("float32", "float32", "float32"), ("float32", "trit", "float32"), ("float64", "trit", "float64"),
                             ("int8", "trit", "int32"), ("int8", "int8", "int32"), ("int16", "int16", "int16")])
    groups, each, n = rng.randint(1, 3), rng.randint(1, 3), rng.randint(0, 2)
    kernel, stride, dilation = ([rng.randint(1, m) for _ in range(2)] for m in (3, 3, 2))
    pad = [rng.randint(0, 2) for _ in range(4)]
    x = values(rng, xt, (n, groups * each, *[(k - 1) * d + rng.randint(1, 4) for k, d in zip(kernel, dilation)]), "plain")
    w = values(rng, wt, (groups * rng.randint(1, 2), each, *kernel), "plain")
    acc = np.float64 if to.startswith("float") else np.int64
    seen = windows(padded(x.astype(acc), pad), kernel, stride, dilation)
    parts = [np.einsum("nchwij,ocij->nohw", a, b) for a, b in zip(np.split(seen, groups, 1), np.split(w.astype(acc), groups))]
    y = rounded(np.concatenate(parts, 1), to)
    c.emit(f"conv {c.const(x, xt)} {c.const(w, wt)} stride {stride} pad {pad} dilation {dilation} groups {groups}", to, y.shape)
    return y, to


def mean_windows(x, sizes):
    n, channels, height, width = x.shape
    y = np.zeros((n, channels, *sizes))
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            rows = slice(i * height // sizes[0], -(-(i + 1) * height // sizes[0]))
            columns = slice(j * width // sizes[1], -(-(j + 1) * width // sizes[1]))
            y[:, :, i, j] = x[:, :, rows, columns].mean((2, 3))
    return y


def op_pool(c, _):
    rng, dtype = c.rng, c.rng.choice(REALS)
    kind = rng.choice(["max", "average", "adaptive_average"])
    kernel, stride = ([rng.randint(1, 3) for _ in range(2)] for _ in range(2))
    pad = [rng.randint(0, k // 2) for k in kernel]
    dilation = [rng.randint(1, 2) if kind == "max" else 1 for _ in range(2)]
    x = values(rng, dtype, (rng.randint(0, 2), 2, *[(k - 1) * d + rng.randint(1, 5) for k, d in zip(kernel, dilation)]), "plain")
    count_pad, divisor = rng.randint(0, 1), rng.choice([0, 0, 5]) if kind == "average" else 0
    around = [pad[0], pad[0], pad[1], pad[1]]
    if kind == "adaptive_average":
        y = mean_windows(wide(x, dtype), [rng.randint(1, 6) for _ in range(2)])
    elif kind == "max":
        y = windows(padded(x, around, -math.inf), kernel, stride, dilation).max((4, 5))
    else:
        inside = windows(padded(np.ones(x.shape), around, count_pad), kernel, stride, dilation).sum((4, 5))
        y = windows(padded(wide(x, dtype), around), kernel, stride, dilation).sum((4, 5)) / (divisor or inside)
    c.emit(f"pool {c.const(x, dtype)} {kind} kernel {kernel} stride {stride} pad {pad} dilation {dilation} ceil 0 count_pad {count_pad} "
           f"divisor {divisor}", dtype, y.shape)
    return rounded(y, dtype), dtype


def dims_of(rng, rank):
    return tuple(sorted(rng.sample(range(rank), rng.randint(1, rank))))


def op_softmax(c, _):
    shape, dtype, log = shape_of(c.rng, 1), c.rng.choice(REALS), c.rng.randint(0, 1)
    dims = dims_of(c.rng, len(shape))
    x = values(c.rng, dtype, shape, "plain")
    away = wide(x, dtype) - wide(x, dtype).max(dims, keepdims=True)
    total = np.exp(away).sum(dims, keepdims=True)
    c.emit(f"softmax {c.const(x, dtype)} dims {list(dims)} log {log}", dtype, shape)
    return rounded(away - np.log(total) if log else np.exp(away) / total, dtype), dtype


def op_norm(c, _):
    rng, dtype = c.rng, c.rng.choice(REALS)
    kind, groups = rng.choice(["batch", "layer", "rms", "group"]), rng.randint(1, 2)
    shape = (rng.randint(1, 3), groups * rng.randint(1, 3), *shape_of(rng, 0, 2))
    last, channels = rng.randint(1, len(shape)), kind in ("batch", "group")
    dims = [] if channels else list(range(len(shape) - last, len(shape)))
    given = kind == "batch" and rng.random() < 0.5
    flags = [given, given, rng.random() < 0.5, kind != "rms" and rng.random() < 0.5]
    each = (shape[1],) if channels else shape[len(shape) - last:]
    x = values(rng, dtype, shape, "plain")
    p = [values(rng, dtype, each, "positive" if k == 1 else "plain") if f else None for k, f in enumerate(flags)]
    along = (1, -1) + (1,) * (len(shape) - 2) if channels else each
    mean, variance, weight, bias = (None if v is None else wide(v, dtype).reshape(along) for v in p)
    v = wide(x, dtype).reshape(shape[0], groups, -1) if kind == "group" else wide(x, dtype)
    over = {"batch": (0, *range(2, len(shape))), "group": (2,)}.get(kind, tuple(dims))
    mean = 0 if kind == "rms" else v.mean(over, keepdims=True) if mean is None else mean
    variance = ((v - mean) ** 2).mean(over, keepdims=True) if variance is None else variance
    y = ((v - mean) / np.sqrt(variance + 0.25)).reshape(shape) * (1 if weight is None else weight) + (0 if bias is None else bias)
    operands = " ".join(c.const(a, dtype) for a in [x] + [a for a in p if a is not None])
    c.emit(f"norm {operands} {kind} dims {dims} groups {groups} eps 0.25 mean {int(flags[0])} variance {int(flags[1])} "
           f"weight {int(flags[2])} bias {int(flags[3])}", dtype, shape)
    return rounded(y, dtype), dtype


def op_attention(c, _):
    rng, dtype = c.rng, c.rng.choice(REALS)
    batch, heads, group, rows, keys = rng.randint(1, 2), rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 6)
    q = values(rng, dtype, (batch, heads * group, rows, 3), "plain")
    k, v = values(rng, dtype, (rng.choice([1, batch]), heads, keys, 3), "plain"), values(rng, dtype, (batch, heads, keys, 2), "plain")
    causal, scaled, masked = rng.randint(0, 1), rng.randint(0, 1), rng.choice([None, "bool", dtype])
    operands = " ".join(c.const(a, dtype) for a in (q, k, v))
    s = wide(q, dtype) @ np.repeat(wide(k, dtype), group, 1).swapaxes(2, 3) * (0.3 if scaled else 1 / math.sqrt(3))
    if masked:
        mask = values(rng, masked, (batch, 1, rng.choice([1, rows]), keys), "plain")
        operands += " " + c.const(mask, masked)
        s = np.where(mask, s, -math.inf) if masked == "bool" else s + mask
    if causal:
        s = np.where(np.arange(keys) <= np.arange(rows)[:, None], s, -math.inf)
    e = np.exp(s - np.maximum(s.max(3, keepdims=True), -1e300))
    y = e / np.maximum(e.sum(3, keepdims=True), 0.5) @ np.repeat(wide(v, dtype), group, 1)
    c.emit(f"attention {operands} causal {causal} scaled {scaled} scale 0.3", dtype, y.shape)
    return rounded(y, dtype), dtype


def quantised(x, kind, dims, keep, factor, dtype):
    """(codes, scale); each step is rounded to the type."""
    def r(v):
        return wide(rounded(v, dtype), dtype)

    def mean(v, n):
        return r(r(v.sum(dims, keepdims=True)) / np.maximum(n, 1))
    size = np.abs(x)
    count = np.prod([x.shape[d] for d in dims])
    limit = r(mean(size, count) * r(factor))
    if kind == "absmean":
        scale = np.maximum(mean(size, count), r(1e-5))
        codes = np.clip(np.rint(r(x / scale)), -1, 1)
    elif kind == "absmax":
        scale = r(np.maximum(size.max(dims, keepdims=True), r(1e-5)) / 127)
        codes = np.clip(np.rint(r(x / scale)), -127, 127)
    elif kind == "adaptive":
        far = size > limit
        scale, codes = mean(np.where(far, size, 0), far.sum(dims, keepdims=True)), np.where(far, np.sign(x), 0)
    else:
        scale, codes = mean(size, count), np.sign(x) if kind == "sign" else np.where(x >= 0, 1, -1)
    return codes.astype(np.int8), scale if keep else scale.reshape([n for d, n in enumerate(x.shape) if d not in dims])


def op_quantize(c, op):
    rng, dtype, shape = c.rng, c.rng.choice(REALS), shape_of(c.rng, 1)
    keep, factor = rng.randint(0, 1), 0.7
    dims = dims_of(rng, len(shape)) if keep else tuple(range(len(shape)))
    kind = rng.choice(["absmean", "absmax", "adaptive", "sign", "binary"] + ["threshold"] * (op == "quantize"))
    x = values(rng, dtype, shape, "plain")
    if kind == "threshold":
        t = values(rng, dtype, rng.choice([(), shape[-1:]]), "positive")
        c.emit(f"quantize {c.const(x, dtype)} {c.const(t, dtype)} threshold dims [] keep 0 factor 0", "trit", shape)
        return (x > t).astype(np.int8) - (x < -t).astype(np.int8), "trit"
    codes, scale = quantised(wide(x, dtype), kind, dims, keep, factor, dtype)
    y, result = (codes, "int8" if kind == "absmax" else "trit") if op == "quantize" else (rounded(scale, dtype), dtype)
    c.emit(f"{op} {c.const(x, dtype)} {kind} dims {list(dims)} keep {keep} factor {factor}", result, np.shape(y))
    return y, result


def op_dequantize(c, _):
    shape, dtype, codes = shape_of(c.rng, 1), c.rng.choice(REALS + ["float16"]), c.rng.choice(["trit", "int8"])
    q, scale = values(c.rng, codes, shape), values(c.rng, dtype, c.rng.choice([(), shape[-1:]]), "plain")
    c.emit(f"dequantize {c.const(q, codes)} {c.const(scale, dtype)}", dtype, shape)
    return rounded(q.astype(np.float64) * wide(scale, dtype), dtype), dtype


def op_embedding(c, _):
    table, dtype = shape_of(c.rng, 2, 2), c.rng.choice(REALS)
    index = np.array([c.rng.randrange(table[0]) for _ in range(6)], np.int64).reshape(2, 3)
    x = values(c.rng, dtype, table)
    c.emit(f"embedding {c.const(x, dtype)} {c.const(index, 'int64')}", dtype, (2, 3) + table[1:])
    return x[index], dtype


def op_resize(c, _):
    rng, dtype, mode = c.rng, c.rng.choice(REALS), c.rng.choice(["nearest", "linear"])
    x = values(rng, dtype, (2, 1, rng.randint(1, 5), rng.randint(1, 5)), "plain")
    sizes, corners = [rng.randint(1, 9) for _ in range(2)], rng.randint(0, 1) if mode == "linear" else 0
    y, f = wide(x, dtype), np.float32
    for axis, n in zip((2, 3), sizes):
        size = y.shape[axis]
        step = f(size) / f(n) if not corners else f(0) if n == 1 else (f(size) - f(1)) / (f(n) - f(1))
        at = np.arange(n, dtype=f) * step
        if mode == "linear" and not corners:
            at = np.maximum((np.arange(n, dtype=f) + f(0.5)) * step - f(0.5), f(0))
        low = np.minimum(np.floor(at).astype(int), size - 1)
        part = (at - low.astype(f)).astype(np.float64) if mode == "linear" else np.zeros(n)
        part = part.reshape([-1 if d == axis else 1 for d in range(4)])
        y = np.take(y, low, axis) * (1 - part) + np.take(y, np.minimum(low + 1, size - 1), axis) * part
    c.emit(f"resize {c.const(x, dtype)} {mode} corners {corners} scaled 0 scale [0, 0]", dtype, y.shape)
    return rounded(y, dtype), dtype


HANDLERS = {"conv": op_conv, "pool": op_pool, "softmax": op_softmax, "norm": op_norm, "attention": op_attention, "quantize": op_quantize,
            "quant_scale": op_quantize, "dequantize": op_dequantize, "embedding": op_embedding, "resize": op_resize}
