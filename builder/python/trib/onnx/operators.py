"""The table of operators: one row for each.

A row is text with places for inputs and attributes:
  {0}              the first input; {0.} as the operand of the tightest binding, {0+} and {0*} as one of `+` and `*`
  {0n}, {0n+}      the same, a constant of one element as a number: beside a tensor of its type
  {alpha}          an attribute, with the default of the operator's definition
A row of text ends with the binding of its outermost operator: `("{0+} + {1*}", SUM)`. A row that is a function makes
the text itself, a list of texts for several results, or raises Unsupported with what to write, or Expand to use the
operator's definition by other operators."""

import re

import numpy as np

from . import recurrent, resampling, windows
from .graph import CODES, TYPES
from .translate import Expand, Unsupported
from .values import ATOM, COMPARE, DTYPES, LOOSE, PRODUCT, SUM, UNARY, Size, Text, Value, number, size_list

AND, OR, BITS = 2, 1, 5
PLACE = re.compile(r"\{(\w+?)(n?)([.+*-]?)\}")
BINDINGS = {"": LOOSE, ".": ATOM, "+": SUM, "*": PRODUCT, "-": UNARY}


def text_row(text, prec=ATOM):
    """The row of a text."""

    def place(node, found):
        name, plain, binding = found.groups()
        if name.isdigit():
            read = node.scalar if plain else node.text
            return read(int(name), BINDINGS[binding])
        name += plain
        value = node.attr(name)
        return number(value, "float32") if isinstance(value, float) else str(value)

    return lambda node: Text(PLACE.sub(lambda found: place(node, found), text), prec)


# ---- arithmetic ----


def infix(sign, prec, right=1):
    """An operator of two inputs of one type; one of them may be written as a number."""

    def row(node):
        if node.dtype() == "bool" and sign in "+-*/":
            raise Unsupported("arithmetic of bools: cast them to numbers")
        plain = [is_number(node.value(i)) and node.rank(i) <= node.rank(1 - i) for i in (0, 1)]
        if all(plain):
            plain[0] = False
        left, right_text = ((node.scalar if plain[i] else node.text)(i, prec + i * right) for i in (0, 1))
        return Text(f"{left} {sign} {right_text}", prec)

    return row


def is_number(value):
    return value.const is not None and value.const.size == 1


def division(node):
    """Integers are rounded towards 0."""
    if "int" not in node.dtype():
        return infix("/", PRODUCT)(node)
    a, b = (node.text(i, PRODUCT + 1) for i in (0, 1))
    return Text(f"{a} // {b} + {node.dtype()}(({a} % {b} != 0) && (({a} < 0) != ({b} < 0)))", SUM)


def modulo(node):
    """Of integers the sign is the divisor's; with `fmod` it is that of the dividend."""
    if node.attr("fmod"):
        if "int" in node.dtype():
            a, b = node.text(0, PRODUCT), node.text(1, PRODUCT + 1)
            return Text(f"sign({a}) * (abs({a}) % abs({b}))", PRODUCT)
        return Text(f"fmod({node.text(0)}, {node.text(1)})")
    return infix("%", PRODUCT)(node)


def power(node):
    """The result has the type of the base."""
    base, exponent = node.dtype(0), node.dtype(1)
    if "int" in base and "int" not in exponent:
        return Text(f"{base}(float32({node.text(0)}) ** {node.text(1, ATOM)})")
    right = node.scalar(1, ATOM) if node.rank(1) <= node.rank(0) else node.text(1, ATOM)
    if "int" in base:
        return Text(f"{base}({node.text(0, ATOM)} ** {right})")
    return Text(f"{node.text(0, ATOM)} ** {right}", UNARY)


def folded(function):
    """A function of two tensors, of any number of inputs."""

    def row(node):
        if node.dtype() == "bool":
            raise Unsupported("of bools: use And or Or")
        made = node.text(0)
        for i in range(1, len(node.values)):
            made = Text(f"{function}({made}, {node.text(i)})")
        return made

    return row


def total(mean):
    """The sum or the mean of all inputs."""

    def row(node):
        count = len(node.values)
        made = " + ".join(node.text(i, SUM + (i > 0)) for i in range(count))
        if mean:
            return Text(f"({made}) / {count}.0", PRODUCT)
        return Text(made, SUM if count > 1 else node.text(0).prec)

    return row


def clip(node):
    """Limits that are not given do not limit."""
    made = node.text(0)
    if all(not node.has(i) or node.value(i).const is not None for i in (1, 2)):
        named = [f", {word}={node.scalar(i)}" for i, word in ((1, "min"), (2, "max")) if node.has(i)]
        return Text(f"clip({made}{''.join(named)})") if named else made
    made = Text(f"maximum({made}, {node.text(1)})") if node.has(1) else made
    return Text(f"minimum({made}, {node.text(2)})") if node.has(2) else made


def where(node):
    """Numbers keep their type."""
    return Text(f"where({node.text(0)}, {node.text(1)}, {node.text(2)})")


def cast(node):
    """`float32(x)`."""
    dtype = TYPES.get(node.attr("to")) if node.op == "Cast" else node.dtype(1)
    if dtype not in DTYPES:
        raise Unsupported("to an element type that the language lacks: cast to float32 or int32")
    source = node.dtype()
    if dtype == source:
        return node.text(0)
    if dtype == "bool":
        return Text(f"{node.text(0, SUM)} != {'0' if 'int' in source else '0.0'}", COMPARE)
    return Text(f"{dtype}({node.text(0)})")


def is_inf(node):
    """True of the infinities that the attributes name."""
    low, high = node.attr("detect_negative"), node.attr("detect_positive")
    if low and high:
        return Text(f"isinf({node.text(0)})")
    limit = f"{node.dtype()}.inf"
    if not low and not high:
        return Text(f"isnan({node.text(0)}) && false", AND)
    return Text(f"{node.text(0, SUM)} == {limit if high else '-' + limit}", COMPARE)


def shift(node):
    """BitShift."""
    return infix("<<" if node.attr("direction") == "LEFT" else ">>", BITS + 3)(node)


def gemm(node):
    """alpha · A · B + beta · C."""
    a = f"{node.text(0, ATOM)}.transpose()" if node.attr("transA") else node.text(0, PRODUCT)
    b = f"{node.text(1, ATOM)}.transpose()" if node.attr("transB") else node.text(1, PRODUCT + 1)
    alpha, beta = node.attr("alpha"), node.attr("beta")
    plain = alpha == 1 and beta == 1
    if plain and node.attr("transB") and not node.attr("transA") and (not node.has(2) or node.rank(2) == 1):
        bias = f", {node.text(2)}" if node.has(2) else ""
        return Text(f"linear({node.text(0)}, {node.text(1)}{bias})")
    made = Text(f"{a} @ {b}" if alpha == 1 else f"{number(alpha, 'float32')} * ({a} @ {b})", PRODUCT)
    if node.has(2) and beta != 0:
        bias = node.text(2, PRODUCT if beta != 1 else SUM + 1)
        made = Text(f"{made} + {bias if beta == 1 else number(beta, 'float32') + ' * ' + bias}", SUM)
    return made


def matmul_integer(node):
    """Products of integers without their zero points."""
    sides = []
    for i in (0, 1):
        side = f"int32({node.text(i)})"
        if node.has(i + 2):
            zero = node.text(i + 2, ATOM)
            per_row = i == 0 and node.rank(2) == 1 and node.value(2).dims != [1]
            side = f"({side} - int32({zero}){'.unsqueeze(-1)' if per_row else ''})"
        sides.append(side)
    return Text(" @ ".join(sides), PRODUCT)


def compare(sign):
    """A comparison."""
    return infix(sign, COMPARE, 1)


# ---- shapes and indices ----


def unary_shape(node, text, dims):
    """A text whose sizes are known here."""
    return Value(Text(text), node.dtype(), list(dims))


def reshape(node):
    """0 keeps a size, -1 is computed."""
    wanted, dims = node.ints(1), node.dims()
    if not node.attr("allowzero"):
        wanted = [dims[i] if not isinstance(n, Size) and n == 0 else n for i, n in enumerate(wanted)]
    fixed = [None if not isinstance(n, Size) and n == -1 else n for n in wanted]
    if None in fixed and not any(isinstance(d, Size) for d in [*dims, *[n for n in fixed if n is not None]]):
        rest = int(np.prod([n for n in fixed if n is not None], dtype=np.int64))
        size = int(np.prod(dims, dtype=np.int64))
        fixed = [(size // rest if rest else 0) if n is None else n for n in fixed]
    if "0" in map(str, fixed) and None not in fixed:
        wanted = fixed
    return unary_shape(node, f"{node.text(0, ATOM)}.reshape({size_list(wanted)})", fixed)


def transpose(node):
    """By default the dimensions are reversed."""
    perm = node.attr("perm") or list(reversed(range(node.rank())))
    moved = [i for i, p in enumerate(perm) if i != p]
    dims = [node.dims()[p] for p in perm]
    if not moved:
        return unary_shape(node, node.text(0), dims)
    if len(moved) == 2:
        last = moved == [len(perm) - 2, len(perm) - 1]
        return unary_shape(node, f"{node.text(0, ATOM)}.transpose({'' if last else f'{moved[0]}, {moved[1]}'})", dims)
    return unary_shape(node, f"{node.text(0, ATOM)}.permute({list(perm)})", dims)


def product(dims):
    result = 1
    for d in dims:
        result = result * d if not (isinstance(result, int) and result == 1) else d
    return result


def flatten(node):
    """A matrix of the dimensions before and after `axis`."""
    rank, dims = node.rank(), node.dims()
    axis = node.attr("axis")
    axis = axis + rank if axis < 0 else axis
    front, back = product(dims[:axis]), product(dims[axis:])
    if axis == 1 and rank > 1:
        return unary_shape(node, f"{node.text(0, ATOM)}.flatten(1)" if rank > 2 else node.text(0), [front, back])
    return unary_shape(node, f"{node.text(0, ATOM)}.reshape({size_list([front, back])})", [front, back])


def axes_of(node, rank, i=1):
    """The dimensions of an attribute or an input, not negative; None if not given."""
    axes = node.attr("axes") if "axes" in node.given else node.ints(i)
    return None if axes is None else [int(a) % max(rank, 1) for a in axes]


def squeeze(node):
    """Without axes it drops all dimensions of size 1."""
    dims, axes = node.dims(), axes_of(node, node.rank())
    axes = [i for i, d in enumerate(node.fixed()) if d == 1] if axes is None else axes
    kept = [d for i, d in enumerate(dims) if i not in axes]
    if not axes:
        return unary_shape(node, node.text(0), dims)
    shown = axes[0] if len(axes) == 1 else axes
    return unary_shape(node, f"{node.text(0, ATOM)}.squeeze({shown})", kept)


def unsqueeze(node):
    """The axes count in the result."""
    axes = node.attr("axes") if "axes" in node.given else node.ints(1)
    rank = node.rank() + len(axes)
    dims, made = node.dims(), node.text(0, ATOM)
    for axis in sorted(int(a) % rank for a in axes):
        made += f".unsqueeze({axis})"
        dims.insert(axis, 1)
    return unary_shape(node, made, dims)


def concat(node):
    """Joins tensors."""
    axis = node.axis()
    joined = ", ".join(node.text(i) for i in range(len(node.values)))
    dims = node.dims()
    dims[axis] = sum((node.dims(i)[axis] for i in range(1, len(node.values))), dims[axis])
    if len(node.values) == 1:
        return unary_shape(node, node.text(0), dims)
    return unary_shape(node, f"concat([{joined}], dim={axis})", dims)


def split(node):
    """Equal parts, or those of the sizes given."""
    axis, dims = node.axis(0), node.dims()
    parts = node.attr("split") if "split" in node.given else node.ints(1)
    if parts is None:
        count, size = len(node.outputs), node.fixed(dims=[axis])[axis]
        each = -(-size // count)
        parts = [min(each, size - i * each) for i in range(count)]
    made, start = [], 0
    for size in parts:
        shape = [*dims[:axis], size, *dims[axis + 1 :]]
        made.append(Value(Text(bracket(node, axis, f"{start}:{start + size}")), node.dtype(), shape))
        start = start + size
    return made


def bracket(node, axis, inner, source=None):
    """`x[:, inner]`."""
    return f"{source or node.text(0, ATOM)}[{':, ' * axis}{inner}]"


def slices(node):
    """`x[:, start:end:step]`."""
    starts, ends, steps = node.ints(1), node.ints(2), node.ints(4)
    rank, dims = node.rank(), node.dims()
    axes = [int(a) % rank for a in (node.ints(3) or range(len(starts)))]
    inner = [":"] * rank
    for i, axis in enumerate(axes):
        inner[axis], dims[axis] = one_slice(starts[i], ends[i], steps[i] if steps else 1, dims[axis])
    while inner and inner[-1] == ":":
        inner.pop()
    return unary_shape(node, f"{node.text(0, ATOM)}[{', '.join(inner)}]" if inner else node.text(0), dims)


def one_slice(start, end, step, size):
    """(text, size) of a slice of a dimension."""
    if not any(isinstance(item, Size) for item in (start, end, size)):
        begin, stop, step = slice(start, end, step).indices(size)
        length = len(range(begin, stop, step))
        begin, stop = (0, 0) if length == 0 else (begin, stop)
        first = "" if (begin == 0 and step > 0) or (begin == size - 1 and step < 0) else begin
        last = "" if (stop >= size and step > 0) or stop < 0 else stop
        return (
            ":" if (first, last, step) == ("", "", 1) else f"{first}:{last}" + ("" if step == 1 else f":{step}"),
            length,
        )
    last = "" if not isinstance(end, Size) and (end >= 2**31 - 1 or end < -(2**31)) else end
    first = "" if not isinstance(start, Size) and start == 0 else start
    if first == "" and last == "" and step == 1:
        return ":", size
    length = None
    if (
        step == 1
        and not (isinstance(end, int) and end < 0)
        and last != ""
        and not (isinstance(start, int) and start < 0)
    ):
        length = end - start
    return f"{first}:{last}" + ("" if step == 1 else f":{step}"), length


def gather(node):
    """Entries of a dimension; indices may be negative."""
    axis, dims, index = node.axis(0), node.dims(), node.value(1)
    shape = [*dims[:axis], *node.dims(1), *dims[axis + 1 :]]
    if index.const is not None and index.const.ndim == 0:
        return Value(Text(bracket(node, axis, str(int(index.const)))), node.dtype(), shape)
    return Value(Text(bracket(node, axis, node.text(1))), node.dtype(), shape)


def positive(node, i, size):
    """The text of indices without negative ones."""
    value = node.value(i)
    if value.const is not None:
        if isinstance(size, Size):
            return node.text(i)
        return node.array(np.where(value.const < 0, value.const + size, value.const).astype(value.dtype), value.dtype)
    index = node.text(i, SUM)
    return f"where({index} < 0, {index} + {size}, {index})"


def gather_elements(node):
    """Elements by indices along a dimension."""
    axis = node.axis(0)
    return unary_shape(node, f"gather({node.text(0)}, {axis}, {positive(node, 1, node.dims()[axis])})", node.dims(1))


def gather_nd(node):
    """Entries by tuples of indices."""
    batch, dims, shape = node.attr("batch_dims"), node.dims(), node.dims(1)
    depth = node.fixed(1, [len(shape) - 1])[-1]
    front = []
    for k in range(batch):
        ones = [1] * (len(shape) - 1)
        ones[k] = -1
        front.append(f"arange({dims[k]}).reshape({ones})")
    index = node.text(1, ATOM)
    inner = [*front, *[f"{index}[..., {j}]" for j in range(depth)]]
    return Value(Text(f"{node.text(0, ATOM)}[{', '.join(inner)}]"), node.dtype(), [*shape[:-1], *dims[batch + depth :]])


def scatter_elements(node):
    """Elements put at indices along a dimension."""
    reduction = node.attr("reduction") or "none"
    function = {"none": "scatter", "add": "scatter_add"}.get(reduction)
    if function is None:
        raise Unsupported(f"reduction {reduction!r}: use none or add")
    axis = node.axis(0)
    index = positive(node, 1, node.dims()[axis])
    return Text(f"{function}({node.text(0)}, {axis}, {index}, {node.text(2)})")


def scatter_nd(node):
    """Slices put at tuples of indices: rows of a matrix."""
    reduction = node.attr("reduction") or "none"
    function = {"none": "index_copy", "add": "index_add"}.get(reduction)
    if function is None:
        raise Unsupported(f"reduction {reduction!r}: use none or add")
    dims, depth = node.fixed(), node.fixed(1)[-1]
    strides = np.cumprod([1, *dims[:depth][::-1]])[::-1][1:].tolist()
    index, inner = node.text(1, ATOM), dims[depth:]
    known = node.value(1).const
    if known is not None:
        flat = ((known % np.array(dims[:depth])) * np.array(strides)).sum(-1).reshape(-1)
        line = node.array(flat.astype("int64"))
    else:
        parts = [f"where({index}[..., {j}] < 0, {index}[..., {j}] + {n}, {index}[..., {j}])"
                 for j, n in enumerate(dims[:depth])]  # fmt: skip
        line = " + ".join(p if s == 1 else f"{p} * {s}" for p, s in zip(parts, strides))
        line = f"({line}).reshape([-1])"
    rows, width = int(np.prod(dims[:depth])), int(np.prod(inner))
    matrix = f"{node.text(0, ATOM)}.reshape([{rows}, {width}])"
    return Text(f"{function}({matrix}, 0, {line}, {node.text(2, ATOM)}.reshape([-1, {width}])).reshape({dims})")


def expand(node):
    """Broadcasts in both directions."""
    wanted, dims = node.ints(1), node.dims()
    rank = max(len(wanted), len(dims))
    wanted, dims = [1] * (rank - len(wanted)) + wanted, [1] * (rank - len(dims)) + dims
    result = []
    for have, want in zip(dims, wanted):
        one = not isinstance(want, Size) and want == 1
        result.append(have if one or (isinstance(have, Size) and str(have) == str(want)) else want)
    if all(str(a) == str(b) for a, b in zip(result, node.dims())) and rank == node.rank():
        return unary_shape(node, node.text(0), result)
    return unary_shape(node, f"{node.text(0, ATOM)}.expand({size_list(result)})", result)


def tile(node):
    """Copies."""
    times = node.ints(1)
    dims = [d if not isinstance(n, Size) and n == 1 else d * n for d, n in zip(node.dims(), times)]
    return unary_shape(node, f"{node.text(0, ATOM)}.repeat({size_list(times)})", dims)


def filled(node):
    """One value everywhere."""
    shape, value = node.ints(0), node.attr("value")
    array = np.zeros(1, "float32") if value is None else graph_array(value)
    return Value(
        Text(f"full({size_list(shape)}, {number(array.reshape(-1)[0], array.dtype.name)}, dtype={array.dtype.name})"),
        array.dtype.name,
        shape,
    )


def graph_array(tensor):
    from .graph import array_of

    return array_of(tensor)


def ranges(node):
    """From start below limit, by delta."""
    ends = [node.value(i).known() for i in range(3)]
    if any(e is None for e in ends):
        raise Unsupported("its limits must be known: make them initializers, or pass constants={…}")
    start, limit, delta = (e.reshape(-1)[0] for e in ends)
    shown = [e if isinstance(e, Size) else number(e, node.dtype()) for e in (start, limit, delta)]
    size = limit - start if not isinstance(delta, Size) and delta == 1 else None
    dtype = "" if node.dtype() in ("int64", "float32") else f", dtype={node.dtype()}"
    return Value(Text(f"arange({shown[0]}, {shown[1]}, {shown[2]}{dtype})"), node.dtype(), [size])


def eye_like(node):
    """Ones on a diagonal."""
    dtype = TYPES.get(node.attr("dtype"), node.dtype())
    rows, columns = node.fixed()
    return node.array(np.eye(rows, columns, node.attr("k")).astype(dtype))


def trilu(node):
    """A triangle of the last two dimensions."""
    k = int(node.constant(1).reshape(-1)[0]) if node.has(1) else 0
    word = "triu" if node.attr("upper") else "tril"
    return Text(f"{word}({node.text(0)}{f', {k}' if k else ''})")


def pad(node):
    """Negative numbers cut off."""
    mode = {"edge": "replicate", "wrap": "circular"}.get(node.attr("mode"), node.attr("mode"))
    pads, rank = node.ints(1), node.rank()
    axes = axes_of(node, rank, 3) or list(range(rank))
    sides = {axis: (pads[i], pads[i + len(axes)]) for i, axis in enumerate(axes)}
    inner = [cut(*sides.get(i, (0, 0))) for i in range(rank)]
    made = node.text(0)
    if any(part != ":" for part in inner):
        made = Text(f"{node.text(0, ATOM)}[{', '.join(inner)}]")
    wanted = [(max(a, 0), max(b, 0)) for a, b in (sides.get(i, (0, 0)) for i in range(rank))]
    flat = [n for pair in reversed(wanted) for n in pair]
    while flat and flat[-2:] == [0, 0]:
        flat = flat[:-2]
    if not flat:
        return made
    if mode != "constant":
        return Text(f'pad({made}, {flat}, mode="{mode}")')
    value = "" if not node.has(2) else f", value={number(node.constant(2).reshape(-1)[0], node.dtype())}"
    return Text(f"pad({made}, {flat}{value})")


def cut(before, after):
    """A slice without the elements of negative padding."""
    return f"{-before if before < 0 else ''}:{after if after < 0 else ''}"


def depth_to_space(node):
    """Channels become blocks of pixels."""
    n, c, h, w = node.dims()
    b = node.attr("blocksize")
    if node.attr("mode") == "CRD":
        return Text(f"pixel_shuffle({node.text(0)}, {b})")
    inner = f"{node.text(0, ATOM)}.reshape({size_list([n, b, b, c // (b * b), h, w])}).permute([0, 3, 4, 1, 5, 2])"
    return Text(f"{inner}.reshape({size_list([n, c // (b * b), h * b, w * b])})")


def space_to_depth(node):
    """Blocks of pixels become channels."""
    n, c, h, w = node.dims()
    b = node.attr("blocksize")
    order = [0, 1, 3, 5, 2, 4] if node.attr("mode") == "CRD" else [0, 3, 5, 1, 2, 4]
    inner = f"{node.text(0, ATOM)}.reshape({size_list([n, c, h // b, b, w // b, b])}).permute({order})"
    return Text(f"{inner}.reshape({size_list([n, c * b * b, h // b, w // b])})")


def one_hot(node):
    """`on` where the index is that of the place, else `off`."""
    depth = int(node.constant(1).reshape(-1)[0])
    axis = node.attr("axis")
    axis = axis + node.rank() + 1 if axis < 0 else axis
    shape = [1] * (node.rank() + 1)
    shape[axis] = depth
    index = f"int64({node.text(0)}).unsqueeze({axis})"
    line = f"arange({depth}).reshape({shape})"
    values = node.text(2, ATOM)
    return Text(f"where(({index} == {line}) || ({index} == {line} - {depth}), {values}[1], {values}[0])")


def cumulative(function, neutral):
    """Running totals."""

    def row(node):
        axis = int(node.constant(1).reshape(-1)[0]) % node.rank()
        source, cast_to = node.text(0), node.dtype() if "int" in node.dtype() else ""
        source = f"flip({source}, {axis})" if node.attr("reverse") else source
        if node.attr("exclusive"):
            if node.has(0) and node.fixed()[axis] == 0:
                return node.text(0)
            one = [0, 0] * (node.rank() - 1 - axis) + [1, -1]
            start = ":, " * axis
            source = f"pad({Text(source)}[{start}:-1], {one[:-1] + [0]}, value={number(neutral, node.dtype())})"
        made = f"{function}({source}, {axis})"
        made = f"flip({made}, {axis})" if node.attr("reverse") else made
        return Text(f"{cast_to}({made})" if cast_to and cast_to != "int64" else made)

    return row


def top_k(node):
    """Values and indices."""
    axis, k = node.axis(-1), int(node.constant(1).reshape(-1)[0])
    largest = "" if node.attr("largest") else ", largest=false"
    return f"topk({node.text(0)}, {k}, dim={axis}{largest})", 2


def extremum(function):
    """The index of the largest or smallest element."""

    def row(node):
        axis, keep = node.axis(0), "true" if node.attr("keepdims") else "false"
        if not node.attr("select_last_index"):
            return Text(f"{function}({node.text(0)}, dim={axis}, keepdim={keep})")
        return Text(
            f"{node.dims()[axis]} - 1 - {function}(flip({node.text(0)}, {axis}), dim={axis}, keepdim={keep})", SUM
        )

    return row


# ---- reductions and norms ----


def reduced(template, integers=None):
    """A reduction over axes; `{0}` is the input, `{dims}` the arguments."""

    def row(node):
        axes = axes_of(node, node.rank())
        if not axes and node.attr("noop_with_empty_axes"):
            return unreduced(node)
        axes = list(range(node.rank())) if not axes else axes
        if node.dtype() == "bool":
            word = {"amax": "any", "amin": "all"}.get(template.partition("(")[0])
            if word is None:
                raise Unsupported("of bools: cast them to numbers")
        else:
            word = None
        keep = ", keepdim=true" if node.attr("keepdims") else ""
        if word is None and node.op in EMPTY and any(node.dims()[a] == 0 for a in axes if type(node.dims()[a]) is int):
            kept = [1 if i in axes else d for i, d in enumerate(node.dims()) if node.attr("keepdims") or i not in axes]
            return Text(
                f"full({size_list(kept)}, {number(EMPTY[node.op] * np.inf, node.dtype())}, dtype={node.dtype()})"
            )
        if not axes:
            if node.rank() == 0:
                return unreduced(node)
            return node.text(0)
        dims = f"dim={axes[0] if len(axes) == 1 else axes}{keep}"
        if word:
            return Text(f"{word}({node.text(0)}, {dims})")
        made = template.replace("{0}", node.text(0)).replace("{dims}", dims).replace("{0.}", node.text(0, ATOM))
        if "int" in node.dtype() and (node.dtype() != "int64" or integers is None or "float" in made):
            return Text(f"{node.dtype()}({made})")
        return Text(made)

    return row


EMPTY = {"ReduceMax": -1, "ReduceMin": 1}  # signs of the infinity that no elements give


def unreduced(node):
    """What is left if no dimension is reduced: functions of the elements stay."""
    inner = {
        "ReduceL1": "abs({0})",
        "ReduceL2": "abs({0})",
        "ReduceLogSum": "log({0})",
        "ReduceSumSquare": "square({0})",
    }.get(node.op, "{0}")
    return Text(inner.replace("{0}", node.text(0))) if inner != "{0}" else node.text(0)


def softmax(function):
    """Along one dimension."""
    return lambda node: Text(f"{function}({node.text(0)}, {node.axis(-1)})")


def hardmax(node):
    """1 at the first largest element."""
    axis, size = node.axis(-1), node.dims()[node.axis(-1)]
    shape = [1] * node.rank()
    shape[axis] = -1
    where_ = f"argmax({node.text(0)}, dim={axis}, keepdim=true) == arange({size}).reshape({shape})"
    return Text(f"{node.dtype()}({where_})")


def layer_norm(node):
    """Its further results are computed by its definition."""
    if len([name for name in node.outputs if name]) > 1 or node.dtype() != "float32":
        raise Expand
    dims = node.dims()[node.axis(-1) :]
    if any(size_list(node.dims(i)) != size_list(dims) for i in (1, 2) if node.has(i)):
        raise Expand
    bias = f", {node.text(2)}" if node.has(2) else ""
    eps = number(node.attr("epsilon"), "float32")
    return Text(f"layer_norm({node.text(0)}, {size_list(dims)}, {node.text(1)}{bias}, eps={eps})")


def batch_norm(node):
    """With the running statistics."""
    if node.attr("training_mode"):
        raise Unsupported("training_mode=1: export the model in evaluation mode")
    rest = ", ".join(node.text(i) for i in (3, 4, 1, 2))
    return Text(f"batch_norm({node.text(0)}, {rest}, eps={number(node.attr('epsilon'), 'float32')})")


def instance_norm(node):
    """Each channel of each item."""
    rest = f"weight={node.text(1)}, bias={node.text(2)}, eps={number(node.attr('epsilon'), 'float32')}"
    return Text(f"instance_norm({node.text(0)}, {rest})")


def group_norm(node):
    """Since opset 21 scale and bias are those of the channels."""
    if node.version < 21:
        raise Expand
    rest = f"{node.attr('num_groups')}, {node.text(1)}, {node.text(2)}, eps={number(node.attr('epsilon'), 'float32')}"
    return Text(f"group_norm({node.text(0)}, {rest})")


def lp_norm(node):
    """Divided by the norm; 0 if that is 0."""
    axis = node.axis(-1)
    norm = f"norm({node.text(0)}, p={node.attr('p')}.0, dim={axis}, keepdim=true)"
    return Text(f"where({norm} == 0.0, zeros_like({node.text(0)}), {node.text(0, PRODUCT)} / {norm})")


def lrn(node):
    """local_response_norm of PyTorch has alpha times the mean, as ONNX has; the window is one more to the end."""
    size, parts = node.attr("size"), []
    before, after = (size - 1) // 2, size // 2
    channels = node.fixed(dims=[1])[1]
    rank = node.rank()
    padded = f"pad(square({node.text(0)}), {[0, 0] * (rank - 2) + [before, after]})"
    parts = [f"{padded}[:, {i}:{i + channels}]" for i in range(size)]
    scale = number(node.attr("alpha") / size, "float32")
    inner = f"{number(node.attr('bias'), 'float32')} + {scale} * ({' + '.join(parts)})"
    return Text(f"{node.text(0, PRODUCT)} / ({inner}) ** {number(node.attr('beta'), 'float32')}", PRODUCT)


# ---- quantized numbers ----


def along(node, i):
    """The text of a scale or zero point, shaped to be broadcast."""
    if node.rank(i) == 0 or node.value(i).dims == [1]:
        return node.text(i) if node.rank(i) == 0 else f"{node.text(i, ATOM)}[0]"
    if node.rank(i) != 1 or node.attr("block_size"):
        raise Unsupported("blocks of scales: use one scale, or one for each channel")
    shape = [1] * node.rank()
    shape[node.axis(1)] = -1
    return f"{node.text(i, ATOM)}.reshape({shape})"


def quantize(node):
    """To bytes: uint8 if nothing says the type."""
    dtype = node.dtype(2) if node.has(2) else TYPES.get(node.attr("output_dtype") or CODES["uint8"])
    if dtype not in ("int8", "uint8"):
        raise Unsupported("to an element type other than int8 and uint8: use one of these")
    limits = "-128.0, 127.0" if dtype == "int8" else "0.0, 255.0"
    zero = f" + float32({along(node, 2)})" if node.has(2) else ""
    return Text(f"{dtype}(clip(round({node.text(0, PRODUCT)} / {along(node, 1)}){zero}, {limits}))")


def dequantize(node):
    """From integers."""
    zero = f" - float32({along(node, 2)})" if node.has(2) else ""
    source = f"float32({node.text(0)})"
    return Text(f"({source}{zero}) * {along(node, 1)}" if zero else f"{source} * {along(node, 1)}", PRODUCT)


def prelu(node):
    """Slopes broadcast from the last dimension."""
    zero = number(0, node.dtype())
    return Text(
        f"where({node.text(0, SUM)} < {zero}, {node.text(1, PRODUCT)} * {node.text(0, PRODUCT + 1)}, {node.text(0)})"
    )


def selu(node):
    """With PyTorch's numbers, or others."""
    alpha, gamma = node.attr("alpha"), node.attr("gamma")
    if abs(alpha - 1.6732632) < 1e-6 and abs(gamma - 1.0507010) < 1e-6:
        return Text(f"selu({node.text(0)})")
    return Text(f"{number(gamma, 'float32')} * elu({node.text(0)}, {number(alpha, 'float32')})", PRODUCT)


def gelu(node):
    """Exact, or by tanh."""
    how = ', approximate="tanh"' if node.attr("approximate") == "tanh" else ""
    return Text(f"gelu({node.text(0)}{how})")


def dropout(node):
    """Networks are run, not trained."""
    if node.has(2) and (node.value(2).const is None or bool(node.value(2).const)):
        raise Unsupported("training_mode: export the model in evaluation mode")
    mask = Value(Text(f"full({size_list(node.dims())}, true)"), "bool", node.dims())
    return [node.text(0), mask][: len(node.outputs)]


def einsum(node):
    """As written."""
    operands = ", ".join(node.text(i) for i in range(len(node.values)))
    return Text(f'einsum("{node.attr("equation").replace(" ", "")}", {operands})')


def unary(function):
    return text_row(f"{function}({{0}})")


# Functions of one tensor that the language has under the same name.
ELEMENTWISE = (
    "Abs", "Exp", "Log", "Sqrt", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Asin", "Acos", "Atan", "Asinh",
    "Acosh", "Atanh", "Erf", "Sigmoid", "Relu", "Floor", "Ceil", "Round", "Sign", "Reciprocal", "Softsign",
    "Mish", "HardSwish", "Softplus", "IsNaN",
)  # fmt: skip

TABLE = {
    # elements
    **{name: unary(name.lower()) for name in ELEMENTWISE},
    "Identity": text_row("{0}", LOOSE),
    "Neg": text_row("-{0-}", UNARY),
    "Not": text_row("!{0-}", UNARY),
    "LeakyRelu": text_row("leaky_relu({0}, {alpha})"),
    "Elu": text_row("elu({0}, {alpha})"),
    "Celu": text_row("celu({0}, {alpha})"),
    "Selu": selu,
    "Gelu": gelu,
    "Swish": text_row("{0*} * sigmoid({alpha} * {0*})", PRODUCT),
    "ThresholdedRelu": text_row("where({0+} > {alpha}, {0}, zeros_like({0}))"),
    "HardSigmoid": text_row("clip({alpha} * {0*} + {beta}, 0.0, 1.0)"),
    "Shrink": text_row("where({0+} < -{lambd}, {0+} + {bias}, where({0+} > {lambd}, {0+} - {bias}, zeros_like({0})))"),
    "PRelu": prelu,
    "Clip": clip,
    "IsInf": is_inf,
    "Cast": cast,
    "CastLike": cast,
    "Dropout": dropout,
    # two or more tensors
    "Add": infix("+", SUM),
    "Sub": infix("-", SUM),
    "Mul": infix("*", PRODUCT),
    "Div": division,
    "Mod": modulo,
    "Pow": power,
    "Max": folded("maximum"),
    "Min": folded("minimum"),
    "Sum": total(False),
    "Mean": total(True),
    "And": infix("&&", AND),
    "Or": infix("||", OR),
    "Xor": text_row("logical_xor({0}, {1})"),
    "Equal": compare("=="),
    "Greater": compare(">"),
    "Less": compare("<"),
    "GreaterOrEqual": compare(">="),
    "LessOrEqual": compare("<="),
    "BitwiseAnd": text_row("bitwise_and({0}, {1})"),
    "BitwiseOr": text_row("bitwise_or({0}, {1})"),
    "BitwiseXor": text_row("bitwise_xor({0}, {1})"),
    "BitwiseNot": text_row("bitwise_not({0})"),
    "BitShift": shift,
    "Where": where,
    # products
    "MatMul": text_row("{0*} @ {1.}", PRODUCT),
    "Gemm": gemm,
    "Einsum": einsum,
    "MatMulInteger": matmul_integer,
    # shapes and indices
    "Reshape": reshape,
    "Transpose": transpose,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Concat": concat,
    "Split": split,
    "Slice": slices,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "Expand": expand,
    "Tile": tile,
    "ConstantOfShape": filled,
    "Range": ranges,
    "EyeLike": eye_like,
    "Trilu": trilu,
    "Pad": pad,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "OneHot": one_hot,
    "CumSum": cumulative("cumsum", 0),
    "CumProd": cumulative("cumprod", 1),
    "TopK": top_k,
    "ArgMax": extremum("argmax"),
    "ArgMin": extremum("argmin"),
    # reductions and norms
    "ReduceSum": reduced("sum({0}, {dims})", "int64"),
    "ReduceMean": reduced("mean({0}, {dims})"),
    "ReduceMax": reduced("amax({0}, {dims})", "int64"),
    "ReduceMin": reduced("amin({0}, {dims})", "int64"),
    "ReduceProd": reduced("prod({0}, {dims})", "int64"),
    "ReduceL1": reduced("sum(abs({0}), {dims})", "int64"),
    "ReduceL2": reduced("sqrt(sum(square({0}), {dims}))"),
    "ReduceLogSum": reduced("log(sum({0}, {dims}))"),
    "ReduceLogSumExp": reduced("logsumexp({0}, {dims})"),
    "ReduceSumSquare": reduced("sum(square({0}), {dims})", "int64"),
    "Softmax": softmax("softmax"),
    "LogSoftmax": softmax("log_softmax"),
    "Hardmax": hardmax,
    "LayerNormalization": layer_norm,
    "BatchNormalization": batch_norm,
    "InstanceNormalization": instance_norm,
    "GroupNormalization": group_norm,
    "LpNormalization": lp_norm,
    "LRN": lrn,
    # windows
    "Conv": windows.conv,
    "ConvTranspose": windows.conv_transpose,
    "MaxPool": windows.max_pool,
    "AveragePool": windows.average_pool,
    "LpPool": windows.lp_pool,
    "GlobalAveragePool": windows.global_pool("mean"),
    "GlobalMaxPool": windows.global_pool("amax"),
    "Resize": resampling.resize,
    "Upsample": resampling.resize,
    # recurrent networks
    "RNN": recurrent.rnn,
    "GRU": recurrent.gru,
    "LSTM": recurrent.lstm,
    # numbers of fewer bits
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
}  # fmt: skip
