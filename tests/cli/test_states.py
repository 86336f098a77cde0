"""States: the C interface, several entries, failures, saved states, against the functional form and the reference interpreter."""
import os
import random
import shutil
import unittest

import numpy as np

from inference import InferenceTest
from library_states import ARGUMENT, ASSERT, CAPACITY, Capacity, Model, ModelError

LAYERS = """
import nn

layer Attn(dim: int, heads: int) {
    state k: Tensor<float32, [1, heads, cap T, dim // heads]>
    state v: Tensor<float32, [1, heads, cap T, dim // heads]>
    let qkv = nn.Linear(dim, 3 * dim)
    fn parts(x: Tensor<float32, [1, N, dim]>) {
        return [p.reshape([1, N, heads, dim // heads]).transpose(1, 2) for p in qkv(x).chunk(3, dim=-1)]
    }
    fn mix(q: Tensor<float32, [1, heads, N, d]>, keys: Tensor<float32, [1, heads, L, d]>, values: Tensor<float32, [1, heads, L, d]>) {
        return attention(q, keys, values).transpose(1, 2).reshape([1, N, dim])
    }
    fn forward(x: Tensor<float32, [1, N, dim]>) {
        let (q, key, value) = parts(x)
        k.append(key, dim=2)
        v.append(value, dim=-2)
        return mix(q, k, v)
    }
    fn functional(x: Tensor<float32, [1, N, dim]>, k0: Tensor<float32, [1, heads, P, dim // heads]>, v0: Tensor<float32, [1, heads, P, dim // heads]>) {
        let (q, key, value) = parts(x)
        let k1 = concat([k0, key], dim=2)
        let v1 = concat([v0, value], dim=2)
        return mix(q, k1, v1), k1, v1
    }
    fn keep_last(n: int) {
        k = k[:, :, -n:]
        v = v[:, :, -n:]
    }
}

layer Net() {
    state steps: Tensor<int32, [2]> = tensor([7, 8])
    let layers = [Attn(16, 2) for i in 0..2]
    fn forward(x: Tensor<float32, [1, N, 16]>) {
        steps = steps + 1
        for attend in layers { x = x + attend(x) }
        return x, steps
    }
    fn functional(x: Tensor<float32, [1, N, 16]>, k0: Tensor<float32, [1, 2, P, 8]>, v0: Tensor<float32, [1, 2, P, 8]>, k1: Tensor<float32, [1, 2, P, 8]>,
                  v1: Tensor<float32, [1, 2, P, 8]>) {
        let (a, ka, va) = layers[0].functional(x, k0, v0)
        let y = x + a
        let (b, kb, vb) = layers[1].functional(y, k1, v1)
        return y + b, ka, va, kb, vb
    }
    fn plain(x: Tensor<float32, [1, N, 16]>) { return layers[0].qkv(x) }
    fn shorten(x: Tensor<float32, [1]>) {
        for l in layers { l.keep_last(2) }
        return x
    }
    fn checked(x: Tensor<float32, [1, N, 16]>, ok: bool) {
        let (y, _) = forward(x)
        assert ok, "it is not"
        return y
    }
    fn read(x: Tensor<float32, [1]>) { return layers[0].k, x }
}
"""
MANIFEST = """
project states
    version = 1

model net
    sources = src/*.tri
    entry   = Net.forward Net.functional Net.plain Net.shorten Net.checked Net.read
    state.T = 8
    emit    = {emit}
"""


# A cache of another float type: the step widens what it reads.
FLOAT16 = 6
SHORT = """
import nn

layer Net() {
    let attn = nn.GroupedQueryAttention(32, 4, 2, cache_dtype=float16)
    fn forward(x: Tensor<float32, [1, N, 32]>) { return attn.step(x) }
    fn decode(x: Tensor<float32, [1, N, 32]>, k: Tensor<float32, [1, 2, P, 8]>, v: Tensor<float32, [1, 2, P, 8]>) {
        let (y, k_new, v_new) = attn.decode(x, k, v)
        return y, float32(float16(k_new)), float32(float16(v_new))
    }
}
"""
SHORT_MANIFEST = "project states\n    version = 1\nmodel net\n    sources = src/net.tri\n    entry = Net.forward Net.decode\n    state.T = 8\n"


class States(InferenceTest):
    def make(self, emit="library header", **more):
        self.write("src/net.tri", more.get("source", LAYERS))
        self.write("tri.build", more.get("manifest", MANIFEST.format(emit=emit)))
        self.trib("build", *more.get("flags", ()))

    def open(self, library="libnet.so", **capacities):
        m = Model(self.path("build/" + library), **capacities)
        self.addCleanup(lambda: m.handle and m.close())
        return m

    def fails(self, code, text, call, *args, **more):
        with self.assertRaises(ModelError) as e:
            call(*args, **more)
        self.assertEqual(e.exception.code, code, e.exception)
        self.assertIn(text, str(e.exception))

    def inputs(self, n):
        return np.random.default_rng(n).normal(size=(1, n, 16)).astype(np.float32)

    def step(self, m, x, entry="forward"):
        return m.run(entry, [x], [x.shape, (2,)])

    def functional_steps(self, m, pieces):
        caches = [np.zeros((1, 2, 0, 8), np.float32)] * 4
        for x in pieces:
            length = caches[0].shape[2] + x.shape[1]
            y, *caches = m.run("functional", [x, *caches], [x.shape] + [(1, 2, length, 8)] * 4)
            yield y

    def check_steps(self, m):
        x = self.inputs(8)
        pieces = [x[:, :3], x[:, 3:4], x[:, 4:8]]
        for x, want in zip(pieces, self.functional_steps(m, pieces)):
            self.assertEqual(self.step(m, x)[0].tobytes(), want.tobytes())

    def test_steps_equal_the_functional_form(self):
        self.make()
        m = self.open()
        self.check_steps(m)
        self.fails(CAPACITY, "state layers.0.k is full: this run needs T = 9, but its capacity is 8; it has 8 now", self.step, m, self.inputs(1))
        m.reset()
        self.check_steps(m)
        self.assertEqual([m.desc.states[i].name.decode() for i in range(m.desc.n_states)],
                         ["steps", "layers.0.k", "layers.0.v", "layers.1.k", "layers.1.v"])
        header = self.read("build/net.h").decode()
        for word in ("int net_reset(net *m", "int net_state_save(net *m", "int net_state_load(net *m", "layers.1.v: float32 [1, 2, up to T, 8]"):
            self.assertIn(word, header)

    def test_the_element_type_of_a_cache_is_an_argument(self):
        self.make(source=SHORT, manifest=SHORT_MANIFEST)
        m = self.open()
        self.assertEqual([(m.desc.states[i].name.decode(), m.desc.states[i].dtype) for i in range(m.desc.n_states)],
                         [("attn.cache.k", FLOAT16), ("attn.cache.v", FLOAT16)])
        x = np.random.default_rng(4).normal(size=(1, 7, 32)).astype(np.float32)
        k = v = np.zeros((1, 2, 0, 8), np.float32)
        for piece in (x[:, :4], x[:, 4:5], x[:, 5:]):
            cache = (1, 2, k.shape[2] + piece.shape[1], 8)
            y, k, v = m.run("decode", [piece, k, v], [piece.shape, cache, cache])
            np.testing.assert_allclose(m.run("forward", [piece], [piece.shape])[0], y, 2e-3, 2e-3)

    def test_lazy_and_opencl_libraries(self):
        self.make(flags=("--lazy",))
        lazy = self.open()
        self.check_steps(lazy)
        self.make("opencl", manifest=MANIFEST.format(emit="opencl").replace(" Net.checked", ""))
        m = self.open("libnet_opencl.so")
        self.check_steps(m)
        self.fails(CAPACITY, "is full", self.step, m, self.inputs(1))
        lazy.reset()
        self.step(lazy, self.inputs(5))
        m.load(lazy.save())  # any library of the model reads them
        np.testing.assert_allclose(self.step(m, self.inputs(2))[0], self.step(lazy, self.inputs(2))[0], 1e-5, 1e-5)

    def test_initial_values_and_entries_share(self):
        self.make()
        m = self.open()
        x = self.inputs(4)
        self.assertEqual(list(self.step(m, x)[1]), [8, 9])
        before = m.save()
        m.run("plain", [x], [(1, 4, 48)])
        self.assertEqual(m.save(), before)
        k = m.run("read", [np.zeros(1, np.float32)], [(1, 2, 4, 8), (1,)])[0]
        m.run("shorten", [np.zeros(1, np.float32)], [(1,)])
        self.assertEqual(m.run("read", [np.zeros(1, np.float32)], [(1, 2, 2, 8), (1,)])[0].tobytes(), np.ascontiguousarray(k[:, :, 2:]).tobytes())
        self.assertEqual(list(self.step(m, x)[1]), [9, 10])
        m.reset()
        self.assertEqual(list(self.step(m, x)[1]), [8, 9])
        self.assertEqual(m.save(), before)

    def test_a_failed_run_changes_nothing(self):
        self.make()
        m = self.open()
        self.step(m, self.inputs(3))
        before = m.save()
        self.fails(ASSERT, "it is not", m.run, "checked", [self.inputs(2), np.zeros((), np.bool_)], [(1, 2, 16)])
        self.assertEqual(m.save(), before)
        self.fails(CAPACITY, "is full", m.run, "checked", [self.inputs(6), np.ones((), np.bool_)], [(1, 6, 16)])
        self.assertEqual(m.save(), before)
        with self.assertRaises(ModelError):
            m.run("forward", [np.zeros((1, 2, 17), np.float32)], [(1, 2, 16), (2,)])
        self.assertEqual(m.save(), before)
        m.run("checked", [self.inputs(2), np.ones((), np.bool_)], [(1, 2, 16)])
        self.assertNotEqual(m.save(), before)

    def test_capacities_of_open(self):
        self.make()
        m = self.open(T=3)
        self.step(m, self.inputs(3))
        self.fails(CAPACITY, "its capacity is 3", self.step, m, self.inputs(1))
        self.step(self.open(T=100000), self.inputs(64))
        self.fails(ARGUMENT, "the model has no capacity S", self.open, S=3)
        self.fails(ARGUMENT, "the capacity T must be at least 1", self.open, T=0)
        self.fails(ARGUMENT, "a capacity of tri_options.capacities has no name", self.open, given=(Capacity * 1)((None, 4)), names=1)
        self.fails(ARGUMENT, "tri_options.capacities is NULL, but n_capacities is 1", self.open, names=1)
        self.edit("tri.build", "state.T = 8\n", "")
        self.trib("build")
        os.rename(self.path("build/libnet.so"), self.path("build/bare.so"))
        self.fails(ARGUMENT, "add `state.T = 4096` to the manifest", self.open, "bare.so")
        self.step(self.open("bare.so", T=3), self.inputs(3))

    def test_saved_states(self):
        self.make()
        m, other, small = self.open(), self.open(), self.open(T=2)
        empty = m.save()
        self.step(m, self.inputs(3))
        saved = m.save()
        want = self.step(m, self.inputs(2))
        other.load(saved)
        self.assertEqual([a.tobytes() for a in self.step(other, self.inputs(2))], [a.tobytes() for a in want])
        self.fails(CAPACITY, "the saved states have T = 3, but its capacity is 2", small.load, saved)
        self.fails(ARGUMENT, "no saved states", m.load, b"")
        before = m.save()
        random.seed(int(os.environ.get("TRIB_SEED", 1)))
        for round in range(2000):
            bad = bytearray(saved)
            kind = round % 4
            if kind == 0:
                bad = bad[:random.randrange(len(bad))]
            elif kind == 1:
                bad += bytes(random.randrange(1, 9))
            elif kind == 2:
                bad[random.randrange(len(bad))] ^= 1 << random.randrange(8)
            else:
                at = random.randrange(0, 48, 8)
                bad[at:at + 8] = random.choice([0, 1, 2**31, 2**63 - 1, 2**64 - 1, random.getrandbits(64)]).to_bytes(8, "little")
                if bytes(bad) == saved:
                    continue
            with self.assertRaises(ModelError):
                m.load(bytes(bad))
        self.assertEqual(m.save(), before)
        m.load(empty)
        self.assertEqual(m.save(), empty)

    def test_no_states(self):
        self.make(source="fn double(x: Tensor<float32, [N]>) { return x * 2 }", manifest="model net\n    sources = src/net.tri\n    entry = double\n")
        m = self.open()
        self.assertFalse(m.desc.n_states or m.desc.reset)
        self.assertNotIn(b"net_reset", self.read("build/net.h"))

    def test_reference_and_run(self):
        self.make()
        np.save(self.path("x.npy"), self.inputs(3))
        m = self.open()
        for flags in ((), ("--device", "reference")):
            out = self.infer("net", {"x": self.inputs(3)}, 2, "--entry", "forward", *flags)
            np.testing.assert_allclose(out[0], m.run("forward", [self.inputs(3)], [(1, 3, 16), (2,)])[0], 1e-5, 1e-5)
            self.assertEqual(list(out[1]), [8, 9])
            m.reset()
        self.edit("tri.build", "state.T = 8", "state.T = 2")
        self.assertIn("state layers.0.k is full", self.trib("run", "net", "--entry", "forward", "--input", "x=x.npy", "--device", "reference", ok=False).stderr)

    def test_cases_begin_with_initial_states(self):
        self.make(manifest=MANIFEST.format(emit="library header").replace(" Net.functional Net.plain Net.shorten Net.checked Net.read", ""))
        for case in "abc":
            os.makedirs(self.path(f"tests/net/{case}"))
            np.save(self.path(f"tests/net/{case}/x.npy"), self.inputs(3))
            np.save(self.path(f"tests/net/{case}/out1.npy"), np.array([8, 9], np.int32))
        for flags in ((), ("--device", "reference")):
            self.assertIn("3 passed", self.trib("test", *flags).stdout)

    def test_manifest(self):
        self.make()
        self.edit("tri.build", "state.T = 8", "state.S = 8")
        self.assertIn("no state of model `net` has the capacity `S`", self.trib("build", ok=False).stderr)
        self.edit("tri.build", "state.S = 8", "state.T = 0")
        self.assertIn("must be a positive number", self.trib("build", ok=False).stderr)
        self.edit("tri.build", "state.T = 0", "state.T = 8\n    state.T = 9")
        self.assertIn("`state.T` is set twice", self.trib("build", ok=False).stderr)

    def test_lengths_must_agree(self):
        self.make()
        self.edit("src/net.tri", "        v = v[:, :, -n:]\n", "")
        said = self.trib("build", ok=False).stderr
        self.assertIn("E0605", said)
        self.assertRegex(said, "`shorten` leaves state `layers.0.k` with length .*, but `layers.0.v` with T")

    def test_branches_and_loops(self):
        source = """layer Net() {
            state h: Tensor<float32, [4]>
            state n: Tensor<int32, []>
            fn add(x: Tensor<float32, [4]>) { h = h + x }
            fn forward(x: Tensor<float32, [4]>, times: int32, early: bool) {
                for i in 0..times { add(x); n = n + 1 }
                if early { return h }
                if x[0] > 0.0 { h = h * 2.0 } else { add(x) }
                return h
            }
            fn grow(x: Tensor<float32, [4]>) { return x }
        }"""
        self.make(source=source, manifest="model net\n    sources = src/net.tri\n    entry = Net\n")
        m = self.open()
        h, n = np.zeros(4, np.float32), 0
        for x, times, early in ((1, 3, False), (-2, 2, False), (5, 4, True), (3, 0, False)):
            x = np.full(4, x, np.float32)
            h = h + times * x
            n += times
            if not early:
                h = h * 2 if x[0] > 0 else h + x
            got = m.run("forward", [x, np.array(times, np.int32), np.array(early)], [(4,)])[0]
            self.assertEqual(list(got), list(h))

    def test_a_run_time_branch_cannot_grow_a_state(self):
        source = """layer Net() {
            state k: Tensor<float32, [cap T, 4]>
            fn forward(x: Tensor<float32, [N, 4]>) {
                if x[0, 0] > 0.0 { k.append(x) }
                return k
            }
        }"""
        self.write("src/net.tri", source)
        self.write("tri.build", "model net\n    sources = src/net.tri\n    entry = Net\n")
        self.assertIn("branches of a run-time `if` give `k` different types", self.trib("build", ok=False).stderr)

    def test_a_state_recompiles_what_uses_it(self):
        self.make()
        self.edit("src/net.tri", "    state steps:", "    state more: Tensor<float32, [3]>\n    state steps:")
        self.edit("src/net.tri", "        return x, steps\n", "        more = more + 1.0\n        return x, steps\n")
        done = self.build()
        self.assertEqual(done["units"]["compiled"], 2, done)  # forward, and checked, which calls it

    def test_opened_models_share_mapped_weights(self):
        source = LAYERS.replace("Attn(16, 2)", "Attn(512, 2)").replace("16", "512").replace("1, 2, P, 8", "1, 2, P, 256")
        self.make(source=source, manifest=MANIFEST.format(emit="library").replace("state.T = 8", "state.T = 8\n    weights.inside = 1MiB"))
        models = [self.open() for _ in range(4)]
        maps = self.mapped(".triw")
        self.assertEqual(len(models), 4)
        self.assertTrue(maps)
        for m in models:  # each has its own states
            m.run("forward", [np.ones((1, 1, 512), np.float32)], [(1, 1, 512), (2,)])
        private = sum(int(line.split()[1]) for block in self.mapped(".triw") for line in block if line.startswith("Private_Dirty:"))
        self.assertEqual(private, 0)

    @staticmethod
    def mapped(end):
        """The blocks of /proc/self/smaps of files whose names end so."""
        found, take = [], False
        with open("/proc/self/smaps") as f:
            for line in f:
                if line.split()[0].find("-") > 0:
                    take = line.rstrip().endswith(end)
                    if take:
                        found.append([])
                if take:
                    found[-1].append(line)
        return found


class Served(InferenceTest):
    """A server elaborates again only what an edit changes."""
    server = "on"

    def test_edits_equal_a_clean_build(self):
        self.write("src/net.tri", LAYERS)
        self.write("tri.build", MANIFEST.format(emit="library header"))
        self.build()
        for old, new in (("        return mix(q, k, v)\n", "        return mix(q, k, v) * 2.0\n"),  # the same states
                         ("        v.append(value, dim=-2)\n", "        v.append(value * 3.0, dim=2)\n"),
                         ("    fn plain(x: Tensor<float32, [1, N, 16]>) {", "    fn plain(x: Tensor<float32, [1, N, 16]>) { steps = steps * 2;")):  # a state more
            self.edit("src/net.tri", old, new)
            self.build()
            served = self.read("build/libnet.so")
            for folder in ("build", ".trib"):
                os.rename(self.path(folder), self.path(folder + ".served"))
            self.env["TRIB_SERVER"] = "off"
            self.trib("build", "--no-cache")
            self.env["TRIB_SERVER"] = "on"
            self.assertTrue(served == self.read("build/libnet.so"), new)
            for folder in ("build", ".trib"):
                shutil.rmtree(self.path(folder))
                os.rename(self.path(folder + ".served"), self.path(folder))


if __name__ == "__main__":
    unittest.main()
