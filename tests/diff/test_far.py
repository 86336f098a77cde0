"""Rows of buffers that are larger than caches: softmax(gelu(x)) against NumPy, for outputs at any address, with any number of threads."""
import ctypes
import math
import unittest

import numpy as np

from inference import InferenceTest
from library_states import Model, Tensor

ROWS, COLUMNS, PAGE = 4100, 2055, 4096
SOURCE = f"""
fn far(x: Tensor<float32, [{ROWS}, {COLUMNS}]>) -> Tensor<float32, [{ROWS}, {COLUMNS}]> {{ return softmax(gelu(x)) }}
"""
MANIFEST = "project far\n    version = 1\nmodel far\n    sources = far.tri\n    entry = far\n"
FLOAT32 = 8


def at(room, offset):
    """A matrix `offset` bytes after the start of a page."""
    first = -room.ctypes.data % PAGE + offset
    return room[first:first + 4 * ROWS * COLUMNS].view(np.float32).reshape(ROWS, COLUMNS)


def expected(x):
    y = 0.5 * x * (1 + np.vectorize(math.erf)(x * math.sqrt(0.5)))
    e = np.exp(y - y.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Far(InferenceTest):
    def run_at(self, model, x, offset):
        room = np.zeros(4 * ROWS * COLUMNS + 2 * PAGE, np.uint8)
        y = at(room, offset)
        io = (Tensor * 2)()
        for t, array in zip(io, (x, y)):
            t.data, t.rank, t.dtype = array.ctypes.data, 2, FLOAT32
            t.shape[:2] = array.shape
        model.check(model.desc.run(model.handle, 0, io, ctypes.byref(model.error)))
        self.assertEqual(np.count_nonzero(room), np.count_nonzero(y.view(np.uint8)), "bytes beside the output")
        return y.copy()

    def test_rows(self):
        self.write("far.tri", SOURCE)
        self.write("tri.build", MANIFEST)
        x = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)).astype(np.float32) * 2
        some = [0, 1, 777, ROWS - 1]
        for cpu in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
            self.trib("build", "--cpu", cpu)
            one, two = Model(self.path("build/libfar.so")), Model(self.path("build/libfar.so"), threads=2)
            want = self.run_at(one, x, 0)
            np.testing.assert_allclose(want[some], expected(x[some].astype(np.float64)), 2e-5, 1e-9)
            for model, offset in ((one, 16), (one, 4), (two, 0), (two, 16)):
                self.assertEqual(self.run_at(model, x, offset).tobytes(), want.tobytes(), (cpu, offset))
            one.close()
            two.close()


if __name__ == "__main__":
    unittest.main()
