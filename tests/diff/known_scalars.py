"""A number means the same whether its value is known at compile time or not.

Random expressions of scalars of all types are computed from constants, typed locals and arguments known at compile time, and from run-time
scalars: the interpreter must print the same text for both. Single operations are also compared with NumPy's scalars.
"""
import math
import os
import random
import re
import unittest

import numpy as np

from numpy_values import FLOATS, INTS, NP, rounded
from project import ProjectTest, TRIB, run

CASES = 6000
BLOCK = 60  # expressions of one program
BITS = {"&": int.__and__, "|": int.__or__, "^": int.__xor__}
SHIFTS = ["<<", ">>"]
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "minimum", "maximum"]
COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}
SAME = ["neg", "~", "abs", "sign", "floor", "ceil", "round"]
MATH = {"exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh}
# Computed as tensors even if the number is known; their values are compared with PyTorch's elsewhere.
FUNCTIONS = {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)), "softplus": lambda x: np.log1p(np.exp(x)),
             "expm1": np.expm1, "log1p": np.log1p, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "atan": np.arctan, "erf": np.vectorize(math.erf),
             "leaky_relu": lambda x: x if x > 0 else 0.01 * x, "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6}
NAMES = "abcd"
ULPS = 8  # the greatest difference from NumPy's function, in units of the type
WIDER = {t: INTS[i:] + ["float32", "float64"] for i, t in enumerate(INTS)}
WIDER["uint8"].remove("int8")
WIDER |= {"float16": ["float16", "float32", "float64"], "bfloat16": ["bfloat16", "float32", "float64"],
          "float32": ["float32", "float64"], "float64": ["float64"]}


class Unfit(Exception):
    """The value is an error if it is known: an overflow, a division by zero."""


class Scalar:
    """A value with its type; type None is a literal."""

    def __init__(self, value, dtype):
        self.value, self.dtype = value, dtype

    def to(self, dtype):
        if dtype in INTS:
            info = np.iinfo(NP[dtype])
            if not info.min <= int(self.value) <= info.max:
                raise Unfit
            return int(self.value)
        return float(rounded(np.float64(self.value), dtype)) if not isinstance(self.value, int) else int_to_float(self.value, dtype)


def int_to_float(i, dtype):
    return float(np.float32(np.int64(i))) if dtype == "float32" else float(rounded(np.float64(i), dtype))


def stored(value, dtype):
    if dtype in INTS:
        return Scalar(Scalar(value, None).to(dtype), dtype)
    return Scalar(float(rounded(np.float64(value), dtype)), dtype)


def joined(a, b):
    if a.dtype is None or b.dtype is None:
        literal, other = (a, b) if a.dtype is None else (b, a)
        return other.dtype if isinstance(literal.value, int) or other.dtype in FLOATS else "float32"
    return next(t for t in WIDER[a.dtype] if t in WIDER[b.dtype])


def float_mod(a, b):
    m = math.fmod(a, b) if math.isfinite(a) and not math.isnan(b) else math.nan
    return m + b if m and (m < 0) != (b < 0) else m


def float_floordiv(a, b):
    with np.errstate(all="ignore"):
        return float(np.floor_divide(np.float64(a), np.float64(b)))


def shift(op, x, y, dtype):
    """Bits that are shifted out are lost."""
    if y < 0:
        raise Unfit
    bits, low = np.iinfo(NP[dtype]).bits, np.iinfo(NP[dtype]).min
    return Scalar((((x << min(y, bits)) - low) & ((1 << bits) - 1)) + low if op == "<<" else x >> min(y, bits), dtype)


def binary(op, a, b):
    dtype = joined(a, b)
    if op in BITS or op in SHIFTS:
        if dtype not in INTS:
            raise Unfit
        x, y = a.to(dtype), b.to(dtype)
        return shift(op, x, y, dtype) if op in SHIFTS else stored(BITS[op](x, y), dtype)
    if op == "/" and dtype in INTS:
        dtype = "float32"
    x, y = a.to(dtype), b.to(dtype)
    if op in ("/", "//", "%") and y == 0:
        raise Unfit
    with np.errstate(all="ignore"):
        if op in COMPARE:
            return Scalar(bool(COMPARE[op](x, y)), "bool")
        if op in ("minimum", "maximum"):
            return stored(getattr(np, op)(x, y) if dtype in FLOATS else (min if op == "minimum" else max)(x, y), dtype)
        if dtype in INTS:
            if op == "**" and (y < 0 or y > 64):
                raise Unfit
            return stored({"+": x.__add__, "-": x.__sub__, "*": x.__mul__, "//": x.__floordiv__, "%": x.__mod__, "**": x.__pow__}[op](y), dtype)
        x, y = np.float64(x), np.float64(y)
        return stored({"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": float_floordiv, "%": float_mod, "**": np.power}[op](x, y),
                  dtype)


def unary(op, a):
    whole = a.dtype in INTS
    x = a.value
    if op == "~":
        if not whole:
            raise Unfit
        return stored(~x & 255 if a.dtype == "uint8" else ~x, a.dtype)
    if op in MATH or op in FUNCTIONS:
        with np.errstate(all="ignore"):
            return stored((MATH | FUNCTIONS)[op](np.float64(a.to("float32") if whole else x)), "float32" if whole else a.dtype)
    if op in ("floor", "ceil", "round") and whole:
        return a
    result = {"neg": lambda: -x, "abs": lambda: abs(x), "sign": lambda: (x > 0) - (x < 0), "floor": lambda: np.floor(x), "ceil": lambda: np.ceil(x),
          "round": lambda: np.rint(x)}[op]()
    return stored(result, a.dtype)


def cast(dtype, a):
    if dtype in INTS and not isinstance(a.value, int):
        if not math.isfinite(a.value) or abs(a.value) >= 2.0**62:
            raise Unfit
        return stored(math.trunc(a.value), dtype)
    return Scalar(a.to(dtype), dtype)


def number_text(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "(1e400 - 1e400)" if math.isnan(v) else "1e400" if v > 0 else "-1e400"
    return repr(v)


class Case:
    """An expression of a few typed variables."""

    def __init__(self, rng, depth):
        self.rng = rng
        self.variables = []
        while True:
            self.variables.clear()
            try:
                self.root, self.text = self.expression(depth)
                if self.variables:
                    return
            except Unfit:
                pass

    def variable(self):
        rng = self.rng
        if len(self.variables) == len(NAMES) or (self.variables and rng.random() < 0.4):
            i = rng.randrange(len(self.variables))
        else:
            i = len(self.variables)
            dtype = rng.choice(INTS + FLOATS)
            if dtype in INTS:
                info = np.iinfo(NP[dtype])
                value = rng.choice([info.min, info.max, info.max - 1, 0, 1, -1]) if rng.random() < 0.15 else rng.randint(-12, 12)
            else:
                value = rng.choice([0.0, -0.0, 1e8, 16777217.0, 0.1, 65504.0, 1e-7, math.inf, -math.inf, math.nan, 0.5, 2.5, 3.0]) \
                    if rng.random() < 0.3 else round(rng.gauss(0, 3), 3)
            self.variables.append(stored(value, dtype))
            self.variables[-1].text = number_text(value)
        return self.variables[i], NAMES[i]

    def literal(self):
        value = self.rng.choice([self.rng.randint(0, 9), round(self.rng.uniform(0, 4), 2)])
        return Scalar(value, None), repr(value)

    def expression(self, depth, other=None):
        rng = self.rng
        if depth == 0:
            return self.literal() if other and other.dtype and rng.random() < 0.3 else self.variable()
        kind = rng.random()
        if kind < 0.15:
            a, s = self.number(depth - 1)
            op = rng.choice(SAME)
            return unary(op, a), f"({'-' if op == 'neg' else op}{s})" if op in ("neg", "~") else f"{op}({s})"
        if kind < 0.3:
            a, s = self.number(depth - 1)
            op = rng.choice(list(MATH if depth == 1 or rng.random() < 0.7 else FUNCTIONS))
            return unary(op, a), f"{op}({s})"
        if kind < 0.42:
            a, s = self.number(depth - 1)
            dtype = rng.choice(INTS + FLOATS)
            return cast(dtype, a), f"{dtype}({s})"
        if kind < 0.47:
            return self.choice(depth)
        if kind < 0.5:
            return self.product(depth)
        a, s = self.number(depth - 1)
        b, t = self.number(0 if rng.random() < 0.5 else depth - 1, a)
        if kind > 0.96:
            c, u = self.number(0, a)
            return Scalar(binary("==", a, b).value or binary("==", a, c).value, "bool"), f"({s} in [{t}, {u}])"
        op = rng.choice(ARITHMETIC + [*BITS, *SHIFTS] if kind < 0.88 or depth < 2 else list(COMPARE))
        if op.isalpha():
            return binary(op, a, b), f"{op}({s}, {t})"
        return binary(op, a, b), f"({s} {op} {t})"

    def number(self, depth, other=None):
        a, s = self.expression(depth, other)
        if a.dtype == "bool":
            raise Unfit
        return a, s

    def choice(self, depth):
        """Both sides have one type: a known condition selects a side with its type."""
        a, s = self.number(depth - 1)
        b, t = self.number(0, a)
        x, p = self.number(depth - 1)
        y, q = self.number(0, x)
        dtype = joined(x, y)
        op = self.rng.choice(list(COMPARE))
        chosen = x if binary(op, a, b).value else y
        Scalar(x.value, None).to(dtype), Scalar(y.value, None).to(dtype)
        form = f"where({s} {op} {t}, {p}, {q})" if self.rng.random() < 0.3 else f"({s} {op} {t} ? {dtype}({p}) : {dtype}({q}))"
        return Scalar(chosen.to(dtype), dtype), form

    def product(self, depth):
        """A bool times a number."""
        a, s = self.number(depth - 1)
        b, t = self.number(0, a)
        x, p = self.number(0, a)
        op = self.rng.choice(list(COMPARE))
        dtype = x.dtype or ("int32" if isinstance(x.value, int) else "float32")
        return Scalar(x.to(dtype) if binary(op, a, b).value else stored(0, dtype).value, dtype), f"(({s} {op} {t}) * {p})"

    def functions(self, name):
        """The expression as a function and as a layer, and its constants."""
        arguments = ", ".join(f"{v}: {x.dtype}" for v, x in zip(NAMES, self.variables))
        lines = [f"fn {name}({arguments}) {{ return {self.text} }}", f"layer L{name}({arguments}) {{", f"    fn forward() {{ return {self.text} }}", "}"]
        lines += [f"const {name}{v}: {x.dtype} = {x.text}" for v, x in zip(NAMES, self.variables)]
        return lines

    def prints(self, name):
        known = ", ".join(x.text for x in self.variables)
        unknown = ", ".join(f"tensor([{x.text}], dtype={x.dtype})[0]" for x in self.variables)
        of_constants = re.sub(rf"\b[{NAMES}]\b", lambda m: name + m[0], self.text)
        local = [f"let {v}: {x.dtype} = {x.text}" for v, x in zip(NAMES, self.variables)]
        forms = [f"{name}({unknown})", f"{name}({known})", f"L{name}({known})()", of_constants]
        lines = [f"    let {name}_{i} = {form}" for i, form in enumerate(forms)]
        lines += ["    if true {", *("        " + line for line in local), f"        print({self.text}, f\"{{{self.text}:>9}}\", ({self.text}).dtype)", "    }"]
        lines += [f"    print({name}_{i}, f\"{{{name}_{i}:>9}}\", ({name}_{i}).dtype)" for i in range(len(forms))]
        return lines


def printed(text):
    return {"true": True, "false": False}.get(text) if text in ("true", "false") else float(text) if re.search(r"[.en]", text) else int(text)


class Scalars(ProjectTest):
    def program(self, cases):
        lines = []
        for i, case in enumerate(cases):
            lines += case.functions(f"f{i}_")
        lines += ["main {"] + [line for i, case in enumerate(cases) for line in case.prints(f"f{i}_")] + ["}"]
        self.write("main.tri", "\n".join(lines) + "\n")
        return run([TRIB, "run", "--main", "main.tri"], self.dir, env=self.env).stdout.splitlines()

    def check(self, seed, depth, count, compare=None):
        rng = random.Random(seed)
        for _ in range(0, count, BLOCK):
            cases = [Case(rng, depth) for _ in range(BLOCK)]
            out = self.program(cases)
            self.assertEqual(len(out), 5 * len(cases))
            for i, case in enumerate(cases):
                forms = out[5 * i:5 * i + 5]
                values = ", ".join(f"{v}: {x.dtype} = {x.text}" for v, x in zip(NAMES, case.variables))
                self.assertEqual(len(set(forms)), 1, f"seed {seed}: {case.text} with {values}\nlocals, run time, function, layer, constants:\n" + "\n".join(forms))
                if compare:
                    compare(case, forms[0].split())

    def check_numpy(self, case, words):
        want, got = case.root, printed(words[0])
        what = f"{case.text} with {[(x.dtype, x.text) for x in case.variables]}: {words}, want {want.value!r} {want.dtype}"
        self.assertEqual(words[2], want.dtype, what)
        if want.dtype not in FLOATS:
            self.assertEqual(got, want.value, what)
            return
        got, exact = float(rounded(got, want.dtype)), not any(f in case.text for f in [*MATH, "**", "//"])
        if math.isnan(want.value) or math.isinf(want.value) or exact:
            self.assertEqual(np.float64(got).tobytes() if not math.isnan(got) else "nan",
                     np.float64(want.value).tobytes() if not math.isnan(want.value) else "nan", what)
        else:
            ulp = np.spacing(np.abs(np.float32(want.value))) if want.dtype != "float64" else np.spacing(abs(want.value))
            scale = {"float16": 2**13, "bfloat16": 2**16}.get(want.dtype, 1)
            self.assertLessEqual(abs(got - want.value), max(ULPS * float(ulp) * scale, 2**-24 if want.dtype == "float16" else 0), what)

    def test_expressions(self):
        seed = int(os.environ.get("TRIB_SEED", 1))
        self.check(seed, 3, CASES // 2)
        self.check(seed + 1, 2, CASES // 2)

    def test_operations(self):
        self.check(int(os.environ.get("TRIB_SEED", 1)) + 2, 1, CASES, self.check_numpy)


if __name__ == "__main__":
    unittest.main()
