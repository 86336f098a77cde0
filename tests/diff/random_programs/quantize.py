"""Quantization in random programs."""
from arithmetic import binary_infer
from bounds import RANGES, Invalid, Size, Type, approximate, broadcast, converted, count
from program import operation

def absmax_infer(types, attrs):
    (t,) = types
    if t.elem != "float32" or not t.sure() or t.wild or attrs["axis"] >= t.rank:
        raise Invalid
    shape = [*t.shape]
    shape[attrs["axis"]] = Size.of(1)
    return [Type("int8", t.shape, -127, 127), Type("float32", tuple(shape), 0.0, t.size() / 127 + 1e-7, 0.0, None)]


def draw_absmax(g):
    x = g.pick(lambda t: t.elem == "float32" and t.sure() and not t.wild and t.rank)
    g.not_empty()
    r = g.type(x).rank
    return [x], {"axis": r - 1 if g.chance(0.7) else g.integer(0, r - 1)}


operation("absmax_quantize", draw_absmax, absmax_infer, lambda a, attrs, t: f"absmax_quantize({a[0]}, dim={attrs['axis']})", 1.5, results=2)


def absmean_infer(types, attrs):
    (t,) = types
    if t.elem != "float32" or t.wild or not t.exact() or count(t.shape) * t.size() * 2.0 ** (t.grid or 0) > 2 ** 24:
        raise Invalid
    return [Type("trit", t.shape, -1, 1), Type("float32", (), 0.0, max(t.size(), 1e-5), 0.0, None)]


def draw_absmean(g):
    x = g.pick(lambda t: t.elem == "float32" and t.exact() and not t.wild and t.rank)
    g.not_empty()
    return [x], {}


operation("absmean_quantize", draw_absmean, absmean_infer, lambda a, attrs, t: f"absmean_quantize({a[0]})", 1.2, results=2)


def dequantize_infer(types, attrs):
    q, scale = types
    if q.elem not in ("uint8", "int8", "trit", "int32") or scale.elem != "float32":
        raise Invalid
    return binary_infer("*")([converted(q, "float32"), scale], {})


def draw_dequantize(g):
    q = g.pick(lambda t: t.elem in ("uint8", "int8", "trit"))
    t = g.type(q)
    return [q, g.pick(lambda u: u.elem == "float32" and u.size() <= 8 and fits(u.shape, t.shape))], {}


def fits(a, b):
    try:
        return broadcast(a, b) == tuple(b)
    except Invalid:
        return False


operation("dequantize", draw_dequantize, dequantize_infer, lambda a, attrs, t: f"dequantize({a[0]}, {a[1]})", 1.2)


def affine_quantize_infer(types, attrs):
    (t,) = types
    if t.elem != "float32" or not t.sure() or t.wild:
        raise Invalid
    return Type(attrs["to"], t.shape, *RANGES[attrs["to"]])


operation("affine_quantize", lambda g: ([g.pick(lambda t: t.elem == "float32" and t.sure() and not t.wild)], {"scale": g.choice([0.25, 0.125, 0.1]), "zero": g.integer(-3, 3), "to": g.choice(["int8", "uint8"])}),
          affine_quantize_infer, lambda a, attrs, t: f"affine_quantize({a[0]}, {attrs['scale']}, {attrs['zero']}, dtype={attrs['to']})", 0.6)


def pack_infer(types, attrs):
    (t,) = types
    if t.elem != "trit" or t.rank < 1 or not t.shape[-1].known():
        raise Invalid
    return t


operation("pack", lambda g: ([g.pick(lambda t: t.elem == "trit" and t.rank and t.shape[-1].known())], {}), pack_infer, lambda a, attrs, t: f"unpack(pack({a[0]}), {a[0]}.shape[-1])", 0.6)


def bit_linear_infer(types, attrs):
    x, w = types
    if w.elem != "float32" or w.rank != 2 or x.elem != "float32" or not 2 <= x.rank <= 3 or x.shape[-1] != w.shape[1] or not x.sure() or not x.exact():
        raise Invalid
    absmean_infer([w], {})
    k = w.shape[1].constant
    most = k * x.size() * w.size() + 1
    return approximate("float32", (*x.shape[:-1], w.shape[0]), -most, most, 2e-5 * most)


def draw_bit_linear(g):
    x = g.pick(lambda t: t.elem == "float32" and 2 <= t.rank <= 3 and t.sure() and t.exact() and not t.wild and t.shape[-1].known())
    return [x, g.weight("float32", [g.choice([1, 3, 8, 17]), g.type(x).shape[-1]])], {}


operation("bit_linear", draw_bit_linear, bit_linear_infer, lambda a, attrs, t: f"quant.bit_linear({a[0]}, {a[1]})", 1)
