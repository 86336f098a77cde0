"""`trib.from_onnx`: an ONNX model as a project of the language."""

from __future__ import annotations

import os
import pathlib

from .. import errors, project


def from_onnx(source, path, *, dynamic=None, constants=None, name=None):
    """Writes an ONNX model as a project in the folder `path`: `NAME.tri`, `tri.build` and `NAME.safetensors`.

    Args:
        source: the path of a .onnx file, or an `onnx.ModelProto`, of opset 13 to 21; older ones are converted by
            `onnx`, newer ones are read as far as their operators are known.
        path: the folder, which is made.
        dynamic: sizes that the model fixes and the project keeps open: `{"x": {0: "N"}}`. Sizes with a name in the
            model are open anyway.
        constants: values of inputs that must be known, such as the shape of a Reshape: `{"shape": [2, -1]}`.
        name: that of the model's library, by default the file's or the graph's.

    Returns the folder as a `pathlib.Path`; `trib build` in it builds the library. Inputs keep their names and order,
    initializers are parameters under their names.

    Raises: OperatorError with all operators that have no counterpart, their nodes, and what to write;
    NotFoundError without the package `onnx`, or the file.
    """
    try:
        import onnx
    except ImportError:
        raise errors.NotFoundError("there is no package `onnx`, which reads the model: pip install onnx") from None
    from . import graph, translate
    from .operators import TABLE

    if not isinstance(source, onnx.ModelProto) and not os.path.isfile(source):
        raise errors.NotFoundError(f"there is no file {os.fspath(source)}: pass the path of a .onnx file")
    model = graph.read_model(source)
    name = name or _name(source, model)
    title = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    program = translate.translate(model, TABLE, title, dynamic, constants)
    folder = pathlib.Path(path)
    project.write(folder, name, program.text, program.entry, program.tensors)
    project.arrange(folder / f"{name}.tri")
    return folder


def _name(source, model):
    return project.snake(pathlib.Path(source).stem if isinstance(source, (str, os.PathLike)) else model.graph.name)
