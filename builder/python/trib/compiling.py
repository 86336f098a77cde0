"""Models from sources, for notebooks: :func:`compile` and :func:`lazy`."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Callable, overload

from . import errors, installation, safetensors
from .building import _level, _path
from .diagnostics import Diagnostic, with_source
from .model import Model, load

if TYPE_CHECKING:
    import torch

_MOST_CACHED = 100  # folders of compiled sources in the user's cache
_NAME = "notebook"  # of sources without a file


class CompileWarning(UserWarning):
    """A warning about sources."""


def _cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "trib", "python")


def _is_file(source):
    """A path, or text of a source: that has several lines, or braces."""
    return isinstance(source, os.PathLike) or (source.endswith(".tri") and "\n" not in source and "{" not in source)


def _drop_old(folder):
    """Removes the folders that were not used for longest, if there are too many. They are made again when needed."""
    entries = sorted(os.scandir(folder), key=lambda e: e.stat().st_mtime)
    for entry in entries[: max(len(entries) - _MOST_CACHED, 0)]:
        shutil.rmtree(entry.path, ignore_errors=True)


def _stamp(path):
    s = os.stat(path)
    return f"{path} {s.st_size} {s.st_mtime_ns} {s.st_ino}"


def _digest(*parts):
    h = hashlib.blake2b(digest_size=16)
    for part in parts:
        part = part if isinstance(part, bytes) else str(part).encode()
        h.update(b"%d:" % len(part) + part)
    return h.hexdigest()


def _diagnostics(lines, folder):
    for line in lines:
        if not line.startswith('{"type":"diagnostic"'):
            continue
        d = json.loads(line)
        span = next((s for s in d["spans"] if s["primary"]), {})
        places = [span.get(key, 0) for key in ("line", "col", "end_line", "end_col")]
        text = [d["code"], d["message"], span.get("label") or "", d.get("help") or "", span.get("file", "")]
        yield with_source(Diagnostic(d["severity"], *text, *places), folder)


def _run(source, folder, words):
    """Lets trib check the source and make a library in the folder, where a source without a path is.

    Returns the path of the library. One for the CPU has no code yet.

    Raises CompileError.
    """
    argv = [installation.program(), "build", source, f"--out={folder}/", "--lazy", *words]
    where = folder if os.path.dirname(source) == "" else None
    done = subprocess.run(
        [*argv, "--message-format=json", "--no-server"],
        check=False,
        cwd=where,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    found = list(_diagnostics(done.stdout.splitlines(), where or "."))
    wrong = [d for d in found if d.severity == "error"]
    if done.returncode:
        message = str(wrong[0]) if wrong else done.stderr.strip() or f"trib ended with {done.returncode}"
        raise errors.CompileError(message, found) if wrong else errors.BuildError(message)
    for d in found:
        warnings.warn(str(d), CompileWarning, stacklevel=4)
    built = next(line for line in done.stdout.splitlines() if line.startswith('{"type":"build"'))
    return json.loads(built)["outputs"][0]


def _words(weights, emit, entry, inputs, opt, cpu):
    level = _level(opt)
    words = [f"-O{chr(level)}"] if level else []
    given = ("--emit", emit), ("--weights", weights), ("--entry", entry), ("--cpu", cpu)
    words += [f"{flag}={value}" for flag, value in given if value]
    return words + [f"--input={name}={kind}" for name, kind in (inputs or {}).items()]


def _compile_text(source, weights, options):
    """Returns the path of the library, which an earlier call or process may have made.

    Weights may be the content of a file.
    """
    raw = weights if isinstance(weights, bytes) else b""
    raw = safetensors.encode(weights) if isinstance(weights, Mapping) else raw
    path = None if weights is None or raw else os.path.abspath(_path(weights))
    known = _digest(
        source, raw, path and _stamp(path), sorted(options.items(), key=str), _stamp(installation.library())
    )
    folder = os.path.join(_cache_folder(), known)
    library = os.path.join(folder, f"lib{_NAME}{'' if options['emit'] == 'library' else '_opencl'}.so")
    if os.path.exists(library):
        os.utime(folder)
        return library
    os.makedirs(_cache_folder(), exist_ok=True)
    made = tempfile.mkdtemp(prefix="new-", dir=_cache_folder())
    try:
        with open(os.path.join(made, f"{_NAME}.tri"), "w", encoding="utf-8") as file:
            file.write(source)
        if raw:
            path = os.path.join(made, "weights.safetensors")
            with open(path, "wb") as file:
                file.write(raw)
        _run(f"{_NAME}.tri", made, _words(path, **options))
        try:
            os.rename(made, folder)
        except OSError:  # another process was faster
            shutil.rmtree(made, ignore_errors=True)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _drop_old(_cache_folder())
    return library


def _compile_file(source, weights, options):
    """Returns the path of the library. A file may import others, which only trib knows: it finds in its cache what did not change."""
    source = os.path.abspath(_path(source))
    if not os.path.isfile(source):
        raise errors.NotFoundError(f"there is no source {source}: pass the path of a .tri file, or its text")
    folder = os.path.join(_cache_folder(), _digest(source, sorted(options.items(), key=str), str(type(weights))))
    os.makedirs(folder, exist_ok=True)
    path = None if weights is None else os.path.join(folder, "weights.safetensors")
    if isinstance(weights, Mapping):
        with open(path, "wb") as file:
            file.write(safetensors.encode(weights))
    elif weights is not None:
        path = os.path.abspath(_path(weights))
    library = _run(source, folder, _words(path, **options))
    _drop_old(_cache_folder())
    return library


def _export(module, example_inputs, dynamic_shapes):
    """Returns the source and the weights file of a module of PyTorch."""
    if example_inputs is None:
        raise errors.ArgumentError("a module of PyTorch needs inputs to trace: pass example_inputs=(x,)")
    from .pytorch.exporter import export

    with tempfile.TemporaryDirectory(prefix="trib-") as folder:
        path = export(module, example_inputs, folder, dynamic_shapes=dynamic_shapes, name=_NAME)
        weights = path / f"{_NAME}.safetensors"
        return (path / f"{_NAME}.tri").read_text(), weights.read_bytes() if weights.exists() else None


def compile(
    source: str | os.PathLike[str] | torch.nn.Module,
    weights: Mapping | str | os.PathLike[str] | None = None,
    *,
    example_inputs: tuple | Mapping | None = None,
    dynamic_shapes=None,
    entry: str | None = None,
    inputs: Mapping[str, str] | None = None,
    opt: int | str | None = None,
    cpu: str | None = None,
    device: str | None = None,
    **options,
) -> Model:
    """Returns a model of a source: its text, the path of a .tri file, or a module of PyTorch.

    The source is checked now; each layer is compiled at its first call, or found in the user's cache. The same text
    with the same weights is not checked again, also in another process.

    Args:
        source: the text, a path that ends in .tri, or a module.
        example_inputs, dynamic_shapes: of a module: those of :func:`trib.export`.
        weights: a mapping such as a `state_dict`, or the path of a file; without it parameters have initial values.
        entry: a layer, or one of its functions: "Net.decode"; default: the last layer.
        inputs: types of inputs that the source leaves open: {"x": "float32[?, 64]"}.
        opt, cpu: as `trib build -O2 --cpu`.
        device: that of :func:`load`. Default: "cpu"; the model is compiled for OpenCL if another is named.
        options: of :func:`load`: threads, contexts, capacities.

    Raises: CompileError with `diagnostics` if the source has errors; NotFoundError, BuildError, and those of load.

    >>> m = trib.compile("layer Double() { fn forward(x: Tensor<float32, [N]>) { return 2.0 * x } }")
    """
    if hasattr(source, "state_dict"):
        source, weights = _export(source, example_inputs, dynamic_shapes)
    if not isinstance(source, (str, os.PathLike)):
        raise errors.ArgumentError(f"the source is a {type(source).__name__}: pass the text of a source or a path")
    if isinstance(weights, (str, os.PathLike)) and not os.path.exists(weights):
        raise errors.NotFoundError(f"there are no weights {os.fspath(weights)}: pass a file or a mapping of tensors")
    emit = "library" if device in (None, "cpu") else "opencl"
    how = {"emit": emit, "entry": entry, "inputs": dict(inputs or {}), "opt": opt, "cpu": cpu}
    library = (_compile_file if _is_file(source) else _compile_text)(source, weights, how)
    return load(library, device=device, **options)


class Lazy:
    """A model that is made at its first use, by a function. Calls and attributes are those of the model."""

    def __init__(self, function: Callable, options: Mapping):
        functools.update_wrapper(self, function)
        self._function, self._options = function, options
        self._lock = threading.RLock()
        self._made: Model | None = None

    @property
    def model(self) -> Model:
        """The model. Raises the errors of the function, of :func:`compile` and of :func:`load`."""
        with self._lock:
            if self._made is None:
                self._made = _model_of(self._function, self._options)
            return self._made

    def __call__(self, *args, **words):
        return self.model(*args, **words)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self):
        return f"<trib.Lazy {self.__name__}: {self._made or 'not used yet'}>"


def _model_of(function, options):
    made = function()
    made = function.__doc__ if made is None else made
    if isinstance(made, Model):
        return made
    if isinstance(made, (str, os.PathLike)) and str(made).endswith(".so"):
        return load(made, **options)
    if made is None:
        raise errors.ArgumentError(f"{function.__name__} returns nothing and has no docstring: return a source")
    return compile(made, **options)


@overload
def lazy(function: Callable, **options) -> Lazy: ...
@overload
def lazy(function: None = None, **options) -> Callable[[Callable], Lazy]: ...
def lazy(function=None, **options):
    """Makes a function a model, which is compiled or loaded at its first use.

    The function returns the text of a source, the path of a .tri file or of a library, or a model. If it returns
    nothing, its docstring is the source. The options are those of :func:`compile` and :func:`load`.

    >>> @trib.lazy
    ... def double():
    ...     "layer Double() { fn forward(x: Tensor<float32, [N]>) { return 2.0 * x } }"
    >>> double(x)
    """
    if function is None:
        return functools.partial(lazy, **options)
    return Lazy(function, options)
