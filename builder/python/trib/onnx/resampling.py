"""Resize: a matrix for each dimension whose size changes, or indices for the nearest elements."""

import math

import numpy as np

from .translate import Unsupported
from .values import Text


def resize(node):
    """By the table of the operator's definition: coordinates, weights of neighbours, rounding."""
    rank, dims = node.rank(), node.fixed()
    axes = [a % rank for a in (node.attr("axes") or range(rank))]
    if node.op == "Upsample":
        scales, wanted = [float(s) for s in node.constant(1).reshape(-1)], None
    else:
        scales = None if not node.has(2) or not node.constant(2).size else [float(s) for s in node.constant(2)]
        wanted = None if not node.has(3) or not node.constant(3).size else [int(s) for s in node.constant(3)]
    sizes, scales = result_sizes(node, dims, axes, scales, wanted)
    how = node.attr("coordinate_transformation_mode") or "asymmetric"
    roi = region(node, rank, axes) if how == "tf_crop_and_resize" else None
    made = str(node.text(0))
    for axis in axes:
        if sizes[axis] == dims[axis] and scales[axis] == 1 and how != "tf_crop_and_resize":
            continue
        made = resize_axis(node, made, axis, dims[axis], sizes[axis], scales[axis], how, roi)
    return Text(made)


def region(node, rank, axes):
    """(start, end) of the region of each dimension."""
    given = node.constant(1).reshape(-1)
    rows = {axis: (given[i], given[i + len(axes)]) for i, axis in enumerate(axes)}
    return [rows.get(i, (0.0, 1.0)) for i in range(rank)]


def result_sizes(node, dims, axes, scales, wanted):
    """Sizes and scales of all dimensions."""
    sizes, factors = list(dims), [1.0] * len(dims)
    policy = node.attr("keep_aspect_ratio_policy") or "stretch"
    if wanted is not None and policy != "stretch":
        pick = min if policy == "not_larger" else max
        scale = pick(w / dims[a] for w, a in zip(wanted, axes))
        wanted = [math.floor(scale * dims[a] + 0.5) for a in axes]
        scales = [scale] * len(axes)
    for i, axis in enumerate(axes):
        factors[axis] = scales[i] if scales is not None else wanted[i] / dims[axis]
        sizes[axis] = wanted[i] if wanted is not None else math.floor(dims[axis] * factors[axis])
    return sizes, factors


def coordinate(x, size, result, scale, how, roi, axis):
    """Where the result's element x is in the source."""
    if how == "align_corners":
        return 0.0 if result == 1 else x * (size - 1) / (scale * size - 1 if scale * size != result else result - 1)
    if how == "asymmetric":
        return x / scale
    if how == "pytorch_half_pixel":
        return (x + 0.5) / scale - 0.5 if result > 1 else 0.0
    if how == "half_pixel_symmetric":
        center = size / 2 * (1 - result / (scale * size))
        return center + (x + 0.5) / scale - 0.5
    if how == "tf_half_pixel_for_nn":
        return (x + 0.5) / scale
    if how == "tf_crop_and_resize":
        start, end = (float(v) for v in roi[axis])
        if result > 1:
            return start * (size - 1) + x * (end - start) * (size - 1) / (result - 1)
        return 0.5 * (start + end) * (size - 1)
    return (x + 0.5) / scale - 0.5


ROUND = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def resize_axis(node, source, axis, size, result, scale, how, roi):
    """The text of one dimension resized."""
    places = [coordinate(x, size, result, scale, how, roi, axis) for x in range(result)]
    mode = node.attr("mode")
    outside = [how == "tf_crop_and_resize" and not 0 <= p <= size - 1 for p in places]
    if mode == "nearest" and not any(outside):
        rounding = ROUND[node.attr("nearest_mode") or "round_prefer_floor"]
        index = np.array([min(max(rounding(p), 0), size - 1) for p in places], dtype="int64")
        return f"{source}[{':, ' * axis}{node.array(index)}]"
    if node.dtype() not in ("float32", "float16", "float64"):
        raise Unsupported("of integers with weights: cast to float32")
    matrix = np.zeros((result, size))
    for i, place in enumerate(places):
        for k, weight in weights(node, mode, place, size, scale):
            matrix[i, k] += 0 if outside[i] else weight
    last = axis == node.rank() - 1
    text = node.array(matrix.astype("float32"), "float32")
    product = (
        f"linear({source}, {text})" if last else f"linear({source}.transpose({axis}, -1), {text}).transpose({axis}, -1)"
    )
    if any(outside):
        shape = [1] * node.rank()
        shape[axis] = -1
        mask = node.array(np.array(outside).reshape(shape), "bool")
        return f"where({mask}, {float(node.attr('extrapolation_value'))}, {product})"
    return product


def weights(node, mode, place, size, scale):
    """(index, weight) of the source's elements of one result."""
    if mode == "nearest":
        rounding = ROUND[node.attr("nearest_mode") or "round_prefer_floor"]
        return [(min(max(rounding(place), 0), size - 1), 1.0)]
    antialias = bool(node.attr("antialias")) and scale < 1
    stretch = scale if antialias else 1.0
    a = node.attr("cubic_coeff_a") if mode == "cubic" else 0.0
    kernel, radius = (cubic(a), 2.0) if mode == "cubic" else (linear, 1.0)
    low = math.floor(place - radius / stretch) if antialias else math.floor(place) - int(radius) + 1
    high = math.ceil(place + radius / stretch) if antialias else math.floor(place) + int(radius)
    found = [(k, kernel((k - place) * stretch)) for k in range(low, high + 1)]
    if node.attr("exclude_outside"):
        found = [(k, w) for k, w in found if 0 <= k < size]
    if node.attr("exclude_outside") or antialias:
        total = sum(w for _, w in found)
        found = [(k, w / total) for k, w in found]
    return [(min(max(k, 0), size - 1), w) for k, w in found]


def linear(x):
    return max(0.0, 1.0 - abs(x))


def cubic(a):
    """The weights of cubic interpolation."""

    def weight(x):
        x = abs(x)
        if x <= 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0

    return weight
