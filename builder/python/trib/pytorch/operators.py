"""The table of operations: one row for each ATen operation.

A row is text with places for the operation's arguments:
  {self}           the argument
  {self.}          the same as a receiver or operand of the tightest binding; {self:5} with binding 5 (see parts.py)
  {dim=}           `dim=` and the argument; {keepdim=|False} only if it is not False; {mask=attn_mask|None} under
  another name A row of two is text and its binding. A row that is a function makes the template itself, or raises
  Unsupported with what to write."""

import re

import torch

from .graph import same_size, tensor_of
from .parts import AND, ATOM, COMPARE, DTYPES, LOOSE, OR, PRODUCT, SUM, UNARY, Hole, Template, Use, size_part

MAX_INDEX = 2**63 - 1


class Unsupported(Exception):
    """The text says what to write instead."""


# ---- parts of arguments ----


def _constant_list(value):
    return all(not isinstance(item, (torch.fx.Node, torch.SymInt, list, tuple)) for item in value)


def argument(value, hint, prec=LOOSE):
    """The parts of one argument."""
    if isinstance(value, torch.fx.Node):
        inner = value.meta.get("val")
        return [size_part(inner, hint, prec)] if isinstance(inner, (torch.SymInt, int)) else [Use(value, prec)]
    if isinstance(value, torch.SymInt):
        return [size_part(value, hint, prec)]
    if isinstance(value, (list, tuple)):
        if value and _constant_list(value):
            return [Hole(value if isinstance(value, tuple) else list(value), hint)]
        parts = ["["]
        for i, item in enumerate(value):
            parts += ([", "] if i else []) + argument(item, hint)
        return parts + ["]"]
    if not isinstance(value, (int, float, bool, str, torch.dtype, type(None))):
        raise Unsupported(f"an argument of type {type(value).__name__} has no counterpart")
    return [Hole(value, hint)]


def single(value):
    """A number for a list whose elements are equal, as of strides; a pair otherwise."""
    if isinstance(value, (list, tuple)) and value and _constant_list(value):
        return value[0] if all(item == value[0] for item in value) else tuple(value)
    return value


WINDOWS = {"stride", "padding", "dilation", "kernel_size", "output_padding"}
PLACE = re.compile(r"\{(?:(\w+)=)?(\w*)([.]|:\d)?(?:\|([^}]*))?\}")
PRECS = {"": LOOSE, ".": ATOM}


def fill(row, args, prec=ATOM):
    """The template of a row of text."""
    parts, end = [], 0
    for place in PLACE.finditer(row):
        parts.append(row[end : place.start()])
        end = place.end()
        keyword, name, binding, default = place.groups()
        name = name or keyword
        value = single(args[name]) if name in WINDOWS else args[name]
        if name == "dim" and isinstance(value, (list, tuple)) and len(value) == 1:
            value = value[0]
        inner = int(binding[1:]) if binding and binding != "." else PRECS[binding or ""]
        made = argument(value, keyword or name, inner)
        if keyword and default is not None and len(made) == 1 and isinstance(made[0], Hole):
            made[0].keyword, made[0].default = f", {keyword}=", _default(default)
            parts += made
        else:
            parts += ([f", {keyword}=" if default is not None else f"{keyword}="] if keyword else []) + made
    return Template([part for part in [*parts, row[end:]] if part != ""], prec)


def _default(text):
    if re.match(r"-?\d", text):
        return float(text) if re.search(r"[.e]", text) else int(text)
    return {"True": True, "False": False, "None": None}.get(text, text.strip("'"))


def cast(dtype, value, hint="value"):
    """`float32(x)`."""
    if dtype not in DTYPES:
        raise Unsupported(f"the language has no {str(dtype).split('.')[-1]}: convert to float32 or int64")
    return Template([DTYPES[dtype] + "(", *argument(value, hint), ")"])


# ---- arithmetic: operands of other element types are converted as PyTorch does ----

WIDENS = {
    (torch.int8, torch.int16), (torch.int8, torch.int32), (torch.int8, torch.int64), (torch.int16, torch.int32),
    (torch.int16, torch.int64), (torch.int32, torch.int64), (torch.int8, torch.float32), (torch.int16, torch.float32),
    (torch.int32, torch.float32), (torch.int64, torch.float32), (torch.float16, torch.float32),
    (torch.bfloat16, torch.float32), (torch.float32, torch.float64),
}  # fmt: skip


def operand(value, dtype, prec, name="value"):
    """The parts of an operand of an operation computed in `dtype`."""
    tensor = tensor_of(value) if isinstance(value, torch.fx.Node) else None
    if tensor is None or tensor.dtype == dtype or (tensor.dtype, dtype) in WIDENS:
        return argument(value, name, prec)
    return cast(dtype, value).parts


def infix(sign, prec, right=1):
    """An operator; `right` is 1 if the right operand must bind tighter."""

    def make(op):
        dtype = op.value.dtype
        left = operand(op.args["self"], dtype, prec)
        return Template([*left, f" {sign} ", *operand(op.args["other"], dtype, prec + right)], prec)

    return make


def sum_of(sign):
    """`a + b` or `a - b`, with PyTorch's factor `alpha` of b."""

    def make(op):
        alpha, dtype = op.args.get("alpha", 1), op.value.dtype
        left = operand(op.args["self"], dtype, SUM)
        right = operand(op.args["other"], dtype, SUM + 1 if alpha == 1 else PRODUCT)
        factor = [] if alpha == 1 else [Hole(alpha, "alpha"), " * "]
        return Template([*left, f" {sign} ", *factor, *right], SUM)

    return make


def reversed_difference(op):
    """`other - self`."""
    return Template(
        [*argument(op.args["other"], "value", SUM), " - ", *argument(op.args["self"], "value", SUM + 1)], SUM
    )


def compare(sign):
    """A comparison, in the type of both operands."""

    def make(op):
        sides = [op.args["self"], op.args["other"]]
        tensors = [tensor_of(side) if isinstance(side, torch.fx.Node) else None for side in sides]
        kinds = [tensor if tensor is not None else side for tensor, side in zip(tensors, sides)]
        dtype = (
            torch.result_type(*kinds) if not any(isinstance(k, (torch.SymInt, torch.fx.Node)) for k in kinds) else None
        )
        left, right = ([*operand(s, dtype, SUM)] if dtype else argument(s, "value", SUM) for s in sides)
        return Template([*left, f" {sign} ", *right], COMPARE)

    return make


def logical(sign, prec):
    """`&&` or `||` of bools."""

    def make(op):
        if op.value.dtype != torch.bool:
            raise Unsupported("bits of integers cannot be combined: use comparisons and bools")
        sides = [op.args["self"], op.args["other"]]
        left, right = (Template(argument(s, "value", prec + 1)) for s in sides)
        return Template([*left.parts, f" {sign} ", *right.parts], prec)

    return make


def negation(op):
    """`!x` of bools."""
    if tensor_of(op.args["self"]).dtype != torch.bool:
        if op.name == "aten.logical_not":
            return Template([Use(op.args["self"], SUM), " == 0"], COMPARE)
        raise Unsupported("bits of integers cannot be inverted: use comparisons and bools")
    return Template(["!", Use(op.args["self"], UNARY)], UNARY)


def division(op):
    """`/`, or `//` where PyTorch rounds down."""
    mode = op.args.get("rounding_mode")
    if mode == "trunc":
        dtypes = {
            tensor_of(side).dtype for side in (op.args["self"], op.args["other"]) if isinstance(side, torch.fx.Node)
        }
        raise Unsupported(f"division of {dtypes} that rounds to 0: write rounding_mode='floor'")
    return infix("//" if mode == "floor" or op.name == "aten.floor_divide" else "/", PRODUCT)(op)


def converted(op):
    """A conversion to another element type."""
    source = op.args["self"]
    if op.value.dtype == torch.bool:
        return Template([Use(source, SUM), " != 0"], COMPARE)
    return cast(op.value.dtype, source)


# ---- shapes and indices ----


def sizes(values):
    """A list of sizes."""
    parts = ["["]
    for i, size in enumerate(values):
        parts += ([", "] if i else []) + argument(size, "size")
    return [*parts, "]"]


def reshape(op):
    """To the sizes given; to those of the result for `unflatten` and others that give a part of them."""
    given = op.args.get("size", op.args.get("shape"))
    source, result = tensor_of(op.args["self"]), op.value
    if given is None or any(
        isinstance(s, torch.fx.Node) and not isinstance(s.meta.get("val"), torch.SymInt) for s in given
    ):
        given = list(result.shape)
    given = list(given)
    # Sizes that stay are written as they are in the source, so that sizes which are known only at run time need no
    # names.
    unknown = [i for i, size in enumerate(result.shape) if isinstance(size, torch.SymInt)]
    kept = [i for i in unknown if i < source.dim() and same_size(source.shape[i], result.shape[i])]
    lost = [i for i in unknown if i not in kept]
    if len(lost) == 1 and -1 not in given:
        given[lost[0]] = -1
    return Template([Use(op.args["self"], ATOM), ".reshape(", *sizes(given), ")"])


def expand(op):
    """-1 keeps a size."""
    source, result = tensor_of(op.args["self"]), op.value
    offset = result.dim() - source.dim()
    given = [
        -1 if i >= offset and same_size(size, source.shape[i - offset]) else size for i, size in enumerate(result.shape)
    ]
    return Template([Use(op.args["self"], ATOM), ".expand(", *sizes(given), ")"])


def bracket(op, dim, inner):
    """`x[:, inner]`."""
    rank = tensor_of(op.args["self"]).dim()
    dim = dim % rank
    front = "..., " if dim == rank - 1 and rank > 2 else ":, " * dim
    return Template([Use(op.args["self"], ATOM), "[" + front, *inner, "]"])


def slices(op):
    """`x[:, start:end:step]`."""
    dim, step = op.args["dim"], op.args.get("step", 1)
    start, end = op.args.get("start"), op.args.get("end")
    inner = [] if start in (None, 0) else argument(start, "start", SUM)
    inner = [*inner, ":"] + ([] if end is None or end == MAX_INDEX else argument(end, "end", SUM))
    return bracket(op, dim, inner + ([] if step == 1 else [":", *argument(step, "step")]))


def select(op):
    """`x[:, index]`."""
    return bracket(op, op.args["dim"], argument(op.args["index"], "index"))


def index(op):
    """`x[i, :, j]` with tensors of indices."""
    parts = [Use(op.args["self"], ATOM), "["]
    for i, item in enumerate(op.args["indices"]):
        if item is not None and tensor_of(item).dtype == torch.bool:
            raise Unsupported("the size of x[mask] depends on values: use torch.where(mask, x, 0)")
        parts += ([", "] if i else []) + ([":"] if item is None else [Use(item)])
    return Template([*parts, "]"])


def squeeze(op):
    """Drops dimensions, if they have the size 1."""
    source = tensor_of(op.args["self"])
    dims = op.args.get("dim")
    dims = range(source.dim()) if dims is None else dims if isinstance(dims, (list, tuple)) else [dims]
    dims = sorted({d % source.dim() for d in dims if source.shape[d] == 1})
    if not dims:
        return Template([Use(op.args["self"], ATOM)])
    return Template([Use(op.args["self"], ATOM), ".squeeze(", Hole(dims[0] if len(dims) == 1 else dims, "dim"), ")"])


def repeat_interleave(op):
    """Each element `repeats` times along `dim`."""
    source, dim = tensor_of(op.args["self"]), op.args.get("dim")
    repeats = op.args.get("repeats")
    if dim is None or not isinstance(repeats, int):
        raise Unsupported("repeat_interleave needs `dim` and a number of repeats")
    dim %= source.dim()
    middle = [-1] * (dim + 1) + [repeats] + [-1] * (source.dim() - dim - 1)
    parts = [Use(op.args["self"], ATOM), ".unsqueeze(", Hole(dim + 1, "dim"), ").expand(", *sizes(middle), ")"]
    return Template([*parts, ".flatten(", Hole(dim, "dim"), ", ", Hole(dim + 1, "dim"), ")"])


def diff(op):
    """Differences of neighbours."""
    if op.args.get("n", 1) != 1 or op.args.get("append") is not None:
        raise Unsupported("torch.diff with n or append: write x[1:] - x[:-1]")
    dim, rank = op.args.get("dim", -1), op.value.dim()
    front = "..., " if dim % rank == rank - 1 and rank > 2 else ":, " * (dim % rank)
    source, first = Use(op.args["self"], ATOM), op.args.get("prepend")
    if first is None:
        return Template([source, f"[{front}1:] - ", source, f"[{front}:-1]"], SUM)
    whole = ["concat([", Use(first), ", ", source, "], dim=", Hole(dim, "dim"), ")"]
    return Template([source, " - ", *whole, f"[{front}:-1]"], SUM)


def slice_scatter(op):
    """`x` with `src` in place of x[start:end] along `dim`."""
    source, dim = tensor_of(op.args["self"]), op.args["dim"]
    if op.args.get("step", 1) != 1:
        raise Unsupported("an assignment to x[::step]: use torch.where, or torch.stack of the parts")
    size, start, end = source.shape[dim], op.args.get("start") or 0, op.args.get("end")
    if not all(isinstance(n, int) for n in (size, start, MAX_INDEX if end is None else end)):
        raise Unsupported(
            "an assignment to a part of a dimension whose size is known only at run time: use torch.where"
        )
    end = size if end is None else min(end, size)
    start, end = start % size if start < 0 else start, end + size if end < 0 else end
    whole = Use(op.args["self"], ATOM)
    front = ":, " * (dim % source.dim())
    parts = [[Use(op.args["src"])]]
    if start > 0:
        parts.insert(0, [whole, f"[{front}:", Hole(start, "start"), "]"])
    if end < size:
        parts.append([whole, f"[{front}", Hole(end, "end"), ":]"])
    if len(parts) == 1:
        return Template([Use(op.args["src"], ATOM)])
    joined = [piece for i, part in enumerate(parts) for piece in ([", "] if i else []) + part]
    return Template(["concat([", *joined, "], dim=", Hole(dim, "dim"), ")"])


# ---- tensors that are made ----


def _dtype_argument(op, usual):
    dtype = op.value.dtype
    if dtype not in DTYPES:
        raise Unsupported(f"the language has no {dtype}")
    return [] if dtype == usual else [", dtype=" + DTYPES[dtype]]


def filled(value):
    """`zeros([…])`, `ones([…])` or `full([…], value)`, from the sizes of the result."""

    def make(op):
        shape, number = sizes(op.value.shape), op.args["fill_value"] if value is None else value
        word = {0: "zeros", 1: "ones"}.get(number if not isinstance(number, torch.fx.Node) else None)
        if op.value.dtype == torch.bool:
            return Template(["full(", *shape, ", ", Hole(bool(number), "value"), ")"])
        if word:
            return Template([word + "(", *shape, *_dtype_argument(op, torch.float32), ")"])
        return Template(["full(", *shape, ", ", *argument(number, "value"), f", dtype={DTYPES[op.value.dtype]}", ")"])

    return make


def filled_like(op):
    """`x` with one value everywhere."""
    number = op.args.get("fill_value", op.args.get("value"))
    number = {"aten.zeros_like": 0, "aten.ones_like": 1, "aten.zero": 0}.get(op.name, number)
    source = op.args["self"]
    if isinstance(number, torch.fx.Node):
        return Template([Use(number, ATOM), ".expand(", *sizes(op.value.shape), ")"])
    number = bool(number) if op.value.dtype == torch.bool else number
    dtype = _dtype_argument(op, tensor_of(source).dtype)
    return Template(["full_like(", Use(source), ", ", *argument(number, "value"), *dtype, ")"])


def arange(op):
    """`arange(start, end, step)`."""
    start, step = op.args.get("start", 0), op.args.get("step", 1)
    ends = [*argument(op.args["end"], "end")]
    if start != 0 or step != 1:
        ends = [*argument(start, "start"), ", ", *ends] + ([", ", *argument(step, "step")] if step != 1 else [])
    whole = all(isinstance(n, (int, torch.SymInt, torch.fx.Node)) for n in (start, op.args["end"], step))
    return Template(["arange(", *ends, *_dtype_argument(op, torch.int64 if whole else torch.float32), ")"])


def random(op):
    """Refused: a library gives the same result for the same inputs."""
    raise Unsupported("a library computes the same for the same inputs: make the random numbers an input of the model")


# ---- network ----


def convolution(op):
    """The form that decompositions give, of any rank."""
    rank = tensor_of(op.args["input"]).dim() - 2
    return fill(f"conv_transpose{rank}d" + CONV_TRANSPOSE if op.args["transposed"] else f"conv{rank}d" + CONV, op.args)


CONV = "({input}, {weight}{bias=|None}{stride=|1}{padding=|0}{dilation=|1}{groups=|1})"
CONV_TRANSPOSE = "({input}, {weight}{bias=|None}{stride=|1}{padding=|0}{output_padding=|0}{groups=|1}{dilation=|1})"


def batch_norm(op):
    """With running statistics."""
    if op.args.get("training") and op.args.get("running_mean") is not None:
        raise Unsupported("the model is in training mode: call model.eval() first")
    if op.args.get("running_mean") is None:
        return fill("batch_norm({input}{weight=|None}{bias=|None}{eps=|1e-05})", op.args)
    return fill("batch_norm({input}, {running_mean}, {running_var}{weight=|None}{bias=|None}{eps=|1e-05})", op.args)


def pad(op):
    """`pad(x, [left, right, …])`."""
    row = "pad({self}, {pad}{mode=|'constant'}{value=|0})"
    args = {"mode": "constant", "value": 0, **op.args, "pad": op.args.get("pad", op.args.get("padding"))}
    mode = re.match(r"aten\.(reflection|replication)_pad", op.name)
    if mode:
        args["mode"] = {"reflection": "reflect", "replication": "replicate"}[mode.group(1)]
    args["value"] = args["value"] or 0
    template = fill(row.replace("{mode=|'constant'}", "" if args["mode"] == "constant" else "{mode=|none}"), args)
    return template


def windows(row):
    """A pooling: PyTorch's empty stride is the kernel's size."""

    def make(op):
        args = dict(op.args)
        if not args.get("stride") or single(args["stride"]) == single(args["kernel_size"]):
            args["stride"] = None
        return fill(row, args)

    return make


def adaptive(op):
    """The means of as many windows as the result has elements."""
    args = {**op.args, "size": single(op.args["output_size"])}
    if op.name == "aten.adaptive_avg_pool1d":
        size = Hole((1, args["size"]), "output_size")
        return Template(["adaptive_avgpool2d(", Use(args["self"], ATOM), ".unsqueeze(-2), ", size, ").squeeze(-2)"])
    return fill("adaptive_avgpool2d({self}, {size})", args)


def adaptive_max(op):
    """The largest of all elements, if one is left."""
    if single(op.args["output_size"]) != 1:
        raise Unsupported("adaptive_max_pool2d to other sizes than 1: use max_pool2d with a kernel size")
    return fill("amax({self}, dim=[-2, -1], keepdim=true)", op.args)


def upsample(mode):
    """To a size or by a factor."""

    def make(op):
        args = dict(op.args)
        factors = args.get("scale_factors") or [
            args.get(f"scales_{side}") for side in "hw" if args.get(f"scales_{side}")
        ]
        align = ", align_corners=true" if args.get("align_corners") else ""
        source = args.get("input", args.get("self"))
        if factors:
            factor = single([int(f) if float(f).is_integer() else f for f in factors])
            return Template(
                [
                    "upsample2d(",
                    Use(source),
                    ", scale_factor=",
                    Hole(factor, "scale_factor"),
                    f', mode="{mode}"{align})',
                ]
            )
        size = args["output_size"]
        if not _constant_list(size):
            raise Unsupported("upsampling to a size known only at run time: give scale_factor")
        return Template(["upsample2d(", Use(source), ", size=", Hole(single(size), "size"), f', mode="{mode}"{align})'])

    return make


def attention(op):
    """Scaled dot product attention."""
    return fill("attention({query}, {key}, {value}{mask=attn_mask|None}{causal=is_causal|False}{scale=|None})", op.args)


def hardtanh(op):
    """`relu6` between 0 and 6."""
    if (op.args["min_val"], op.args["max_val"]) == (0, 6):
        return fill("relu6({self})", op.args)
    return fill("hardtanh({self}, {min_val}, {max_val})", op.args)


def vector_norm(op):
    """`norm` along dimensions."""
    args = {"ord": op.args.get("p", 2), "dim": None, "keepdim": False, **op.args}
    args["ord"] = 2 if args["ord"] is None else args["ord"]
    return fill("norm({self}, {ord}{dim=|None}{keepdim=|False})", args)


def variance(word):
    """`var` or `std` with a correction."""

    def make(op):
        correction = op.args.get("correction", 1 if op.args.get("unbiased", True) else 0)
        args = {"dim": None, "keepdim": False, **op.args, "correction": 1 if correction is None else correction}
        return fill(word + "({self}{dim=|None}{correction=|1}{keepdim=|False})", args)

    return make


def reduction(word):
    """`x.mean(dim=…)`; an empty list of dimensions means all."""

    def make(op):
        args = {
            "keepdim": False,
            **op.args,
            "dim": op.args.get("dim") or (op.args.get("dim") if op.args.get("dim") == 0 else None),
        }
        source, dtype = tensor_of(args["self"]).dtype, op.value.dtype
        inside = (
            cast(dtype, args["self"]).parts
            if source != dtype and (dtype.is_floating_point or source == torch.bool)
            else [Use(args["self"])]
        )
        if word in ("any", "all") and source != torch.bool:
            inside = [Use(args["self"], SUM), " != 0"]
        elif word in ("any", "all"):
            inside = [Use(args["self"])]
        return Template([word + "(", *inside, *fill("{dim=|None}{keepdim=|False})", args).parts])

    return make


def running_total(word):
    """`cumsum` and `cumprod` in the type of the result."""

    def make(op):
        source, dtype = tensor_of(op.args["self"]).dtype, op.value.dtype
        inside = [Use(op.args["self"])] if source == dtype else cast(dtype, op.args["self"]).parts
        return Template([word + "(", *inside, *fill(", {dim=})", op.args).parts])

    return make


def softmax(word):
    """In the type of the result."""

    def make(op):
        source, dtype = op.args["self"], op.value.dtype
        inside = [Use(source)] if tensor_of(source).dtype == dtype else cast(dtype, source).parts
        return Template([word + "(", *inside, *fill(", {dim=})", op.args).parts])

    return make


def where(op):
    """`where(condition, x, other)`."""
    dtype, names = op.value.dtype, ("condition", "self", "other")
    condition = op.args[names[0]]
    parts = [
        "where(",
        *([Use(condition)] if tensor_of(condition).dtype == torch.bool else [Use(condition, SUM), " != 0"]),
    ]
    for name in names[1:]:
        parts += [", ", *operand(op.args[name], dtype, LOOSE)]
    return Template([*parts, ")"])


def power(op):
    """`x ** y`."""
    base, exponent = op.args["self"], op.args["exponent"]
    dtype = op.value.dtype
    return Template([*operand(base, dtype, ATOM), " ** ", *operand(exponent, dtype, ATOM, "exponent")], UNARY)


def lifted_item(op):
    """`tuple[i]`."""
    return Template([Use(op.args["0"], ATOM), "[", Hole(op.args["1"], "index"), "]"])


def clip(op):
    """Limits as numbers or tensors."""
    low, high = op.args.get("min"), op.args.get("max")
    if any(isinstance(limit, torch.fx.Node) for limit in (low, high)):
        parts = [Use(op.args["self"])]
        parts = parts if low is None else ["maximum(", *parts, ", ", *argument(low, "min"), ")"]
        return Template(parts if high is None else ["minimum(", *parts, ", ", *argument(high, "max"), ")"])
    return fill("clip({self}{min=|None}{max=|None})", {"min": low, "max": high, **op.args})


def scatter(op):
    """Of a tensor or a number."""
    source = op.args.get("src", op.args.get("value"))
    if op.args.get("reduce") is not None:
        raise Unsupported("scatter with `reduce`: use scatter_add")
    return fill("scatter({self}, {dim}, {index}, {src})", {**op.args, "src": source})


UNARY_NAMES = (
    "abs acos asin atan ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 round rsqrt sigmoid sign sin sinh",
    "sqrt tan tanh relu relu6 silu mish selu hardswish hardsigmoid isnan isinf isfinite trace",
)

POOL = "({self}, {kernel_size}{stride=|None}{padding=|0}{dilation=|1}{ceil_mode=|False})"
AVERAGE_POOL = "({self}, {kernel_size}{stride=|None}{padding=|0}{ceil_mode=|False}{count_include_pad=|True})"


def numpy_transpose(op):
    """`x.T`: all axes in reverse order."""
    axes = list(range(op.value.dim()))[::-1]
    return fill("{self.}.permute({dims})", {**op.args, "dims": axes}) if axes else fill("{self}", op.args)


def nan_to_num(op):
    """PyTorch's `nan=None` is 0."""
    return fill("nan_to_num({self}{nan=|0.0}{posinf=|None}{neginf=|None})", {**op.args, "nan": op.args["nan"] or 0.0})


TABLE = {
    **{f"aten.{name}": f"{name}({{self}})" for names in UNARY_NAMES for name in names.split()},
    "_operator.getitem": lifted_item,
    # arithmetic
    "aten.neg": ("-{self:6}", UNARY),
    "aten.add": sum_of("+"),
    "aten.sub": sum_of("-"),
    "aten.rsub": reversed_difference,
    "aten.mul": infix("*", PRODUCT),
    "aten.div": division,
    "aten.floor_divide": division,
    "aten.remainder": infix("%", PRODUCT),
    "aten.fmod": "fmod({self}, {other})",
    "aten.pow": power,
    "aten.square": ("{self.} ** 2", UNARY),
    "aten.reciprocal": ("1.0 / {self:6}", PRODUCT),
    "aten.maximum": "maximum({self}, {other})",
    "aten.minimum": "minimum({self}, {other})",
    "aten.max.other": "maximum({self}, {other})",
    "aten.min.other": "minimum({self}, {other})",
    "aten.clamp": clip,
    "aten.clamp_min": clip,
    "aten.clamp_max": clip,
    "aten.atan2": "atan2({self}, {other})",
    "aten.lerp": "lerp({self}, {end}, {weight})",
    "aten.eq": compare("=="),
    "aten.ne": compare("!="),
    "aten.lt": compare("<"),
    "aten.le": compare("<="),
    "aten.gt": compare(">"),
    "aten.ge": compare(">="),
    "aten.logical_and": logical("&&", AND),
    "aten.logical_or": logical("||", OR),
    "aten.logical_xor": "logical_xor({self}, {other})",
    "aten.logical_not": negation,
    "aten.bitwise_and": logical("&&", AND),
    "aten.bitwise_or": logical("||", OR),
    "aten.bitwise_not": negation,
    "aten.__and__": logical("&&", AND),
    "aten.__or__": logical("||", OR),
    "aten.where": where,
    "aten.masked_fill": "masked_fill({self}, {mask}, {value})",
    "aten.to": converted,
    "aten._to_copy": converted,
    "aten.type_as": converted,
    # activations
    "aten.gelu": "gelu({self}{approximate=|'none'})",
    "aten.elu": "elu({self}, {alpha})",
    "aten.celu": "celu({self}, {alpha})",
    "aten.leaky_relu": "leaky_relu({self}, {negative_slope})",
    "aten.hardtanh": hardtanh,
    "aten.softplus": "softplus({self}{beta=|1}{threshold=|20})",
    "aten.softshrink": "softshrink({self}, {lambd})",
    "aten.hardshrink": "hardshrink({self}, {lambd})",
    "aten.log_sigmoid": "logsigmoid({self})",
    "aten.prelu": "prelu({self}, {weight})",
    "aten.glu": "glu({self}, {dim=})",
    "aten.softmax": softmax("softmax"),
    "aten._softmax": softmax("softmax"),
    "aten.log_softmax": softmax("log_softmax"),
    "aten._log_softmax": softmax("log_softmax"),
    # reductions
    "aten.sum": reduction("sum"),
    "aten.mean": reduction("mean"),
    "aten.prod": reduction("prod"),
    "aten.amax": reduction("amax"),
    "aten.amin": reduction("amin"),
    "aten.any": reduction("any"),
    "aten.all": reduction("all"),
    "aten.max": "max({self}{dim=|None}{keepdim=|False})",
    "aten.min": "min({self}{dim=|None}{keepdim=|False})",
    "aten.argmax": "argmax({self}{dim=|None}{keepdim=|False})",
    "aten.argmin": "argmin({self}{dim=|None}{keepdim=|False})",
    "aten.var": variance("var"),
    "aten.std": variance("std"),
    "aten.var_mean": variance("var_mean"),
    "aten.std_mean": variance("std_mean"),
    "aten.logsumexp": "logsumexp({self}, {dim=}{keepdim=|False})",
    "aten.linalg_vector_norm": vector_norm,
    "aten.norm": vector_norm,
    "aten.nan_to_num": nan_to_num,
    "aten.cumsum": running_total("cumsum"),
    "aten.cumprod": running_total("cumprod"),
    "aten.topk": "topk({self}, {k}{dim=|-1}{largest=|True})",
    "aten.sort": "sort({self}{dim=|-1}{descending=|False})",
    "aten.argsort": "argsort({self}{dim=|-1}{descending=|False})",
    # shapes
    "aten.view": reshape,
    "aten.reshape": reshape,
    "aten._unsafe_view": reshape,
    "aten.unflatten": reshape,
    "aten.flatten": "{self.}.flatten({start_dim}{end_dim=|-1})",
    "aten.expand": expand,
    "aten.expand_as": expand,
    "aten.broadcast_to": expand,
    "aten.permute": "{self.}.permute({dims})",
    "aten.transpose": "{self.}.transpose({dim0}, {dim1})",
    "aten.swapaxes": "{self.}.transpose({axis0}, {axis1})",
    "aten.swapdims": "{self.}.transpose({dim0}, {dim1})",
    "aten.t": "{self.}.transpose(0, 1)",
    "aten.numpy_T": numpy_transpose,
    "aten.mT": "{self.}.transpose(-2, -1)",
    "aten.movedim": "{self.}.moveaxis({source}, {destination})",
    "aten.squeeze": squeeze,
    "aten.unsqueeze": "{self.}.unsqueeze({dim})",
    "aten.cat": "concat({tensors}{dim=|0})",
    "aten.stack": "stack({tensors}{dim=|0})",
    "aten.split": "split({self}, {split_size}{dim=|0})",
    "aten.split_with_sizes": "split({self}, {split_sizes}{dim=|0})",
    "aten.chunk": "chunk({self}, {chunks}{dim=|0})",
    "aten.unbind": "unbind({self}{dim=|0})",
    "aten.repeat": "{self.}.repeat({repeats})",
    "aten.repeat_interleave": repeat_interleave,
    "aten.roll": "roll({self}, {shifts}, {dims})",
    "aten.flip": "flip({self}, {dims})",
    "aten.slice": slices,
    "aten.select": select,
    "aten.index": index,
    "aten.narrow": "narrow({self}, {dim}, {start}, {length})",
    "aten.gather": "gather({self}, {dim}, {index})",
    "aten.index_select": "index_select({self}, {dim}, {index})",
    "aten.scatter": scatter,
    "aten.scatter_add": "scatter_add({self}, {dim}, {index}, {src})",
    "aten.select_scatter": "select_scatter({self}, {src}, {dim}, {index})",
    "aten.slice_scatter": slice_scatter,
    "aten.diagonal": "diagonal({self}{offset=|0}{dim1=|0}{dim2=|1})",
    "aten.tril": "tril({self}, {diagonal})",
    "aten.triu": "triu({self}, {diagonal})",
    "aten.diff": diff,
    "aten.one_hot": "one_hot({self}, {num_classes})",
    "aten.pixel_shuffle": "pixel_shuffle({self}, {upscale_factor})",
    "aten.pixel_unshuffle": "pixel_unshuffle({self}, {downscale_factor})",
    # tensors that are made
    "aten.arange": arange,
    "aten.zeros": filled(0),
    "aten.ones": filled(1),
    "aten.full": filled(None),
    "aten.new_zeros": filled(0),
    "aten.new_ones": filled(1),
    "aten.new_full": filled(None),
    "aten.zeros_like": filled_like,
    "aten.ones_like": filled_like,
    "aten.full_like": filled_like,
    "aten.fill": filled_like,
    "aten.zero": filled_like,
    "aten.eye": "eye({n})",
    "aten.linspace": "linspace({start}, {end}, {steps})",
    "aten.rand": random,
    "aten.randn": random,
    "aten.rand_like": random,
    "aten.randn_like": random,
    "aten.bernoulli": random,
    "aten.multinomial": random,
    # products
    "aten.linear": "linear({input}, {weight}{bias=|None})",
    "aten.matmul": ("{self:5} @ {other:6}", PRODUCT),
    "aten.mm": ("{self:5} @ {mat2:6}", PRODUCT),
    "aten.bmm": ("{self:5} @ {mat2:6}", PRODUCT),
    "aten.mv": ("{self:5} @ {vec:6}", PRODUCT),
    "aten.dot": "dot({self}, {tensor})",
    "aten.addmm": "addmm({self}, {mat1}, {mat2}{beta=|1}{alpha=|1})",
    "aten.baddbmm": "baddbmm({self}, {batch1}, {batch2}{beta=|1}{alpha=|1})",
    "aten.outer": "outer({self}, {vec2})",
    "aten.einsum": "einsum({equation}, {tensors})",
    "aten.scaled_dot_product_attention": attention,
    # network
    "aten.conv1d": "conv1d" + CONV,
    "aten.conv2d": "conv2d" + CONV,
    "aten.conv3d": "conv3d" + CONV,
    "aten.conv_transpose1d": "conv_transpose1d" + CONV_TRANSPOSE,
    "aten.conv_transpose2d": "conv_transpose2d" + CONV_TRANSPOSE,
    "aten.convolution": convolution,
    "aten.max_pool1d": windows("maxpool1d" + POOL),
    "aten.max_pool2d": windows("maxpool2d" + POOL),
    "aten.max_pool2d_with_indices": windows("maxpool2d" + POOL),
    "aten.max_pool3d": windows("maxpool3d" + POOL),
    "aten.avg_pool1d": windows("avgpool1d" + AVERAGE_POOL),
    "aten.avg_pool2d": windows("avgpool2d" + AVERAGE_POOL[:-1] + "{divisor_override=|None})"),
    "aten.adaptive_avg_pool1d": adaptive,
    "aten.adaptive_avg_pool2d": adaptive,
    "aten._adaptive_avg_pool2d": adaptive,
    "aten.adaptive_max_pool2d": adaptive_max,
    "aten.pad": pad,
    "aten.constant_pad_nd": pad,
    "aten.reflection_pad1d": pad,
    "aten.reflection_pad2d": pad,
    "aten.replication_pad1d": pad,
    "aten.replication_pad2d": pad,
    "aten.upsample_nearest2d": upsample("nearest"),
    "aten.upsample_bilinear2d": upsample("bilinear"),
    "aten.batch_norm": batch_norm,
    "aten._native_batch_norm_legit_no_training": batch_norm,
    "aten.layer_norm": "layer_norm({input}, {normalized_shape}{weight=|None}{bias=|None}{eps=|1e-05})",
    "aten.native_layer_norm": "layer_norm({input}, {normalized_shape}{weight=|None}{bias=|None}{eps=|1e-05})",
    "aten.rms_norm": "rms_norm({input}, {normalized_shape}{weight=|None}{eps=|None})",
    "aten.group_norm": "group_norm({input}, {num_groups}{weight=|None}{bias=|None}{eps=|1e-05})",
    "aten.instance_norm": "instance_norm({input}{weight=|None}{bias=|None}{eps=|1e-05})",
    "aten.embedding": "embedding({indices}, {weight})",
}

_NO_WEIGHT_NORM = (
    "replace the weight by its value: torch.nn.utils.parametrize.remove_parametrizations(layer, 'weight'), or "
    "torch.nn.utils.remove_weight_norm(layer) for the older torch.nn.utils.weight_norm"
)
# What to write in place of operations that a library cannot have.
ADVICE = {
    "aten.nonzero": "the result's size depends on values: use torch.where(mask, x, 0) or torch.topk",
    "aten.masked_select": "the result's size depends on values: use torch.where(mask, x, 0) or torch.topk",
    "aten.unique": "the result's size depends on values: use torch.sort",
    "aten.item": "a number that depends on values: keep it as a tensor",
    "aten._local_scalar_dense": "a number that depends on values: keep it as a tensor",
    "aten.complex": "the language has no complex numbers: keep real and imaginary part as two tensors",
    "aten.view_as_complex": "the language has no complex numbers: keep real and imaginary part as two tensors",
    "aten.index_put": "an assignment to x[i]: use torch.where, torch.scatter or torch.cat of the parts",
    "aten.copy": "an assignment in place: use torch.cat or torch.where",
    "aten.empty": "memory without values: use torch.zeros",
    "aten.lstm": "call it as a torch.nn.LSTM of float32 without proj_size, with a tensor and no PackedSequence",
    "aten.gru": "call it as a torch.nn.GRU of float32, with a tensor and no PackedSequence",
    "aten.rnn_tanh": "call it as a torch.nn.RNN of float32, with a tensor and no PackedSequence",
    "aten.rnn_relu": "call it as a torch.nn.RNN of float32, with a tensor and no PackedSequence",
    "aten._weight_norm": _NO_WEIGHT_NORM,
    "aten._weight_norm_interface": _NO_WEIGHT_NORM,
    "aten.fft_fft": "write the transform as a product with a matrix of sines and cosines",
    "aten.dropout": "the model is in training mode: call model.eval() first",
    "higher_order": "control flow that depends on values: use torch.where",
}


def template(op):
    """The template of an operation; raises Unsupported."""
    row = TABLE.get(f"{op.name}.{op.overload}") or TABLE.get(op.name)
    if row is None:
        advice = ADVICE.get(op.name) or ADVICE.get(op.name.split(".")[0])
        raise Unsupported(advice or "no function of the language computes it: write it with other functions of PyTorch")
    if callable(row):
        return row(op)
    return fill(row, op.args) if isinstance(row, str) else fill(row[0], op.args, row[1])
