"""Values of a graph: expressions of the language with element type and sizes, constants, and lists of sizes."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

# How tight an expression binds, as in the language's table of precedence.
LOOSE, COMPARE, SUM, PRODUCT, UNARY, ATOM = 0, 4, 9, 10, 11, 13


def _words(text):
    return frozenset(re.findall(r"\w+", text))


KEYWORDS = _words("""
    layer fn let const param type import from as return if else for in while break continue main where true false
    none None state trit bool int int8 int16 int32 int64 uint8 float float16 bfloat16 float32 float64 str void nn
""")
# Functions that rows call: a local of such a name would hide it.
FUNCTIONS = _words("""
    abs exp log sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf sigmoid relu floor ceil round
    sign reciprocal softsign mish hardswish softplus isnan isinf leaky_relu elu celu selu gelu where clip minimum
    maximum zeros ones full zeros_like arange tensor concat stack gather scatter scatter_add index_copy index_add
    pad flip roll pixel_shuffle cumsum cumprod topk argmax argmin sum mean amax amin prod any all norm logsumexp
    square softmax log_softmax layer_norm batch_norm instance_norm group_norm linear einsum fmod logical_xor
    bitwise_and bitwise_or bitwise_xor bitwise_not tril triu conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d maxpool1d maxpool2d maxpool3d avgpool1d avgpool2d attention
""")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
LITERAL = 32  # elements of a constant that is written in the source; larger ones are parameters


class Text(str):
    """Text of an expression, with `prec`."""

    prec: int

    def __new__(cls, text, prec=ATOM):
        made = super().__new__(cls, text)
        made.prec = prec
        return made

    def within(self, prec):
        """The text as an operand of a binding, in parentheses if it binds less."""
        return self if self.prec >= prec else Text(f"({self})")


class Size:
    """A size that is known only at run time: an expression of integers. It is never negative."""

    def __init__(self, text):
        self.text = text if isinstance(text, Text) else Text(text)

    def __str__(self):
        return str(self.text)

    def __hash__(self):
        return hash(str(self.text))

    def __eq__(self, other):
        if isinstance(other, Size) and other.text == self.text:
            return True
        if not isinstance(other, (Size, int, np.integer)) or (not isinstance(other, Size) and other < 0):
            return False
        raise Undecided(f"{self} == {other}")

    def _infix(self, sign, other, prec, turned=False):
        texts = [self.text, other.text if isinstance(other, Size) else Text(str(int(other)), ATOM)]
        left, right = reversed(texts) if turned else texts
        return Size(Text(f"{left.within(prec)} {sign} {right.within(prec + 1)}", prec))

    def __add__(self, other):
        return self if not isinstance(other, Size) and other == 0 else self._infix("+", other, SUM)

    def __sub__(self, other):
        return self if not isinstance(other, Size) and other == 0 else self._infix("-", other, SUM)

    def __mul__(self, other):
        return self if not isinstance(other, Size) and other == 1 else self._infix("*", other, PRODUCT)

    def __floordiv__(self, other):
        return self if not isinstance(other, Size) and other == 1 else self._infix("//", other, PRODUCT)

    def __mod__(self, other):
        return self._infix("%", other, PRODUCT)

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return self._infix("-", other, SUM, True)

    def __rmul__(self, other):
        return self * other

    def __rfloordiv__(self, other):
        return self._infix("//", other, PRODUCT, True)


class Undecided(Exception):
    """A comparison of sizes has a result at run time only."""


@dataclasses.dataclass
class Value:
    """A tensor of the graph. `const` is its value if it is known, `sizes` an array of integers and sizes if it was
    computed from shapes. `dims` are integers, sizes, or None. `stored` if it is a weight, which is a parameter."""

    text: Text | None
    dtype: str
    dims: list
    const: np.ndarray | None = None
    sizes: np.ndarray | None = None
    name: str = ""
    stored: bool = False

    @property
    def rank(self):
        return len(self.dims)

    def known(self):
        """The elements as integers and sizes, or None."""
        return self.sizes if self.const is None else self.const


def number(value, dtype):
    """A literal of one number."""
    if dtype == "bool":
        return Text("true" if value else "false")
    if "int" in dtype:
        return Text(str(int(value)), ATOM if value >= 0 else UNARY)
    if np.isnan(value):
        return Text(f"{dtype}.nan")
    if np.isinf(value):
        return Text(f"{dtype}.inf") if value > 0 else Text(f"-{dtype}.inf", UNARY)
    text = str(np.dtype("float32" if dtype == "bfloat16" else dtype).type(value))
    text = text if re.search(r"[.e]", text) else text + ".0"
    return Text(text, UNARY if text.startswith("-") else ATOM)


def literal(array, dtype):
    """A small constant as an expression of its element type and shape."""

    def nested(part):
        return str(number(part, dtype)) if part.ndim == 0 else "[" + ", ".join(nested(item) for item in part) + "]"

    if 0 in array.shape:
        return Text(f"zeros({list(array.shape)}, dtype={dtype})")
    usual = dtype in ("bool", "int32", "float32")
    return Text(f"tensor({nested(array)}" + (")" if usual else f", dtype={dtype})"))


def identifier(name):
    """A name of the graph as one of the language: `/layer1/conv1/Conv_output_0` is layer1_conv1_Conv."""
    word = re.sub(r"\W+", "_", re.sub(r"_output_0$", "", name)).strip("_") or "value"
    word = f"v{word}" if word[0].isdigit() else word
    return word + "_" if word in KEYWORDS else word


def size_list(sizes):
    """`[N, 3, x.shape[1]]`."""
    return "[" + ", ".join(str(size) for size in sizes) + "]"
