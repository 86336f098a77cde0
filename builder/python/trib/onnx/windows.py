"""Rows of convolutions and poolings: padding, output sizes."""

import numpy as np

from .translate import Unsupported
from .values import PRODUCT, Text, number


def sides(node, kernel, strides, dilations):
    """(begin, end) of the padding of each dimension."""
    count = len(kernel)
    how = node.attr("auto_pad") or "NOTSET"
    if how == "NOTSET":
        pads = node.attr("pads") or [0] * (2 * count)
        return [(pads[i], pads[i + count]) for i in range(count)]
    if how == "VALID":
        return [(0, 0)] * count
    made = []
    for i, size in enumerate(node.fixed(dims=range(2, 2 + count))[2:]):
        total = max((-(-size // strides[i]) - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - size, 0)
        made.append((total // 2, total - total // 2) if how == "SAME_UPPER" else (total - total // 2, total // 2))
    return made


def pair(values):
    """A number for equal ones."""
    return values[0] if len(set(values)) == 1 else f"({', '.join(map(str, values))})"


def padded(node, pads, value=""):
    """The text of the padded input."""
    flat = [n for side in reversed(pads) for n in side]
    return f"pad({node.text(0)}, {flat}{value})" if any(flat) else str(node.text(0))


def option(word, values, usual):
    return "" if all(v == usual for v in values) else f", {word}={pair(values)}"


def conv(node):
    """Padding that differs at the two ends is done before."""
    kernel = list(node.attr("kernel_shape") or node.fixed(1)[2:])
    count = len(kernel)
    if not 1 <= count <= 3:
        raise Unsupported("more than 3 dimensions of space: use at most 3")
    strides, dilations = node.attr("strides") or [1] * count, node.attr("dilations") or [1] * count
    pads = sides(node, kernel, strides, dilations)
    same = all(a == b for a, b in pads)
    source = str(node.text(0)) if same else padded(node, pads)
    more = option("stride", strides, 1) + (option("padding", [a for a, _ in pads], 0) if same else "")
    more += option("dilation", dilations, 1) + option("groups", [node.attr("group")], 1)
    bias = f", {node.text(2)}" if node.has(2) else ""
    return Text(f"conv{count}d({source}, {node.text(1)}{bias}{more})")


def conv_transpose(node):
    """Padding that differs at the two ends is cut off after."""
    kernel = list(node.attr("kernel_shape") or node.fixed(1)[2:])
    count = len(kernel)
    if count > 2:
        raise Unsupported("more than 2 dimensions of space: use at most 2")
    strides, dilations = node.attr("strides") or [1] * count, node.attr("dilations") or [1] * count
    extra = list(node.attr("output_padding") or [0] * count)
    pads = transposed_sides(node, kernel, strides, dilations, extra)
    same = all(a == b for a, b in pads) and all(e < s for e, s in zip(extra, strides))
    more = option("stride", strides, 1) + (option("padding", [a for a, _ in pads], 0) if same else "")
    more += option("output_padding", extra, 0) if same else ""
    more += option("groups", [node.attr("group")], 1) + option("dilation", dilations, 1)
    bias = f", {node.text(2)}" if node.has(2) else ""
    made = f"conv_transpose{count}d({node.text(0)}, {node.text(1)}{bias}{more})"
    if same:
        return Text(made)
    cuts = [f"{a if a > 0 else ''}:{e - b if e - b < 0 else ''}" for (a, b), e in zip(pads, extra)]
    if any(e > b for (_, b), e in zip(pads, extra)):
        if node.has(2):
            raise Unsupported("output_padding beyond the padding with a bias: add the bias after it")
        flat = [n for (_, b), e in reversed(list(zip(pads, extra))) for n in (0, max(e - b, 0))]
        made = f"pad({made}, {flat})"
    return Text(f"{made}[:, :, {', '.join(cuts)}]")


def transposed_sides(node, kernel, strides, dilations, extra):
    """(begin, end) of what is cut off from each dimension."""
    how, shape = node.attr("auto_pad") or "NOTSET", node.attr("output_shape")
    count = len(kernel)
    if shape is None and how in ("NOTSET", "VALID"):
        pads = node.attr("pads") or [0] * (2 * count)
        return [(pads[i], pads[i + count]) for i in range(count)]
    made = []
    for i, size in enumerate(node.fixed(dims=range(2, 2 + count))[2:]):
        wanted = shape[i] if shape is not None else size * strides[i]
        total = strides[i] * (size - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1 - wanted
        half = total // 2
        made.append((half, total - half) if how == "SAME_UPPER" else (total - half, half))
        if total < 0:
            made[-1] = (0, 0)
            extra[i] -= total
    return made


def pool(node):
    """(kernel, strides, dilations, pads) of a pooling."""
    kernel = list(node.attr("kernel_shape"))
    count = len(kernel)
    strides, dilations = node.attr("strides") or [1] * count, node.attr("dilations") or [1] * count
    return kernel, list(strides), list(dilations), sides(node, kernel, strides, dilations)


def rounded_up(node, kernel, strides, dilations, pads):
    """Padding at the ends with which rounding down gives what rounding up gave."""
    if not node.attr("ceil_mode"):
        return pads
    made = []
    for i, size in enumerate(node.fixed(dims=range(2, 2 + len(kernel)))[2:]):
        begin, end = pads[i]
        reach = dilations[i] * (kernel[i] - 1) + 1
        count = -(-(size + begin + end - reach) // strides[i]) + 1
        if (count - 1) * strides[i] >= size + begin:  # no window starts in the padding at the end
            count -= 1
        made.append((begin, max(end, (count - 1) * strides[i] + reach - size - begin)))
    return made


def max_pool(node):
    """The largest in each window."""
    if len([name for name in node.outputs if name]) > 1:
        raise Unsupported("its second result, the indices: leave it out")
    kernel, strides, dilations, pads = pool(node)
    if len(kernel) > 3 or node.dtype() not in ("float32", "float16", "float64"):
        raise Unsupported("other than of floats with at most 3 dimensions of space: cast to float32")
    pads = rounded_up(node, kernel, strides, dilations, pads)
    same = all(a == b and 2 * a <= k for (a, b), k in zip(pads, kernel))
    source = str(node.text(0)) if same else padded(node, pads, f", value=-{node.dtype()}.inf")
    more = f", stride={pair(strides)}" + (option("padding", [a for a, _ in pads], 0) if same else "")
    return Text(f"maxpool{len(kernel)}d({source}, {pair(kernel)}{more}{option('dilation', dilations, 1)})")


def window_sums(node, source, kernel, strides, dilations):
    """The sums of windows."""
    if len(kernel) > 2 or set(dilations) != {1}:
        count, channels = len(kernel), node.fixed(dims=[1])[1]
        if count > 3:
            raise Unsupported("more than 3 dimensions of space: use at most 3")
        weight = f"ones({[channels, 1, *kernel]})"
        return (
            f"conv{count}d({source}, {weight}, stride={pair(strides)}, dilation={pair(dilations)}, groups={channels})"
        )
    if len(kernel) == 1:
        return f"avgpool1d({source}, {kernel[0]}, stride={strides[0]}) * {float(kernel[0])}"
    return f"avgpool2d({source}, {pair(kernel)}, stride={pair(strides)}, divisor_override=1)"


def average_pool(node):
    """The mean of each window, without the padding or with it."""
    kernel, strides, dilations, pads = pool(node)
    include = bool(node.attr("count_include_pad"))
    up = rounded_up(node, kernel, strides, dilations, pads)
    plain = up == pads and set(dilations) == {1} and len(kernel) <= 2
    if plain and all(a == b and 2 * a <= k for (a, b), k in zip(pads, kernel)):
        more = option("padding", [a for a, _ in pads], 0)
        more += "" if include or not more else ", count_include_pad=false"
        return Text(f"avgpool{len(kernel)}d({node.text(0)}, {pair(kernel)}, stride={pair(strides)}{more})")
    sums = window_sums(node, padded(node, up), kernel, strides, dilations)
    if include and up == pads:
        return Text(f"{sums} / {float(np.prod(kernel))}", PRODUCT)
    counts = counted(node.fixed(dims=range(2, node.rank()))[2:], kernel, strides, dilations, pads, up, include)
    return Text(f"{sums} / {node.array(counts, 'float32')}", PRODUCT)


def counted(dims, kernel, strides, dilations, pads, up, include):
    """How many elements each window has."""
    lines = []
    for size, k, s, d, (begin, end), (_, last) in zip(dims, kernel, strides, dilations, pads, up):
        line = np.zeros(begin + size + last)
        line[0 if include else begin : begin + size + (end if include else 0)] = 1
        starts = range(0, len(line) - d * (k - 1), s)
        lines.append(np.array([line[i : i + d * (k - 1) + 1 : d].sum() for i in starts]))
    counts = lines[0]
    for line in lines[1:]:
        counts = counts[..., None] * line
    return counts.astype("float32")


def lp_pool(node):
    """The p-norm of each window."""
    kernel, strides, dilations, pads = pool(node)
    up = rounded_up(node, kernel, strides, dilations, pads)
    p = node.attr("p")
    source = f"abs({padded(node, up)}) ** {p}.0"
    return Text(f"({window_sums(node, source, kernel, strides, dilations)}) ** {number(1 / p, 'float32')}", PRODUCT)


def global_pool(function):
    """Over all dimensions of space, which keep the size 1."""
    return lambda node: Text(f"{function}({node.text(0)}, dim={list(range(2, node.rank()))}, keepdim=true)")
