"""Tensors of NumPy and PyTorch: what the extension module does not do itself, because it is rare or an error.

The module shares memory of dense tensors on the CPU through DLPack. All else comes here: views that must be copied,
read-only arrays, types that DLPack or a framework lacks, and wrong tensors.
"""

import sys

from . import _native, errors

NUMPY, TORCH = 0, 1  # enum framework_index of the extension module
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def framework_of(kind):
    """Returns the framework of a type of tensors: NUMPY, TORCH, or -1 for another one."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and issubclass(kind, torch.Tensor):
        return TORCH
    if numpy and issubclass(kind, (numpy.ndarray, numpy.generic)):
        return NUMPY
    return -1


def _ml_dtypes():
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes


def storage_of(dtype):
    """Returns the name of the element type in NumPy and PyTorch: a trit is an int8."""
    return "int8" if dtype == "trit" else dtype


def numpy_dtype(dtype):
    """Returns the NumPy dtype of an element type, or None: NumPy has no bfloat16 without ml_dtypes."""
    import numpy

    if dtype == "bfloat16":
        more = _ml_dtypes()
        return numpy.dtype(more.bfloat16) if more else None
    return numpy.dtype(storage_of(dtype))


def describe_framework(index):
    """Returns how the extension module makes tensors: the function, its keywords and a view for each element type,
    an exporter, and whether calls are recorded now."""
    if index == TORCH:
        import torch
        from torch.utils.dlpack import to_dlpack

        made = [torch.uint8 if t == "bool" else getattr(torch, storage_of(t)) for t in _native.DTYPES]
        views = tuple(torch.bool if t == "bool" else None for t in _native.DTYPES)
        return torch.empty, tuple({"dtype": t, "device": "cpu"} for t in made), views, to_dlpack, torch._C._is_tracing
    import numpy

    types = [numpy_dtype(t) for t in _native.DTYPES]
    made = {"bool": "uint8", "bfloat16": "uint16"}  # NumPy exports others only since some version, or not at all
    options = tuple(t and {"dtype": numpy.dtype(made.get(n, t))} for n, t in zip(_native.DTYPES, types))
    return numpy.empty, options, tuple(t if n in made else None for n, t in zip(_native.DTYPES, types)), None, None


def refuse_output(framework, dtype):
    """Raises: the framework has no such element type."""
    name = "PyTorch" if framework == TORCH else "NumPy"
    raise errors.DtypeError(f"an output is {dtype}, which {name} lacks: install ml_dtypes, or pass PyTorch tensors")


def _wrong_dtype(what, dtype, got, remedy):
    return errors.DtypeError(f"{what}: expected {dtype}, got {got}: {remedy}")


def _numpy_array(value, what, dtype):
    """Returns the array if its elements have the type, else raises."""
    import numpy

    if isinstance(value, numpy.ma.MaskedArray):
        raise errors.ArgumentError(f"{what} is a masked array: fill it with .filled(value)")
    array, want = numpy.asarray(value), numpy_dtype(dtype)
    if want is None:
        raise errors.DtypeError(
            f"{what}: expected bfloat16, which NumPy lacks: install ml_dtypes, or pass a PyTorch tensor"
        )
    if array.dtype == want:
        return array
    if not array.dtype.isnative and array.dtype.newbyteorder("=") == want:
        raise _wrong_dtype(what, dtype, "the other byte order", f"convert it with .astype(numpy.{want.name})")
    remedy = (
        "quantize it to int8 before"
        if dtype == "trit"
        else f"convert it with .astype({'ml_dtypes' if dtype == 'bfloat16' else 'numpy'}.{want.name})"
    )
    raise _wrong_dtype(what, dtype, array.dtype, remedy)


def _check_values(value, what):
    """Raises if a tensor has no memory with values: while a function is traced or transformed."""
    import torch

    traced = "torch.jit.trace" if torch.jit.is_tracing() else None
    wrapped = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    if wrapped and wrapped(value):
        traced = "torch.func (vmap, grad, ...)"
    subclasses = sys.modules.get("torch._subclasses")
    if isinstance(value, getattr(subclasses, "FakeTensor", ())):
        traced = "torch.export or a FakeTensorMode"
    if traced:
        remedy = "call it with plain tensors"
        raise errors.ArgumentError(f"{what} is traced by {traced}, but a compiled model reads values: {remedy}")


def _torch_tensor(value, what, dtype):
    """Returns the tensor if it is dense, on the CPU and of the type, else raises."""
    import torch

    _check_values(value, what)
    if value.requires_grad:
        raise errors.GradientError(f"{what} requires a gradient, but a compiled model computes none: pass .detach()")
    if value.device.type != "cpu":
        raise errors.DeviceError(f"{what} is on {value.device}, but models read the memory of the CPU: pass .cpu()")
    if value.layout is not torch.strided:
        raise errors.ArgumentError(f"{what} is {value.layout}, but models read dense tensors: pass .to_dense()")
    got = str(value.dtype).replace("torch.", "")
    if got != storage_of(dtype):
        remedy = "quantize it to int8 before" if dtype == "trit" else f"convert it with .to(torch.{dtype})"
        raise _wrong_dtype(what, dtype, got, remedy)
    return value.resolve_neg() if value.is_neg() else value


def _array_memory(array):
    return array.__array_interface__["data"][0], array.shape, array


def _scalar_memory(value, what, dtype):
    import numpy

    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    if dtype not in {"bool": ("bool",), "int": ("trit", *_INTEGERS, *_FLOATS), "float": _FLOATS}[kind]:
        raise _wrong_dtype(what, dtype, kind, "pass a number of that type")
    want = numpy_dtype(dtype)
    if want is None:
        return _array_memory(_numpy_array(numpy.asarray(value), what, dtype))
    if want.kind == "i" or want.kind == "u":
        limits = numpy.iinfo(want)
        if not limits.min <= value <= limits.max:
            raise errors.RangeError(f"{what}: {value} is no {dtype}: pass {limits.min} to {limits.max}")
    return _array_memory(numpy.asarray(value, want))


def _foreign_array(value, what):
    """A tensor of another framework as a NumPy array."""
    import numpy

    device = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (1, 0)
    if int(device[0]) not in (1, 3):
        raise errors.DeviceError(
            f"{what} is on another device, but models read the memory of the CPU: copy it to the CPU"
        )
    try:
        return numpy.from_dlpack(value)
    except Exception as error:
        raise errors.ArgumentError(
            f"{what} is a {type(value).__name__} that cannot be shared ({error}): pass a NumPy array"
        ) from error


def _check_rank(what, rank, shape):
    if len(shape) != rank and len(shape) > 8:
        raise errors.ShapeError(f"{what}: expected {rank} dimensions, got {len(shape)}: reshape it")


def memory_of(value, name, dtype, rank):
    """Returns (address, shape, owner) of an input that the extension module cannot share; raises if it is wrong."""
    what = f"input {name}"
    framework = framework_of(type(value))
    if framework == TORCH:
        value = _torch_tensor(value, what, dtype)
        _check_rank(what, rank, value.shape)
        value = value.contiguous()
        value = value if value.data_ptr() % value.element_size() == 0 else value.clone()
        return value.data_ptr(), tuple(value.shape), value
    if rank == 0 and isinstance(value, (bool, int, float)):
        return _scalar_memory(value, what, dtype)
    if framework < 0:
        if not hasattr(value, "__dlpack__"):
            raise errors.ArgumentError(
                f"{what} is a {type(value).__name__}: pass a NumPy array or a PyTorch tensor of {dtype}"
            )
        value = _foreign_array(value, what)
    array = _numpy_array(value, what, dtype)
    _check_rank(what, rank, array.shape)
    return _array_memory(array if array.flags.c_contiguous and array.flags.aligned else array.copy("C"))


def _output_memory(value, name, dtype):
    what, framework = f"out: {name}", framework_of(type(value))
    if framework == TORCH:
        _torch_tensor(value, what, dtype)
        dense, memory = value.is_contiguous(), (value.data_ptr(), tuple(value.shape), value)
        dense = dense and value.data_ptr() % value.element_size() == 0
    elif framework == NUMPY and hasattr(value, "flags"):
        array = _numpy_array(value, what, dtype)
        if not value.flags.writeable:
            raise errors.ArgumentError(f"{what} is read-only: pass a writable array")
        dense, memory = array.flags.c_contiguous and array.flags.aligned, _array_memory(value)
    else:
        raise errors.ArgumentError(
            f"{what} is a {type(value).__name__}: pass a NumPy array or a PyTorch tensor of {dtype}"
        )
    if not dense:
        raise errors.ArgumentError(f"{what} is not dense in row-major order: pass a contiguous tensor")
    _check_rank(what, min(len(memory[1]), 8), memory[1])
    return value, memory


def outputs_of(out, names):
    """Returns (tensor, memory) for each output that the argument `out` gives: a tensor, a sequence in order, or a
    mapping by name."""
    if hasattr(out, "keys"):
        for name in out:
            if name not in (n for n, _ in names):
                raise errors.ArgumentError(f"out has `{name}`, but the outputs are {', '.join(n for n, _ in names)}")
        missing = [n for n, _ in names if n not in out]
        if missing:
            raise errors.ArgumentError(f"out has no `{missing[0]}`: pass a tensor for each output")
        out = [out[n] for n, _ in names]
    elif not isinstance(out, (tuple, list)):
        out = [out]
    if len(out) != len(names):
        wanted = ", ".join(n for n, _ in names)
        raise errors.ArgumentError(f"out has {len(out)} tensors for {len(names)} outputs: pass one for each: {wanted}")
    return tuple(_output_memory(value, name, dtype) for value, (name, dtype) in zip(out, names))
