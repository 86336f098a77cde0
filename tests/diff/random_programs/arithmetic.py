"""Arithmetic, comparisons, casts and choices in random programs."""
import math

from bounds import BITS, FLOATS, RANGES, Invalid, Type, broadcast, converted, promote, rounded, wrapped
from program import operation

def corners(a, b, f):
    values = [f(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return min(values), max(values)


def binary_infer(op):
    def infer(types, attrs):
        a, b = types
        shape, elem = broadcast(a.shape, b.shape), promote(a.elem, b.elem)
        if "bool" in (a.elem, b.elem):
            raise Invalid
        wild = a.wild or b.wild
        if op in ("min", "max"):
            f = min if op == "min" else max
            if elem in FLOATS:
                a, b = converted(a, elem), converted(b, elem)
                grid = None if a.grid is None or b.grid is None else max(a.grid, b.grid)
                return rounded(elem, shape, f(a.lo, b.lo), f(a.hi, b.hi), max(a.err, b.err), grid, wild)
            if {a.elem, b.elem} == {"trit"}:
                elem = "trit"
            return Type(elem, shape, f(a.lo, b.lo), f(a.hi, b.hi))
        f = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}[op]
        lo, hi = corners(a, b, f)
        if elem not in FLOATS:
            return wrapped(elem, shape, lo, hi)
        a, b = converted(a, elem), converted(b, elem)
        err = a.err * b.size() + b.err * a.size() + a.err * b.err if op == "*" else a.err + b.err
        grid = None if a.grid is None or b.grid is None else a.grid + b.grid if op == "*" else max(a.grid, b.grid)
        return rounded(elem, shape, lo, hi, err, grid, wild)

    return infer


NUMBER = lambda t: t.elem not in ("bool",)
for op, text, weight in (("+", "{0} + {1}", 4), ("-", "{0} - {1}", 3), ("*", "{0} * {1}", 3), ("min", "minimum({0}, {1})", 1), ("max", "maximum({0}, {1})", 1)):
    operation("binary " + op, lambda g: g.pair(NUMBER), binary_infer(op), lambda a, attrs, t, text=text: text.format(*a), weight)


def divide_infer(types, attrs):
    a, b = types
    if a.is_float() != b.is_float() or not a.is_float():
        raise Invalid
    elem, shape = promote(a.elem, b.elem), broadcast(a.shape, b.shape)
    a, b = converted(a, elem), converted(b, elem)
    most = a.size() * 2
    return rounded(elem, shape, -most, most, 2 * a.err + 4 * a.size() * (b.err + 2.0 ** -BITS[elem] * b.size() if b.err else 0), None, a.wild or b.wild)


operation("divide", lambda g: g.pair(lambda t: t.is_float()), divide_infer, lambda a, attrs, t: f"{a[0]} / (abs({a[1]}) + 0.5)", 1.5)


def integer_divide_infer(types, attrs):
    a, b = types
    if not (a.is_int() and b.is_int()) or (b.rank == 0 and b.lo <= 0 <= b.hi):  # the number of an unrolled loop may be 0: an error
        raise Invalid
    elem, shape = promote(a.elem, b.elem), broadcast(a.shape, b.shape)
    if attrs["op"] == "//":
        most = max(abs(a.lo), abs(a.hi)) + 1
        return wrapped(elem, shape, -most, most)
    most = max(abs(b.lo), abs(b.hi))
    return wrapped(elem, shape, -most, most)


def draw_integer_divide(g):
    args, attrs = g.pair(lambda t: t.is_int())
    return args, {"op": g.choice(["//", "%"])}


operation("integer divide", draw_integer_divide, integer_divide_infer, lambda a, attrs, t: f"{a[0]} {attrs['op']} {a[1]}", 2)


def integer_literal_infer(types, attrs):
    (a,) = types
    if not a.is_int():
        raise Invalid
    k = attrs["k"]
    low, high = RANGES[a.elem]
    if not low <= k <= high:
        raise Invalid
    if attrs["op"] == "//":
        values = [a.lo // k, a.hi // k]
    elif attrs["op"] == "%":
        values = [0, k] if k > 0 else [k, 0]
    else:
        f = {"+": lambda x: x + k, "*": lambda x: x * k, "-": lambda x: k - x}[attrs["op"]]
        values = [f(a.lo), f(a.hi)]
    return wrapped(a.elem, a.shape, min(values), max(values))


operation("integer literal", lambda g: ([g.pick(lambda t: t.is_int())], {"op": g.choice(["+", "*", "-", "//", "%"]), "k": g.choice([2, 3, 7, -1, -2, 4, 100])}),
          integer_literal_infer, lambda a, attrs, t: f"{attrs['k']} - {a[0]}" if attrs["op"] == "-" else f"{a[0]} {attrs['op']} {attrs['k']}", 2)


# ---- bits ----

def bits_infer(types, attrs):
    if not all(t.is_int() or t.elem == "trit" for t in types):
        raise Invalid
    a, b = types[0], types[-1]
    elem = promote(a.elem, b.elem) if len(types) > 1 else a.elem
    elem = "int8" if elem == "trit" else elem
    if "k" in attrs and not RANGES[elem][0] <= attrs["k"] <= RANGES[elem][1]:
        raise Invalid
    if attrs["op"] in ("<<", ">>") and b.rank == 0 and b.lo < 0:  # the number of an unrolled loop may be negative: an error
        raise Invalid
    if attrs["op"] == ">>":
        return Type(elem, broadcast(*[t.shape for t in types]), min(a.lo, -1), max(a.hi, 0))
    if attrs["op"] == "<<":
        return Type(elem, broadcast(*[t.shape for t in types]), *RANGES[elem])
    power = max(math.ceil(abs(x)).bit_length() for t in types for x in (t.lo, t.hi, attrs.get("k", 0)))
    return wrapped(elem, broadcast(*[t.shape for t in types]), -(2 ** power), 2 ** power - 1)


HAS_BITS = lambda t: t.is_int() or t.elem == "trit"


def draw_bits(g):
    args, _ = g.pair(HAS_BITS)
    if g.choice([True, False]):
        return args, {"op": g.choice(["&", "|", "^", "<<", ">>"])}
    return args[:1], {"op": g.choice(["&", "|", "^"]), "k": g.choice([1, 6, -1, 0, 127, -128])}


def draw_shift(g):
    return [g.pick(lambda t: t.is_int())], {"op": g.choice(["<<", ">>"]), "k": g.choice([0, 1, 3, 7, 8, 31, 40])}


def bits_text(a, attrs, t):
    return f"{a[0]} {attrs['op']} {attrs['k'] if 'k' in attrs else a[1]}"


operation("bits", draw_bits, bits_infer, bits_text, 2.5)
operation("shift", draw_shift, bits_infer, bits_text, 2)
operation("bitwise not", lambda g: ([g.pick(HAS_BITS)], {"op": "~"}), bits_infer, lambda a, attrs, t: f"~{a[0]}", 0.7)


def integer_unary_infer(types, attrs):
    (a,) = types
    if not (a.is_int() or a.elem == "trit"):
        raise Invalid
    if attrs["op"] == "sign":
        return Type(a.elem, a.shape, max(-1, RANGES[a.elem][0]), 1)
    most = max(abs(a.lo), abs(a.hi))
    if a.elem == "trit":
        return Type("trit", a.shape, -1, 1)
    return wrapped(a.elem, a.shape, 0 if attrs["op"] == "abs" and most <= RANGES[a.elem][1] else -most, most)


operation("integer unary", lambda g: ([g.pick(lambda t: t.is_int() or t.elem == "trit")], {"op": g.choice(["-", "abs", "sign"])}), integer_unary_infer,
          lambda a, attrs, t: f"-{a[0]}" if attrs["op"] == "-" else f"{attrs['op']}({a[0]})", 1)


def compare_infer(types, attrs):
    a, b = types
    if "bool" in (a.elem, b.elem) or not a.sure() or not b.sure():
        raise Invalid
    promote(a.elem, b.elem)
    return Type("bool", broadcast(a.shape, b.shape), 0, 1)


def draw_compare(g):
    args, _ = g.pair(lambda t: t.elem != "bool" and t.sure())
    return args, {"op": g.choice(["<", ">", "<=", ">=", "==", "!="])}


operation("compare", draw_compare, compare_infer, lambda a, attrs, t: f"{a[0]} {attrs['op']} {a[1]}", 2)


def threshold_infer(types, attrs):
    (a,) = types
    if a.elem == "bool" or not a.sure():
        raise Invalid
    return Type("bool", a.shape, 0, 1)


operation("threshold", lambda g: ([g.pick(lambda t: t.elem != "bool" and t.sure())], {"op": g.choice([">", "<="])}), threshold_infer,
          lambda a, attrs, t: f"{a[0]} {attrs['op']} {'0.5' if t[0].is_float() else '0'}", 1.5)


def logic_infer(types, attrs):
    if any(t.elem != "bool" for t in types):
        raise Invalid
    return Type("bool", broadcast(*[t.shape for t in types]), 0, 1)


BOOL = lambda t: t.elem == "bool"
operation("and", lambda g: g.pair(BOOL), logic_infer, lambda a, attrs, t: f"logical_and({a[0]}, {a[1]})", 1)
operation("or", lambda g: g.pair(BOOL), logic_infer, lambda a, attrs, t: f"logical_or({a[0]}, {a[1]})", 1)
operation("xor", lambda g: g.pair(BOOL), logic_infer, lambda a, attrs, t: f"{a[0]} ^ ~{a[1]}", 0.7)
operation("not", lambda g: ([g.pick(BOOL)], {}), logic_infer, lambda a, attrs, t: f"!{a[0]}", 0.7)


def where_infer(types, attrs):
    c, a, b = types
    if c.elem != "bool" or "bool" in (a.elem, b.elem):
        raise Invalid
    shape, elem = broadcast(c.shape, a.shape, b.shape), promote(a.elem, b.elem)
    if a.elem == b.elem == "trit":
        return Type("trit", shape, -1, 1)
    a, b = converted(a, elem), converted(b, elem)
    grid = None if not a.is_float() or a.grid is None or b.grid is None else max(a.grid, b.grid)
    return Type(elem, shape, min(a.lo, b.lo), max(a.hi, b.hi), max(a.err, b.err), grid, a.wild or b.wild)


def draw_where(g):
    (a, b), _ = g.pair(NUMBER)
    return [g.fitting("bool", broadcast(g.type(a).shape, g.type(b).shape)), a, b], {}


operation("where", draw_where, where_infer, lambda a, attrs, t: f"where({a[0]}, {a[1]}, {a[2]})", 2)


def masked_infer(types, attrs):
    c, a = types
    if c.elem != "bool" or not a.is_float() or broadcast(c.shape, a.shape) != a.shape:
        raise Invalid
    return rounded(a.elem, a.shape, min(a.lo, -3), a.hi, a.err, a.grid, a.wild)


def draw_masked(g):
    a = g.pick(lambda t: t.is_float())
    return [g.fitting("bool", g.type(a).shape), a], {}


operation("masked_fill", draw_masked, masked_infer, lambda a, attrs, t: f"masked_fill({a[1]}, {a[0]}, -3.0)", 1)


def times_bool_infer(types, attrs):
    a, b = types
    if b.elem != "bool" or a.elem == "bool" or a.wild:
        raise Invalid
    shape = broadcast(a.shape, b.shape)
    elem = "int8" if a.elem == "trit" else a.elem
    return Type(elem, shape, min(a.lo, 0), max(a.hi, 0), a.err, a.grid)


def draw_times_bool(g):
    a = g.pick(NUMBER)
    return [a, g.fitting("bool", g.type(a).shape)], {}


operation("times bool", draw_times_bool, times_bool_infer, lambda a, attrs, t: f"{a[0]} * {a[1]}", 1)


# ---- casts ----

def cast_infer(types, attrs):
    (a,) = types
    to = attrs["to"]
    if a.elem == to:
        raise Invalid
    if a.elem == "trit" and to == "bool":
        raise Invalid
    return converted(a, to)


def draw_cast(g):
    return [g.pick(lambda t: True)], {"to": g.choice(["float32", "float32", "float32", "float16", "bfloat16", "float64", "uint8", "uint8", "int8", "int16", "int32", "int64"])}


operation("cast", draw_cast, cast_infer, lambda a, attrs, t: f"{attrs['to']}({a[0]})", 2.5)


def ternary_infer(types, attrs):
    (a,) = types
    if not a.is_float() or not a.sure() or a.wild:
        raise Invalid
    return Type("trit", a.shape, -1, 1)


SURE = lambda t: t.is_float() and t.sure() and not t.wild
for name, text in (("ternary_activation", "ternary_activation({0})"), ("threshold_quantize", "threshold_quantize({0}, 0.75)"), ("xnor", "xnor_quantize({0})[0]")):
    operation(name, lambda g: ([g.pick(SURE)], {}), ternary_infer, lambda a, attrs, t, text=text: text.format(*a), 0.7)


def special_infer(types, attrs):
    (a,) = types
    if not a.is_float():
        raise Invalid
    return Type("bool", a.shape, 0, 1)


operation("isnan", lambda g: ([g.pick(lambda t: t.is_float())], {"f": g.choice(["isnan", "isinf", "isfinite"])}), special_infer, lambda a, attrs, t: f"{attrs['f']}({a[0]})", 0.2)
