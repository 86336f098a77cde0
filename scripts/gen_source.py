#!/usr/bin/env python3
"""Writes a realistic .tri source of about N lines: layers in both forms, functions, constants, comments, blank lines.

usage: gen_source.py [LINES [SEED]] > big.tri
The same arguments give the same bytes.
"""
import random
import sys

WORDS = ("hidden channels stride weight scale bias input output state query key value head mask gate proj norm conv down up tail embed "
         "residual block depth width kernel pad rate gain shift row col batch seq dim feature logits probs cache step").split()
OPS = ["+", "-", "*", "/", "@"]
ACTIVATIONS = ["relu", "gelu", "silu", "sigmoid", "tanh", "softmax", "hardswish"]
PHRASES = ["keeps the shape of its input", "scales each row by its own factor", "as in the paper, section 3", "the weights are ternary",
           "falls back to the identity when the stride is one", "one value per channel", "no bias: the norm has one"]


class Writer:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.serial = 0

    def pick(self, items):
        return items[self.rng.randrange(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def name(self):
        return self.pick(WORDS) + (str(self.rng.randrange(9)) if self.chance(0.3) else "")

    def fresh(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    def put(self, indent, text):
        self.lines.append("    " * indent + text if text else "")

    def number(self):
        return self.pick(["0", "1", "2", "3", "-1", "64", "128", "0.5", "1e-5", "1.0", "16", "3.14159", "0x2A", "1_024"])

    def atom(self, names):
        return self.pick(names) if self.chance(0.75) else self.number()

    def expr(self, names, depth=2):
        roll = self.rng.random()
        if depth == 0 or roll < 0.2:
            return self.atom(names)
        if roll < 0.5:
            return f"{self.expr(names, depth - 1)} {self.pick(OPS)} {self.expr(names, depth - 1)}"
        if roll < 0.65:
            return f"{self.pick(ACTIVATIONS)}({self.expr(names, depth - 1)})"
        if roll < 0.75:
            return f"{self.pick(names)}.reshape([{self.atom(names)}, {self.atom(names)}, -1])"
        if roll < 0.83:
            return f"{self.pick(names)}.sum(dim=-1, keepdim=true)"
        if roll < 0.9:
            return f"{self.pick(names)}[:, {self.rng.randrange(8)}:{self.rng.randrange(8, 64)}]"
        return f"({self.expr(names, depth - 1)} {self.pick(OPS)} {self.atom(names)})"

    def tensor(self):
        dims = ", ".join(self.pick(["N", "M", "K", "?", "C", "H", "W", "3", "2*K", "C // 4"]) for _ in range(self.rng.randrange(1, 5)))
        return f"Tensor<{self.pick(['float32', 'float32', 'int8', 'trit'])}, [{dims}]>"

    def condition(self, names):
        return f"{self.pick(names)} {self.pick(['==', '!=', '<', '>='])} {self.atom(names)}"

    def statement(self, indent, names):
        roll = self.rng.random()
        if roll < 0.5:
            new = self.name()
            annotation = ": " + self.tensor() if self.chance(0.15) else ""
            self.put(indent, f"let {new}{annotation} = {self.expr(names)}")
            names.append(new)
        elif roll < 0.62:
            self.put(indent, f"{self.pick(names)} {self.pick(['=', '+=', '*='])} {self.expr(names)}")
        elif roll < 0.70:
            self.put(indent, f"# {self.pick(PHRASES)}")
        elif roll < 0.76:
            self.put(indent, f'assert {self.condition(names)}, f"{self.pick(names)} is {{{self.pick(names)}}}"')
        elif roll < 0.84 and indent < 4:
            self.block(indent, f"if {self.condition(names)} {{", names)
        elif roll < 0.92 and indent < 4:
            self.block(indent, f"for i in 0..{self.rng.randrange(2, 16)} {{", names + ["i"])
        else:
            self.put(indent, f"let {self.name()} = [{', '.join(self.atom(names) for _ in range(self.rng.randrange(2, 6)))}]")

    def block(self, indent, head, names):
        self.put(indent, head)
        for _ in range(self.rng.randrange(1, 4)):
            self.statement(indent + 1, list(names))
        self.put(indent, "}")

    def body(self, indent, names):
        for _ in range(self.rng.randrange(2, 9)):
            self.statement(indent, names)
            if self.chance(0.1):
                self.put(0, "")
        self.put(indent, f"return {self.expr(names)}")

    def function(self, indent, name, names):
        args = [self.name() for _ in range(self.rng.randrange(1, 4))]
        if self.chance(0.2):
            self.put(indent, "@inline")
        self.put(indent, f"fn {name}({', '.join(a + ': ' + self.tensor() for a in args)}) -> {self.tensor()} {{")
        self.body(indent + 1, names + args)
        self.put(indent, "}")

    def functional_layer(self):
        args = [self.name() for _ in range(self.rng.randrange(2, 4))]
        self.put(0, f"layer {self.fresh('Layer')}({', '.join(a + ': ' + self.tensor() for a in args)})")
        self.put(1, f"-> {self.tensor()} {{")
        self.body(1, args)
        self.put(0, "}")

    def module_layer(self):
        names = ["channels", "stride"]
        self.put(0, f"layer {self.fresh('Block')}(channels: int, stride: int = 1, bias: bool = true) {{")
        for _ in range(self.rng.randrange(0, 3)):
            names.append(self.name())
            self.put(1, f"param {names[-1]}: Tensor<float32, [channels]> = ones([channels])")
        for _ in range(self.rng.randrange(1, 5)):
            names.append(self.name())
            self.put(1, f"let {names[-1]} = nn.{self.pick(['TernaryConv2d(channels, channels, 3, stride=stride, padding=1)', 'BatchNorm2d(channels)', 'TernaryLinear(channels, 4 * channels, bias=false)', 'RMSNorm(channels)'])}")
        self.put(0, "")
        self.function(1, "forward", names)
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
            self.function(0, self.fresh("compute_"), ["EPS"])
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


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    sys.stdout.write(Writer(seed).source(count))


if __name__ == "__main__":
    main()
