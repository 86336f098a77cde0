"""Functions of single elements in random programs."""
import math

from bounds import Invalid, approximate, rounded
from program import operation


def monotone(f):
    return lambda lo, hi: (f(lo), f(hi))


def within(low, high):
    return lambda lo, hi: (low, high)


def dips(f, least):
    """The range of a function with the value `least` at its only minimum."""
    return lambda lo, hi: (min(least, f(lo), f(hi)), max(f(lo), f(hi), 0))


def safe_exp(x):
    if x > 11:
        raise Invalid
    return math.exp(x)


def sigmoid(x):
    return 1 / (1 + math.exp(-max(-700, min(700, x))))


# name: expression of {0}, range, greatest slope, exact (the result of exact values is exact in the grid: its change), may be wild
SMOOTH = {
    "relu": ("relu({0})", monotone(lambda x: max(x, 0)), 1, 0),
    "relu6": ("relu6({0})", monotone(lambda x: min(max(x, 0), 6)), 1, 0),
    "abs": ("abs({0})", lambda lo, hi: (0 if lo <= 0 <= hi else min(abs(lo), abs(hi)), max(abs(lo), abs(hi))), 1, 0),
    "neg": ("-{0}", lambda lo, hi: (-hi, -lo), 1, 0),
    "clip": ("clip({0}, -2.0, 2.5)", monotone(lambda x: min(max(x, -2), 2.5)), 1, 1),
    "hardtanh": ("hardtanh({0})", monotone(lambda x: min(max(x, -1), 1)), 1, 0),
    "halve": ("{0} * 0.5", monotone(lambda x: x / 2), 0.5, 1),
    "shift": ("{0} + 1.25", monotone(lambda x: x + 1.25), 1, 2),
    "from": ("3.0 - {0}", lambda lo, hi: (3 - hi, 3 - lo), 1, 0),
    "third": ("{0} / 3.0", monotone(lambda x: x / 3), 0.34, None),
    "leaky_relu": ("leaky_relu({0})", monotone(lambda x: x if x > 0 else 0.01 * x), 1, None),
    "sigmoid": ("sigmoid({0})", within(0, 1), 0.25, "near"),
    "tanh": ("tanh({0})", within(-1, 1), 1, "near"),
    "exp": ("exp({0})", monotone(safe_exp), lambda lo, hi: safe_exp(hi), "near"),
    "expm1": ("expm1({0})", monotone(lambda x: safe_exp(x) - 1), lambda lo, hi: safe_exp(hi), "near"),
    "log": ("log(abs({0}) + 0.5)", lambda lo, hi: (math.log(0.5), math.log(max(abs(lo), abs(hi)) + 0.5)), 2, "near"),
    "log1p": ("log1p(abs({0}))", lambda lo, hi: (0, math.log1p(max(abs(lo), abs(hi)))), 1, "near"),
    "log2": ("log2(abs({0}) + 1.0)", lambda lo, hi: (0, math.log2(max(abs(lo), abs(hi)) + 1)), 1.5, "near"),
    "sqrt": ("sqrt(abs({0}) + 0.5)", lambda lo, hi: (0.7, math.sqrt(max(abs(lo), abs(hi)) + 0.5)), 0.75, "near"),
    "rsqrt": ("rsqrt(abs({0}) + 0.5)", within(0, 1.42), 1.5, "near"),
    "recip": ("1.0 / (abs({0}) + 0.5)", within(0, 2), 4, None),
    "gelu": ("gelu({0})", dips(lambda x: max(x, 0), -0.18), 1.13, "near"),
    "gelu_tanh": ('gelu({0}, approximate="tanh")', dips(lambda x: max(x, 0), -0.18), 1.13, "near"),
    "silu": ("silu({0})", dips(lambda x: max(x, 0), -0.28), 1.1, "near"),
    "mish": ("mish({0})", dips(lambda x: max(x, 0), -0.31), 1.1, "near"),
    "elu": ("elu({0}, 0.5)", dips(lambda x: max(x, 0), -0.5), 1, "near"),
    "hardswish": ("hardswish({0})", dips(lambda x: max(x, 0), -0.38), 1.5, "near"),
    "hardsigmoid": ("hardsigmoid({0})", within(0, 1), 0.17, "near"),
    "softplus": ("softplus({0})", lambda lo, hi: (0, max(hi, 0) + 0.7), 1, "near"),
    "softsign": ("softsign({0})", within(-1, 1), 1, None),
    "sin": ("sin({0})", within(-1, 1), 1, "near"),
    "cos": ("cos({0})", within(-1, 1), 1, "near"),
    "atan": ("atan({0})", within(-1.6, 1.6), 1, "near"),
    "erf": ("erf({0})", within(-1, 1), 1.13, "near"),
    "tanhshrink": ("tanhshrink({0})", lambda lo, hi: (min(lo, 0), max(hi, 0)), 1, "near"),
    "pow": ("(abs({0}) + 0.5) ** 1.5", lambda lo, hi: (0.35, (max(abs(lo), abs(hi)) + 0.5) ** 1.5), lambda lo, hi: 1.5 * math.sqrt(max(abs(lo), abs(hi)) + 0.5), "near"),
}
JUMPS = {
    "round": ("round({0})", monotone(lambda x: math.floor(x + 0.5))),
    "floor": ("floor({0})", monotone(math.floor)),
    "ceil": ("ceil({0})", monotone(math.ceil)),
    "sign": ("sign({0})", within(-1, 1)),
    "mod": ("{0} % 2.0", within(0, 2)),
    "relu2": ("relu2({0})", lambda lo, hi: (0, max(hi, 0) ** 2)),
}


def smooth(name):
    text, interval, slope, exact = SMOOTH[name]

    def infer(types, attrs):
        (x,) = types
        if not x.is_float():
            raise Invalid
        lo, hi = interval(x.lo, x.hi)
        k = slope(x.lo, x.hi) if callable(slope) else slope
        if exact == "near":
            # A composition: each step may be off by some units of the interval on the way.
            way = max(abs(lo), abs(hi), x.size() if name in ("tanhshrink", "sin", "cos", "gelu", "gelu_tanh", "silu", "mish", "hardswish") else 0)
            return approximate(x.elem, x.shape, lo, hi, k * x.err + (1e-5 if x.elem != "float64" else 1e-9) * way + (8 * way * 2.0 ** -11 if x.elem == "float16" else 8 * way * 2.0 ** -8 if x.elem == "bfloat16" else 0), x.wild)
        grid = x.grid + exact if x.grid is not None and exact is not None else None
        return rounded(x.elem, x.shape, lo, hi, k * x.err, grid, x.wild)

    operation(name, lambda g: ([g.pick(lambda t: t.is_float())], {}), infer, lambda a, attrs, t: text.format(*a), 0.5 if exact == "near" else 0.8)


def jump(name):
    text, interval = JUMPS[name]

    def infer(types, attrs):
        (x,) = types
        if not x.is_float() or not x.sure() or x.wild:
            raise Invalid
        lo, hi = interval(x.lo, x.hi)
        grid = 0 if name in ("round", "floor", "ceil", "sign") else x.grid if name == "mod" else None if x.grid is None else 2 * x.grid
        return rounded(x.elem, x.shape, lo, hi, 0.0, grid)

    operation(name, lambda g: ([g.pick(lambda t: t.is_float() and t.sure() and not t.wild)], {}), infer, lambda a, attrs, t: text.format(*a), 0.8)


for name in SMOOTH:
    smooth(name)
for name in JUMPS:
    jump(name)
