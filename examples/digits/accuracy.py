#!/usr/bin/env python3
"""Judges logits that the compiled network wrote: python3 accuracy.py [out.npy]

Exits 1 below 96 % or where a prediction differs from the NumPy reference's (data/test_pred.npy).
"""
import os
import sys

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "out.npy"
    labels, reference = (np.load(os.path.join(DATA, f"test_{name}.npy")) for name in ("y", "pred"))
    n = len(labels)
    out = np.load(path)
    if out.shape != (n, 10) or out.dtype != np.float32 or not np.isfinite(out).all():
        print(f"{path}: want finite float32 logits of shape ({n}, 10), got {out.dtype} {out.shape}")
        return 1
    pred = out.argmax(axis=1)
    right, same = int((pred == labels).sum()), int((pred == reference).sum())
    print(f"accuracy {100 * right / n:.1f} % ({right} of {n}), "
          f"equal to the reference on {same} of {n} images")
    return int(right < 0.96 * n or same != n)


if __name__ == "__main__":
    sys.exit(main())
