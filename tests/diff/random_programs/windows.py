"""Convolutions, pooling and resizing in random programs."""


from bounds import Invalid, Size, count, rounded
from arithmetic import binary_infer
from program import operation
from products import PARTNERS, product_type
from reduce import sum_error

def window_size(s, pad, k, dilation, stride, ceil=False):
    reach = s + (2 * pad - dilation * (k - 1) - 1)
    if reach.known():
        if reach.constant < 0:
            raise Invalid
        out = (reach.constant + (stride - 1) * ceil) // stride + 1
        if ceil and (out - 1) * stride >= s.constant + pad:
            out -= 1
        return Size.of(out)
    return reach // stride + 1


# ---- convolutions ----

def conv_infer(types, attrs):
    x, w, *b = types
    n = attrs["rank"]
    if x.rank != n + 2 or w.rank != n + 2 or not w.known() or x.wild:
        raise Invalid
    g, c = attrs["groups"], x.shape[1]
    if not c.known() or c.constant % g or w.shape[0].constant % g or w.shape[1] != c.constant // g:
        raise Invalid
    if attrs["padding"] == "same":
        sizes = list(x.shape[2:])
    else:
        sizes = [window_size(s, p, k.constant, d, st) for s, p, k, d, st in zip(x.shape[2:], attrs["padding"], w.shape[2:], attrs["dilation"], attrs["stride"])]
    out = product_type(x, w, (x.shape[0], w.shape[0], *sizes), count(w.shape[1:]))
    if b:
        if b[0].shape != (w.shape[0],):
            raise Invalid
        out = binary_infer("+")([out, b[0].with_shape([w.shape[0], *[1] * n])], {})
    return out


def draw_conv(rank):
    def draw(g):
        x = g.pick(lambda t: t.rank == rank + 2 and t.shape[1].known() and t.elem in PARTNERS and t.elem not in ("int64", "int16", "int32") and not t.wild)
        t = g.type(x)
        c = t.shape[1].constant
        groups = g.choice([1, 1, 1, 1, c, *[k for k in (2, 3, 4, 8) if c % k == 0]])
        out = groups * g.choice([1, 1, 2, 3, 4, 18] if groups > 1 else [1, 2, 3, 4, 6, 8, 17])
        kernel = [g.choice([1, 1, 2, 3, 3, 3, 5]) for _ in range(rank)]
        stride, dilation = [g.choice([1, 1, 1, 2, 3]) for _ in range(rank)], [g.choice([1, 1, 1, 1, 2]) for _ in range(rank)]
        # At least so much that every run-time size gives a result.
        padding = [max(g.integer(0, 2), 0 if s.known() else (d * (k - 1) + 1) // 2) for s, k, d in zip(t.shape[2:], kernel, dilation)]
        if g.chance(0.1):
            padding, stride = "same", [1] * rank
        if not all(s.known() for s in t.shape[2:]):
            g.not_empty()
        elem = g.choice([e for e in PARTNERS[t.elem] if e not in ("int32", "float64") or t.elem == "float64"])
        w = g.weight(elem, [out, c // groups, *kernel])
        bias = [g.weight(t.elem, [out])] if t.is_float() and g.chance(0.4) else []
        return [x, w, *bias], {"rank": rank, "groups": groups, "stride": stride, "dilation": dilation, "padding": padding}

    return draw


def pair_text(values):
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def conv_text(a, attrs, types):
    padding = '"same"' if attrs["padding"] == "same" else pair_text(attrs["padding"])
    return f"conv{attrs['rank']}d({', '.join(a)}, stride={pair_text(attrs['stride'])}, padding={padding}, dilation={pair_text(attrs['dilation'])}, groups={attrs['groups']})"


operation("conv2d", draw_conv(2), conv_infer, conv_text, 6)
operation("conv1d", draw_conv(1), conv_infer, conv_text, 1.5)


def conv_transpose_infer(types, attrs):
    x, w = types
    if x.rank != 4 or w.rank != 4 or not w.known() or x.wild or x.elem != "float32" or not x.shape[1].known() or w.shape[0] != x.shape[1]:
        raise Invalid
    sizes = [(s - 1) * attrs["stride"] + (k.constant - 2 * attrs["padding"]) for s, k in zip(x.shape[2:], w.shape[2:])]
    if any(s.known() and s.constant < 1 for s in sizes):
        raise Invalid
    return product_type(x, w, (x.shape[0], w.shape[1], *sizes), count([w.shape[0], *w.shape[2:]]))


def draw_conv_transpose(g):
    x = g.pick(lambda t: t.rank == 4 and t.shape[1].known() and t.elem == "float32" and not t.wild and t.known())
    k = g.integer(2, 3)
    return [x, g.weight("float32", [g.type(x).shape[1], g.integer(1, 4), k, k])], {"stride": g.integer(1, 2), "padding": g.integer(0, 1)}


operation("conv_transpose2d", draw_conv_transpose, conv_transpose_infer,
          lambda a, attrs, t: f"conv_transpose2d({a[0]}, {a[1]}, stride={attrs['stride']}, padding={attrs['padding']})", 0.7)


def pool_infer(types, attrs):
    (t,) = types
    if t.rank != 4 or (attrs["f"] == "avgpool2d" and not t.is_float()) or t.elem == "bool" or t.wild:
        raise Invalid
    k, s, p, d = attrs["kernel"], attrs["stride"], attrs["padding"], attrs["dilation"]
    sizes = [window_size(t.shape[2 + i], p, k[i], d, s[i], attrs["ceil"]) for i in range(2)]
    shape = (*t.shape[:2], *sizes)
    if attrs["f"] == "maxpool2d":
        return t.with_shape(shape)
    return rounded(t.elem, shape, min(t.lo, 0), max(t.hi, 0), t.err + 2 * sum_error(t.elem, 1, t.size()), None)


def draw_pool(g):
    f = g.choice(["maxpool2d", "avgpool2d"])
    x = g.pick(lambda t: t.rank == 4 and t.elem != "bool" and not t.wild and (f == "maxpool2d" or t.is_float()))
    t = g.type(x)
    k = [g.integer(1, 3), g.integer(1, 3)]
    if not all(s.known() for s in t.shape[2:]):
        k, padding, ceil = [2, 3] if g.chance(0.5) else [3, 3], 1, False
    else:
        padding, ceil = g.integer(0, min(k) // 2), g.chance(0.2)
    g.not_empty()
    return [x], {"f": f, "kernel": k, "stride": [g.integer(1, 3), g.integer(1, 2)], "padding": padding, "dilation": g.choice([1, 1, 2]) if f == "maxpool2d" and padding == 0 and not ceil else 1,
                 "ceil": ceil, "count": g.chance(0.5)}


def pool_text(a, attrs, types):
    more = f", dilation={attrs['dilation']}" if attrs["f"] == "maxpool2d" else f", count_include_pad={str(attrs['count']).lower()}"
    return f"{attrs['f']}({a[0]}, {pair_text(attrs['kernel'])}, stride={pair_text(attrs['stride'])}, padding={attrs['padding']}, ceil_mode={str(attrs['ceil']).lower()}{more})"


operation("pool2d", draw_pool, pool_infer, pool_text, 2.5)


def adaptive_infer(types, attrs):
    (t,) = types
    if t.rank != 4 or not t.is_float() or t.wild:
        raise Invalid
    shape = (*t.shape[:2], *(Size.of(s) for s in attrs["size"]))
    if attrs["size"] != [1, 1] and not all(s.known() for s in t.shape[2:]):
        raise Invalid
    return rounded(t.elem, shape, t.lo, t.hi, t.err + 2 * sum_error(t.elem, 1, t.size()), None)


def draw_adaptive(g):
    x = g.pick(lambda t: t.rank == 4 and t.is_float() and not t.wild)
    g.not_empty()
    known = all(s.known() for s in g.type(x).shape[2:])
    return [x], {"size": [g.integer(1, 3), g.integer(1, 3)] if known and g.chance(0.7) else [1, 1]}


operation("adaptive_avgpool2d", draw_adaptive, adaptive_infer, lambda a, attrs, t: f"adaptive_avgpool2d({a[0]}, {pair_text(attrs['size'])})", 1)


def resize_infer(types, attrs):
    (t,) = types
    if t.rank != 4 or not t.is_float() or t.wild:
        raise Invalid
    shape = (*t.shape[:2], *(s * attrs["k"] for s in t.shape[2:])) if attrs["k"] else (*t.shape[:2], *(Size.of(s) for s in attrs["size"]))
    if attrs["mode"] == "nearest":
        return t.with_shape(shape)
    return rounded(t.elem, shape, t.lo, t.hi, t.err + 4 * sum_error(t.elem, 1, t.size()), None)


def draw_resize(g):
    x = g.pick(lambda t: t.rank == 4 and t.is_float() and not t.wild)
    g.not_empty()
    known = all(s.known() for s in g.type(x).shape[2:])
    return [x], {"mode": g.choice(["nearest", "bilinear"]), "k": 2 if not known or g.chance(0.5) else 0, "size": [g.integer(1, 7), g.integer(1, 7)], "align": g.chance(0.3)}


def resize_text(a, attrs, types):
    size = f"scale_factor={attrs['k']}" if attrs["k"] else f"size={pair_text(attrs['size'])}"
    align = ", align_corners=true" if attrs["align"] and attrs["mode"] == "bilinear" else ""
    return f'upsample2d({a[0]}, {size}, mode="{attrs["mode"]}"{align})'


operation("upsample2d", draw_resize, resize_infer, resize_text, 1.5)
