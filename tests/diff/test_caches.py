"""Caches of keys and values that grow in place: of every element type, with grouped heads, two items, odd lengths, two appends in one run, a layer that is called
twice. Every level of the compiler, OpenCL, the reference interpreter and the interpreter of loop IR against NumPy."""
import os
import unittest

import numpy as np

from inference import InferenceTest
from library_states import Model
from project import run

SOURCE = """
layer Cache() {
    state k: Tensor<float32, [2, 2, cap T, 8]>
    state v: Tensor<float16, [2, 2, cap T, 8]>
    state codes: Tensor<int8, [2, 2, cap T, 8]>
    state scale: Tensor<float32, [2, 2, cap T, 1]>
    state short: Tensor<bfloat16, [2, cap T, 2, 8]>
    fn forward(x: Tensor<float32, [2, N, 6, 8]>) {
        let q = x.transpose(1, 2)
        let rows = q[:, 0:2]
        let step = where(rows[:, :, :, 0:1] > 0.0, 0.03125, 0.0625)
        k.append(rows, dim=2)
        v.append(float16(rows * 2.0), dim=2)
        codes.append(int8(clip(round(rows / step), -127.0, 127.0)), dim=2)
        scale.append(step, dim=2)
        short.append(bfloat16(x[:, :, 2:4]), dim=1)
        let other = float32(short).transpose(1, 2)
        return (
            attention(q, k, float32(v)),
            attention(q, float32(codes) * scale, scale * float32(codes)),
            attention(q, other, other, scale=0.5),
        )
    }
}

# Appends twice, and reads between and after.
layer Twice() {
    state rows: Tensor<float32, [3, cap R, 4]>
    fn forward(x: Tensor<float32, [3, N, 4]>) {
        rows.append(x, dim=1)
        let between = rows.sum(1)
        rows.append(x * 2.0, dim=1)
        return between - rows.sum(1)
    }
}

layer Net() {
    let cache = Cache()
    let twice = Twice()
    fn forward(x: Tensor<float32, [2, N, 6, 8]>) {
        let (a, b, c) = cache(x)
        let y = x.reshape([2 * N, 12, 4]).transpose(0, 1)[0:3]
        let d = twice(y)
        return a, b, c, d, twice(y + d.unsqueeze(1))
    }
    fn all() { return cache.k, cache.v, cache.codes, cache.scale, twice.rows }
}
"""
MANIFEST = "project caches\n    version = 1\nmodel net\n    sources = net.tri\n    entry = Net.forward Net.all\n    state.T = {most}\n    state.R = {rows}\n    emit = library header opencl\n"
CONFIGURATIONS = [("x86-64-v2", "-O0"), ("x86-64-v3", "-O1"), ("x86-64-v4", "-O2"), ("opencl", "-O1")]


def short(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)


def attend(q, k, v, scale=8 ** -0.5):
    k, v = (np.repeat(t.astype(np.float64), q.shape[1] // t.shape[1], 1) for t in (k, v))
    s = q @ k.swapaxes(-1, -2) * scale
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


class Expected:
    def __init__(self):
        self.x, self.rows = np.zeros((2, 0, 6, 8), np.float32), np.zeros((3, 0, 4), np.float32)

    def append(self, y):
        self.rows = np.concatenate([self.rows, y], 1)
        between = self.rows.sum(1)
        self.rows = np.concatenate([self.rows, y * 2], 1)
        return between - self.rows.sum(1)

    def caches(self):
        k = self.x.transpose(0, 2, 1, 3)[:, :2]
        step = np.where(k[..., :1] > 0, np.float32(0.03125), np.float32(0.0625))
        return k, (k * 2).astype(np.float16), np.clip(np.round(k / step), -127, 127).astype(np.int8), step, self.rows

    def run(self, x):
        self.x = np.concatenate([self.x, x], 1)
        q = x.transpose(0, 2, 1, 3)
        k, v, codes, step, _ = self.caches()
        other = short(self.x[:, :, 2:4]).transpose(0, 2, 1, 3)
        y = x.reshape(-1, 12, 4).transpose(1, 0, 2)[:3]
        d = self.append(y)
        return attend(q, k, v), attend(q, codes * step, codes * step), attend(q, other, other, 0.5), d, self.append(y + d[:, None])


class Caches(InferenceTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", SOURCE)
        self.write("tri.build", MANIFEST.format(most=310, rows=2480))

    def shapes(self, n):
        return [(2, 6, n, 8)] * 3 + [(3, 4)] * 2

    def steps(self, m, pieces):
        want = Expected()
        for n in pieces:
            x = np.random.default_rng(n).normal(size=(2, n, 6, 8)).astype(np.float32)
            for g, w in zip(m.run("forward", [x], self.shapes(n)), want.run(x)):
                np.testing.assert_allclose(g, w, 1e-4, 1e-4, err_msg=f"{n} after {want.x.shape[1] - n}")
        for g, w in zip(m.run("all", [], [c.shape for c in want.caches()]), want.caches()):
            np.testing.assert_allclose(g, w, 1e-3, 1e-4)

    def open(self, library, threads=1):
        m = Model(self.path("build/" + library), threads)
        self.addCleanup(m.close)
        return m

    def test_every_level(self):
        for flags in (("-O0",), ("-O1",), ("-O2", "--lazy")):
            with self.subTest(flags=flags):
                self.trib("build", *flags)
                m = self.open("libnet.so")
                self.steps(m, (1, 1, 3, 1, 7, 70, 1, 1, 130, 1, 66, 5, 1))
                m.reset()
                self.steps(m, (5, 1, 1))

    def test_threads_compute_the_same(self):
        self.trib("build")
        outputs = []
        for threads in (1, 2, 3):
            m, rng = self.open("libnet.so", threads), np.random.default_rng(1)
            for n in (300, 1):
                out = m.run("forward", [rng.normal(size=(2, n, 6, 8)).astype(np.float32)], self.shapes(n))
            outputs.append(b"".join(a.tobytes() for a in out))
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_opencl(self):
        self.trib("build")
        self.steps(self.open("libnet_opencl.so"), (3, 1, 1, 5, 1))

    def test_saved_in_another_library(self):
        self.trib("build")
        a, b, x = self.open("libnet.so"), self.open("libnet_opencl.so"), np.ones((2, 3, 6, 8), np.float32)
        a.run("forward", [x], self.shapes(3))
        b.load(a.save())
        for g, w in zip(b.run("forward", [x], self.shapes(3)), a.run("forward", [x], self.shapes(3))):
            np.testing.assert_allclose(g, w, 1e-4, 1e-4)

    def test_loop_interpreter(self):
        np.save(self.path("x.npy"), np.random.default_rng(0).normal(size=(2, 5, 6, 8)).astype(np.float32))
        for target, level in CONFIGURATIONS:
            with self.subTest(target=target, level=level):
                run([os.environ["LOOP_RUN"], target, "run", "net", level, "--entry", "forward", "--input", "x=x.npy"], self.dir, True, self.env)

    def test_grows_in_place(self):
        text = self.trib("build", "--dump-loops").stdout
        self.assertRegex(text, r"output \d+ float16\[2, 2, N \+ T, 8\] as dim2_first grows b")
        self.assertRegex(text, r"output \d+ bfloat16\[2, N \+ T, 2, 8\] as dim1_first grows b")
        self.assertRegex(text, r"tri_attention_i8")


if __name__ == "__main__":
    unittest.main()
