"""Reads ONNX models: opsets, functions, element types; computes constants; infers types of single nodes."""

from __future__ import annotations

import os

import numpy as np
import onnx
import onnx.inliner
import onnx.shape_inference
import onnx.version_converter
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from ..errors import OperatorError
from .values import DTYPES

OLDEST, NEWEST = 13, 21  # opsets whose every operator was compared; newer ones are read with their own definitions
FOLDED = 1 << 20  # elements of a constant that is computed now
TYPES = {getattr(TensorProto, name.upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE")): name
         for name in DTYPES}  # fmt: skip
CODES = {name: code for code, name in TYPES.items()}
# Results are random: they are never constants.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}


def read_model(source):
    """The model of a path or ModelProto, of opset 13 or later.

    Raises: OperatorError.
    """
    model = source if isinstance(source, onnx.ModelProto) else onnx.load(os.fspath(source))
    version = opset(model)
    if version < OLDEST:
        try:
            model = onnx.version_converter.convert_version(model, OLDEST)
        except Exception as error:  # noqa: BLE001 the converter has errors of many kinds
            raise OperatorError(
                f"opset {version} is older than {OLDEST}, and onnx cannot convert it ({error}): export it again"
            ) from None
    if len(model.functions):
        model = onnx.inliner.inline_local_functions(model)
    return model


def opset(model):
    """The version of the default operators."""
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), OLDEST)


def attributes(node):
    """The attributes of a node by name."""
    return {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}


def schema_of(node, version):
    """The operator's definition, or None."""
    try:
        return onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError:
        return None


def array_of(tensor, base_dir=""):
    """A TensorProto as an array. bfloat16 is one of ml_dtypes."""
    return numpy_helper.to_array(tensor, base_dir)


def fold(node, version, inputs):
    """The outputs of a node whose inputs are constants, or None if they cannot be computed."""
    if node.op_type in RANDOM or any(len(a.g.node) or len(a.graphs) for a in node.attribute):
        return None
    names = [name for name in node.input if name]
    graph = helper.make_graph(
        [node],
        "constant",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(inputs[n].dtype), inputs[n].shape)
         for n in dict.fromkeys(names)],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, version)])
    try:
        made = ReferenceEvaluator(model).run(None, {name: inputs[name] for name in names})
    except Exception:  # noqa: BLE001 operators without a reference: the row of the table decides
        return None
    if any(not isinstance(array, (np.ndarray, np.generic)) for array in made):
        return None
    made = [np.asarray(array) for array in made]
    return None if any(array.size > FOLDED for array in made) else made


def infer(node, schema, version, values):
    """(element type, sizes) of each output as far as they can be inferred: sizes are integers or None; or None."""
    types, data = {}, {}
    for name in node.input:
        if not name:
            continue
        value = values[name]
        dims = [int(d) if isinstance(d, (int, np.integer)) else None for d in value.dims]
        types[name] = helper.make_tensor_type_proto(CODES[value.dtype], dims)
        if value.const is not None and value.const.size <= 1024:
            data[name] = numpy_helper.from_array(value.const, name)
    try:
        made = onnx.shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=[helper.make_opsetid(node.domain, version)], ir_version=10
        )
    except Exception:  # noqa: BLE001 the row decides
        return {}
    return {name: shape_of(kind) for name, kind in made.items()}


def shape_of(kind):
    """(element type or None, sizes or None) of a TypeProto."""
    tensor = kind.tensor_type
    if not kind.HasField("tensor_type"):
        return None, None
    dims = None
    if tensor.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    return TYPES.get(tensor.elem_type), dims


def body_of(node, schema, version, values):
    """The nodes that define an operator by others, with their opset, or None."""
    if schema.has_context_dependent_function:
        types = []
        for name in node.input:
            kind = onnx.TypeProto()
            if name:
                value = values[name]
                dims = [int(d) if isinstance(d, (int, np.integer)) else None for d in value.dims]
                kind = helper.make_tensor_type_proto(CODES[value.dtype], dims)
            types.append(kind.SerializeToString())
        try:
            versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
            raw = schema.get_context_dependent_function_with_opset_version(
                max(versions), node.SerializeToString(), types
            )
        except Exception:  # noqa: BLE001 the definition does not cover these inputs
            return None
        function = onnx.FunctionProto()
        function.ParseFromString(raw)
        return function
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= version]
        function = onnx.FunctionProto()
        function.ParseFromString(schema.get_function_with_opset_version(max(versions)))
        return function
    return None
