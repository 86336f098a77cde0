"""Random functions with many run-time branches and loops, as .tri and as Python: all levels and the interpreter give the same results."""
import random
import unittest

import numpy as np

from inference import InferenceTest

FUNCTIONS = 24
ARGUMENTS = ((1, 2), (0, 3), (4, 0), (-3, 5))


class Writer:
    """Writes one function in both languages, statement by statement."""

    def __init__(self, rng, name):
        self.rng, self.tri, self.python, self.fresh = rng, [], [], 0
        self.write(0, f"fn {name}(a: int32, b: int32) {{", f"def {name}(a, b):")
        start = rng.randint(0, 3)
        self.write(1, f"let c = {start}", f"c = {start}")
        self.block(1, ["a", "b", "c"], False, 4)
        self.write(1, "return a + 2 * b + 3 * c")
        self.write(0, "}", "")

    def write(self, depth, tri, python=None):
        self.tri.append("    " * depth + tri)
        self.python.append("    " * depth + (tri if python is None else python))

    def name(self, letter):
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def expression(self, names):
        a = self.rng.choice([*names, str(self.rng.randint(-3, 6))])
        b = self.rng.choice([*names, str(self.rng.randint(1, 4))])
        return self.rng.choice([f"{a} + {b}", f"{a} - {b}", f"({a} * {b}) % 17", f"({a}) % {self.rng.randint(2, 5)}"])

    def condition(self, names):
        simple = f"{self.rng.choice(names)} {self.rng.choice(['<', '>', '==', '!=', '<=', '>='])} {self.expression(names)}"
        if self.rng.random() < 0.75:
            return simple, simple
        tri, python = self.condition(names)
        both = self.rng.random() < 0.5
        return f"({simple}) {'&&' if both else '||'} ({tri})", f"({simple}) {'and' if both else 'or'} ({python})"

    def body(self, depth, head, names, loop, budget, first=None, last=None):
        self.write(depth, *head)
        if first:
            self.write(depth + 1, first)
        self.block(depth + 1, names, loop, budget - 1)
        if last:
            self.write(depth + 1, last)

    def block(self, depth, names, loop, budget):
        names = list(names)
        kinds = ["assign"] * 7 + ["let", "choose"] + (["if"] * 4 + ["for"] * 2 + ["while"] * 2 + ["return"] + ["leave"] * loop if budget else [])
        for _ in range(self.rng.randint(1, 4)):
            getattr(self, self.rng.choice(kinds) + "_")(depth, names, loop, budget)

    def assign_(self, depth, names, loop, budget):
        self.write(depth, f"{self.rng.choice('abc')} = {self.expression(names)}")

    def let_(self, depth, names, loop, budget):
        value = self.expression(names)
        names.append(self.name("v"))
        self.write(depth, f"let {names[-1]} = {value}", f"{names[-1]} = {value}")

    def choose_(self, depth, names, loop, budget):
        target, (tri, python), x, y = self.rng.choice("abc"), self.condition(names), self.expression(names), self.expression(names)
        self.write(depth, f"{target} = {tri} ? {x} : {y}", f"{target} = ({x}) if {python} else ({y})")

    def if_(self, depth, names, loop, budget):
        tri, python = self.condition(names)
        self.body(depth, (f"if {tri} {{", f"if {python}:"), names, loop, budget)
        if self.rng.random() < 0.5:
            self.body(depth, ("} else {", "else:"), names, loop, budget)
        self.write(depth, "}", "pass")

    def for_(self, depth, names, loop, budget):
        i, start = self.name("i"), self.rng.randint(0, 2)
        end = self.rng.choice([str(self.rng.randint(1, 7)), f"({self.rng.choice('abc')}) % 7"])
        self.body(depth, (f"for {i} in {start}..{end} {{", f"for {i} in range({start}, {end}):"), names, 1, budget,
                  last=f"{self.rng.choice('abc')} = {i} + {self.rng.choice('abc')}")
        self.write(depth, "}", "pass")

    def while_(self, depth, names, loop, budget):
        w, most, (tri, python) = self.name("w"), self.rng.randint(2, 6), self.condition(names)
        self.write(depth, f"let {w} = 0", f"{w} = 0")
        self.body(depth, (f"while {w} < {most} && ({tri}) {{", f"while {w} < {most} and ({python}):"), names, 1, budget, first=f"{w} = {w} + 1")
        self.write(depth, "}", "pass")

    def leave_(self, depth, names, loop, budget):
        (tri, python), way = self.condition(names), self.rng.choice(("break", "continue"))
        self.write(depth, f"if {tri} {{ {way} }}", f"if {python}: {way}")

    def return_(self, depth, names, loop, budget):
        (tri, python), value = self.condition(names), self.expression(names)
        self.write(depth, f"if {tri} {{ return {value} }}", f"if {python}: return {value}")


class Control(InferenceTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(20)
        writers = [Writer(rng, f"f{i}") for i in range(FUNCTIONS)]
        calls = ", ".join(f"int32(f{i}(a, b))" for i in range(FUNCTIONS))
        self.write("net.tri", "".join("\n".join(w.tri) + "\n" for w in writers) +
                   f"layer net(a: Tensor<int32, []>, b: Tensor<int32, []>) {{ return {calls} }}\n")
        self.write("tri.build", "project p\n    version = 1.0\n\nmodel net\n    sources = net.tri\n    entry = net\n")
        self.functions = {}
        for w in writers:
            exec("\n".join(w.python), self.functions)

    def compare(self, *flags):
        for a, b in ARGUMENTS:
            got = self.infer("net", {"a": np.int32(a), "b": np.int32(b)}, FUNCTIONS, *flags)
            for i in range(FUNCTIONS):
                with self.subTest(function=i, a=a, b=b, flags=flags):
                    self.assertEqual(int(got[i]), self.functions[f"f{i}"](a, b))

    def test_every_level(self):
        for level in ("-O0", "-O1", "-O2"):
            self.trib("build", level)
            self.compare()

    def test_interpreter(self):
        self.trib("build")
        self.compare("--device", "reference")


class Devices(Control):
    test_every_level = test_interpreter = None

    def test_devices(self):
        self.edit("tri.build", "entry = net", "entry = net\n    emit = library header opencl")
        self.trib("build")
        self.compare("--device", "opencl")

    def test_a_loop_that_fails_ends(self):
        self.edit("tri.build", "entry = net", "entry = net\n    emit = library header opencl")
        self.write("net.tri", "layer net(x: Tensor<float32, [N]>) {\n    let k = 0\n    while x[k] >= 0.0 { k += 1 }\n    return k\n}\n")
        self.trib("build")
        self.assertEqual(self.infer("net", {"x": np.array([1, 2, -3], np.float32)}, 0), [2])
        endless = self.input_flags({"x": np.ones(5, np.float32)})
        for device in ("cpu", "reference", "opencl"):
            said = self.fails("run", "net", "--no-build", *endless, "--device", device, code=1)
            self.assertIn("index 5 is out of range", said)


if __name__ == "__main__":
    unittest.main()
