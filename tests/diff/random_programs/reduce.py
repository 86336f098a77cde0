"""Operations of random programs that combine elements: sums, extremes, order, running totals."""
import math

from bounds import INTS, Invalid, Size, Type, approximate, count, rounded, wrapped
from program import operation

HALF = ("float16", "bfloat16")


def sum_error(elem, n, size):
    """How far sums of n terms up to `size` may differ for their order."""
    return n * size * {"float32": 1e-5, "float64": 1e-12, "float16": 2e-3, "bfloat16": 1.6e-2}[elem]


def summed(elem, shape, n, lo, hi, err, grid, wild=False):
    out = rounded(elem, shape, lo, hi, n * err, grid, wild)
    return out if out.grid is not None and out.err == 0 else rounded(elem, shape, lo, hi, n * err + sum_error(elem, n, max(abs(lo), abs(hi)) / n), None, wild)


def reduced_shape(t, attrs):
    axes = attrs["axes"]
    if axes is None:
        axes = range(t.rank)
    if any(a >= t.rank for a in axes):
        raise Invalid
    kept = [s for i, s in enumerate(t.shape) if i not in axes]
    if attrs["keep"]:
        return [Size.of(1) if i in axes else s for i, s in enumerate(t.shape)], count(t.shape[i] for i in axes)
    return kept, count(t.shape[i] for i in axes)


def reduce_text(f):
    def text(a, attrs, types):
        axes = attrs["axes"]
        parts = [] if axes is None else [f"dim={axes[0] if len(axes) == 1 else axes}"]
        if attrs["keep"]:
            parts.append("keepdim=true")
        return f"{f}({', '.join([a[0], *parts])})"

    return text


def draw_reduce(accept, several=True, all_=True):
    def draw(g):
        x = g.pick(lambda t: 1 <= t.rank and accept(t))
        r = g.type(x).rank
        g.not_empty()
        if all_ and g.chance(0.15):
            return [x], {"axes": None, "keep": False}
        return [x], {"axes": sorted(g.rng.sample(range(r), g.integer(1, min(2, r)) if several else 1)), "keep": g.chance(0.4)}

    return draw


def sum_infer(mean):
    def infer(types, attrs):
        (t,) = types
        shape, n = reduced_shape(t, attrs)
        if not t.is_float():
            if mean:
                raise Invalid
            return wrapped("int64", shape, min(n * t.lo, t.lo), max(n * t.hi, t.hi))
        if not mean:
            return summed(t.elem, shape, n, min(n * t.lo, t.lo), max(n * t.hi, t.hi), t.err, t.grid, t.wild)
        s = summed(t.elem if t.elem not in HALF else "float32", shape, n, n * min(t.lo, 0), n * max(t.hi, 0), t.err, t.grid, t.wild)
        return rounded(t.elem, shape, t.lo, t.hi, 0.0 if s.err == 0 and t.elem not in HALF else t.err + sum_error(t.elem, 1, t.size()) * 2, None, t.wild)

    return infer


operation("sum", draw_reduce(lambda t: True), sum_infer(False), reduce_text("sum"), 2)
operation("mean", draw_reduce(lambda t: t.is_float()), sum_infer(True), reduce_text("mean"), 2)


def extreme_infer(types, attrs):
    (t,) = types
    if t.elem == "bool":
        raise Invalid
    return t.with_shape(reduced_shape(t, attrs)[0])


for f in ("amax", "amin"):
    operation(f, draw_reduce(lambda t: t.elem != "bool"), extreme_infer, reduce_text(f), 1)


def place_infer(types, attrs):
    (t,) = types
    if not t.sure() or t.elem == "bool" or t.wild:
        raise Invalid
    shape, n = reduced_shape(t, attrs)
    return Type("int64", tuple(shape), 0, n - 1)


SURE = lambda t: t.sure() and t.elem != "bool" and not t.wild
for f in ("argmax", "argmin"):
    operation(f, draw_reduce(SURE, False), place_infer, reduce_text(f), 0.8)
for f in ("max", "min"):
    operation(f + " and place", draw_reduce(SURE, False, False), lambda types, attrs: [extreme_infer(types, attrs), place_infer(types, attrs)], reduce_text(f), 0.7, results=2)


def logic_infer(types, attrs):
    (t,) = types
    if t.elem != "bool":
        raise Invalid
    return t.with_shape(reduced_shape(t, attrs)[0])


for f in ("any", "all"):
    operation(f, draw_reduce(lambda t: t.elem == "bool"), logic_infer, reduce_text(f), 0.7)


def var_infer(root):
    def infer(types, attrs):
        (t,) = types
        if not t.is_float() or t.elem in HALF:
            raise Invalid
        shape, n = reduced_shape(t, attrs)
        spread = (t.hi - t.lo) ** 2 + 1e-6
        err = 4 * (t.hi - t.lo) * (t.err + sum_error(t.elem, 1, t.size())) + sum_error(t.elem, 4, spread)
        if not root:
            return rounded(t.elem, shape, 0, spread, err, None, t.wild)
        return approximate(t.elem, shape, 0.0, math.sqrt(spread) + 1, err * 4, t.wild)

    return infer


operation("var", draw_reduce(lambda t: t.is_float()), var_infer(False), lambda a, attrs, t: reduce_text("var")(a, attrs, t)[:-1] + ", correction=0)", 1)
operation("std", draw_reduce(lambda t: t.is_float()), var_infer(True), lambda a, attrs, t: "sqrt(" + reduce_text("var")(a, attrs, t)[:-1] + ", correction=0) + 0.25)", 0.7)


def prod_infer(types, attrs):
    (t,) = types
    shape, n = reduced_shape(t, attrs)
    if not t.is_float():
        if t.elem not in INTS:
            raise Invalid
        return wrapped("int64", shape, -(2 ** 63) - 1, 0)
    if n > 9 or t.size() > 3:
        raise Invalid
    most = max(1, t.size()) ** n
    return rounded(t.elem, shape, -most, most, n * most * (t.err + sum_error(t.elem, 1, 1)), None, t.wild)


operation("prod", draw_reduce(lambda t: t.elem != "bool", False), prod_infer, reduce_text("prod"), 0.6)


def logsumexp_infer(types, attrs):
    (t,) = types
    if not t.is_float() or t.elem in HALF or t.wild:
        raise Invalid
    shape, n = reduced_shape(t, attrs)
    return approximate(t.elem, shape, t.lo, t.hi + math.log(n), 2 * t.err + 2e-5)


operation("logsumexp", draw_reduce(lambda t: t.is_float() and t.elem not in HALF, False, False), logsumexp_infer, reduce_text("logsumexp"), 0.6)


# ---- order and running totals ----

def last_axis(t, attrs):
    if attrs["axis"] >= t.rank:
        raise Invalid
    return t.shape[attrs["axis"]]


def draw_axis(accept):
    def draw(g):
        x = g.pick(lambda t: t.rank and accept(t))
        g.not_empty()
        return [x], {"axis": g.integer(0, g.type(x).rank - 1), "down": g.chance(0.5)}

    return draw


def sort_infer(types, attrs):
    (t,) = types
    n = last_axis(t, attrs)
    if not SURE(t):
        raise Invalid
    return [t, Type("int64", t.shape, 0, n.most() - 1)]


operation("sort", draw_axis(SURE), sort_infer, lambda a, attrs, t: f"sort({a[0]}, dim={attrs['axis']}, descending={str(attrs['down']).lower()})", 0.5, results=2)


def topk_infer(types, attrs):
    (t,) = types
    n = last_axis(t, attrs)
    if not SURE(t) or not n.known() or n.constant < attrs["k"]:
        raise Invalid
    shape = [*t.shape]
    shape[attrs["axis"]] = Size.of(attrs["k"])
    return [t.with_shape(shape), Type("int64", tuple(shape), 0, n.constant - 1)]


def draw_topk(g):
    args, attrs = draw_axis(lambda t: SURE(t) and t.shape[-1].known())(g)
    attrs["axis"] = g.type(args[0]).rank - 1
    return args, {**attrs, "k": g.integer(1, min(3, g.type(args[0]).shape[-1].constant))}


operation("topk", draw_topk, topk_infer, lambda a, attrs, t: f"topk({a[0]}, {attrs['k']}, dim={attrs['axis']})", 0.5, results=2)


def cumsum_infer(types, attrs):
    (t,) = types
    n = last_axis(t, attrs).most()
    if not t.is_float():
        return wrapped("int64", t.shape, n * min(t.lo, 0), n * max(t.hi, 0))
    if t.wild:
        raise Invalid
    return summed(t.elem, t.shape, n, n * min(t.lo, 0), n * max(t.hi, 0), t.err, t.grid)


operation("cumsum", draw_axis(lambda t: not t.wild), cumsum_infer, lambda a, attrs, t: f"cumsum({a[0]}, dim={attrs['axis']})", 0.7)
