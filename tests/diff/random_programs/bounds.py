"""Types of random programs: sizes, and values with the interval, the error and the grid that their computation allows.

An error of 0 says that every correct implementation gives the same bits. A grid g says more: all elements are multiples of 2^-g, and sums of few enough of
them are exact in any order. Operations that jump (comparisons, rounding, the place of a maximum) take values without error only."""
import dataclasses
import math

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("uint8", "int8", "int16", "int32", "int64")
BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LARGEST = {"float16": 2e3, "bfloat16": 1e4, "float32": 1e5, "float64": 1e6}
RANGES = {"bool": (0, 1), "trit": (-1, 1), "uint8": (0, 255), **{f"int{b}": (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for b in (8, 16, 32, 64)}}
MOST = 33  # the largest run-time size


class Invalid(Exception):
    """The operation does not take these arguments."""


class Size:
    """Σ coefficient · atom + constant; an atom is a name, or (Size, divisor) rounded down."""

    def __init__(self, terms, constant=0):
        self.terms = {a: c for a, c in terms.items() if c}
        self.constant = constant
        self.key = (frozenset(self.terms.items()), constant)

    @staticmethod
    def of(value):
        return value if isinstance(value, Size) else Size({}, value)

    def known(self):
        return not self.terms

    def __eq__(self, other):
        return self.key == Size.of(other).key

    def __hash__(self):
        return hash(self.key)

    def __add__(self, other):
        other = Size.of(other)
        terms = dict(self.terms)
        for a, c in other.terms.items():
            terms[a] = terms.get(a, 0) + c
        return Size(terms, self.constant + other.constant)

    def __mul__(self, k):
        if isinstance(k, Size):
            if not k.known():
                if not self.known():
                    raise Invalid
                return k * self.constant
            k = k.constant
        return Size({a: c * k for a, c in self.terms.items()}, self.constant * k)

    def __sub__(self, other):
        return self + Size.of(other) * -1

    def __floordiv__(self, k):
        if all(c % k == 0 for c in self.terms.values()):
            return Size({a: c // k for a, c in self.terms.items()}, self.constant // k)
        return Size({(self, k): 1})

    def at(self, sizes):
        total = self.constant
        for a, c in self.terms.items():
            total += c * (sizes[a] if isinstance(a, str) else a[0].at(sizes) // a[1])
        return total

    def most(self):
        return self.at(AllMost())

    def __repr__(self):
        parts = [(f"{c} * " if c != 1 else "") + (a if isinstance(a, str) else f"({a[0]!r} // {a[1]})") for a, c in self.terms.items()]
        return " + ".join(parts + ([str(self.constant)] if self.constant or not parts else []))


class AllMost(dict):
    def __missing__(self, name):
        return MOST


def count(sizes):
    n = 1
    for s in sizes:
        n *= Size.of(s).most()
    return n


@dataclasses.dataclass(frozen=True)
class Type:
    elem: str
    shape: tuple  # of Size
    lo: float = 0
    hi: float = 0
    err: float = 0.0
    grid: int = None
    wild: bool = False  # may hold NaN and infinities; the interval is that of the finite elements

    @property
    def rank(self):
        return len(self.shape)

    def is_float(self):
        return self.elem in FLOATS

    def is_int(self):
        return self.elem in INTS

    def size(self):
        return max(abs(self.lo), abs(self.hi))

    def exact(self):
        """Sums of all elements are exact."""
        return not self.is_float() or (self.err == 0 and self.grid is not None and not self.wild)

    def sure(self):
        return self.err == 0

    def with_shape(self, shape):
        return dataclasses.replace(self, shape=tuple(Size.of(s) for s in shape))

    def known(self):
        return all(s.known() for s in self.shape)

    def numbers(self):
        """The shape, where all of it is known."""
        if not self.known():
            raise Invalid
        return [s.constant for s in self.shape]

    def text(self):
        return f"Tensor<{self.elem}, [{', '.join(map(repr, self.shape))}]>" if self.elem != "trit" else f"TernaryTensor<trit, [{', '.join(map(repr, self.shape))}]>"


def wrapped(elem, shape, lo, hi):
    """The type of an integer result, which wraps."""
    low, high = RANGES[elem]
    if lo < low or hi > high:
        lo, hi = low, high
    return Type(elem, tuple(shape), lo, hi)


def rounded(elem, shape, lo, hi, err, grid, wild=False):
    """The type of a float result whose exact value has this interval, error and grid."""
    most = max(abs(lo), abs(hi))
    if not math.isfinite(most) or most > LARGEST[elem]:
        raise Invalid
    bits = BITS[elem]
    if err > 0 or grid is None or grid > 40 or most * 2.0 ** grid > 2.0 ** bits:
        grid = None
        if err > 0:
            err += most * 2.0 ** (1 - bits) + (2.0 ** -24 if elem == "float16" else 0)
    if err > 0.03 * max(most, 0.25):
        raise Invalid
    return Type(elem, tuple(shape), lo, hi, err, grid, wild)


def approximate(elem, shape, lo, hi, err, wild=False):
    """The type of a result that implementations round differently."""
    bits = {"float64": 1e-11, "float32": 8e-6}.get(elem, 0)
    return rounded(elem, shape, lo, hi, err + bits * max(abs(lo), abs(hi), 1e-3) + 2.0 ** (1 - BITS[elem]) * max(abs(lo), abs(hi)) + 1e-30, None, wild)


def union(a, b):
    if a.elem != b.elem or a.shape != b.shape:
        raise Invalid
    grid = None if a.grid is None or b.grid is None else max(a.grid, b.grid)
    return Type(a.elem, a.shape, min(a.lo, b.lo), max(a.hi, b.hi), max(a.err, b.err), grid, a.wild or b.wild)


def broadcast(*shapes):
    rank = max(map(len, shapes))
    out = [Size.of(1)] * rank
    for shape in shapes:
        for i, s in enumerate(shape, rank - len(shape)):
            if s == 1 or s == out[i]:
                continue
            if out[i] != 1:
                raise Invalid
            out[i] = s
    return tuple(out)


ORDER = ("trit", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")


def promote(a, b):
    """The element type of an operation on these."""
    if a == b:
        return {"trit": "int8"}.get(a, a)
    pair = {a, b}
    if "bool" in pair:
        raise Invalid
    for half in ("float16", "bfloat16"):
        if half in pair:
            other = (pair - {half}).pop()
            if other == "trit":
                return half
            if other in ("float32", "float64"):
                return other
            raise Invalid
    if "uint8" in pair and pair & {"trit", "int8"}:
        return "int16"
    return max(pair, key=ORDER.index)


def converted(t, elem):
    """The type of t after a cast."""
    if elem == t.elem:
        return t
    if elem in FLOATS:
        grid = t.grid if t.is_float() else 0
        lo, hi, err = float(t.lo), float(t.hi), t.err
        if elem == "float16" and max(abs(lo), abs(hi)) > 6e4:
            raise Invalid
        return rounded(elem, t.shape, lo, hi, err, grid, t.wild)
    if elem == "bool":
        if not t.sure() or t.wild:
            raise Invalid
        return Type("bool", t.shape, 0, 1)
    if t.is_float():
        if not t.sure() or t.wild:
            raise Invalid
        low, high = RANGES[elem]
        return Type(elem, t.shape, max(low, min(high, math.trunc(t.lo))), min(high, max(low, math.trunc(t.hi))))
    return wrapped(elem, t.shape, t.lo, t.hi)
