"""scripts/bench kernels: single operations beside oneDNN, PyTorch and a copy, and the share of what one core can do at most."""
import math
import os
import subprocess

from .engines import Engine, Folder, ceilings, compiled, python_engine, rounds, summary, table

MATMULS = [("int8", "trit", 1, 2560, 2560), ("int8", "trit", 3, 2560, 2560), ("int8", "trit", 8, 2560, 2560), ("int8", "trit", 128, 2560, 2560),
           ("trit", "trit", 1, 2560, 2560), ("trit", "trit", 8, 2560, 2560), ("trit", "trit", 128, 2560, 2560),
           ("int8", "trit", 16, 4096, 11008), ("int8", "trit", 33, 1001, 770), ("int8", "trit", 1, 2560, 262144),
           ("float32", "trit", 1, 2560, 6912), ("float32", "trit", 1, 2560, 262144),
           ("float32", "trit", 8, 2560, 6912), ("float32", "trit", 128, 2560, 6912), ("float32", "float32", 1, 2560, 2560),
           ("float32", "float32", 128, 768, 3072), ("float32", "float32", 197, 3072, 768)]
# activations, weights, N, C, H, W, O, KH, KW, stride, padding, and groups if there are several
LAST_LEVEL_CACHE = 64 << 20  # larger weights are read from memory
CONVS = [("int8", "trit", 1, 64, 56, 56, 64, 3, 3, 1, 1), ("int8", "trit", 1, 512, 7, 7, 512, 3, 3, 1, 1), ("int8", "trit", 1, 48, 28, 28, 96, 5, 5, 2, 2),
         ("float32", "trit", 1, 64, 56, 56, 64, 3, 3, 1, 1), ("float32", "float32", 1, 64, 56, 56, 64, 3, 3, 1, 1),
         ("float32", "float32", 1, 512, 7, 7, 512, 3, 3, 1, 1), ("float32", "float32", 1, 3, 224, 224, 64, 7, 7, 2, 3),
         ("float32", "float32", 1, 256, 56, 56, 64, 1, 1, 1, 0)]
LINES = [(4096, 4096), (8, 4096)]
BYTES = {"trit": 0.25, "int8": 1, "float32": 4, "int32": 4}


def initial(weights, shape):
    return f"random_ternary({shape})" if weights == "trit" else f"randn({shape})"


class Case:
    def __init__(self, kind, x, w, dims):
        self.kind, self.x, self.w, self.dims = kind, x, w, dims
        self.name = "_".join([kind, x, w, *map(str, dims)]) if w else "_".join([kind, *map(str, dims)])

    def title(self):
        """In words: int8 × trit 1x2560x2560."""
        if self.kind == "attention":
            heads, queries, keys, width = self.dims
            return f"attention, {heads} heads of {width}, {queries} x {keys}"
        operands = self.x if self.w == self.x == "float32" else f"{self.x} × {self.w}"
        if self.kind == "matmul":
            return f"{operands} {'x'.join(map(str, self.dims))}"
        _, channels, side, _, _, kernel, _, stride, _, *_ = self.dims
        groups = self.groups()
        each = f"{groups} groups of {channels // groups}" if 1 < groups < channels else str(channels)
        return f"{operands}{' depthwise' if groups == channels else ''} {kernel}x{kernel}, {each} channels {side}²{f', stride {stride}' if stride > 1 else ''}"

    def groups(self):
        return self.dims[9] if len(self.dims) > 9 else 1

    def result(self):
        return "float32" if self.x == "float32" else "int32"

    def source(self):
        if self.kind == "softmax_gelu":
            shape = f"Tensor<float32, {list(self.dims)}>"
            return f"fn {self.name}(x: {shape}) -> {shape} {{\n    return softmax(gelu(2.0 * x + 1.0))\n}}\n"
        if self.kind == "attention":
            queries, keys = ([1, self.dims[0], rows, self.dims[3]] for rows in self.dims[1:3])
            return (f"fn {self.name}(q: Tensor<{self.x}, {queries}>, k: Tensor<{self.x}, {keys}>, v: Tensor<{self.x}, {keys}>) -> Tensor<{self.x}, {queries}> {{\n"
                    "    return attention(q, k, v)\n}\n")
        inputs, weights, outputs = self.shapes()
        body = "x @ w" if self.kind == "matmul" else "conv2d(x, w, stride={}, padding={}, groups={})".format(*self.dims[7:9], self.groups())
        return (f"layer {self.name}() {{\n    param w: Tensor<{self.w}, {weights}> = {initial(self.w, weights)}\n"
                f"    fn forward(x: Tensor<{self.x}, {inputs}>) -> Tensor<{self.result()}, {outputs}> {{ return {body} }}\n}}\n")

    def shapes(self):
        """Of the activations, the weights and the result."""
        if self.kind == "matmul":
            m, k, n = self.dims
            return [m, k], [k, n], [m, n]
        n, c, h, w, o, kh, kw, s, p, *_ = self.dims
        return [n, c, h, w], [o, c // self.groups(), kh, kw], [n, o, (h + 2 * p - kh) // s + 1, (w + 2 * p - kw) // s + 1]

    def operations(self):
        if self.kind == "attention":
            return 4 * math.prod(self.dims)
        _, weights, outputs = self.shapes()
        return 2 * math.prod(outputs) * math.prod(weights) // (outputs[1] if self.kind == "conv" else outputs[-1])

    def least_bytes(self):
        """What is read and written at least: operands and result, once."""
        if self.kind == "attention":
            heads, queries, keys, width = self.dims
            return 2 * heads * width * (queries + keys) * BYTES[self.x]
        inputs, weights, outputs = map(math.prod, self.shapes())
        return int(inputs * BYTES[self.x] + weights * BYTES[self.w] + outputs * BYTES[self.result()])

    def weight_bytes(self):
        """Of a matrix of packed trits."""
        _, k, n = self.dims
        return k * n // 4

    def share(self, ms, limits, copy_ms):
        """Of the ceiling for products, of the rate of reading for weights in memory; the time in copies for the rest."""
        if self.kind == "softmax_gelu":
            return f"{ms / copy_ms:.2f} copies" if copy_ms else ""
        if self.kind == "matmul" and self.w == "trit" and self.dims[0] == 1 and self.weight_bytes() > LAST_LEVEL_CACHE:
            rate = self.weight_bytes() / ms / 1e6
            return f"{rate:.1f} GB/s, {rate / limits['read_gbs']:.2f} of reading"
        ceiling = limits["float32_gflops" if self.x == "float32" else "int8_gops"]
        return f"{self.operations() / ms / 1e6 / ceiling:.2f}"


def all_cases(only):
    cases = [Case("matmul", x, w, dims) for x, w, *dims in MATMULS] + [Case("conv", x, w, dims) for x, w, *dims in CONVS]
    cases += [Case("softmax_gelu", "float32", "", dims) for dims in LINES]
    return [c for c in cases if only in c.name]


def build(trib, folder, cases, cpu):
    with open(os.path.join(folder, "tri.build"), "w", encoding="utf-8") as f:
        f.write("project kernels\n    version = 1.0\n")
        for c in cases:
            f.write(f"model {c.name}\n    sources = kernels.tri\n    entry   = {c.name}\n    profile = true\n")
    with open(os.path.join(folder, "kernels.tri"), "w", encoding="utf-8") as f:
        f.writelines(c.source() for c in cases)
    subprocess.run([trib, "build", "-C", folder, "-q", "--cpu", cpu, "--no-cache"], check=True, env={**os.environ, "TRIB_SERVER": "off"})


def prepare(engine, case, folder):
    dims = ",".join(map(str, case.dims))
    if engine.name.startswith("trib"):
        library = os.path.join(folder, "build", f"lib{case.name}.so")
        engine.prepare(case.name, f"library={library}" + (" kernels=1" if engine.name == "trib kernel" else ""))
    elif engine.name == "onednn" and case.kind != "softmax_gelu" and case.x != "trit":
        engine.prepare(case.name, f"{case.kind} {case.x} {' '.join(map(str, case.dims))}")
    elif engine.name == "torch" and case.x == "float32":
        engine.prepare(case.name, f"op={case.kind} dims={dims}")
    elif engine.name == "copy" and case.kind == "softmax_gelu":
        engine.prepare(case.name, f"dims={dims}")


def start(trib_python, python, folder, threads):
    engines = [python_engine("trib", trib_python, threads), python_engine("trib", trib_python, threads), python_engine("torch", python, threads),
               python_engine("copy", python, threads)]
    engines[1].name = "trib kernel"
    onednn = compiled("onednn.cc", folder, "-std=c++17", "-ldnnl")
    return engines + ([Engine("onednn", [onednn], threads)] if onednn else [])


def row(case, engines, limits):
    found = {e.name: summary(e, case.name) for e in engines}
    result = {"case": case.name, "operations": case.operations() if case.w else 0, **found}
    ms = {name: s["median_ms"] for name, s in found.items() if s}
    own = ms.get("trib kernel", ms["trib"])
    result["share"] = case.share(own, limits, ms.get("copy"))
    return result, [case.name, *(ms.get(n, "") for n in ("trib", "trib kernel", "onednn", "torch", "copy")), result["share"]]


def main(options, python):
    cases = all_cases(options.only)
    with Folder() as folder:
        limits = ceilings(options.trib, options.threads)
        build(options.trib, folder, cases, options.cpu)
        engines = start(python, python, folder, options.threads)
        for case in cases:
            for e in engines:
                prepare(e, case, folder)
        rounds(engines, [c.name for c in cases], options.rounds, 0.1)
        rows = [row(c, engines, limits) for c in cases]
        for e in engines:
            e.close()
    print(f"one core: {limits['float32_gflops']} GFLOP/s float32, {limits['int8_gops']} GOP/s int8, {limits['copy_gbs']} GB/s copied; "
          f"{limits['read_gbs']} GB/s read by {options.threads} thread{'s' if options.threads > 1 else ''}")
    table(["median ms", "trib", "kernel", "onednn", "torch", "copy", "share of ceiling"], [r for _, r in rows])
    return {"ceilings": limits, "threads": options.threads, "cases": [r for r, _ in rows]}
