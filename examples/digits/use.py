#!/usr/bin/env python3
"""Classifies the first test images with the compiled library, through ctypes. After `trib build`: python3 use.py"""
import ctypes
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = 10


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 8),
                ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class Io(ctypes.Structure):
    _fields_ = [("x", Tensor), ("out", Tensor)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 252)]


def tensor(array, dtype):
    return Tensor(array.ctypes.data, (ctypes.c_int64 * 8)(*array.shape), array.ndim, dtype)


def main():
    with open(os.path.join(HERE, "build", "digits.h")) as header:
        float32 = int(re.search(r"\bTRI_FLOAT32\s*=\s*(\d+)", header.read()).group(1))
    lib = ctypes.CDLL(os.path.join(HERE, "build", "libdigits.so"))
    lib.digits_open.restype = ctypes.c_void_p
    lib.digits_open.argtypes = [ctypes.c_void_p, ctypes.POINTER(Error)]
    lib.digits_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(Io), ctypes.POINTER(Error)]
    lib.digits_close.argtypes = [ctypes.c_void_p]
    lib.digits_close.restype = None

    x = np.ascontiguousarray(np.load(os.path.join(HERE, "data", "test_x.npy"))[:IMAGES])
    y = np.load(os.path.join(HERE, "data", "test_y.npy"))[:IMAGES]
    logits = np.empty((IMAGES, 10), np.float32)
    err = Error()
    model = lib.digits_open(None, ctypes.byref(err))
    if not model:
        sys.exit(f"digits_open: {err.message.decode()}")
    io = Io(tensor(x, float32), tensor(logits, float32))
    failed = lib.digits_run(model, ctypes.byref(io), ctypes.byref(err))
    lib.digits_close(model)
    if failed:
        sys.exit(f"digits_run: {err.message.decode()}")
    for i, (got, want) in enumerate(zip(logits.argmax(axis=1), y)):
        print(f"image {i}: a {got}, labelled {want}")


if __name__ == "__main__":
    main()
