#!/usr/bin/env python3
"""Writes weights/quickstart.safetensors, the sample input x.npy and the result it should give, want.npy."""
import json
import numpy as np

rng = np.random.default_rng(1)
w = rng.integers(-1, 2, (8, 4)).astype(np.int8)
b = np.array([0.5, -1.0, 0.25, 2.0], np.float32)
x = (rng.integers(-8, 9, (3, 8)) / 4).astype(np.float32)    # quarters: every sum is exact
header = json.dumps({"b": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
                     "w": {"dtype": "I8", "shape": [8, 4], "data_offsets": [16, 48]}}).encode().ljust(128)
with open("weights/quickstart.safetensors", "wb") as f:
    f.write(len(header).to_bytes(8, "little") + header + b.tobytes() + w.tobytes())
np.save("x.npy", x)
np.save("want.npy", x @ w.astype(np.float32) + b)
