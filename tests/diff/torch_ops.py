"""Shared by the comparisons with PyTorch: cases of one expression each, compiled and interpreted, against PyTorch's result.

A TorchTest collects cases with `case`, then `compare` builds a project with one model for each and runs all of them. self.rng draws the values. Its seed
is new each time and printed; TRIB_SEED repeats it. Without PyTorch (Debian's python3-torch) the test is skipped."""
import os
import random
import sys

import numpy as np

import inference

try:
    import torch
except ImportError:
    print("SKIPPED: PyTorch is not installed (apt-get install python3-torch)")
    sys.exit(77)

torch.set_num_threads(1)
TYPES = {torch.float32: "float32", torch.float64: "float64", torch.float16: "float16", torch.uint8: "uint8", torch.int8: "int8", torch.int16: "int16", torch.int32: "int32",
         torch.int64: "int64", torch.bool: "bool"}


class Value:
    """An argument: a tensor, the element type it has in the language, the dims whose sizes the source leaves open, and whether it is known when
    the library is built."""

    def __init__(self, tensor, dtype=None, open_dims=(), weight=False):
        self.tensor, self.dtype, self.open_dims, self.weight = tensor, dtype or TYPES[tensor.dtype], open_dims, weight

    def declared(self, name):
        dims = ", ".join(f"{name.upper()}{k}" if k in self.open_dims else str(n) for k, n in enumerate(self.tensor.shape))
        return f"{name}: Tensor<{self.dtype}, [{dims}]>"


class Case:
    def __init__(self, source, want, values, bound, exact):
        self.source, self.values, self.bound, self.exact = source, values, bound, exact
        self.want = want if isinstance(want, tuple) else (want,)
        self.several = isinstance(want, tuple)

    def function(self, name):
        return f"fn {name}({', '.join(v.declared(k) for k, v in self.values.items())}) {{ return {self.source} }}\n"


def safetensors(values):
    return inference.safetensors({name: v.tensor.contiguous().numpy() for name, v in values.items()})


class TorchTest(inference.InferenceTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("TRIB_SEED") or random.SystemRandom().randrange(1 << 31))
        print(f"{self.id()}: seed {self.seed}", file=sys.stderr)
        self.rng = random.Random(self.seed)
        torch.manual_seed(self.seed)
        self.cases = []

    def floats(self, *shape, dtype=torch.float32, **more):
        return Value(torch.randn(*shape).to(dtype), **more)

    def ints(self, *shape, dtype=torch.int8, low=-128, high=128, **more):
        return Value(torch.randint(low, high, shape).to(dtype), **more)

    def trits(self, *shape, **more):
        return Value(torch.randint(-1, 2, shape).to(torch.int8), "trit", **more)

    def case(self, source, want, bound=None, exact=False, **values):
        """`source` over the names of `values` must give `want`, a tensor or a tuple of them: exactly, or within 1e-5 of `bound`, the sum of the terms'
        absolute values (by default 1)."""
        self.cases.append(Case(source, want, values, bound, exact))

    def write_project(self):
        manifest, source = "project ops\n    version = 1.0\n", "import nn\n"
        for k, c in enumerate(self.cases):
            source += c.function(f"c{k}")
            manifest += f"\nmodel c{k}\n    sources = ops.tri\n    entry = c{k}\n"
            weights = {n: v for n, v in c.values.items() if v.weight}
            if weights:
                self.write(f"c{k}.safetensors", safetensors(weights))
                manifest += f"    weights = c{k}.safetensors\n"
        self.write("ops.tri", source)
        self.write("tri.build", manifest)

    def infer_case(self, model, c, *flags):
        arrays = {name: v.tensor.numpy() for name, v in c.values.items() if not v.weight}
        return self.infer(model, arrays, len(c.want) if c.several else 0, *flags)

    def check(self, model, c, *flags):
        """One run of a model against the case."""
        with self.subTest(source=c.function(model).strip(), shapes=[list(v.tensor.shape) for v in c.values.values()], flags=flags, seed=self.seed):
            for got, want in zip(self.infer_case(model, c, *flags), c.want):
                want = want.numpy()
                self.assertEqual(got.shape, want.shape)
                if c.exact:
                    np.testing.assert_array_equal(got, want)
                    continue
                bound = np.ones(()) if c.bound is None else c.bound.numpy()
                np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
                wrong = ~(np.abs(got.astype(np.float64) - want) <= 1e-5 * np.maximum(bound, np.abs(want))) & np.isfinite(want)
                self.assertFalse(wrong.any(), f"{wrong.sum()} of {wrong.size} wrong, by up to {np.abs(got - want)[wrong].max(initial=0)}")

    def check_both(self, model, c):
        """Compiled and in the interpreter."""
        for device in ("cpu", "reference"):
            self.check(model, c, "--device", device)

    def compare(self, *flags, devices=("cpu", "reference")):
        """Every case."""
        self.write_project()
        self.trib("build", *flags)
        for k, c in enumerate(self.cases):
            for device in devices:
                self.check(f"c{k}", c, "--device", device)
