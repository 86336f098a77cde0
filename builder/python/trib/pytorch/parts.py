"""Text with places that are filled in later: constants, values, parameters and sizes.

A template is a list of strings and of the classes below. Two layers have the same template if they differ in constants
only; these become arguments of one layer."""

import math

import torch

DTYPES = {
    torch.bool: "bool", torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64",
    torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64",
}  # fmt: skip

# How tightly an expression binds, from loose to tight.
LOOSE, OR, AND, COMPARE, SUM, PRODUCT, UNARY, ATOM = 0, 1, 2, 3, 4, 5, 6, 7


class Hole:
    """A constant. `hint` names the argument that it becomes if it differs; a soft one becomes `?` instead.

    If `default` is given, `text` before it is written only for other values."""

    __slots__ = ("default", "hint", "keyword", "soft", "value")

    def __init__(self, value, hint="n", soft=False, keyword=None, default=None):
        self.value, self.hint, self.soft, self.keyword, self.default = value, hint, soft, keyword, default

    def key(self):
        return ("hole", self.keyword, self.soft)


class Use:
    """A tensor, in a place that needs the binding `prec`."""

    __slots__ = ("node", "prec")

    def __init__(self, node, prec=LOOSE):
        self.node, self.prec = node, prec


class Size:
    """A size that is known only at run time, as a sympy expression."""

    __slots__ = ("expr", "prec")

    def __init__(self, expr, prec=LOOSE):
        self.expr, self.prec = expr, prec


class Template:
    """Parts, and how tightly they bind together."""

    __slots__ = ("parts", "prec")

    def __init__(self, parts, prec=ATOM):
        self.parts, self.prec = parts, prec


def constant_text(value):
    """A constant in the language's words."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (tuple, list)):
        comma = "," if len(value) == 1 and isinstance(value, tuple) else ""
        brackets = "()" if isinstance(value, tuple) else "[]"
        return brackets[0] + ", ".join(constant_text(item) for item in value) + comma + brackets[1]
    if isinstance(value, torch.dtype):
        return DTYPES[value]
    return _float_text(value) if isinstance(value, float) else str(value)


def _float_text(value):
    if math.isnan(value):
        return "float32.nan"
    if math.isinf(value):
        return "float32.inf" if value > 0 else "-float32.inf"
    if value == torch.finfo(torch.float32).min:
        return "float32.min"
    if value == torch.finfo(torch.float32).max:
        return "float32.max"
    return repr(value)


def size_part(size, hint="size", prec=LOOSE):
    """The part of a size, which is a number or symbolic."""
    if isinstance(size, torch.SymInt):
        expr = size.node.expr
        return Hole(int(expr), hint) if expr.is_number else Size(expr, prec)
    return Hole(int(size), hint)
