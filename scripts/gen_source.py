#!/usr/bin/env python3
"""Writes a realistic .tri source of about N lines that checks without an error: layers in both forms, functions, constants, aliases, comments.

Usage: gen_source.py [LINES [SEED]] > big.tri

The same arguments give the same bytes. Each expression is generated for a given shape, so that shapes agree by construction."""
import random
import re
import sys

WORDS = ("hidden scale_in output state query key value head mask gate proj mixed conv down up tail embed residual width gain shift row col "
         "batch seq feature logits probs cache").split()
ACTIVATIONS = ["relu", "gelu", "silu", "sigmoid", "tanh", "hardswish"]
PHRASES = ["keeps the shape of its input", "scales each row by its own factor", "as in the paper, section 3", "the weights are ternary",
           "falls back to the identity when the stride is one", "one value per channel", "no bias: the norm has one"]
DIMS = ["M", "K", "N"]


class Writer:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.serial = 0
        self.fixed = set()  # parameters of the layer: not assigned to

    def pick(self, items):
        return items[self.rng.randrange(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    def local(self, scope, shape):
        name = self.pick(WORDS)
        while name in scope:
            name = self.pick(WORDS) + str(self.rng.randrange(100))
        scope[name] = shape
        return name

    def settle(self, first, locals):
        """Names that nothing uses begin with `_`."""
        for name in locals:
            word = re.compile(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])")
            uses = [i for i in range(first, len(self.lines)) if word.search(self.lines[i])]
            if len(uses) == 1 and re.search(rf"let {name}\b", self.lines[uses[0]]) and len(word.findall(self.lines[uses[0]])) == 1:
                self.lines[uses[0]] = word.sub("_" + name, self.lines[uses[0]])

    def put(self, indent, text):
        self.lines.append("    " * indent + text if text else "")

    def number(self):
        return self.pick(["0.5", "1e-5", "1.0", "2.0", "3.14159", "0.125", "1_024.0"])

    def named(self, scope, shape):
        return [n for n, s in scope.items() if s == shape]

    def atom(self, scope, shape):
        return self.pick(self.named(scope, shape))

    def expr(self, scope, shape, depth=2):
        """An expression of the shape: some name in scope has it."""
        roll = self.rng.random()
        if depth == 0 or roll < 0.15:
            return self.atom(scope, shape)
        if roll < 0.40:
            return f"{self.expr(scope, shape, depth - 1)} {self.pick('+-*')} {self.expr(scope, shape, depth - 1)}"
        if roll < 0.55:
            return f"{self.pick(ACTIVATIONS)}({self.expr(scope, shape, depth - 1)})"
        if roll < 0.65:
            return f"({self.expr(scope, shape, depth - 1)}) {self.pick('+*-')} {self.number()}"
        if roll < 0.72:
            return f"softmax({self.atom(scope, shape)}, dim=-1)"
        if roll < 0.80:
            return f"{self.atom(scope, shape)} / ({self.atom(scope, shape)}.abs().sum(dim=-1, keepdim=true) + EPS)"
        if len(shape) == 2:
            for inner in DIMS:
                left, right = self.named(scope, (shape[0], inner)), self.named(scope, (inner, shape[1]))
                if left and right:
                    return f"{self.pick(left)} @ {self.pick(right)}"
            turned = self.named(scope, shape[::-1])
            if turned:
                return f"{self.pick(turned)}.transpose(0, 1)"
        return f"where({self.atom(scope, shape)} > 0.0, {self.atom(scope, shape)}, {self.expr(scope, shape, depth - 1)})"

    def statement(self, indent, scope):
        shape = self.pick(list(scope.values()))
        roll = self.rng.random()
        if roll < 0.60:
            value = self.expr(scope, shape)
            annotation = f": {tensor(shape)}" if self.chance(0.15) else ""
            self.put(indent, f"let {self.local(scope, shape)}{annotation} = {value}")
        elif roll < 0.72:
            value, target = self.expr(scope, shape), self.atom(scope, shape)
            if target in self.fixed:
                self.put(indent, f"let {self.local(scope, shape)} = {value}")
                return
            self.put(indent, f"{target} {self.pick(['+=', '*='] if value == target else ['=', '+=', '*='])} {value}")
        elif roll < 0.82:
            self.put(indent, f"# {self.pick(PHRASES)}")
        elif roll < 0.86:
            name = self.atom(scope, shape)
            self.put(indent, f'assert {name}.rank == {len(shape)}, f"{name} has shape {{{name}.shape}}"')
        elif roll < 0.94 and indent < 3:
            name = self.atom(scope, shape)
            self.block(indent, f"if {name}.rank {self.pick(['==', '>', '<='])} {self.rng.randrange(1, 4)} {{", scope)
        elif roll < 0.97 and indent < 3:
            self.block(indent, f"for i in 0..{self.rng.randrange(2, 5)} {{", scope)
        else:
            parts = [self.atom(scope, shape) for _ in range(2)]
            axis = self.rng.randrange(len(shape))
            cut = ", ".join([":"] * axis + [f"0:{shape[axis]}"])
            self.put(indent, f"let {self.local(scope, shape)} = concat([{', '.join(parts)}], dim={axis})[{cut}]")

    def block(self, indent, head, scope):
        self.put(indent, head)
        inner = dict(scope)
        first = len(self.lines)
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(indent + 1, inner)
        self.settle(first, [n for n in inner if n not in scope])
        self.put(indent, "}")

    def body(self, indent, scope, shape):
        first, given = len(self.lines), set(scope)
        for _ in range(self.rng.randrange(3, 12)):
            self.statement(indent, scope)
            if self.chance(0.1):
                self.put(0, "")
        self.put(indent, f"return {self.expr(scope, shape)}")
        self.settle(first, [n for n in scope if n not in given])

    def arguments(self):
        scope = {}
        for _ in range(self.rng.randrange(2, 5)):
            self.local(scope, tuple(self.pick(DIMS) for _ in range(self.rng.randrange(1, 3))))
        return scope

    def function(self):
        scope = self.arguments()
        shape = self.pick(list(scope.values()))
        if self.chance(0.2):
            self.put(0, "@inline")
        args = ", ".join(f"{n}: {tensor(s)}" for n, s in scope.items())
        result = f" -> {tensor(shape)}" if self.chance(0.8) else ""
        self.put(0, f"fn {self.fresh('compute_')}({args}){result} {{")
        self.body(1, scope, shape)
        self.put(0, "}")

    def functional_layer(self):
        name = self.fresh("TernaryFC")
        self.put(0, f"layer {name}(w: TernaryTensor<trit, [K, N]>, b: Tensor<float32, [N]>, x: Tensor<float32, [M, K]>)")
        self.put(1, "-> Tensor<float32, [M, N]> {")
        self.put(1, "let y = x @ w + b")
        scope = {"x": ("M", "K"), "y": ("M", "N"), "b": ("N",)}
        self.body(1, scope, ("M", "N"))
        self.put(0, "}")

    def module_layer(self):
        self.put(0, f"layer {self.fresh('Block')}(channels: int, stride: int = 1, bias: bool = true) {{")
        scope = {}
        for _ in range(self.rng.randrange(0, 3)):
            name = self.local(scope, ("channels",))
            self.fixed.add(name)
            self.put(1, f"param {name}: Tensor<float32, [channels]> = ones([channels])")
        layers = [self.pick(WORDS) + f"_{i}" for i in range(self.rng.randrange(1, 5))]
        for name in layers:
            made = self.pick(["Linear(channels, channels)", "BitLinear(channels, channels)", "TernaryLinear(channels, channels, bias=bias)", "RMSNorm(channels)", "LayerNorm(channels)"])
            self.put(1, f"let {name} = nn.{made}")
        self.put(0, "")
        self.put(1, "fn forward(x: Tensor<float32, [N, channels]>) -> Tensor<float32, [N, channels]> {")
        scope["x"] = ("N", "channels")
        first, given = len(self.lines), set(scope)
        for name in layers:
            given = self.atom(scope, ("N", "channels"))
            self.put(2, f"let {self.local(scope, ('N', 'channels'))} = {name}({given})")
        made = [n for n in scope if n not in given]
        self.body(2, scope, ("N", "channels"))
        self.settle(first, made)
        self.fixed.clear()
        self.put(1, "}")
        self.put(0, "}")

    def item(self):
        for _ in range(self.rng.randrange(0, 3)):
            self.put(0, f"# {self.pick(PHRASES).capitalize()}.")
        roll = self.rng.random()
        if roll < 0.08:
            self.put(0, f"const {self.fresh('LIMIT_')} = {self.number()}")
        elif roll < 0.12:
            self.put(0, f"type {self.fresh('Image')}<N> = Tensor<float32, [N, 3, 224, 224]>")
        elif roll < 0.5:
            self.function()
        elif roll < 0.7:
            self.functional_layer()
        else:
            self.module_layer()
        self.put(0, "")

    def source(self, count):
        self.put(0, "import nn")
        self.put(0, "const EPS = 1e-5")
        self.put(0, "")
        while len(self.lines) < count:
            self.item()
        return "\n".join(self.lines) + "\n"


def tensor(shape):
    return f"Tensor<float32, [{', '.join(shape)}]>"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    sys.stdout.write(Writer(seed).source(count))


if __name__ == "__main__":
    main()
