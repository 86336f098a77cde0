"""The table of torch.nn's modules that are layers of the standard module `nn`: one row for each class.

A row has the operation of the module's forward, the constructor as text, and the function that gives the constructor's
arguments from those of the operation. A module whose graph is another one, as of a convolution that pads with
reflections, is written out."""

import torch

from .graph import tensor_of
from .operators import WINDOWS, fill, single
from .parts import Hole, Template, Use


def _shape(args, name="weight"):
    return [int(size) for size in tensor_of(args[name]).shape]


def _linear(args):
    outputs, inputs = _shape(args)
    return {"in_features": inputs, "out_features": outputs, "bias": args["bias"] is not None}


def _convolution(args):
    outputs, inputs, *kernel = _shape(args)
    words = {name: args[name] for name in ("stride", "padding", "dilation", "groups")}
    size = {"in_channels": inputs * args["groups"], "out_channels": outputs, "kernel_size": kernel}
    return {**words, **size, "bias": args["bias"] is not None}


def _transposed(args):
    inputs, outputs, *kernel = _shape(args)
    words = {name: args[name] for name in ("stride", "padding", "output_padding", "dilation", "groups")}
    size = {"in_channels": inputs, "out_channels": outputs * args["groups"], "kernel_size": kernel}
    return {**words, **size, "bias": args["bias"] is not None}


def _batch_norm(args):
    if args["training"] or args["running_mean"] is None:
        return None
    affine = args["weight"] is not None
    return {"num_features": _shape(args, "running_mean")[0], "eps": args["eps"], "affine": affine}


def _layer_norm(args):
    shape = list(args["normalized_shape"])
    if args["weight"] is None and args["bias"] is not None:
        return None
    affine, bias = args["weight"] is not None, args["bias"] is not None or args["weight"] is None
    return {"shape": shape[0] if len(shape) == 1 else shape, "eps": args["eps"], "affine": affine, "bias": bias}


def _rms_norm(args):
    shape = list(args["normalized_shape"])
    return {"shape": shape[0] if len(shape) == 1 else shape, "eps": args["eps"], "affine": args["weight"] is not None}


def _group_norm(args):
    channels = int(tensor_of(args["input"]).shape[1])
    affine = args["weight"] is not None
    return {"num_groups": args["num_groups"], "num_channels": channels, "eps": args["eps"], "affine": affine}


def _embedding(args):
    rows, features = _shape(args)
    return {"rows": rows, "features": features}


def _same(args):
    return args


def _pool(args):
    stride = args.get("stride")
    whole = not stride or single(stride) == single(args["kernel_size"])
    return {**args, "stride": None if whole else stride}


def _adaptive_pool(args):
    return {"output_size": single(args["output_size"])}


def _prelu(args):
    return {"num_parameters": _shape(args)[0]}


def _hardtanh(args):
    return args if (args["min_val"], args["max_val"]) != (0, 6) else None


def _relu6(args):
    return args if (args["min_val"], args["max_val"]) == (0, 6) else None


WINDOW = "{stride=|1}{padding=|0}"
CONV = "({in_channels}, {out_channels}, {kernel_size}" + WINDOW + "{dilation=|1}{groups=|1}{bias=|True})"
TRANSPOSED = (
    "({in_channels}, {out_channels}, {kernel_size}"
    + WINDOW
    + "{output_padding=|0}{groups=|1}{bias=|True}{dilation=|1})"
)
NORM = "({num_features}{eps=|1e-05}{affine=|True})"
MAX_POOL = "({kernel_size}{stride=|None}{padding=|0}{dilation=|1}{ceil_mode=|False})"
AVERAGE_POOL = "({kernel_size}{stride=|None}{padding=|0}{ceil_mode=|False}{count_include_pad=|True})"
AVERAGE_POOL_2D = AVERAGE_POOL[:-1] + "{divisor_override=|None})"

TABLE = {
    "linear.Linear": ("aten.linear", "({in_features}, {out_features}{bias=|True})", _linear),
    "conv.Conv1d": ("aten.conv1d", CONV, _convolution),
    "conv.Conv2d": ("aten.conv2d", CONV, _convolution),
    "conv.Conv3d": ("aten.conv3d", CONV, _convolution),
    "conv.ConvTranspose1d": ("aten.conv_transpose1d", TRANSPOSED, _transposed),
    "conv.ConvTranspose2d": ("aten.conv_transpose2d", TRANSPOSED, _transposed),
    "batchnorm.BatchNorm1d": ("aten.batch_norm", NORM, _batch_norm),
    "batchnorm.BatchNorm2d": ("aten.batch_norm", NORM, _batch_norm),
    "batchnorm.BatchNorm3d": ("aten.batch_norm", NORM, _batch_norm),
    "normalization.LayerNorm": (
        "aten.layer_norm",
        "({shape}{eps=|1e-05}{elementwise_affine=affine|True}{bias=|True})",
        _layer_norm,
    ),
    "normalization.RMSNorm": ("aten.rms_norm", "({shape}{eps=|None}{elementwise_affine=affine|True})", _rms_norm),
    "normalization.GroupNorm": (
        "aten.group_norm",
        "({num_groups}, {num_channels}{eps=|1e-05}{affine=|True})",
        _group_norm,
    ),
    "sparse.Embedding": ("aten.embedding", "({rows}, {features})", _embedding),
    "pooling.MaxPool1d": ("aten.max_pool1d", MAX_POOL, _pool),
    "pooling.MaxPool2d": ("aten.max_pool2d", MAX_POOL, _pool),
    "pooling.AvgPool1d": ("aten.avg_pool1d", AVERAGE_POOL, _pool),
    "pooling.AvgPool2d": ("aten.avg_pool2d", AVERAGE_POOL_2D, _pool),
    "pooling.AdaptiveAvgPool1d": ("aten.adaptive_avg_pool1d", "({output_size})", _adaptive_pool),
    "pooling.AdaptiveAvgPool2d": ("aten.adaptive_avg_pool2d", "({output_size})", _adaptive_pool),
    "flatten.Flatten": ("aten.flatten", "({start_dim}{end_dim=|-1})", _same),
    "pixelshuffle.PixelShuffle": ("aten.pixel_shuffle", "({upscale_factor})", _same),
    "activation.ReLU": ("aten.relu", "()", _same),
    "activation.ReLU6": ("aten.hardtanh", "()", _relu6),
    "activation.LeakyReLU": ("aten.leaky_relu", "({negative_slope})", _same),
    "activation.ELU": (
        "aten.elu",
        "({alpha})",
        lambda args: args if args["scale"] == args["input_scale"] == 1 else None,
    ),
    "activation.CELU": ("aten.celu", "({alpha})", _same),
    "activation.SELU": ("aten.selu", "()", _same),
    "activation.Mish": ("aten.mish", "()", _same),
    "activation.Hardtanh": ("aten.hardtanh", "({min_val}, {max_val})", _hardtanh),
    "activation.PReLU": ("aten.prelu", "({num_parameters})", _prelu),
    "activation.GELU": ("aten.gelu", "({approximate=|'none'})", _same),
    "activation.SiLU": ("aten.silu", "()", _same),
    "activation.Sigmoid": ("aten.sigmoid", "()", _same),
    "activation.Tanh": ("aten.tanh", "()", _same),
    "activation.Softmax": ("aten.softmax", "({dim})", _same),
    "activation.LogSoftmax": ("aten.log_softmax", "({dim})", _same),
    "activation.Hardswish": ("aten.hardswish", "()", _same),
    "activation.Hardsigmoid": ("aten.hardsigmoid", "()", _same),
    "activation.Softplus": ("aten.softplus", "({beta=|1}{threshold=|20})", _same),
    "activation.GLU": ("aten.glu", "({dim})", _same),
}

# Layers of `nn` whose `weight` other code may read as a member.
OPEN_WEIGHT = {"Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "Embedding"}


# Layers whose weight may be the one of another layer.
TIED = ("Linear", "Embedding")


def constructor(cls, path, op, names):
    """The template of `nn.X(…)` if the operation `op` is what the layer `nn.X` computes, else None. `names` gives
    parameters their names."""
    row = TABLE.get(cls.removeprefix("torch.nn.modules."))
    if row is None or op.name != row[0]:
        return None
    short, tied = cls.rsplit(".", 1)[1], None
    for word, value in op.args.items():
        if not isinstance(value, torch.fx.Node):
            continue
        name, tensor = names.get(value), tensor_of(value)
        if tensor is None or (name is None and word in ("weight", "bias", "running_mean", "running_var")):
            return None
        if name is not None and (tensor.dtype != torch.float32 or word == "input"):
            return None
        if name is not None and name != f"{path}.{word}".lstrip("."):
            if word != "weight" or short not in TIED:
                return None
            tied = value
    args = row[2](op.args)
    return None if args is None else _with_tied(_first(fill("nn." + short + row[1], args)), tied)


def _first(made):
    """Without the comma before the first argument of a call."""
    if len(made.parts) > 1 and made.parts[0].endswith("(") and getattr(made.parts[1], "keyword", None):
        made.parts[1].keyword = made.parts[1].keyword.removeprefix(", ")
    return made


def _with_tied(made, weight):
    if weight is not None:
        made.parts = [*made.parts[:-1], ", weight=", Use(weight), made.parts[-1]]
    return made


# Recurrent modules and how many states they have. A call takes (x, states) and gives (y, states).
RECURRENT = {"LSTM": 2, "GRU": 1, "RNN": 1}
_RECURRENT_ARGUMENTS = (
    "{input_size}, {hidden_size}{num_layers=|1}{nonlinearity=|'tanh'}{bias=|True}{batch_first=|False}"
    "{bidirectional=|False}"
)


def states_of(cls):
    """How many states a recurrent class has; 0 of other classes."""
    package, _, name = cls.rpartition(".")
    return RECURRENT.get(name, 0) if package == "torch.nn.modules.rnn" else 0


def recurrent(module):
    """(template, tensors by name) of a `torch.nn.LSTM`, `GRU` or `RNN`, or None of any other module."""
    kind = type(module)
    if not states_of(f"{kind.__module__}.{kind.__qualname__}") or module.proj_size:
        return None
    tensors = dict(module.named_parameters())
    if any(tensor.dtype != torch.float32 for tensor in tensors.values()):
        return None
    arguments = {**vars(module), "nonlinearity": getattr(module, "nonlinearity", "tanh")}
    return _first(fill(f"nn.{kind.__name__}({_RECURRENT_ARGUMENTS})", arguments)), tensors


def trained(module):
    """(template, tensors by name) of a layer of `trib.nn`, or None of any other module."""
    kind = type(module)
    if not kind.__module__.startswith("trib.nn"):
        return None
    from ..nn import layers, table

    if kind not in table.LAYERS or kind.__module__ != layers.__name__:
        return None
    row = table.LAYERS[kind]
    parts = [row.tri + "("]
    for name, default, read in row.arguments:
        value = single(read(module)) if name in WINDOWS else read(module)
        required = default is table.REQUIRED
        hole = Hole(
            value, name, keyword=None if required else f", {name}=", default=None if required else single(default)
        )
        parts += ([", "] if required and len(parts) > 1 else []) + [hole]
    return _first(Template([*parts, ")"])), table.tensors(module)
