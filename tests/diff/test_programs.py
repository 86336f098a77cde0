"""Whole programs (programs/*.tri), compiled at every level and interpreted, against NumPy.

A row of PROGRAMS has the inputs ("dtype dims", where N is the batch and M, T are other run-time sizes), the parameters in the weights file, and a function
of both that computes the expected outputs."""
import math
import os
import unittest

import numpy as np

from inference import InferenceTest, safetensors
from project import SOURCE

HERE = os.path.join(SOURCE, "tests", "diff", "programs")
F32 = np.float32
erf = np.vectorize(math.erf, otypes=[np.float64])


def linear(p, name, x):
    y = x @ p[name + ".weight"].T
    return y + p[name + ".bias"] if name + ".bias" in p else y


def relu(x):
    return np.maximum(x, 0)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def fc(name, inputs, outputs, bias=True):
    return {name + ".weight": (outputs, inputs), **({name + ".bias": (outputs,)} if bias else {})}


def nested(p, x):
    for i in range(3):
        x = x + linear(p, f"body.blocks.{i}.down", gelu(linear(p, f"body.blocks.{i}.up", x)))
    return linear(p, "head", x)


NESTED = {k: v for i in range(3) for k, v in {**fc(f"body.blocks.{i}.up", 16, 8 * (i + 2)), **fc(f"body.blocks.{i}.down", 8 * (i + 2), 16, False)}.items()}


def norms(p, x):
    bn = (x - p["bn.running_mean"]) / np.sqrt(p["bn.running_var"] + 1e-5) * p["bn.weight"] + p["bn.bias"]
    ln = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * p["ln.weight"] + p["ln.bias"]
    y = x.reshape(-1, 3, 4)
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5) * p["instance.weight"][:, None] + p["instance.bias"][:, None]
    return bn, ln, x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p["rn.weight"], y


def rows(p, x):
    h, g = np.tanh(x * p["weight"]), x - x.mean(-1, keepdims=True)
    return softmax(h), h / np.sqrt((h * h).mean(-1, keepdims=True) + 1e-5), g / np.sqrt((g * g).mean(-1, keepdims=True) + 1e-5)


def activations(p, x):
    tanh_gelu = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    gate = np.clip(x + 3, 0, 6) / 6
    return np.stack([relu(x), np.clip(x, 0, 6), relu(x) ** 2, np.where(x > 0, x, 0.01 * x), sigmoid(x), np.tanh(x), gelu(x), tanh_gelu, x * sigmoid(x),
                     x * gate, gate, np.log1p(np.exp(x))])


def saturated(p, x):
    gelu_huge, gelu_infinite = np.where(x < 0, F32(-0.0), x * F32(1e15)), np.where(x < 0, F32(np.nan), F32(np.inf))
    return np.stack([np.sign(x), gelu_huge, gelu_huge, gelu_infinite, gelu_infinite])


def maths(p, x):
    a = np.abs(x) + 0.5
    return np.stack([np.sin(x), np.cos(x), np.exp(x), np.log(a), np.log2(a), np.sqrt(a), 1 / np.sqrt(a), a ** 1.5, np.sign(x), np.ceil(x), np.floor(x),
                     np.round(x), np.clip(x, -1, 1), np.minimum(x, 0.5), x ** 2, -x], 1)


def reduces(p, x):
    return (x.sum(1), x.mean(-1, keepdims=True), x.sum((1, 2)), x.var(2, ddof=1), x.std(2), x.prod(1), x.argmax(1), x.argmin(-1)[..., None], x.sum(), x.sum(0))


def minmax(p, x):
    return x.max(1), x.argmax(1), x.min(1, keepdims=True), x.argmin(1)[:, None], (x > 0).any(1), (x > -2).all(1, keepdims=True)


def ints(p, x, y, z):
    byte = (x * 100).astype(np.int8)  # the low bits
    return (x + y, x.astype(F32) / F32(3), x // -2, x % -3, np.abs(x) - y, np.where(x > y, x, y), x.prod(1, dtype=np.int64), np.maximum(x, y), byte,
            (y * y * np.int8(50)).astype(np.int8), z * z - x, z @ z.T)


def inplace(p, x, y, i):
    a = np.cumsum(x) * 0.5 - 1
    c = np.cumsum(a)
    c[i], c[i + 1] = x.sum(), a.sum()
    d = np.abs(np.cumsum(y, 1)) + 1
    return np.cumsum(c), np.cumsum(d, 1), np.cumsum(np.exp(-np.cumsum(d, 0)), 0)


def slices(p, x):
    return x[:, 2:8:2], x[:, 0], x[:, -1], x[:, :, None], x[:, -3:], x[:, 1:-1].reshape(x.shape[0], 8 * x.shape[2]), x[:, 3, None]


def reshapes(p, x):
    n = len(x)
    return (x.reshape(6 * n, 4), x.reshape(2 * n, 3, 4), x.transpose(2, 0, 1), np.moveaxis(x, 0, -1), x.swapaxes(0, 2).reshape(4, 6 * n),
            np.broadcast_to(x[:, None], (n, 3, 6, 4)), np.tile(x, (1, 2, 1)))


def splits(p, x):
    s = x[:, :2].sum(1, keepdims=True) + x[:, 2:6].mean(1, keepdims=True) + x[:, 6:].mean(1, keepdims=True)
    return x[:, :4] * x[:, 4:8] - x[:, 8:], s


def halves(p, x, y):
    k = np.float16(1000)
    return x * y + x - y, (x + k) - k, x.astype(F32) * F32(3), x * x * x


def booleans(p, x, m):
    big = x > 1
    return np.where(big & m, x, 0), big | ~m, x != 0, m.sum(1), big.astype(np.int8), np.where(m, x, -x)


def choice(p, x):
    x = x + relu(linear(p, "u.0.fc", x))
    x = linear(p, "u.1.skip.0", x) + np.tanh(linear(p, "u.1.fc", x))
    return x + relu(linear(p, "u.2.fc", x))


def sizes(p, x):
    n, m = x.shape
    scale = 3.0 if (n, m) == (5, 3) else 2.0 if n == 7 else 1.0
    return (x + 1 if n != 1 and n >= m else x) * scale, np.asarray(max(scale, x.sum(), 0.5))


def rounding(p, x):
    return np.round(x * 2) / 2, np.round(x / 0.5), np.trunc(x * 3).astype(np.int32), np.clip(np.trunc(x * 100), -128, 127).astype(np.int8), np.floor(x) % 2


def clipped(p, x):
    with np.errstate(invalid="ignore", over="ignore"):
        infinite = x * F32(1e30) * F32(1e30)
        z = np.concatenate([x * F32(60), infinite, infinite - infinite, np.floor(x * F32(60)) + F32(0.5)])
        r = np.round(z)

    def whole(v, t):
        return np.trunc(np.where(np.isnan(v), 0, v)).astype(t)
    return (whole(np.clip(r, -127, 127), np.int8), whole(np.clip(z, -3.5, 100.25), np.int8), whole(np.clip(r, -90, 300), np.int16),
            whole(np.clip(r, -0.5, 1.5), np.int8), whole(np.clip(r, -128, 100), np.int8), whole(np.clip(r, -1, 1), np.int8),
            whole(np.clip(r[:, 4:7], -128, 126), np.int8), whole(np.where(np.isnan(r), r, 2), np.int8))


def tritmath(p, x):
    w = np.array([[1, 0, -1], [1, 1, 0], [-1, 0, 0], [0, -1, 1]])
    t = np.where(x > 0.5, 1, np.where(x < -0.5, -1, 0))
    return t + 1.0, (t @ w).astype(np.int32), x @ w, t == 1, (np.trunc(x).astype(np.int32) @ w).astype(np.int32), x @ w


def tritmixed(p, x, i, m):
    t = np.where(x > 0.5, 1, np.where(x < -0.5, -1, 0))
    w, b = np.array([[1, 0, -1], [1, 1, 0], [-1, 0, 0], [0, -1, 1]]), np.array([1, 0, -1])
    return (x @ w + b, t + x, x / 2 - t, (t + t).astype(np.int8), (t * i).astype(np.int32), t > x, (t + 7).astype(np.int32), t / 2.0,
            np.where(m, x, 0), np.where(m, i, 0).astype(np.int32), np.where(m, t, 0).astype(np.int8), np.where(m, np.int32(3), 0).astype(np.int32), x * (x.sum() > 1))


def conv(x, w, stride, pad, dilation=1):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = [(x.shape[2 + k] - dilation * (w.shape[2 + k] - 1) - 1) // stride + 1 for k in range(2)]
    y = np.zeros((x.shape[0], w.shape[0], *size))
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            at = x[:, :, i * dilation:i * dilation + stride * (size[0] - 1) + 1:stride, j * dilation:j * dilation + stride * (size[1] - 1) + 1:stride]
            y += np.einsum("nchw,oc->nohw", at, w[:, :, i, j])
    return y


def convtrits(p, x):
    t = (p["w"] > 0.5).astype(np.float64) - (p["w"] < -0.5)
    a = np.maximum(np.abs(x).max((1, 2, 3), keepdims=True), 1e-5) / 127
    q = np.round(x / a.astype(F32))
    v = (p["v"] > 0.5).astype(np.float64) - (p["v"] < -0.5)
    single = np.concatenate([conv(q[:, c:c + 1], v[c:c + 1], 2, 1) for c in range(3)], 1)
    return conv(x, t * p["s"], 1, 1), conv(x, t * 0.25, 2, 0), conv(q * a, t * p["s"], 1, 2, 2), single.astype(np.int32)


def trits_of(x):
    return (x > 0.5).astype(np.float64) - (x < -0.5)


def grouped(x, w, groups, stride=(1, 1), pad=(0, 0), dilation=1):
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[0]), (pad[1], pad[1])))
    parts = zip(np.split(x, groups, 1), np.split(w, groups))
    return np.concatenate([conv(part, own, 1, 0, dilation) for part, own in parts], 1)[:, :, ::stride[0], ::stride[1]]


def groups(p, x, q):
    a, b, c, d, s = (p[k].astype(np.float64) for k in "abcds")
    q = q.astype(np.float64)
    line = lambda v: v.reshape(len(v), v.shape[1], 1, math.prod(v.shape[2:]))
    first = grouped(q, trits_of(a), 12, pad=(1, 1))
    chain = grouped(np.clip(first, -100, 100), trits_of(a[..., :2]), 16, pad=(2, 2), dilation=2)
    forms = lambda v, a, b, c, d: (grouped(v, a, 12, pad=(1, 1)), relu(grouped(v, b, 3, (2, 2)) * s), grouped(v, c, 2, (2, 1), (1, 1)),
                                   grouped(line(v), line(d).reshape(72, 4, 1, 3), 9, pad=(0, 1))[:, :, 0])
    trits, ternary, floats = forms(q, *map(trits_of, (a, b, c, d))), forms(x, trits_of(a), trits_of(b) * 0.5, trits_of(c), d), forms(x, a, b, c, d)
    ints = lambda v: v.astype(np.int32)
    return (ints(trits[0]), trits[1], ints(chain), ints(trits[2]), ints(trits[3]), ints(grouped(trits_of(x), trits_of(a), 12)),
            *ternary[:3], *floats)


def tritacts(p, x, y):
    product = trits_of(x) @ trits_of(p["w"])
    return product.astype(np.int32), np.maximum(product * 0.5, 0), conv(trits_of(y), trits_of(p["v"]), 2, 1).astype(np.int32)


def pruned(p, x, y):
    k = np.arange(96)[:, None]
    rows, blocks = trits_of(np.where(k % 8 == 3, p["w"], 0)), trits_of(np.where(k >= 72, p["w"], 0))
    a = (np.maximum(np.abs(y).max(1, keepdims=True), 1e-5) / 127).astype(F32)
    q = np.round(y.astype(F32) / a).astype(np.float64)
    return (x @ rows).astype(np.int32), np.maximum(x @ blocks * 0.5, 0), q @ rows * a


def attention(p, q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(8)) @ v


def attend(q, k, v, mask):
    k, v = (np.repeat(t.astype(np.float64), q.shape[1] // t.shape[1], 1) for t in (k, v))
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + mask) @ v


def caches(p, q, k, v, k8, v8, ks, vs):
    bits = k.astype(F32).view(np.uint32)
    short = ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(F32)
    one, causal = q[:, :, :1], np.where(np.tri(q.shape[2], k.shape[2], dtype=bool), 0, -np.inf)
    codes = k8 * ks * 0.05, v8 * vs * 0.05
    return attend(q, k, v, 0), attend(q, *codes, causal), attend(one, short, v, 0), attend(one, *codes, ks[:, :1].swapaxes(2, 3))


def lookup(p, ids, x):
    i = ids % 9
    return i.astype(F32), x[:, [0, 8, 3]], np.tile(np.arange(9).reshape(3, 3), (3, 1))[i]


def newton(p, x):
    a = np.abs(x).sum() + 1
    return np.sqrt(a), 1


def counted(p, x, n):
    n, h, fib, down = int(n), x, (1, 1), 0
    for _ in range(n):
        h = h * 0.5 + 1
    for _ in range(2, n):
        fib = fib[1], fib[0] + fib[1]
    for i in range(n, 0, -2):
        down = down * 3 + i
    count = 0
    for i in range(n + 4):
        if i == 3:
            continue
        count += sum(k for k in range(i + 1) if k <= 4)
        if count > 30:
            break
    return h, x.sum(0), count, fib[1], down


def decode(p, start, n):
    token, out, used = int(start), [-1] * 8, 0
    for _ in range(n):
        token = int((p["head.weight"] @ np.tanh(p["embed.weight"][token]) + p["head.bias"]).argmax())
        out, used = out[1:] + [token], used + 1
        if token == start:
            break
    return np.array(out), used


def gate(p, name, x):
    up, down = linear(p, name + ".up", x), linear(p, name + ".down", x)
    if x.mean() > 0:
        return up * p[name + ".scale"]
    if down.max() > 1:
        down = np.tanh(down)
    elif down.min() < -0.5:
        down = relu(down) @ p[name + ".down.weight"]
    return down - x


def branches(p, x, flag):
    low, high = (x.min(), x.max()) if flag else (x.max(), x.min())
    safe = len(x) > 2 and x[2].sum() > 0
    h = gate(p, "a" if flag else "b", x)
    return h if safe or flag else -h, gate(p, "b", -x), low - high, int(safe or flag), bool(flag and safe)


def relax(p, x, n):
    n, h, kept = int(n), x, [x, x * 0.5]
    for k in range(max(n, 0)):
        h = 0.5 * h + 0.1 * np.tanh(linear(p, "f", h))
        if k % 2 == 1:
            h = h + 0.1 * linear(p, "g", h)
        kept = [kept[1], h]
    for i in range(3):
        if h.sum() > 1000:
            break
        h = h + i
    row, limit = np.zeros(x.shape[1]), n - 3
    for r in x:
        if r.sum() > limit:
            row = r * 2
            break
        limit -= 0.25
    return h, kept[0], row, max(n, 0)


def settled(p, x):
    w, m, n = p["w"], p["w"], 0
    while np.abs(m).max() > 0.01 and n < 50:
        m, n = m @ w * 0.25, n + 1
    positive = p["flag"] > 0
    return (x @ w if positive else x @ w.T) + (w.sum(0) if positive else w @ w[0]), n, m * 100


def reshaped(p, x, n):
    a = h = np.tanh(x)
    for _ in range(int(n)):
        h = h * 0.5 + x
    return h, a[None]


TIED = {"embed.weight": (9, 6), "blocks.0.fc.weight": (6, 6), "blocks.1.fc.weight": (6, 6), "again.1.bias": (6,), "w": (6,), "scales.1.b": (6,),
        "scales.2.a": (6,), "scales.3.a": (6,), "scales.3.b": (6,), "trits.weight": (6, 6), "back.bias": (6,)}


def tied(p, ids):
    x, a, b, t = (p[k] for k in ("embed.weight", "blocks.0.fc.weight", "blocks.1.fc.weight", "trits.weight"))
    x = x[ids]
    first, second = lambda v: v @ a.T, lambda v: v @ b.T + p["again.1.bias"]
    scales = [lambda v, k=k: v * p[k[0]] + p[k[1]] for k in (("w", "w"), ("w", "scales.1.b"), ("scales.2.a", "w"), ("scales.3.a", "scales.3.b"))]
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return (second(first(relu(relu(x @ a.T) @ b.T))) @ p["embed.weight"].T, np.stack([s(x) for s in scales]),
            np.stack([second(first(first(x))), first(second(first(x))), first(first(x)) @ b.T]), x @ t.T @ t.T + p["back.bias"],
            scales[3](scales[3](x)), scales[3](scales[2](x)), np.stack([x @ a.T + p["back.bias"], normal * p["w"] + p["back.bias"]]))


# Programs that index, loop and scatter as users of PyTorch do.
def log_softmax(x):
    return x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))


def beam(p, scores, logits, history):
    total = (scores[..., None] + log_softmax(logits)).reshape(len(scores), 27)
    at = np.argsort(-total, 1)[:, :3]
    kept = np.take_along_axis(history, (at // 9)[..., None], 1)
    return np.take_along_axis(total, at, 1), np.concatenate([kept, (at % 9)[..., None]], 2), at // 9


def nucleus(p, logits, share):
    probs = softmax(logits / 0.8)
    at = np.argsort(-probs, -1)
    ordered = np.take_along_axis(probs, at, -1)
    out = np.zeros_like(probs)
    np.put_along_axis(out, at, np.where(np.cumsum(ordered, -1) - ordered > sigmoid(share), 0, ordered), -1)
    return out / out.sum(-1, keepdims=True), out.argmax(-1), (out != 0).sum(-1)


def positions(p, k, v, new, q, pos):
    k, v = k.copy(), v.copy()
    k[:, :, pos], v[:, :, pos] = new[:, :, 0], v[:, :, pos] + new[:, :, 0] * 0.5
    return softmax(q @ k[:, :, : pos + 1].swapaxes(-1, -2) / 2) @ v[:, :, : pos + 1], k[:, :, pos], v[:, 1, :, -1]


def suppress(p, corner, extent, scores):
    order = np.argsort(-scores)
    boxes = np.concatenate([corner, corner + np.abs(extent) + 0.5], 1)[order]
    areas, keep = np.prod(boxes[:, 2:] - boxes[:, :2], 1), np.ones(len(boxes), bool)
    for i, b in enumerate(boxes):
        size = np.clip(np.minimum(b[2:], boxes[:, 2:]) - np.maximum(b[:2], boxes[:, :2]), 0, None)
        both = size[:, 0] * size[:, 1]
        if keep[i]:
            keep &= ~((both / (areas[i] + areas - both) > 0.3) & (np.arange(len(boxes)) > i))
    return order, keep, keep.sum()


def segments(p, x, ids):
    counts = np.bincount(ids, minlength=9).astype(x.dtype)
    means = np.stack([x[ids == k].sum(0) for k in range(9)]) / np.maximum(counts, 1)[:, None]
    return means, counts, x - means[ids]


def rotary(p, x, pos):
    angle = pos[..., None, None] / 10000 ** (np.arange(4) / 4)
    a, b, c, s = x[..., :4], x[..., 4:], np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def boxes(p, anchors, deltas):
    size = np.abs(anchors[:, 2:] - anchors[:, :2])
    middle = anchors[:, :2] + 0.5 * size + deltas[:, :2] * size
    half = size * np.exp(np.minimum(deltas[:, 2:], 4)) / 2
    return np.concatenate([middle - half, middle + half], 1).clip(-10, 10), (2 * half).prod(1)


def sliding(p, q, k, v, window):
    away = np.arange(q.shape[1])[:, None] - np.arange(q.shape[1])
    seen = (away >= 0) & (away <= window % 2)
    return softmax(np.where(seen, q @ k.swapaxes(1, 2) / 2, -1e9)) @ v, seen


def gated(p, x, lengths):
    h = best = np.zeros((len(x), 6))
    for t in range(x.shape[1]):
        (xr, xz, xn), (hr, hz, hn) = np.split(x[:, t] @ p["w"].T + p["b"], 3, -1), np.split(h @ p["u"].T, 3, -1)
        z, n = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * hn)
        h = np.where((t < lengths)[:, None], (1 - z) * n + z * h, h)
        best = np.maximum(best, h)
    return h, best


def labels(p, logits, target):
    logs, text = log_softmax(logits), [0, *(int(v) for t in target for v in (0, t)), 0][1:]
    alpha = np.where(np.arange(7) == 0, 0.0, -1e9)
    for row in logs:
        parts = [[alpha[k], alpha[k - 1] if k else -1e9, alpha[k - 2] if k > 1 and text[k] and text[k] != text[k - 2] else -1e9] for k in range(7)]
        alpha = np.logaddexp.reduce(parts, axis=1) + row[text]
    tokens, decoded = logits.argmax(-1), []
    for k, token in enumerate(tokens):
        if token and (not k or token != tokens[k - 1]):
            decoded.append(token)
    return np.logaddexp(alpha[-1], alpha[-2]), np.array(decoded + [0] * (39 - len(decoded))), len(decoded)


def experts(p, x, rows):
    scores, out, load = x @ p["gate"], np.zeros_like(x), np.zeros(4, np.int64)
    chosen = np.argsort(-scores, 1)[:, :2]
    share = softmax(np.take_along_axis(scores, chosen, 1))
    for n, (row, to) in enumerate(zip(x, chosen)):
        for k, e in enumerate(to):
            out[n] += share[n, k] * (relu(row @ p["up"][e]) @ p["down"][e])
            load[e] += 1
    some = np.zeros((9, 6))
    np.add.at(some, rows, relu(p["up"][rows % 4, 0] @ p["down"][0]))
    return out, load, some


def pointer(p, items, query):
    n = np.arange(len(items))
    seen, picks, q = np.zeros((len(items), 6), bool), [], query
    for _ in range(3):
        at = np.where(seen, -1e9, np.einsum("nd,nkd->nk", q, items)).argmax(-1)
        seen[n, at] = True
        q = np.tanh(q + items[n, at])
        picks.append(at)
    return np.stack(picks, 1), q, seen


def histogram(p, ids, x):
    counts = np.bincount(ids, minlength=9)
    bins = np.bincount(np.searchsorted([-2, -0.5, 0, 0.5, 2], x.ravel()), minlength=6)
    return counts, counts.cumsum(), bins, (ids[:, None] == ids).sum(1)


def patches(p, x):
    rows = x.reshape(len(x), 3, 2, 2, 3, 2).transpose(0, 2, 4, 1, 3, 5).reshape(len(x), 6, 12)
    return rows, rows - rows.mean(-1, keepdims=True), x * 2


def smoothing(p, logits, target):
    logs = log_softmax(logits)
    loss = -0.9 * logs[np.arange(len(logs)), target] - 0.1 * logs.mean(-1)
    counts = target != 0
    return np.where(counts, loss, 0), loss[counts].sum() / max(counts.sum(), 1), loss, (logits.argmax(-1) == target).sum().astype(F32)


def bytes_(p, x, y, z, t, f):
    def saturate(v):
        return np.clip(np.trunc(v), 0, 255).astype(np.uint8)
    u8, i16, i64, none = np.uint8, x.astype(np.int16), x.astype(np.int64), y == 0
    over = np.where(none, 1, y)
    return (x + y, x - y, x * y - u8(3), u8(0) - x, np.where(none, 0, x // over).astype(u8), np.where(none, 0, x % over).astype(u8), x * x * x, (x != 0).astype(u8),
            x < y, x >= 128, np.minimum(x, y), np.maximum(x, u8(100)), np.clip(x, u8(50), u8(200)), np.where(x > y, i16, z), i16 * z, i64.sum(1), i64.prod(1),
            i64.cumsum(1), np.sort(x, 1), x.max(), x.min(1), x.argmax(1),
            x.astype(np.int8), i16, x.astype(np.float16), x.astype(F32) / F32(255), x != 0, (x != 0).astype(np.int8),
            z.astype(u8), (i64 * 100).astype(u8), saturate(f * F32(100)), saturate(np.round(f * F32(50))), (x > 9).astype(u8), t.astype(u8),
            x.astype(np.int32) @ t, x.astype(np.int32) @ y.T.astype(np.int32), (np.arange(256) * 7).astype(u8)[x], x[:, ::2], x.astype(F32) / y.astype(F32),
            x & y, x | y, x ^ y, ~x, (i64 << y % u8(10)).astype(u8), (i64 >> y % u8(10)).astype(u8))


def image(p, x):
    mean, std = (np.reshape(v, (3, 1, 1)) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    pixels = np.pad((x / 255 - mean) / std, ((0, 0), (0, 0), (1, 1), (1, 1)))
    parts = np.lib.stride_tricks.sliding_window_view(pixels, (3, 3), (2, 3))[:, :, ::2, ::2]
    h = relu(np.einsum("nchwij,ocij->nohw", parts, p["stem.weight"]) + p["stem.bias"][:, None, None])
    logits = linear(p, "head", h.mean((2, 3)))
    return logits, logits.argmax(1)


CHOICE = {**fc("u.0.fc", 6, 6), **fc("u.1.fc", 6, 9), **fc("u.1.skip.0", 6, 9, False), **fc("u.2.fc", 9, 9)}
NORMS = {"bn.weight": (12,), "bn.bias": (12,), "bn.running_mean": (12,), "bn.running_var": (12,), "ln.weight": (12,), "ln.bias": (12,), "rn.weight": (12,),
         "instance.weight": (3,), "instance.bias": (3,)}
PROGRAMS = {
    "nested": ({"x": "float32 N 16"}, {**NESTED, **fc("head", 16, 5)}, nested),
    "shared": ({"x": "float32 N 8"}, fc("f", 8, 8), lambda p, x: linear(p, "f", relu(linear(p, "f", x)))),
    "tied": ({"ids": "index N"}, TIED, tied),
    "norms": ({"x": "float32 N 12"}, NORMS, norms),
    "rows": ({"x": "float32 N 2 300"}, {"weight": (2, 300)}, rows),
    "activations": ({"x": "float32 N 6"}, {}, activations),
    "saturated": ({"x": "float32 N 4"}, {}, saturated),
    "maths": ({"x": "float32 N M"}, {}, maths),
    "reduces": ({"x": "float32 N 5 7"}, {}, reduces),
    "minmax": ({"x": "float32 N 9"}, {}, minmax),
    "attention": ({"q": "float32 N 2 M 8", "k": "float32 N 2 T 8", "v": "float32 N 2 T 8"}, {}, attention),
    "caches": ({"q": "float32 N 6 M 8", "k": "float16 N 2 T 8", "v": "float16 N 2 T 8", "k8": "int8 N 2 T 8", "v8": "int8 N 2 T 8",
                "ks": "float32 N 2 T 1", "vs": "float32 N 2 T 1"}, {}, caches),
    "matmuls": ({"x": "float32 N 1 M 4", "y": "float32 N 4", "v": "float32 4"}, {},
                lambda p, x, y, v: (x @ np.ones((3, 4, 6), x.dtype), y.T @ y, y @ v, v @ y.T)),
    "ints": ({"x": "int32 N 4", "y": "int8 4", "z": "int64 N 4"}, {}, ints),
    "int8dot": ({"x": "int8 N 21", "y": "int8 21 M"}, {}, lambda p, x, y: x.astype(np.int32) @ y.astype(np.int32)),
    "slices": ({"x": "float32 N 10 M"}, {}, slices),
    "inplace": ({"x": "float32 1037", "y": "float32 N 96", "i": "index"}, {}, inplace),
    "concats": ({"x": "float32 N 4", "y": "float32 N 3", "z": "float32 M 4"}, {},
                lambda p, x, y, z: (np.concatenate([x, y], 1), np.concatenate([x, z]), np.stack([x, x * 2], 1), np.concatenate([x, y, x], 1).sum(1))),
    "reshapes": ({"x": "float32 N 6 4"}, {}, reshapes),
    "windows": ({"x": "float32 N 4 6 3"}, {}, lambda p, x: x + (x - x[:, ::2, ::2].repeat(2, 1).repeat(2, 2))),
    "splits": ({"x": "float32 N 12"}, {}, splits),
    "passthrough": ({"x": "float32 N 3", "y": "int32 N"}, {}, lambda p, x, y: (x, y, x, x + 1)),
    "halves": ({"x": "float16 N 16", "y": "float16 16"}, {}, halves),
    "doubles": ({"x": "float64 N 16", "y": "float32 16"}, {}, lambda p, x, y: (x + y, (x * x).sum(1), np.exp(x), x @ x.T)),
    "booleans": ({"x": "float32 N 4", "m": "bool N 4"}, {}, booleans),
    "generic": ({"x": "float32 N 5", "y": "float64 3 N"}, {}, lambda p, x, y: (x * x[:, :1], y * y.sum(1, keepdims=True))),
    "choice": ({"x": "float32 N 6"}, CHOICE, choice),
    "mask": ({"x": "float32 N M M"}, {}, lambda p, x: softmax(np.where(np.tri(x.shape[1], dtype=bool), x, -1e9))),
    "rounding": ({"x": "float32 N 7"}, {}, rounding),
    "clipped": ({"x": "float32 N 37"}, {}, clipped),
    "bytes": ({"x": "uint8 N 9", "y": "uint8 N 9", "z": "int8 N 9", "t": "trit 9 4", "f": "float32 N 9"}, {}, bytes_),
    "image": ({"x": "uint8 N 3 32 32"}, {"stem.weight": (8, 3, 3, 3), "stem.bias": (8,), **fc("head", 8, 10)}, image),
    "arithmetic": ({"x": "float32 6 M"}, {}, lambda p, x: x[1:] - x[:-1]),
    "broadcast": ({"x": "float32 N 1 4", "y": "float32 M", "z": "float32 N"}, {},
                  lambda p, x, y, z: (x * y[:, None], z[:, None, None] * x, y[:, None] - z)),
    "tritmath": ({"x": "float32 N 4"}, {}, tritmath),
    "tritmixed": ({"x": "float32 N 4", "i": "int32 N 4", "m": "bool N 4"}, {}, tritmixed),
    "pruned": ({"x": "int8 N 96", "y": "float32 N 96"}, {"w": (96, 70)}, pruned),
    "tritacts": ({"x": "float32 N 45", "y": "float32 N 3 7 6"}, {"w": (45, 37), "v": (5, 3, 3, 3)}, tritacts),
    "convtrits": ({"x": "float32 N 3 7 6"}, {"w": (5, 3, 3, 3), "s": (5, 1, 1, 1), "v": (3, 1, 3, 2)}, convtrits),
    "groups": ({"x": "float32 N 36 7 6", "q": "int8 N 36 7 6"},
               {"a": (48, 3, 3, 3), "b": (54, 12, 1, 1), "c": (80, 18, 3, 2), "d": (72, 4, 3), "s": (54, 1, 1)}, groups),
    "lookup": ({"ids": "index N", "x": "float32 N 9"}, {}, lookup),
    "beam": ({"scores": "float32 N 3", "logits": "float32 N 3 9", "history": "int32 N 3 4"}, {}, beam),
    "nucleus": ({"logits": "float32 N 9", "p": "float32"}, {}, nucleus),
    "positions": ({"k": "float32 N 2 9 4", "v": "float32 N 2 9 4", "new": "float32 N 2 1 4", "q": "float32 N 2 1 4", "pos": "index"}, {}, positions),
    "segments": ({"x": "float32 N 4", "ids": "index N"}, {}, segments),
    "rotary": ({"x": "float32 N M 2 8", "pos": "index N M"}, {}, rotary),
    "boxes": ({"anchors": "float32 N 4", "deltas": "float32 N 4"}, {}, boxes),
    "sliding": ({"q": "float32 N M 4", "k": "float32 N M 4", "v": "float32 N M 4", "window": "index"}, {}, sliding),
    "experts": ({"x": "float32 N 6", "rows": "index M"}, {"gate": (6, 4), "up": (4, 6, 8), "down": (4, 8, 6)}, experts),
    "pointer": ({"items": "float32 N 6 4", "query": "float32 N 4"}, {}, pointer),
    "histogram": ({"ids": "index N", "x": "float32 N M"}, {}, histogram),
    "patches": ({"x": "float32 N 3 4 6"}, {}, patches),
    "smoothing": ({"logits": "float32 N 9", "target": "index N"}, {}, smoothing),
}
GATES = {k: v for g in "ab" for k, v in {g + ".scale": (5,), **fc(g + ".up", 5, 5), **fc(g + ".down", 5, 5, False)}.items()}
# Run-time branches and loops, which OpenCL has not.
def closures(p, x, k):
    k, shift = int(k), x.mean(0)

    def step(y):
        return y / 2 - shift if y.max() > 4 else y * 2 + shift
    h, rounds = (step(x), 1) if k in (2, 4, 6) else (step(step(x)), k)
    for _ in range(len(x)):
        h = step(h)
    return h * 0.5 + 0.5, np.int32(rounds), np.bool_(k in (3, 5, 7))


def kept(p, x, limit):
    h, ys, n = x, [], 0
    for i in range(12):
        h = np.tanh(linear(p, "f", h)) + 0.1 * i
        ys.append(h.sum(0))
    while n < 6 and h.sum() <= limit:
        h, n = linear(p, f"last.{n}", h), n + 1
    return h, np.stack(ys), np.int32(n), np.int32(321)


CONTROL = {
    "suppress": ({"corner": "float32 N 2", "extent": "float32 N 2", "scores": "float32 N"}, {}, suppress),
    "gated": ({"x": "float32 N M 5", "lengths": "index N"}, {"w": (18, 5), "u": (18, 6), "b": (18,)}, gated),
    "labels": ({"logits": "float32 N 9", "target": "index 3"}, {}, labels),
    "newton": ({"x": "float32 N 4"}, {}, newton),
    "kept": ({"x": "float32 N 4", "limit": "float32"},
             {k: v for name in ("f", *(f"last.{i}" for i in range(6))) for k, v in fc(name, 4, 4, name == "f").items()}, kept),
    "counted": ({"x": "float32 N M", "n": "index"}, {}, counted),
    "decode": ({"start": "index", "n": "index"}, {"embed.weight": (9, 6), **fc("head", 6, 9)}, decode),
    "branches": ({"x": "float32 N 5", "flag": "bool"}, GATES, branches),
    "sizes": ({"x": "float32 N M"}, {}, sizes),
    "relax": ({"x": "float32 N 6", "n": "index"}, {**fc("f", 6, 6), **fc("g", 6, 6)}, relax),
    "reshaped": ({"x": "float32 4", "n": "index"}, {}, reshaped),
    "closures": ({"x": "float32 N 3", "k": "index"}, {}, closures),
    "settled": ({"x": "float32 N 4"}, {"w": (4, 4), "flag": ()}, settled),
}
PROGRAMS.update(CONTROL)
BATCHES = (7, 0, 1, 33)
NOT_EMPTY = ("branches", "closures", "bytes")  # NumPy has no minimum of nothing
EXACT = ("passthrough", "slices", "halves", "ints", "int8dot", "minmax", "rounding", "booleans", "reshapes", "windows", "saturated", "clipped", "bytes")


def generator(name, *more):
    """Random numbers of a program, whatever other programs there are."""
    return np.random.default_rng([20, *name.encode(), *more])


def draw(rng, spec, sizes):
    dtype, *dims = spec.split()
    shape = [sizes[d] if d in sizes else int(d) for d in dims]
    if dtype == "index":
        return np.asarray(rng.integers(0, 9, shape), np.int32)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    low, high = {"trit": (-1, 1), "uint8": (0, 255)}.get(dtype, (-4, 4))
    x = rng.normal(size=shape) * 2 if dtype.startswith("float") else rng.integers(low, high, shape, endpoint=True)
    return np.asarray(x).astype("int8" if dtype == "trit" else dtype)


class Programs(InferenceTest):
    def setUp(self):
        super().setUp()
        self.weights, manifest = {}, "project programs\n    version = 1.0\n    emit = library header opencl\n"
        for name, (_, shapes, _) in PROGRAMS.items():
            with open(os.path.join(HERE, name + ".tri"), "rb") as f:
                self.write(name + ".tri", f.read())
            rng = generator(name)
            weights = {k: np.abs(rng.normal(size=s)).astype(F32) if k.endswith("var") else np.asarray(rng.normal(size=s) / 3, F32)
                       for k, s in shapes.items()}
            weights.update({k: trits_of(3 * w).astype(F32) for k, w in weights.items() if k.startswith("trits.")})
            manifest += f"\nmodel {name}\n    sources = {name}.tri\n    entry = {name}\n"
            if name in CONTROL:
                manifest += "    emit = library header\n"
            if weights:
                self.write(name + ".safetensors", safetensors(weights))
                manifest += f"    weights = {name}.safetensors\n"
            self.weights[name] = weights
        self.write("tri.build", manifest)

    def compare(self, names, batches, *flags):
        for name in names:
            specs, _, function = PROGRAMS[name]
            for n in batches:
                if n == 0 and name in NOT_EMPTY:
                    continue
                with self.subTest(program=name, batch=n, flags=flags), np.errstate(all="ignore"):
                    rng = generator(name, n)
                    inputs = {k: draw(rng, s, {"N": n, "M": 3, "T": 5}) for k, s in specs.items()}
                    wide = inputs if name in EXACT else {k: v.astype(np.float64) if v.dtype == F32 else v for k, v in inputs.items()}
                    want = function(self.weights[name], *wide.values())
                    several = isinstance(want, tuple)
                    got = self.infer(name, inputs, len(want) if several else 0, *flags)
                    for i, (g, w) in enumerate(zip(got, want if several else [want])):
                        self.assertEqual(g.shape, np.shape(w), f"shape of result {i}")
                        if g.dtype.kind in "iub" or name in EXACT:
                            np.testing.assert_array_equal(g, np.asarray(w), f"result {i}")
                        else:
                            largest = np.max(np.abs(w), where=np.isfinite(w), initial=0)  # sums of large terms round by their size
                            np.testing.assert_allclose(g, w, rtol=2e-5, atol=max(1e-5, 1e-7 * largest), err_msg=f"result {i}")

    def test_every_level_against_numpy(self):
        for level in ("-O0", "-O1", "-O2"):
            self.trib("build", level)
            self.compare(PROGRAMS, BATCHES if level == "-O1" else (5,))

    def test_interpreter_against_numpy(self):
        self.trib("build")
        self.compare(PROGRAMS, (5,), "--device", "reference")


LONG = """fn sums(x: Tensor<float32, [N, 4801]>, i: Tensor<int64, [N, 4801]>) {
    return x.sum(dim=1), x.amax(dim=1), i.amin(dim=1), i.sum(dim=1), float64(x).sum(dim=1), int32(i).amax(dim=1)
}
"""


BESIDE = """import nn

layer Beside() {
    let a = nn.BitLinear(100, 20, norm=false)
    let b = nn.BitLinear(100, 33, norm=false)
    let c = nn.BitLinear(100, 64, norm=false)
    let d = nn.Linear(100, 40)
    let e = nn.Linear(100, 7, bias=false)
    let f = nn.Linear(100, 7)
    param u: Tensor<float32, [100, 45]> = randn([100, 45])
    param v: Tensor<float32, [100, 20]> = randn([100, 20])
    fn forward(x: Tensor<float32, [N, 100]>) {
        let t = ternary_activation(x)
        let (g, h) = (t @ ternary_quantize(u), relu(t @ ternary_quantize(v) * 0.5))
        return (a(x), relu(b(x)) + 1.0, c(x).transpose(0, 1), d(x), silu(e(x)) * f(x), sin(x), exp(x).transpose(0, 1), g, h)
    }
}
"""


# Rows of whole steps, which are no multiples of a group. The first norm's row is also a result, and its residual is added in an epilogue.
REPEAT = """import nn

layer Repeat() {
    let norm = nn.RMSNorm(272)
    let a = nn.BitLinear(272, 20, norm=false)
    let b = nn.BitLinear(272, 272, norm=false)
    let long = nn.RMSNorm(1296)
    let c = nn.Linear(1296, 33)
    let d = nn.TernaryLinear(1296, 40)
    let e = nn.BitLinear(6912, 30)
    fn forward(x: Tensor<float32, [N, 272]>, y: Tensor<float32, [N, 1296]>, z: Tensor<float32, [N, 6912]>) {
        let row = norm(x)
        let other = long(y)
        return (a(row), x + b(row), row * 2.0, relu(c(other)), d(other), e(relu(z) * z))
    }
}

layer Row() {
    let _of = Repeat()
    fn forward(x: Tensor<float32, [1, 272]>, y: Tensor<float32, [1, 1296]>, z: Tensor<float32, [1, 6912]>) { return _of(x, y, z) }
}
"""


UNOPTIMISED = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}  # PoCL optimises kernels with groups for longer than they run


class Devices(Programs):
    def test_every_level_against_numpy(self):
        self.trib("build")
        self.compare(("ints", "halves", "tied", "caches", "reduces", "slices", "tritacts", "tritmixed", "saturated", "positions", "segments",
                      "pointer", "nucleus", "bytes", "image"), (5,), "--device", "opencl")

    def test_neighbours_exchange_values(self):
        """Groups share long reductions. Their items exchange values, computed by definition; PoCL builds its programs with these flags, too."""
        self.write("sums.tri", LONG)
        self.write("tri.build", "project sums\n    version = 1.0\n    emit = library opencl\nmodel sums\n    sources = sums.tri\n    entry = sums\n")
        rng = generator("sums")
        x, i = rng.normal(size=(3, 4801)).astype(F32), rng.integers(-1000, 1000, (3, 4801)).astype("int64")
        want = x.sum(1, dtype=np.float64), x.max(1), i.min(1), i.sum(1), x.astype(np.float64).sum(1), i.astype("int32").max(1)
        self.trib("build")
        for form in "NVIDIA", "INTEL", "KHR":
            self.env.update(TRIB_OPENCL_VARIANT="groups", TRIB_CACHE="false", POCL_EXTRA_BUILD_FLAGS=f"-DTRI_SWAP_{form} -DTRI_EMULATED")
            for g, w in zip(self.infer("sums", {"x": x, "i": i}, len(want), "--device", "opencl"), want):
                np.testing.assert_allclose(g, w, 1e-5, 1e-4, err_msg=form)

    def test_statements_beside_each_other(self):
        """A launch has products of the same row, of int8 and trits, of two trits or of floats, with and without epilogues; or nests that need nothing of each
        other. Two rows have launches of their own."""
        self.write("beside.tri", BESIDE)
        self.write("tri.build", "project beside\n    version = 1.0\nmodel beside\n    sources = beside.tri\n    entry = Beside\n    emit = library opencl\n")
        self.trib("build")
        program = self.trib("build", "--dump-opencl", "beside").stdout
        self.assertGreaterEqual(program.count("_all\n"), 3)
        self.env.update(TRIB_OPENCL_VARIANT="groups", **UNOPTIMISED)
        for rows in (1, 2, 5):
            x = generator("beside").normal(size=(rows, 100)).astype(F32)
            want, got = (self.infer("beside", {"x": x}, 9, "--device", device) for device in ("cpu", "opencl"))
            for k, (g, w) in enumerate(zip(got, want)):
                np.testing.assert_allclose(g, w, 1e-5, 1e-4, err_msg=f"{rows} rows, output {k}")

    def test_groups_repeat_blocks(self):
        """With one row, groups of products compute the norm and the quantisation before them; the first one also stores the row."""
        self.write("repeat.tri", REPEAT)
        self.write("tri.build", "project repeat\n    version = 1.0\n" +
                   "".join(f"model {entry}\n    sources = repeat.tri\n    entry = {entry}\n    emit = library opencl\n" for entry in ("Repeat", "Row")))
        self.trib("build")
        for entry in "Repeat", "Row":
            self.assertGreaterEqual(self.trib("build", "--dump-opencl", entry).stdout.count("#define TRI_ROW "), 3, entry)
        self.env.update(TRIB_OPENCL_VARIANT="groups", **UNOPTIMISED)
        for entry, rows in ("Repeat", 1), ("Repeat", 2), ("Row", 1):
            inputs = {name: generator(name).normal(size=(rows, n)).astype(F32) for name, n in (("x", 272), ("y", 1296), ("z", 6912))}
            want, got = (self.infer(entry, inputs, 6, "--device", device) for device in ("cpu", "opencl"))
            for k, (g, w) in enumerate(zip(got, want)):
                np.testing.assert_allclose(g, w, 1e-5, 1e-4, err_msg=f"{entry}, {rows} rows, output {k}")

    test_interpreter_against_numpy = None


if __name__ == "__main__":
    unittest.main()
