"""Ternary neural networks: builds them, and runs them on NumPy and PyTorch tensors.

>>> import trib
>>> m = trib.load("build/libdigits.so")
>>> logits = m(images)

Importing this module imports neither NumPy nor PyTorch: what is used is imported then.
"""

import importlib

# Public names, and the module of each. __init__.pyi has the same names for type checkers.
_NAMES = {
    "load": "model",
    "Model": "model",
    "Entry": "model",
    "Description": "description",
    "Profile": "profiles",
    "build": "building",
    "Builder": "building",
    "Progress": "building",
    "Summary": "building",
    "Diagnostic": "diagnostics",
    "compile": "compiling",
    "lazy": "compiling",
    "Lazy": "compiling",
    "CompileWarning": "compiling",
    "load_ipython_extension": "notebook",
    "profile_build": "profiling",
    "profile_block": "profiling",
    "record": "profiling",
    "BuildProfile": "profiling",
    "suggest": "profiling",
    "check_regression": "profiling",
    "compare": "comparing",
    "export": "pytorch.exporter",
    "Difference": "pytorch.compare",
    "from_onnx": "onnx.importer",
    "from_gguf": "decoders",
    "from_pretrained": "decoders",
    "import_model": "importing",
    "Error": "errors",
    "ArgumentError": "errors",
    "ShapeError": "errors",
    "DtypeError": "errors",
    "OutOfMemoryError": "errors",
    "DeviceError": "errors",
    "RangeError": "errors",
    "WeightsError": "errors",
    "AssertionFailed": "errors",
    "CompileError": "errors",
    "BuildError": "errors",
    "BuildCancelled": "errors",
    "BusyError": "errors",
    "CapacityError": "errors",
    "LoadError": "errors",
    "NotFoundError": "errors",
    "ClosedError": "errors",
    "ForkError": "errors",
    "GradientError": "errors",
    "RegressionError": "errors",
    "ExportError": "errors",
    "OperatorError": "errors",
}
# Modules that `import trib` makes reachable as attributes.
_MODULES = ("cache", "errors", "nn")

__all__ = list(_NAMES) + list(_MODULES)


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    from .errors import similar

    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{similar(name, __all__)}")


def __dir__():
    return sorted({*globals(), *__all__})
