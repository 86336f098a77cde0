"""Translates the nodes of a graph, in order, to statements of one layer."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
from onnx import AttributeProto

from ..errors import OperatorError
from . import graph
from .sizes import compute
from .values import (
    DTYPES,
    FUNCTIONS,
    KEYWORDS,
    LITERAL,
    LOOSE,
    Size,
    Text,
    Undecided,
    Value,
    identifier,
    literal,
    number,
    size_list,
)

INLINE = 72  # columns of an expression that is written where its value is used


class Unsupported(Exception):
    """The text says what to write instead."""


class Expand(Exception):
    """The operator's definition by other operators is used."""


@dataclasses.dataclass
class Program:
    """A layer as text, its name, and its parameters by name."""

    text: str
    entry: str
    tensors: dict


class Node:
    """One node as the table's rows see it: inputs as text, attributes with defaults."""

    def __init__(self, writer, proto, schema, values, outputs):
        self.writer, self.proto, self.schema, self.values, self.outputs = writer, proto, schema, values, outputs
        self.op, self.version = proto.op_type, schema.since_version
        self.given = graph.attributes(proto)

    def attr(self, name, default=None):
        """An attribute; strings are str."""
        value = self.given.get(name, default)
        if name not in self.given and name in self.schema.attributes:
            usual = self.schema.attributes[name].default_value
            if usual.type != AttributeProto.UNDEFINED:
                value = graph.helper.get_attribute_value(usual)
        return value.decode() if isinstance(value, bytes) else value

    def has(self, i):
        """True if input i is given."""
        return i < len(self.values) and self.values[i] is not None

    def value(self, i):
        """The value of input i."""
        return self.values[i]

    def dtype(self, i=0):
        return self.values[i].dtype

    def rank(self, i=0):
        return len(self.dims(i))

    def dims(self, i=0):
        """The sizes of an input: integers, or expressions of it."""
        return self.writer.dims_of(self.values[i])

    def fixed(self, i=0, dims=None):
        """The sizes of an input, which must all be known. Raises: Unsupported."""
        found = self.dims(i)
        if not all(isinstance(found[k], (int, np.integer)) for k in (range(len(found)) if dims is None else dims)):
            raise Unsupported("its sizes must be known: export the model with fixed sizes")
        return [d if isinstance(d, Size) else int(d) for d in found]

    def axis(self, default=None, name="axis", i=0):
        """An attribute that counts dimensions, not negative."""
        value = self.attr(name, default)
        return None if value is None else int(value) % max(self.rank(i), 1)

    def ints(self, i):
        """The elements of an input that must be known: a list of integers and sizes, or None if it is not given."""
        if not self.has(i):
            return None
        found = self.values[i].known()
        if found is None:
            raise Unsupported(f"its input `{self.proto.input[i]}` must be known: {given(self.proto.input[i])}")
        return [item if isinstance(item, Size) else int(item) for item in np.asarray(found, object).reshape(-1)]

    def constant(self, i):
        """The array of an input that must be known. Raises: Unsupported."""
        if not self.has(i):
            return None
        if self.values[i].const is None:
            raise Unsupported(f"its input `{self.proto.input[i]}` must be known: {given(self.proto.input[i])}")
        return self.values[i].const

    def text(self, i, prec=LOOSE):
        """Input i as an expression of its type."""
        return self.writer.tensor(self.values[i]).within(prec)

    def scalar(self, i, prec=LOOSE):
        """Input i beside a tensor of its type: a constant of one element is written as a number."""
        value = self.values[i]
        if value.const is not None and value.const.size == 1:
            return number(value.const.reshape(-1)[0], value.dtype).within(prec)
        return self.text(i, prec)

    def array(self, array, dtype=None):
        """A constant that the row computed."""
        array = np.asarray(array)
        value = Value(None, dtype or array.dtype.name, list(array.shape), const=array, name="constant")
        return self.writer.tensor(value)


def given(name):
    """What to write for an input that must be known."""
    return f"make it an initializer, or pass constants={{{name!r}: …}}"


class Writer:
    """Statements of the layer, its parameters and locals."""

    def __init__(self, version, table, prefix=""):
        self.version, self.table, self.prefix = version, table, prefix
        self.lines, self.params, self.tensors = [], [], {}
        self.taken, self.uses, self.errors = {*KEYWORDS, *FUNCTIONS}, Counter(), []

    def fresh(self, wanted):
        """A name that is not taken yet."""
        name, count = wanted, 2
        while name in self.taken:
            name, count = f"{wanted}_{count}", count + 1
        self.taken.add(name)
        return name

    def tensor(self, value):
        """The text of a value as a tensor."""
        if value.text is None and value.const is not None:
            small = value.const.size <= (1 if value.stored else LITERAL)
            value.text = literal(value.const, value.dtype) if small else self.param(value)
        elif value.text is None:
            parts = [f"full([1], {size}, dtype={value.dtype})" for size in value.sizes.reshape(-1)]
            joined = parts[0] if len(parts) == 1 else f"concat([{', '.join(parts)}])"
            shape = list(value.sizes.shape)
            value.text = Text(joined if len(shape) == 1 else f"{joined}.reshape({shape})")
            self.bind(value)
        return value.text

    def param(self, value):
        """Declares a constant as a parameter."""
        name = self.fresh(self.prefix + identifier(value.name))
        self.params.append(f"    param {name}: Tensor<{value.dtype}, {list(value.const.shape)}>")
        self.tensors[name] = value.const
        return Text(name)

    def dims_of(self, value):
        """The sizes of a value: those that are not known are expressions of it."""
        if None in value.dims and not value.text.isidentifier():
            self.bind(value)
        return [Size(f"{value.text}.shape[{k}]") if d is None else d for k, d in enumerate(value.dims)]

    def bind(self, value):
        """Gives a value a local name."""
        name = self.fresh(identifier(value.name))
        self.lines.append(f"        let {name} = {value.text}")
        value.text = Text(name)

    # ---- nodes ----

    def nodes(self, protos, scope, version):
        """Translates nodes in order; `scope` are the values by name."""
        for proto in protos:
            for name in proto.input:
                self.uses[name] += 1
        for proto in protos:
            if any(name and scope.get(name) is None for name in proto.input):
                for name in proto.output:  # an earlier node was refused
                    scope[name] = None
                continue
            try:
                self.node(proto, scope, version)
            except (Unsupported, Undecided) as error:
                text = f"a comparison of sizes is known at run time only: {error}" if isinstance(
                    error, Undecided) else str(error)  # fmt: skip
                self.errors.append((proto.op_type, proto.name or proto.output[0], text))
                scope.update(dict.fromkeys(proto.output))

    def node(self, proto, scope, version):
        """Translates one node."""
        inputs = [scope[name] if name else None for name in proto.input]
        known = {n: v.const for n, v in zip(proto.input, inputs) if v is not None}
        if all(array is not None for array in known.values()) and proto.op_type not in ("If", "Loop", "Scan"):
            made = graph.fold(proto, version, known)
            if made is not None:
                for name, array in zip(proto.output, made):
                    self.keep(scope, name, constant(array, name))
                return
        schema = graph.schema_of(proto, version)
        if schema is None:
            raise Unsupported(
                f"the domain {proto.domain or 'ai.onnx'} has no such operator: export with standard operators"
            )
        if proto.op_type in ("Shape", "Size") or any(v is not None and v.sizes is not None for v in inputs):
            made = compute(proto, inputs, self.dims_of)
            if made is not None:
                self.keep(scope, proto.output[0], made)
                return
        self.row(proto, schema, scope, version, inputs)

    def keep(self, scope, name, value):
        if name:
            value.name = name
            scope[name] = value

    def row(self, proto, schema, scope, version, inputs):
        """Translates a node by its row of the table, or by its definition."""
        row = self.table.get((proto.domain, proto.op_type)) or self.table.get(proto.op_type)
        outputs = [name for name in proto.output]
        try:
            if row is None:
                raise Expand
            made = self.texts(row, Node(self, proto, schema, inputs, outputs), inputs)
        except Expand:
            self.expand(proto, schema, scope, version)
            return
        kinds = graph.infer(proto, schema, version, scope)
        self.define(scope, outputs, made, kinds)

    def texts(self, row, node, inputs):
        """What a row gives; inputs that it uses more than once are bound to names first."""
        made = row(node)
        if isinstance(made, Value) and made.text is None:
            return made
        text = str(made.text if isinstance(made, Value) else made)
        again = False
        for value in inputs:
            named = value is None or value.text is None or value.const is not None or value.text.isidentifier()
            if not named and text.count(value.text) > 1:
                self.bind(value)
                again = True
        return row(node) if again else made

    def define(self, scope, outputs, made, kinds):
        """Makes the results of a row values: one text, a Value with its own sizes, or a list of these."""
        if isinstance(made, tuple):
            self.destructure(scope, outputs, *made, kinds)
            return
        made = made if isinstance(made, list) else [made]
        for name, item in zip(outputs, made):
            if name:
                self.keep(
                    scope, name, item if isinstance(item, Value) and item.dtype else self.typed(item, name, kinds)
                )
                self.settle(scope[name], name)

    def typed(self, item, name, kinds):
        dtype, dims = kinds.get(name, (None, None))
        if isinstance(item, Value):
            dims, item = item.dims if item.dims is not None else dims, item.text
        if dtype is None or dims is None:
            raise Unsupported("the type of its result cannot be inferred: run onnx.shape_inference on the model")
        if dtype not in DTYPES:
            raise Unsupported(f"the language has no {dtype}")
        return Value(item, dtype, dims)

    def settle(self, value, name):
        """Binds a value that is used more than once, or is long, to a name."""
        named = value.const is not None or value.sizes is not None or value.text.isidentifier()
        if not named and (self.uses[name] != 1 or len(value.text) > INLINE):
            self.bind(value)

    def destructure(self, scope, outputs, text, count, kinds):
        """`let (a, b) = f(x)`."""
        names = []
        for name in [*outputs, *[""] * (count - len(outputs))]:
            used = name and self.uses[name]
            names.append(self.fresh(identifier(name) if used else "_"))
            if name:
                self.keep(scope, name, self.typed(Text(names[-1]), name, kinds))
        self.lines.append(f"        let ({', '.join(names)}) = {text}")

    def expand(self, proto, schema, scope, version):
        """Translates the nodes that define an operator."""
        body = graph.body_of(proto, schema, version, scope)
        if body is None:
            raise Unsupported(ADVICE.get(proto.op_type, "no function of the language computes it"))
        given = {a.name: a for a in proto.attribute}
        usual = {name: a.default_value for name, a in schema.attributes.items() if a.default_value.type}
        for a in [*body.attribute_proto, *usual.values()]:
            given.setdefault(a.name, a)
        inner = {name: scope[outer] if outer else None for name, outer in zip(body.input, proto.input)}
        absent = {name for name in body.input if inner.get(name) is None}
        steps = [bound(step, given, absent) for step in body.node]
        for name, outer in zip(body.output, proto.output):
            self.uses[name] += self.uses[outer] or 1
        for name in body.input:
            self.uses[name] += 1
        before = len(self.errors)
        self.nodes([s for s in steps if s is not None], inner, graph.opset(body) if body.opset_import else version)
        if len(self.errors) > before:
            reasons = self.errors[before:]
            del self.errors[before:]
            raise Unsupported("; ".join(dict.fromkeys(f"{op} in its definition: {why}" for op, _, why in reasons)))
        for name, outer in zip(body.output, proto.output):
            if outer:
                value = inner[name]
                self.keep(scope, outer, dataclasses.replace(value))


ADVICE = {
    "If": "a branch that is known at run time only: export the branch that is used",
    "Loop": "a loop in the graph: export the model with the loop unrolled",
    "Scan": "a loop in the graph: export the model with the loop unrolled",
    "NonZero": "the size of its result depends on values: use a mask and Where",
    "Compress": "the size of its result depends on values: use a mask and Where",
    "Unique": "the size of its result depends on values: leave it out of the model",
    "NonMaxSuppression": "the size of its result depends on values: run it outside of the model",
    "RandomNormal": "make the random numbers an input",
    "RandomUniform": "make the random numbers an input",
    "Bernoulli": "make the random numbers an input",
}


def bound(step, given, absent):
    """A node of a definition with the attributes of its call, and without inputs that the call lacks."""
    made = type(step)()
    made.CopyFrom(step)
    del made.attribute[:]
    for a in step.attribute:
        if a.ref_attr_name:
            if a.ref_attr_name in given:
                b = AttributeProto()
                b.CopyFrom(given[a.ref_attr_name])
                b.name, b.ref_attr_name = a.name, ""
                made.attribute.append(b)
        else:
            made.attribute.append(a)
    for i, name in enumerate(made.input):
        if name in absent:
            made.input[i] = ""
    return made


def constant(array, name):
    """A value of an array."""
    return Value(None, array.dtype.name, list(array.shape), const=array, name=name)


def translate(model, table, name="Net", opened=None, constants=None, prefix=""):
    """The program of a model. `opened` are names of sizes to keep open by input and dimension.

    Raises: OperatorError with all nodes that have no counterpart.
    """
    writer, scope, signature = Writer(graph.opset(model), table, prefix), {"": None}, []
    for tensor in model.graph.initializer:
        array = graph.array_of(tensor)
        scope[tensor.name] = dataclasses.replace(constant(array, tensor.name), stored=array.dtype.kind not in "iub")
    for key, array in (constants or {}).items():
        scope[key] = constant(np.asarray(array), key)
    writer.taken |= size_names(model, opened or {})
    for info in model.graph.input:
        if info.name not in scope:
            scope[info.name] = declare(writer, info, (opened or {}).get(info.name, {}), signature)
    for result in model.graph.output:
        writer.uses[result.name] += 1
    with np.errstate(all="ignore"):
        writer.nodes(model.graph.node, scope, writer.version)
    if writer.errors:
        raise OperatorError(refusal(writer.errors))
    results = [writer.tensor(scope[result.name]) for result in model.graph.output]
    lines = [f"layer {name}() {{", *writer.params, f"    fn forward({', '.join(signature)}) {{", *writer.lines]
    return Program("\n".join([*lines, f"        return {', '.join(results)}", "    }", "}", ""]), name, writer.tensors)


def size_names(model, opened):
    names = {identifier(d.dim_param) for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    return names | {name for axes in opened.values() for name in axes.values()}


def declare(writer, info, opened, signature):
    """The value of an input, which becomes an argument."""
    dtype, _ = graph.shape_of(info.type)
    if dtype is None:
        raise OperatorError(f"the input {info.name} is no tensor of {', '.join(DTYPES)}: convert it before the model")
    name, dims = writer.fresh(identifier(info.name)), []
    for axis, dim in enumerate(info.type.tensor_type.shape.dim):
        if axis in opened:
            dims.append(Size(opened[axis]))
        elif dim.dim_param:
            dims.append(Size(identifier(dim.dim_param)))
        else:
            dims.append(dim.dim_value if dim.HasField("dim_value") else None)
    shown = ["?" if d is None else d for d in dims]
    signature.append(f"{name}: Tensor<{dtype}, {size_list(shown)}>")
    return Value(Text(name), dtype, dims, name=info.name)


def refusal(errors):
    """The text about nodes that cannot be imported: each reason once, with the nodes."""
    places = {}
    for op, node, advice in errors:
        places.setdefault((op, advice), []).append(node)
    lines = [f"{len(places)} operator{'s' if len(places) > 1 else ''} cannot be imported:"]
    for (op, advice), nodes in sorted(places.items()):
        more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
        lines.append(f"  {op} in {', '.join(nodes[:3])}{more}: {advice}")
    return "\n".join(lines)
