#!/usr/bin/env python3
"""The digits network in plain NumPy, written from src/digits.tri and sharing no code with the compiler.

Run by itself it prints the accuracy, compares its predictions with data/test_pred.npy, and measures how far
they are from changing when a compiler sums floats in another order. Exits 1 if any of that is not as it should be.
"""
import json
import os
import struct
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
F32 = np.float32
LAYERS = ["fc1", "fc2", "fc3"]
EPS = F32(1e-5)


def load_safetensors(path):
    """The tensors of a safetensors file: u64 header size, JSON header, raw little-endian data."""
    with open(path, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        data = f.read()
    header.pop("__metadata__", None)
    types = {"F32": "<f4", "I8": "i1"}
    return {name: np.frombuffer(data[slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])
            for name, t in header.items()}


def rms_norm(x):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPS)


def absmax_quantize(x):
    scale = np.maximum(np.abs(x).max(axis=-1, keepdims=True), EPS) / F32(127)
    return np.clip(np.rint(x / scale), -127, 127).astype(np.int8), scale


def absmean_quantize(w):
    scale = np.maximum(np.mean(np.abs(w)), EPS)
    return np.clip(np.rint(w / scale), -1, 1).astype(np.int8), scale


def last_sums(weights, x, noise=None, flip=None):
    """The last layer's integer sums [N, 10] and the scale [N, 1] that turns them into logits. noise(a) may disturb
    the activations a before they are quantised; flip = (layer, column, step) adds a step to one quantised
    activation of every image."""
    h = (x - weights["center"]) / F32(16)
    for i, name in enumerate(LAYERS):
        if i > 0:
            h = np.maximum(sums.astype(F32) * scale, F32(0))
        if noise:
            h = noise(h)
        q, sx = absmax_quantize(rms_norm(h))
        q = q.astype(np.int32)
        if flip and flip[0] == i:
            q[:, flip[1]] = np.clip(q[:, flip[1]] + flip[2], -127, 127)
        trits, sw = absmean_quantize(weights[name + ".weight"])
        sums, scale = q @ trits.T.astype(np.int32), sx * sw
    assert sums.dtype == np.int32 and scale.dtype == F32
    return sums, scale


def forward(weights, x, noise=None, flip=None):
    """Logits, float32 [N, 10]."""
    sums, scale = last_sums(weights, x, noise, flip)
    return sums.astype(F32) * scale


def predict(weights, x):
    return forward(weights, x).argmax(axis=1).astype(np.int64)


def noise_flips(weights, x, size, times):
    """How many predictions change, in all, when every activation gets relative noise of that size."""
    rng = np.random.default_rng(1)
    want = predict(weights, x)

    def noise(a):
        return a * (1 + size * rng.uniform(-1, 1, a.shape)).astype(F32)
    return sum(int((forward(weights, x, noise).argmax(axis=1) != want).sum()) for _ in range(times))


def quantum_flips(weights, x):
    """How many (image, activation, step of 1 up or down) change a prediction, and how many there are."""
    want = predict(weights, x)
    changed = tried = 0
    for i, name in enumerate(LAYERS):
        for column in range(weights[name + ".weight"].shape[1]):
            for step in (-1, 1):
                got = forward(weights, x, flip=(i, column, step)).argmax(axis=1)
                changed += int((got != want).sum())
                tried += len(want)
    return changed, tried


def margins(weights, x):
    """First minus second sum of the last layer for each image. One activation of that layer rounded the other way
    changes it by at most 2."""
    top = np.sort(last_sums(weights, x)[0], axis=1)
    return top[:, -1] - top[:, -2]


def trit_distance(weights):
    """The least distance of any |weight| / scale from 0.5, where a trit would change."""
    return min(float(np.abs(np.abs(w) / np.mean(np.abs(w)) - 0.5).min())
               for w in (weights[n + ".weight"].astype(np.float64) for n in LAYERS))


def main():
    weights = load_safetensors(os.path.join(HERE, "weights", "digits.safetensors"))
    x, y, committed = (np.load(os.path.join(HERE, "data", f"test_{n}.npy")) for n in ("x", "y", "pred"))
    pred = predict(weights, x)
    right, same = int((pred == y).sum()), int((pred == committed).sum())
    gap = margins(weights, x)
    changed, tried = quantum_flips(weights, x)
    noisy = noise_flips(weights, x, 1e-6, 100)
    distance = trit_distance(weights)
    print(f"accuracy {100 * right / len(y):.1f} % ({right} of {len(y)}), "
          f"equal to data/test_pred.npy on {same} of {len(y)} images")
    print(f"lead of the first of the ten integer sums: least {gap.min()}, median {np.median(gap):.0f}")
    print(f"predictions changed by noise of 1e-6 on every activation, 100 times: {noisy}")
    print(f"predictions changed by one activation a step up or down: {changed} of {tried}")
    print(f"least distance of a weight from the next trit: {distance:.5f} of its scale")
    return int(same != len(y) or noisy != 0 or changed != 0 or distance < 1e-4)


if __name__ == "__main__":
    sys.exit(main())
