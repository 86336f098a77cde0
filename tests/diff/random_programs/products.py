"""Products of matrices in random programs."""
from arithmetic import binary_infer
from bounds import FLOATS, INTS, Invalid, broadcast, promote, wrapped
from program import operation
from reduce import summed

def product_elem(a, b):
    pair = {a, b}
    if pair <= {"trit", "uint8", "int8", "int16", "int32"}:
        return "int32"
    if pair <= {"trit", *INTS}:
        return "int64"
    if "bool" in pair:
        raise Invalid
    return promote(a, b)


def product_type(a, b, shape, k):
    """The type of sums of k products."""
    elem = product_elem(a.elem, b.elem)
    values = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    lo, hi = k * min(*values, 0), k * max(*values, 0)
    if elem not in FLOATS:
        return wrapped(elem, shape, lo, hi)
    if a.wild or b.wild:
        if "trit" in (a.elem, b.elem):
            raise Invalid
    ga, gb = (t.grid if t.is_float() else 0 for t in (a, b))
    return summed(elem, shape, max(k, 1), lo, hi, a.err * b.size() + b.err * a.size() + a.err * b.err, None if ga is None or gb is None else ga + gb, a.wild or b.wild)


def matmul_infer(types, attrs):
    a, b = types
    if a.rank < 1 or b.rank < 1 or a.rank > 4 or b.rank > 4:
        raise Invalid
    k, kb = a.shape[-1], b.shape[-2] if b.rank > 1 else b.shape[0]
    if k != kb:
        raise Invalid
    shape = [*broadcast(a.shape[:-2], b.shape[:-2]), *([a.shape[-2]] if a.rank > 1 else []), *([b.shape[-1]] if b.rank > 1 else [])]
    return product_type(a, b, tuple(shape), k.most())


PARTNERS = {"float32": ("float32", "float32", "float32", "trit", "trit"), "float64": ("float64", "float32"), "float16": ("float16", "trit"), "bfloat16": ("bfloat16", "trit"),
            "uint8": ("uint8", "int8", "trit"), "int8": ("int8", "trit", "trit", "uint8"), "trit": ("trit", "int8", "uint8"), "int32": ("trit", "int32", "int8"), "int16": ("int16", "trit"), "int64": ("int64", "trit")}


def draw_matmul(g):
    x = g.pick(lambda t: 1 <= t.rank <= 4 and t.elem in PARTNERS)
    t = g.type(x)
    k = t.shape[-1]
    same = [n for n in g.all(lambda u: 1 <= u.rank <= 4 and u.elem in PARTNERS) if valid(matmul_infer, [t, g.type(n)], {})]
    if same and g.chance(0.35):
        return [x, g.choice(same)], {}
    elem = g.choice(PARTNERS[t.elem])
    if not k.known():
        return [x, g.input(elem, [k, g.size()] if g.chance(0.8) else [k])], {}
    kind = g.integer(0, 9)
    n = g.choice([1, 2, 3, 4, 5, 8, 16, 17, 33, 7])
    if kind == 0:
        return [x, g.weight(elem, [k])], {}
    if kind == 1 and t.rank == 3 and t.shape[0].known():
        return [x, g.weight(elem, [t.shape[0], k, n])], {}
    return [x, g.weight(elem, [k, n])], {}


def valid(infer, types, attrs):
    try:
        infer(types, attrs)
        return True
    except Invalid:
        return False


operation("matmul", draw_matmul, matmul_infer, lambda a, attrs, t: f"{a[0]} @ {a[1]}", 5)


def linear_infer(types, attrs):
    x, w, *b = types
    if w.rank != 2 or not x.is_float() or x.shape[-1:] != w.shape[1:] or x.rank < 2:
        raise Invalid
    out = product_type(x, w, (*x.shape[:-1], w.shape[0]), w.shape[1].most())
    if b:
        if b[0].rank != 1:
            raise Invalid
        out = binary_infer("+")([out, b[0]], {})
    return out


def draw_linear(g):
    x = g.pick(lambda t: t.elem in ("float32", "float32", "float16", "bfloat16", "float64") and 2 <= t.rank <= 4 and t.shape[-1].known())
    t = g.type(x)
    elem = g.choice([t.elem, t.elem, "trit"])
    n = g.choice([1, 2, 3, 5, 8, 16, 17, 33])
    return [x, g.weight(elem, [n, t.shape[-1]]), *([g.weight(t.elem, [n])] if g.chance(0.6) else [])], {}


operation("linear", draw_linear, linear_infer, lambda a, attrs, t: f"linear({', '.join(a)})", 2.5)


def gram_infer(types, attrs):
    (t,) = types
    if not 2 <= t.rank <= 3 or t.elem == "bool":
        raise Invalid
    return product_type(t, t, (*t.shape[:-1], t.shape[-2]), t.shape[-1].most())


operation("gram", lambda g: ([g.pick(lambda t: 2 <= t.rank <= 3 and t.elem != "bool")], {}), gram_infer, lambda a, attrs, t: f"{a[0]} @ {a[0]}.transpose()", 0.8)
