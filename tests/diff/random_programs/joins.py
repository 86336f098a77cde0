"""Operations of random programs that join, copy, turn and pad."""
import dataclasses

from bounds import Invalid, Size, Type, count
from program import operation
from shapes import any_of, axis_of, draw_squeeze, one

def join_type(types, shape):
    elem = types[0].elem
    if any(t.elem != elem for t in types):
        raise Invalid
    grids = [t.grid for t in types]
    return Type(elem, tuple(shape), min(t.lo for t in types), max(t.hi for t in types), max(t.err for t in types), None if None in grids else max(grids),
                any(t.wild for t in types))


def concat_infer(types, attrs):
    i = attrs["axis"]
    if len({t.rank for t in types}) != 1 or i >= types[0].rank:
        raise Invalid
    total = Size.of(0)
    for t in types:
        if any(s != r for k, (s, r) in enumerate(zip(t.shape, types[0].shape)) if k != i):
            raise Invalid
        total = total + t.shape[i]
    return join_type(types, [*types[0].shape[:i], total, *types[0].shape[i + 1:]])


def draw_concat(g):
    x = any_of(g)
    t, i = g.type(x), axis_of(g, x)
    others = [g.pick(lambda u: u.elem == t.elem and u.rank == t.rank and all(s == r for k, (s, r) in enumerate(zip(u.shape, t.shape)) if k != i))
              for _ in range(g.integer(1, 2))]
    args = [x, *others]
    g.rng.shuffle(args)
    return args, {"axis": i}


operation("concat", draw_concat, concat_infer, lambda a, attrs, t: f"concat([{', '.join(a)}], dim={attrs['axis']})", 2)


def stack_infer(types, attrs):
    if len({t.shape for t in types}) != 1 or attrs["axis"] > types[0].rank or types[0].rank > 4:
        raise Invalid
    s = types[0].shape
    return join_type(types, [*s[:attrs["axis"]], Size.of(len(types)), *s[attrs["axis"]:]])


def draw_stack(g):
    x = any_of(g, 1, 4)  # of rank 0: also the variable of a loop, which is no tensor
    t = g.type(x)
    return [x, *[g.pick(lambda u: u.elem == t.elem and u.shape == t.shape) for _ in range(g.integer(1, 2))]], {"axis": g.integer(0, t.rank)}


operation("stack", draw_stack, stack_infer, lambda a, attrs, t: f"stack([{', '.join(a)}], dim={attrs['axis']})", 1.2)


def repeat_shape(t, attrs):
    if len(attrs["times"]) != t.rank or count(t.shape) > 20000:
        raise Invalid
    return [s * k for s, k in zip(t.shape, attrs["times"])]


operation("repeat", lambda g: ((lambda x: ([x], {"times": [g.choice([1, 1, 2, 3]) for _ in range(g.type(x).rank)]}))(any_of(g, 1, 4))), one(repeat_shape),
          lambda a, attrs, t: f"{a[0]}.repeat({', '.join(map(str, attrs['times']))})", 0.8)


def expand_shape(t, attrs):
    i = attrs["axis"]
    if i >= t.rank or t.shape[i] != 1:
        raise Invalid
    return [*t.shape[:i], Size.of(attrs["k"]), *t.shape[i + 1:]]


def draw_expand(g):
    args, attrs = draw_squeeze(g)
    return args, {**attrs, "k": g.integer(2, 6)}


operation("expand", draw_expand, one(expand_shape),
          lambda a, attrs, t: f"{a[0]}.expand({', '.join(str(attrs['k']) if k == attrs['axis'] else '-1' for k in range(t[0].rank))})", 1)


def flip_shape(t, attrs):
    if any(i >= t.rank for i in attrs["axes"]):
        raise Invalid
    return list(t.shape)


operation("flip", lambda g: ((lambda x: ([x], {"axes": g.rng.sample(range(g.type(x).rank), g.integer(1, min(2, g.type(x).rank)))}))(any_of(g))), one(flip_shape),
          lambda a, attrs, t: f"flip({a[0]}, {', '.join(map(str, attrs['axes']))})", 0.7)


def roll_shape(t, attrs):
    if attrs["axes"][0] >= t.rank or not t.shape[attrs["axes"][0]].known() or attrs["shift"] >= t.shape[attrs["axes"][0]].constant:
        raise Invalid
    return list(t.shape)


def draw_roll(g):
    x = g.pick(lambda t: t.rank and t.shape[-1].known() and t.shape[-1].constant > 1)
    return [x], {"axes": [g.type(x).rank - 1], "shift": g.integer(1, g.type(x).shape[-1].constant - 1)}


operation("roll", draw_roll, one(roll_shape), lambda a, attrs, t: f"roll({a[0]}, {attrs['shift']}, {attrs['axes'][0]})", 0.6)


def tril_infer(types, attrs):
    (t,) = types
    if t.rank < 2 or t.wild or t.elem == "bool":
        raise Invalid
    return dataclasses.replace(t, lo=min(t.lo, 0), hi=max(t.hi, 0))


operation("tril", lambda g: ([g.pick(lambda t: t.rank >= 2 and t.elem != "bool")], {"f": g.choice(["tril", "triu"]), "k": g.integer(-1, 1)}), tril_infer,
          lambda a, attrs, t: f"{attrs['f']}({a[0]}, {attrs['k']})", 0.6)


def pad_infer(types, attrs):
    (t,) = types
    mode, pads = attrs["mode"], attrs["pads"]
    if t.elem in ("bool",) or 2 * (len(pads) // 2) > 2 * t.rank:
        raise Invalid
    shape = list(t.shape)
    for k in range(len(pads) // 2):
        i = t.rank - 1 - k
        if mode != "constant":
            if not shape[i].known() or max(pads[2 * k], pads[2 * k + 1]) >= shape[i].constant:
                raise Invalid
        shape[i] = shape[i] + (pads[2 * k] + pads[2 * k + 1])
    t = t.with_shape(shape)
    if mode == "constant":
        value = attrs["value"]
        if t.elem == "uint8" and value < 0:
            raise Invalid
        return dataclasses.replace(t, lo=min(t.lo, value), hi=max(t.hi, value))
    return t


def draw_pad(g):
    x = g.pick(lambda t: 1 <= t.rank <= 5 and t.elem != "bool")
    n = g.integer(1, min(2, g.type(x).rank))
    mode = g.choice(["constant", "constant", "constant", "reflect", "replicate", "circular"])
    return [x], {"mode": mode, "pads": [g.integer(0, 2) for _ in range(2 * n)], "value": g.choice([0, 0, 1, -1])}


operation("pad", draw_pad, pad_infer, lambda a, attrs, t: f'pad({a[0]}, {attrs["pads"]}, mode="{attrs["mode"]}", value={attrs["value"]})' if attrs["mode"] == "constant"
          else f'pad({a[0]}, {attrs["pads"]}, mode="{attrs["mode"]}")', 1.5)


def diagonal_infer(types, attrs):
    (t,) = types
    if t.rank != 2 or t.shape[0] != t.shape[1]:
        raise Invalid
    return t.with_shape([t.shape[0]])


operation("diagonal", lambda g: ([g.pick(lambda t: t.rank == 2 and t.shape[0] == t.shape[1])], {}), diagonal_infer, lambda a, attrs, t: f"diagonal({a[0]})", 0.4)
