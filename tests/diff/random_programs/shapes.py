"""Operations of random programs that give the same elements another shape, or a part of them."""
from bounds import Invalid, Size, count
from program import operation


def any_of(g, low=1, high=5):
    return g.pick(lambda t: low <= t.rank <= high)


def one(f):
    """infer of an operation that keeps the elements: f(type, attributes) -> shape"""
    return lambda types, attrs: types[0].with_shape(f(types[0], attrs))


def axis_of(g, name):
    return g.integer(0, g.type(name).rank - 1)


# ---- reshape ----

def reshape_shape(t, attrs):
    kind, i = attrs["kind"], attrs["axis"]
    s = list(t.shape)
    if kind == "merge":
        if i + 1 >= len(s):
            raise Invalid
        return s[:i] + [s[i] * s[i + 1]] + s[i + 2:]
    if i >= len(s):
        raise Invalid
    if kind == "split":
        k = attrs["k"]
        if any(c % k for c in [*s[i].terms.values(), s[i].constant]) or len(s) > 5:
            raise Invalid
        return s[:i] + [s[i] // k, Size.of(k)] + s[i + 1:]
    if not all(x.known() for x in s):
        raise Invalid
    return [Size.of(count(s))]


def draw_reshape(g):
    x = any_of(g)
    t = g.type(x)
    kind, i = g.choice(["merge", "merge", "split", "split", "flat"]), axis_of(g, x)
    k = 0
    if kind == "split":
        divisors = [d for d in (2, 3, 4, 5) if not any(c % d for c in [*t.shape[i].terms.values(), t.shape[i].constant])]
        k = g.choice(divisors)
    return [x], {"kind": kind, "axis": i, "k": k}


def reshape_text(a, attrs, types):
    x, i = a[0], attrs["axis"]
    if attrs["kind"] == "flat":
        return f"{x}.flatten()"
    if attrs["kind"] == "merge":
        return f"flatten({x}, {i}, {i + 1})"
    dims = [f"-1, {attrs['k']}" if k == i else f"{x}.shape[{k}]" for k in range(types[0].rank)]
    return f"{x}.reshape({', '.join(dims)})"


operation("reshape", draw_reshape, one(reshape_shape), reshape_text, 2.5)


def permute_shape(t, attrs):
    if len(attrs["order"]) != t.rank:
        raise Invalid
    return [t.shape[i] for i in attrs["order"]]


def draw_permute(g):
    x = any_of(g, 2)
    order = list(range(g.type(x).rank))
    g.rng.shuffle(order)
    return [x], {"order": order}


operation("permute", draw_permute, one(permute_shape), lambda a, attrs, t: f"{a[0]}.permute({', '.join(map(str, attrs['order']))})", 1.5)


def transpose_shape(t, attrs):
    i, j = attrs["axes"]
    if max(i, j) >= t.rank:
        raise Invalid
    s = list(t.shape)
    s[i], s[j] = s[j], s[i]
    return s


def draw_transpose(g):
    x = any_of(g, 2)
    r = g.type(x).rank
    return [x], {"axes": g.rng.sample(range(r), 2)}


operation("transpose", draw_transpose, one(transpose_shape), lambda a, attrs, t: f"{a[0]}.transpose({attrs['axes'][0]}, {attrs['axes'][1]})", 1.5)


def unsqueeze_shape(t, attrs):
    i = attrs["axis"]
    if i > t.rank or t.rank > 4:
        raise Invalid
    return [*t.shape[:i], Size.of(1), *t.shape[i:]]


operation("unsqueeze", lambda g: ((lambda x: ([x], {"axis": g.integer(0, g.type(x).rank)}))(any_of(g, 0, 4))), one(unsqueeze_shape),
          lambda a, attrs, t: f"{a[0]}.unsqueeze({attrs['axis']})", 1)


def squeeze_shape(t, attrs):
    i = attrs["axis"]
    if i >= t.rank or t.shape[i] != 1:
        raise Invalid
    return [*t.shape[:i], *t.shape[i + 1:]]


def draw_squeeze(g):
    x = g.pick(lambda t: any(s == 1 for s in t.shape))
    return [x], {"axis": g.choice([i for i, s in enumerate(g.type(x).shape) if s == 1])}


operation("squeeze", draw_squeeze, one(squeeze_shape), lambda a, attrs, t: f"{a[0]}.squeeze({attrs['axis']})", 1)


# ---- parts ----

def slice_shape(t, attrs):
    i, start, stop, step = attrs["axis"], attrs["start"], attrs["stop"], attrs["step"]
    if i >= t.rank:
        raise Invalid
    s = t.shape[i]
    if not s.known():
        if attrs["kind"] == "reverse":
            return list(t.shape)
        if attrs["kind"] == "tail":
            return [*t.shape[:i], s - 1, *t.shape[i + 1:]]
        if attrs["kind"] == "every":
            return [*t.shape[:i], (s + (step - 1)) // step, *t.shape[i + 1:]]
        raise Invalid
    if attrs["kind"] == "reverse":
        n = s.constant
    elif attrs["kind"] == "tail":
        n = s.constant - 1
    elif attrs["kind"] == "every":
        n = len(range(0, s.constant, step))
    else:
        n = len(range(s.constant)[start:stop:step])
    if n < 1:
        raise Invalid
    return [*t.shape[:i], Size.of(n), *t.shape[i + 1:]]


def draw_slice(g):
    x = any_of(g)
    i = axis_of(g, x)
    s = g.type(x).shape[i]
    kind = g.choice(["reverse", "tail", "every", "range", "range", "range"] if s.known() else ["reverse", "tail", "every"])
    n = s.constant if s.known() else 1
    start = g.integer(0, n - 1)
    return [x], {"axis": i, "kind": kind, "start": start, "stop": g.integer(start + 1, n), "step": g.choice([1, 1, 1, 2, 3] if kind != "every" else [2, 3])}


def slice_text(a, attrs, t):
    step = f":{attrs['step']}" if attrs["step"] != 1 else ""
    part = {"reverse": "::-1", "tail": "1:", "every": f"::{attrs['step']}", "range": f"{attrs['start']}:{attrs['stop']}{step}"}[attrs["kind"]]
    return f"{a[0]}[{', '.join([':'] * attrs['axis'] + [part])}]"


operation("slice", draw_slice, one(slice_shape), slice_text, 2.5)


def select_shape(t, attrs):
    i = attrs["axis"]
    if i >= t.rank or (t.shape[i].known() and attrs["at"] >= t.shape[i].constant):
        raise Invalid
    return [*t.shape[:i], *t.shape[i + 1:]]


def draw_select(g):
    x = any_of(g)
    i = axis_of(g, x)
    s = g.type(x).shape[i]
    if not s.known():
        g.not_empty()
    return [x], {"axis": i, "at": g.integer(0, s.constant - 1) if s.known() else 0, "last": not s.known() and g.chance(0.5)}


operation("select", draw_select, one(select_shape), lambda a, attrs, t: f"{a[0]}[{', '.join([':'] * attrs['axis'] + ['-1' if attrs['last'] else str(attrs['at'])])}]", 1.5)
