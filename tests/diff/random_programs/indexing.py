"""Operations of random programs that read or write by index."""
from bounds import INTS, Invalid, Size, Type, broadcast, count, rounded, wrapped
from program import operation
from joins import join_type

def ids_fit(ids, limit):
    if ids.elem not in ("int32", "int64") or ids.lo < 0 or not limit.known() or ids.hi >= limit.constant:
        raise Invalid


def index_select_infer(types, attrs):
    t, ids = types
    i = attrs["axis"]
    if ids.rank != 1 or i >= t.rank:
        raise Invalid
    ids_fit(ids, t.shape[i])
    return t.with_shape([*t.shape[:i], ids.shape[0], *t.shape[i + 1:]])


def draw_index_select(g):
    x = g.pick(lambda t: 1 <= t.rank <= 5 and any(s.known() for s in t.shape))
    t = g.type(x)
    i = g.choice([k for k, s in enumerate(t.shape) if s.known()])
    return [x, g.indices([g.size()], t.shape[i].constant)], {"axis": i}


operation("index_select", draw_index_select, index_select_infer, lambda a, attrs, t: f"index_select({a[0]}, {attrs['axis']}, {a[1]})", 1)


def gather_infer(types, attrs):
    t, ids = types
    i = attrs["axis"]
    if ids.rank != t.rank or i >= t.rank or any(s != r for k, (s, r) in enumerate(zip(ids.shape, t.shape)) if k != i):
        raise Invalid
    ids_fit(ids, t.shape[i])
    return t.with_shape(ids.shape)


def gather_shape(g, t):
    i = g.choice([k for k, s in enumerate(t.shape) if s.known()])
    return i, [*t.shape[:i], Size.of(g.integer(1, 5)), *t.shape[i + 1:]]


def draw_gather(g):
    x = g.pick(lambda t: 1 <= t.rank <= 4 and any(s.known() for s in t.shape))
    t = g.type(x)
    i, shape = gather_shape(g, t)
    return [x, g.indices(shape, t.shape[i].constant)], {"axis": i}


operation("gather", draw_gather, gather_infer, lambda a, attrs, t: f"gather({a[0]}, {attrs['axis']}, {a[1]})", 1)


def scatter_infer(types, attrs):
    t, ids, src = types
    gathered = gather_infer([t, ids], attrs)
    if src.elem != t.elem or src.shape != gathered.shape or t.elem in ("bool", "trit") or t.wild or src.wild:
        raise Invalid
    if attrs["f"] == "scatter":
        return join_type([t, src], t.shape)
    n = count([ids.shape[attrs["axis"]]])
    lo, hi = t.lo + n * min(src.lo, 0), t.hi + n * max(src.hi, 0)
    if t.elem in INTS:
        return wrapped(t.elem, t.shape, lo, hi)
    grid = None if t.grid is None or src.grid is None else max(t.grid, src.grid)
    err = t.err + n * src.err
    out = rounded(t.elem, t.shape, lo, hi, err, grid)
    return out if out.grid is not None else rounded(t.elem, t.shape, lo, hi, err + n * out.size() * 2.0 ** -7 * (t.elem in ("float16", "bfloat16")) + 1e-5 * out.size(), None)


def draw_scatter(g):
    x = g.pick(lambda t: 1 <= t.rank <= 4 and any(s.known() for s in t.shape) and t.elem not in ("bool", "trit") and not t.wild)
    t = g.type(x)
    i, shape = gather_shape(g, t)
    return [x, g.indices(shape, t.shape[i].constant), g.fitting(t.elem, shape, exactly=True)], {"axis": i, "f": g.choice(["scatter", "scatter_add"])}


operation("scatter", draw_scatter, scatter_infer, lambda a, attrs, t: f"{attrs['f']}({a[0]}, {attrs['axis']}, {a[1]}, {a[2]})", 1)


def embedding_infer(types, attrs):
    ids, table = types
    if table.rank != 2:
        raise Invalid
    ids_fit(ids, table.shape[0])
    return table.with_shape([*ids.shape, table.shape[1]])


def draw_embedding(g):
    n = g.integer(2, 9)
    table = g.weight(g.choice(["float32", "float32", "float16", "trit"]), [n, g.integer(1, 9)])
    return [g.indices([g.size() for _ in range(g.integer(0, 2))], n), table], {}


operation("embedding", draw_embedding, embedding_infer, lambda a, attrs, t: f"embedding({a[0]}, {a[1]})", 1)


def select_scatter_infer(types, attrs):
    t, src, at = types
    i = attrs["axis"]
    if i >= t.rank or at.rank or src.shape != tuple([*t.shape[:i], *t.shape[i + 1:]]) or t.elem == "bool":
        raise Invalid
    ids_fit(at, t.shape[i])
    return join_type([t, src], t.shape)


def draw_select_scatter(g):
    x = g.pick(lambda t: 1 <= t.rank <= 4 and any(s.known() for s in t.shape) and t.elem not in ("bool", "trit"))
    t = g.type(x)
    i = g.choice([k for k, s in enumerate(t.shape) if s.known()])
    return [x, g.fitting(t.elem, [*t.shape[:i], *t.shape[i + 1:]], exactly=True), g.indices([], t.shape[i].constant)], {"axis": i}


operation("select_scatter", draw_select_scatter, select_scatter_infer, lambda a, attrs, t: f"select_scatter({a[0]}, {a[1]}, {attrs['axis']}, {a[2]})", 0.7)


def item_infer(types, attrs):
    t, at = types
    if t.rank < 1 or at.rank:
        raise Invalid
    ids_fit(at, t.shape[0])
    return t.with_shape(t.shape[1:])


def draw_item(g):
    x = g.pick(lambda t: 1 <= t.rank <= 4 and t.shape[0].known())
    return [x, g.indices([], g.type(x).shape[0].constant)], {}


operation("item", draw_item, item_infer, lambda a, attrs, t: f"{a[0]}[{a[1]}]", 0.8)


def points_infer(types, attrs):
    """Index tensors of two dimensions, in place of them if they are adjacent, else first."""
    t, i, j = types
    a, b = attrs["axes"]
    if b >= t.rank:
        raise Invalid
    ids_fit(i, t.shape[a])
    ids_fit(j, t.shape[b])
    shape, rest = broadcast(i.shape, j.shape), [s for k, s in enumerate(t.shape) if k not in (a, b)]
    at = a if b == a + 1 else 0
    return t.with_shape([*rest[:at], *shape, *rest[at:]])


def draw_points(g):
    x = g.pick(lambda t: 2 <= t.rank <= 4 and sum(s.known() for s in t.shape) >= 2)
    t = g.type(x)
    a, b = sorted(g.rng.sample([k for k, s in enumerate(t.shape) if s.known()], 2))
    n = g.size()
    shape = g.choice([[n], [1], [g.size(), 1], []])
    return [x, g.indices([n], t.shape[a].constant), g.indices(shape, t.shape[b].constant)], {"axes": (a, b)}


def points_source(a, attrs, t):
    i, j = attrs["axes"]
    return f"{a[0]}[{':, ' * i}{a[1]}, {':, ' * (j - i - 1)}{a[2]}]"


operation("points", draw_points, points_infer, points_source, 1)


def window_infer(types, attrs):
    t, at = types
    i, n = attrs["axis"], attrs["n"]
    if at.rank or i >= t.rank or not t.shape[i].known() or n > t.shape[i].constant:
        raise Invalid
    ids_fit(at, Size.of(t.shape[i].constant - n + 1))
    return t.with_shape([*t.shape[:i], n, *t.shape[i + 1:]])


def draw_window(g):
    x = g.pick(lambda t: 1 <= t.rank <= 4 and any(s.known() and s.constant for s in t.shape))
    t = g.type(x)
    i = g.choice([k for k, s in enumerate(t.shape) if s.known() and s.constant])
    n = g.integer(1, t.shape[i].constant)
    return [x, g.indices([], t.shape[i].constant - n + 1)], {"axis": i, "n": n}


operation("window", draw_window, window_infer, lambda a, attrs, t: f"{a[0]}[{':, ' * attrs['axis']}{a[1]}:{a[1]} + {attrs['n']}]", 1)


def one_hot_infer(types, attrs):
    (ids,) = types
    ids_fit(ids, Size.of(attrs["n"]))
    if ids.rank > 3:
        raise Invalid
    return Type("int64", (*ids.shape, Size.of(attrs["n"])), 0, 1)


def draw_one_hot(g):
    n = g.integer(2, 7)
    return [g.indices([g.size()], n)], {"n": n}


operation("one_hot", draw_one_hot, one_hot_infer, lambda a, attrs, t: f"one_hot({a[0]}, {attrs['n']})", 0.5)
