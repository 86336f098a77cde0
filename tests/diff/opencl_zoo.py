#!/usr/bin/env python3
"""The networks of examples/zoo in full size on the first OpenCL device, with both variants of kernels, beside the library of the CPU with the same random
weights. Prints how far outputs are apart, milliseconds of a run, and the launches of a decoder's step. It is the test label `zoo`; TRIB, TRIB_SOURCE and
PYTHONPATH are as in CMakeLists.txt.

opencl_zoo.py [--only NAME] [--variants wide,groups] [--batches 1,2] [--tokens N] [--depth N] [--runs N]"""
import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter

import numpy as np

from library_states import Dim, Model
from project import SOURCE, ProjectTest

sys.path.insert(0, os.path.join(SOURCE, "scripts", "benchmarks"))
from abi import DimStep  # noqa: E402

ZOO = os.path.join(SOURCE, "examples", "zoo")
SIZES = {"mnist_mlp": (1, 28, 28), "efficientnet_b7": (3, 600, 600)}
PROMPT, CAPACITY = 16, 64
LAUNCH = 0  # of enum tri_cl_step_kind
MEDIANS = {"ternary_vit_b16": 1e-2}  # its CPU library moves by a third of that if its input changes by 1e-7
# What is scaled in ternary Transformers, whose random weights are of size 1.
RESIDUAL = r"\b[xy] \+ (y\b|(mlp|self_attention|self_attn\.step)\(\w+\([xy]\)\))"
QUERIES = r"\bq(?=, num_heads)"


class Step(ctypes.Structure):
    """struct tri_cl_step of gpu/runtime/launch.h."""
    _fields_ = [("kernel", ctypes.c_char_p), *((n, ctypes.c_void_p) for n in ("args", "dims", "effect")), ("place", ctypes.c_uint64),
                *((n, ctypes.c_int32) for n in ("kind", "n_args", "n_dims", "fails")), *((n, ctypes.c_uint32) for n in ("group", "to", "unit", "statement")),
                *((n, Dim) for n in ("items", "bytes", "operations", "memory"))]


class Code(ctypes.Structure):
    """What struct tri_cl_code begins with."""
    _fields_ = [("program", ctypes.c_void_p), ("steps", ctypes.POINTER(Step)), ("n_steps", ctypes.c_int64)]


def is_ternary(name):
    return name.startswith(("ternary", "bitnet"))


def dim_value(d, symbols):
    steps, stack = ctypes.cast(d.steps, ctypes.POINTER(DimStep)), []
    for s in steps[:d.n_steps]:
        if s.op < 2:
            stack.append(s.value if s.op == 0 else symbols[s.value])
        else:
            b, a = stack.pop(), stack.pop()
            stack.append((a + b, a * b, a // b if b else 0, a % b if b else 0)[s.op - 2])
    return stack[0] if stack else 0


def launches(model, entry, variant, sizes):
    """How often a run of the entry launches each kernel, where its run-time sizes are these."""
    e = model.desc.entries[model.entries[entry]]
    symbols = [sizes[e.dim_names[k].decode()] for k in range(e.n_dims)]
    code = ctypes.cast(e.code, ctypes.POINTER(ctypes.POINTER(Code)))[("groups", "wide").index(variant)].contents
    return Counter(s.kernel.decode() for s in code.steps[:code.n_steps] if s.kind == LAUNCH and dim_value(s.items, symbols))


def timed(runs, run):
    """The least seconds of some runs, and what the last one returns."""
    least = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        got = run()
        least = min(least, time.perf_counter() - begin)
    return least, got


class OpenclZoo(ProjectTest):
    def compare(self, name, got, want, what):
        """Of a float network outputs differ by rounding. Of a ternary one some values at the border of two int8 codes fall to the other side."""
        for k, (g, w) in enumerate(zip(got, want)):
            self.assertTrue(np.isfinite(w).all() and 0 < np.abs(w).max() < 1e6, f"{what}: outputs that show nothing")
            error = np.abs(g - w) / np.abs(w).max()
            self.worst = max(self.worst, float(error.max()))
            self.assertLessEqual(error.max(), 0.1 if is_ternary(name) else 1e-4, f"{what}, output {k}")
            self.assertLessEqual(np.median(error), MEDIANS.get(name, 2e-3), f"{what}, output {k}: the median")

    def prepare(self, name):
        """Both libraries of a model. With fewer layers if that is asked for. What a block of a ternary Transformer adds with random weights is thirty times its
        input; it is scaled to a 30th. Else one code that differs changes all that follows, and after twelve layers outputs show nothing. So it is with
        attention whose scores are in the hundreds, since it takes only the greatest; the queries are scaled."""
        with open(os.path.join(ZOO, "tri.build"), encoding="utf-8") as f:
            block = f.read().split(f"model {name}\n")[1].split("\n\n")[0]
        for f in filter(lambda f: f.endswith(".tri"), os.listdir(ZOO)):
            with open(os.path.join(ZOO, f), encoding="utf-8") as source:
                text = source.read()
            if self.options.depth and f == "bitnet.tri":
                text = re.sub(r"depth=\d+,|\[(12|30), B", lambda m: re.sub(r"\d+", str(self.options.depth), m[0]), text)
            if is_ternary(name):
                text = re.sub(f"{RESIDUAL}|{QUERIES}", r"\g<0> * 0.0009765625", text)
            self.write(f, text)
        self.write("tri.build", f"project full\n\nmodel {name}\n{block}\n    emit = library opencl\n")
        done = subprocess.run([self.executable, "build", name], cwd=self.dir, env={**os.environ, **self.env}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def open(self, name, variant, **capacities):
        os.environ["TRIB_OPENCL_VARIANT"] = variant or "wide"
        return Model(self.path(f"build/lib{name}{'_opencl' if variant else ''}.so"), 2, device=b"0" if variant else None, **capacities)

    def network(self, name):
        rng, runs = np.random.default_rng(1), self.options.runs
        inputs = [rng.standard_normal((n, *SIZES.get(name, (3, 224, 224)))).astype(np.float32) for n in map(int, self.options.batches.split(","))]
        shapes = [[(len(x), 10 if name == "mnist_mlp" else 1000)] for x in inputs]
        cpu = self.open(name, None)
        want = [timed(runs, lambda x=x, s=s: cpu.run("forward", [x], s)) for x, s in zip(inputs, shapes)]
        cpu.close()
        for variant in self.options.variants.split(","):
            begin, self.worst = time.perf_counter(), 0
            model = self.open(name, variant)
            model.run("forward", [inputs[0]], shapes[0])
            first = time.perf_counter() - begin
            for x, s, (ms, w) in zip(inputs, shapes, want):
                t, got = timed(runs, lambda x=x, s=s: model.run("forward", [x], s))
                self.compare(name, got, w, f"{name}, {variant}, batch {len(x)}")
                print(f"{name} {variant} batch {len(x)} ok: worst {self.worst:.1e}, {1e3 * t:.2f} ms, CPU {1e3 * ms:.2f} ms, "
                      f"opened in {first:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)
            model.close()

    def decoder(self, name):
        for variant in self.options.variants.split(","):
            self.worst, begin = 0, time.perf_counter()
            cpu, model = self.open(name, None, T=CAPACITY), self.open(name, variant, T=CAPACITY)
            first = time.perf_counter() - begin
            for batch in map(int, self.options.batches.split(",")):
                self.functional(name, cpu, model, batch, f"{name}, {variant}, batch {batch}")
            print(f"{name} {variant} prefill, decode ok: worst {self.worst:.1e}, opened in {first:.1f} s", flush=True)
            self.worst = 0
            self.stateful(name, cpu, model, variant)
            model.close()
            cpu.close()

    def functional(self, name, cpu, model, batch, what):
        """The prompt, then token after token with the caches as arguments: those of the CPU for both."""
        state = cpu.desc.states[0]
        vocabulary = 128256 if name == "bitnet_2b" else 50304
        tokens = np.random.default_rng(2).integers(0, vocabulary, (batch, PROMPT + self.options.tokens)).astype(np.int32)

        def shapes(length):
            return [(batch, vocabulary), *[(cpu.desc.n_states // 2, batch, state.shape[1], length, state.shape[3])] * 2]

        want = cpu.run("prefill", [tokens[:, :PROMPT]], shapes(PROMPT))
        self.compare(name, model.run("prefill", [tokens[:, :PROMPT]], shapes(PROMPT)), want, f"{what}, prefill")
        for at in range(PROMPT, PROMPT + self.options.tokens):
            inputs = [tokens[:, at:at + 1], *want[1:]]
            want = cpu.run("decode", inputs, shapes(at + 1))
            self.compare(name, model.run("decode", inputs, shapes(at + 1)), want, f"{what}, decode with {at} tokens")

    def stateful(self, name, cpu, model, variant):
        """The cache as state, which each keeps."""
        vocabulary = 128256 if name == "bitnet_2b" else 50304
        tokens = np.random.default_rng(3).integers(0, vocabulary, (1, CAPACITY)).astype(np.int32)
        times = {cpu: [], model: []}
        for turn in range(2):  # the second one after a reset
            for m in (cpu, model):
                m.reset()
            at = 0
            while at < PROMPT + 2 * self.options.tokens:
                n = PROMPT if at == 0 else 1
                got = {}
                for m in (cpu, model):
                    begin = time.perf_counter()
                    got[m] = m.run("step", [tokens[:, at:at + n]], [(1, vocabulary)])
                    times[m].append(time.perf_counter() - begin)
                self.compare(name, got[model], got[cpu], f"{name}, {variant}, turn {turn}, {at} tokens in the state")
                at += n
        saved = [m.save() for m in (cpu, model)]
        self.assertEqual(len(saved[0]), len(saved[1]))
        model.load(saved[1])
        depth = cpu.desc.n_states // 2
        counts = launches(model, "step", variant, {"L": 1, "T": PROMPT})
        layer = {k: n // depth for k, n in counts.items() if n >= depth}
        print(f"{name} {variant} step ok: worst {self.worst:.1e}, {1e3 * min(times[model]):.2f} ms a token, CPU {1e3 * min(times[cpu]):.2f}, "
              f"{sum(layer.values())} launches a layer of {sum(counts.values())}, load {os.getloadavg()[0]:.1f}", flush=True)
        print(f"    {layer}", flush=True)

    def zoo(self):
        with open(os.path.join(ZOO, "tri.build"), encoding="utf-8") as f:
            names = [n for n in re.findall(r"^model (\w+)$", f.read(), re.M) if self.options.only in ("", n)]
        self.assertTrue(names, f"the zoo has no {self.options.only}")
        failed = 0
        for name in names:
            try:
                self.prepare(name)
                (self.decoder if name.endswith(("decoder_125m", "bitnet_2b")) else self.network)(name)
            except AssertionError as error:
                failed += 1
                print(name, "FAILED:", str(error)[:1000], flush=True)
            shutil.rmtree(self.path("build"), True)
        return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, value in (("only", ""), ("variants", "wide,groups"), ("batches", "1,2"), ("tokens", 4), ("depth", 0), ("runs", 3)):
        parser.add_argument(f"--{name}", default=value, type=type(value))
    test = OpenclZoo("zoo")
    test.options = parser.parse_args()
    test.setUp()
    try:
        return 1 if test.zoo() else 0
    finally:
        test.doCleanups()


if __name__ == "__main__":
    sys.exit(main())
