"""`trib.export`: a model of PyTorch as a project of the language."""

from __future__ import annotations

import os
import pathlib
import re

import torch
from torch.utils import _pytree as pytree

from .. import project
from ..errors import ArgumentError, ExportError
from .graph import Aliased, Changing, read_exported, tensor_of
from .layers import make_groups
from .modules import recurrent, trained
from .text import write_program
from .tree import Tree


def export(model, example_inputs, path, *, dynamic_shapes=None, name=None):
    """Writes a model as a project in the folder `path`: `NAME.tri`, `tri.build` and `NAME.safetensors`.

    `example_inputs` is a tuple of arguments of `forward`, or a dict of them by name. `dynamic_shapes` is that of
    `torch.export.export`: `({0: torch.export.Dim("N")},)` keeps the first size of the first argument open; others are
    those of the examples. Layers and members have the names of the model's classes and attributes, parameters those of
    its `state_dict`; several modules that differ in numbers only are one layer. `name` is that of the model's library,
    by default the class's. The model must be in evaluation mode, and is not changed.

    Returns the folder as a `pathlib.Path`; `trib build` in it builds the library.

    Raises: ExportError with all operations that have no counterpart, and what to write; ArgumentError if `model` is no
    module, `name` no name of a model, or `path` a file; those of `torch.export`.
    """
    model = unwrap(model)
    _check_target(path, name)
    args, kwargs = split_inputs(example_inputs)
    program, graph = trace(model, args, kwargs, dynamic_shapes)
    graph.axis_names = _axis_names(program, dynamic_shapes)
    text, entry, tree = translate_traced(model, graph)
    name = name or project.snake(type(model).__name__)
    tensors = {full: tensor for module in tree.modules.values() for full, tensor in module.params.values()}
    project.write(path, name, text, entry, tensors)
    folder = pathlib.Path(path)
    project.arrange(folder / f"{name}.tri")
    return folder


def unwrap(model):
    """The model inside of `torch.compile` and `DataParallel`, whose names have no prefix."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
            inner = model.module
        if inner is None:
            break
        model = inner
    if not isinstance(model, torch.nn.Module):
        remedy = "put it in the `forward` of a class derived from torch.nn.Module"
        raise ArgumentError(f"the model is a {type(model).__name__}, not a torch.nn.Module: {remedy}")
    return model


def _check_target(path, name):
    """Raises ArgumentError if a project cannot have this folder, or its model this name."""
    if name is not None and not (isinstance(name, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)):
        remedy = f", such as {project.snake(name)!r}" if isinstance(name, str) else ""
        raise ArgumentError(f"name={name!r} cannot name a model: pass letters, digits and underscores{remedy}")
    path = pathlib.Path(path)
    file = next((part for part in (path, *path.parents) if part.exists() and not part.is_dir()), None)
    if file is not None:
        raise ArgumentError(f"{file} is a file, but a project is a folder: pass the path of a folder, or remove it")


def split_inputs(example_inputs):
    """(args, kwargs) of examples, which are a tuple, a dict or one tensor."""
    if isinstance(example_inputs, dict):
        return (), dict(example_inputs)
    return (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs), {}


def translate_traced(model, graph):
    """(source text, entry's name, tree) of a model's graph."""
    modules = dict(model.named_modules())
    classes = {key: f"{type(module).__module__}.{type(module).__qualname__}" for key, module in modules.items()}
    return translate(graph, classes, trained_layers(model))


def trained_layers(model):
    """The layers of `trib.nn` and the recurrent ones in a model, by path."""
    return {
        key: made for key, module in model.named_modules() if key and (made := trained(module) or recurrent(module))
    }


def trace(model, args, kwargs, dynamic_shapes):
    """The exported program of a model in evaluation mode, and its graph."""
    if not hasattr(torch, "export"):
        raise ExportError(f"this is PyTorch {torch.__version__}: models are exported by 2.5 or later")
    if model.training:
        raise ExportError(f"{type(model).__name__} is in training mode: call model.eval() first")
    with torch.no_grad():
        program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
        try:
            return program, read_exported(program, {})
        except Aliased:
            program = program.run_decompositions({})
            return program, read_exported(program, {})
        except Changing as error:
            names = ", ".join(error.args[0])
            raise ExportError(
                f"a run changes {names}: take and return such tensors, or declare them as `state` in the exported file"
            ) from None


def _axis_names(program, dynamic_shapes):
    """The names of symbolic sizes by symbol, from the `Dim`s of `dynamic_shapes`."""
    if dynamic_shapes is None:
        return {}
    values = dynamic_shapes.values() if isinstance(dynamic_shapes, dict) else dynamic_shapes
    given = pytree.tree_leaves(list(values), is_leaf=_is_shape)
    users = [node for node in program.graph.nodes if node.op == "placeholder"][-len(given) :] if given else []
    names = {}
    for node, shape in zip(users, given):
        axes = shape.items() if isinstance(shape, dict) else enumerate(shape or ())
        for axis, dim in axes if tensor_of(node) is not None else ():
            size, word = tensor_of(node).shape[axis], getattr(dim, "__name__", "")
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol and word.isidentifier() and word[0] != "_":
                names[size.node.expr] = word
    return names


def _is_shape(value):
    """True of what `dynamic_shapes` has for one tensor."""
    if isinstance(value, dict):
        return all(isinstance(key, int) for key in value)
    return value is None or (
        isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list, tuple)) for item in value)
    )


def _share_tensors(graph):
    """Gives parameters that are one tensor one name, the first."""
    first = {}
    for node, name in graph.params.items():
        tensor = graph.tensors[name]
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype) if tensor.numel() else name
        graph.params[node] = first.setdefault(key, name)


def translate(graph, classes=None, known=None):
    """(source text, entry's name, tree) of a graph. `classes` and `known` layers of `trib.nn` are by path.

    Raises: ExportError with all operations that have no counterpart.
    """
    _share_tensors(graph)
    tree = Tree(graph, classes or {}, known or {})
    if tree.errors:
        raise ExportError(refusal(tree.errors))
    groups = make_groups(tree)
    entry = next(group.name for group in groups if tree.modules[""] in group.modules)
    return write_program(tree, groups), entry, tree


def refusal(errors):
    """The text about operations that cannot be exported: each once, with the modules that use it."""
    places = {}
    for name, path, advice in errors:
        places.setdefault((name, advice), []).append(path or "the model itself")
    lines = [f"{len(places)} operation{'s' if len(places) > 1 else ''} cannot be exported:"]
    for (name, advice), paths in sorted(places.items()):
        shown = list(dict.fromkeys(paths))
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        lines.append(f"  {name} in {', '.join(shown[:3])}{more}: {advice}")
    return os.linesep.join(lines)
