"""Models of built libraries: :func:`load` and :class:`Model`."""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
import pathlib
import warnings
from collections.abc import Mapping

from . import _native, description, errors, profiles


class _Entries(dict):
    """The entries of a model by name."""

    def __missing__(self, name):
        similar = errors.similar(name, self) if isinstance(name, str) else ""
        raise KeyError(f"no entry `{name}`{similar}: the entries are {', '.join(self)}")


class Outputs(tuple):
    """Several outputs: a tuple whose items also have the names of the outputs, as attributes and as keys."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._fields:
            raise KeyError(
                f"no output `{key}`{errors.similar(key, self._fields)}: the outputs are {', '.join(self._fields)}"
            )
        return super().__getitem__(self._fields.index(key))

    def keys(self):
        """Returns the names of the outputs."""
        return self._fields

    def __repr__(self):
        return f"Outputs({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self))})"

    def __reduce__(self):
        return _make_outputs, (self._fields, tuple(self))


@functools.cache
def _outputs_class(names):
    members = {
        name: property(functools.partial(_item, i)) for i, name in enumerate(names) if not hasattr(Outputs, name)
    }
    return type("Outputs", (Outputs,), {"__slots__": (), "_fields": names, **members})


def _item(index, outputs):
    return tuple.__getitem__(outputs, index)


def _make_outputs(names, values):
    return _outputs_class(names)(values)


class _Threads:
    """The threads that await runs: as many as contexts."""

    def __init__(self, count):
        self.count = count
        self.owner = None
        self.executor = None

    def run(self, call):
        import asyncio  # slow to import
        import concurrent.futures

        if self.owner != os.getpid():  # a forked child has none of the threads
            self.executor = concurrent.futures.ThreadPoolExecutor(self.count, thread_name_prefix="trib")
            self.owner = os.getpid()
        return asyncio.get_running_loop().run_in_executor(self.executor, call)

    def close(self):
        if self.executor and self.owner == os.getpid():
            self.executor.shutdown(wait=False)
        self.owner = None


class Entry(_native.Entry):
    """A function of a library, which is called with tensors.

    Inputs come in their order or by name: NumPy arrays, PyTorch tensors, or others with ``__dlpack__``, on the CPU and
    of the entry's dtype. Dense ones are not copied. Numbers are accepted for inputs without dimensions. The outputs are
    PyTorch tensors if an input is one, else NumPy arrays; several are an :class:`Outputs`. ``out`` gives their memory:
    a tensor, a sequence, or a mapping by name.

    Raises: ArgumentError, DtypeError, ShapeError, DeviceError, GradientError and RangeError for wrong inputs;
    ClosedError, ForkError and, if the model has states, BusyError and CapacityError; OutOfMemoryError; AssertionFailed
    for an `assert` of the network.
    """

    def __new__(cls, library, described, index, threads):
        names = tuple(o.name for o in described.outputs)
        self = super().__new__(cls, library, index, None if len(names) == 1 else _outputs_class(names))
        self.description = described
        self._threads = threads
        return self

    def __init__(self, *_):
        super().__init__()

    async def run_async(self, *args, **words):
        """Calls the entry in another thread and awaits it. Arguments, result and errors are those of a call."""
        return await self._threads.run(functools.partial(self, *args, **words))

    def __repr__(self):
        return f"<trib.Entry {self.description}>"

    def __reduce__(self):
        raise errors.ArgumentError(f"the entry {self.description.name} cannot be pickled: pickle its model")


@dataclasses.dataclass(frozen=True)
class _Options:
    """What :func:`load` was called with, so that a model can be opened again."""

    path: str
    threads: int
    contexts: int
    device: str | None
    weights: str | None
    capacities: tuple[tuple[str, int], ...]
    verify: bool
    timeout_ms: int
    open_timeout_ms: int


def _spelling(path):
    """Returns a spelling of the path that is unique for this version of the file.

    The loader takes equal paths for the same library, even if the file was replaced.
    """
    folder, name = os.path.split(os.path.abspath(path))
    bits = os.stat(path).st_ino
    return folder + "/" + "".join(".//" if bits >> i & 1 else "./" for i in range(bits.bit_length())) + name


def _open(options, spelling):
    return _native.Library(
        path=os.fsencode(spelling),
        weights=None if options.weights is None else os.fsencode(options.weights),
        device=None if options.device is None else options.device.encode(),
        capacities={name.encode(): most for name, most in options.capacities},
        threads=options.threads,
        contexts=options.contexts,
        verify=options.verify,
        no_profile=False,
        timeout_ms=options.timeout_ms,
        open_timeout_ms=options.open_timeout_ms,
    )


class Model(Entry):
    """An opened library. Calling it calls its first entry; the others are attributes: ``m.decode(tokens=…)``, and items
    of ``entries``.

    Any number of threads may call a model without states at the same time; each call has a context of its own, up to
    ``contexts``. A model with states runs one call at a time. A forked child may use the models of its parent unless
    they ran or had a device: then it gets a ForkError. A model is pickled as its path and options; states are not part
    of it.
    """

    entries: dict[str, Entry]
    _options: _Options
    _spelling: str
    _library: _native.Library
    _described: description.Description

    def __new__(cls, options, spelling=None):
        spelling = spelling or _spelling(options.path)
        library = _open(options, spelling)
        described = description.of_library(library)
        device, why, backend = library.device()
        if backend == "cpu" and not why and options.device not in (None, "cpu"):
            raise errors.DeviceError(
                f"{options.path} was built for cpu, not for {options.device}: leave out `device`, compile the source with"
                f' trib.compile(…, device="{options.device}"), or load the library for OpenCL, libNAME_opencl.so, which'
                " `emit = library opencl` in tri.build writes"
            )
        if why and options.device != "cpu":
            warnings.warn(f"{described.name} runs on the CPU: {why}", RuntimeWarning, stacklevel=3)
        _check_capacities(options, described)
        threads = _Threads(1 if described.states else options.contexts)
        self = super().__new__(cls, library, described.entries[0], 0, threads)
        self._options, self._spelling, self._library, self._described = options, spelling, library, described
        self.entries = _Entries((e.name, Entry(library, e, i, threads)) for i, e in enumerate(described.entries))
        for name, entry in self.entries.items():
            if not hasattr(cls, name):
                setattr(self, name, entry)
        return self

    def __getattr__(self, name: str) -> Entry:
        if name.startswith("_"):
            raise AttributeError(name)
        known = ", ".join(self.entries)
        raise AttributeError(
            f"the model {self.name} has no entry `{name}`{errors.similar(name, self.entries)}: its entries are {known}"
        )

    @property
    def name(self) -> str:
        """The name of the model in tri.build."""
        return self._described.name

    @property
    def device(self) -> str:
        """What runs it: "cpu", or the name of an OpenCL device."""
        return self._library.device()[0]

    @property
    def path(self) -> str:
        """The path of the library."""
        return self._options.path

    def new(self) -> Model:
        """Opens the same library again with the same options: with states of its own."""
        return type(self)(self._options, self._spelling)

    def describe(self) -> description.Description:
        """Returns names, element types, shapes, states and origin of the library."""
        return self._described

    def profile(self) -> profiles.Profile:
        """Returns what the statements of all calls cost. The library must be built with ``profile = true``.

        Raises: ArgumentError if it was not; BusyError during a call of another thread.
        """
        return profiles.merge(self._library.profile())

    def profile_reset(self):
        """Starts the profile again."""
        self._library.profile_reset()

    def reset(self):
        """Sets all states to their initial values; those that grow become empty."""
        self._library.reset()

    def state_save(self) -> bytes:
        """Returns all states as bytes."""
        return self._library.state_save()

    def state_load(self, saved):
        """Sets all states to saved ones.

        Raises: ArgumentError if the bytes are damaged or of another model; CapacityError if they do not fit. Then no
        state changes.
        """
        self._library.state_load(bytes(saved))

    def close(self):
        """Frees the model. Runs of other threads end first. Later calls raise ClosedError."""
        self._threads.close()
        self._library.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<trib.Model {self.name}: {', '.join(map(str, self._described.entries))}>"

    def _repr_html_(self):
        return self._described._repr_html_()

    def __reduce__(self):
        return type(self), (self._options,)


def _count(name, value, least):
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not least <= number < 1 << 31:
        raise errors.ArgumentError(f"{name} is {value!r}: pass a whole number of at least {least}")
    return number


def _check_capacities(options, described):
    known = [name for name, _ in described.capacities]
    for name, _ in options.capacities:
        if name not in known:
            raise errors.ArgumentError(
                f"the model {described.name} has no capacity {name}: it has {', '.join(known) or 'none'}"
            )


def _capacities(given):
    for name, most in given.items():
        if not isinstance(name, str):
            raise errors.ArgumentError(f"the capacity {name!r} is no name: pass names such as 'T'")
        yield name, _count(f"the capacity {name}", most, 1)


def load(
    path: str | os.PathLike[str],
    *,
    threads: int = 0,
    contexts: int | None = None,
    device: str | None = None,
    weights: str | os.PathLike[str] | None = None,
    capacities: Mapping[str, int] | None = None,
    verify: bool = False,
    timeout_ms: int = 0,
    open_timeout_ms: int = 0,
) -> Model:
    """Opens a library that trib built.

    Args:
        path: of the library, such as "build/libdigits.so".
        threads: that each call may use; 0: one for each CPU. Programs that call from many threads run best with 1.
        contexts: the most calls at the same time, each with its own working memory; others wait. Default: the number of
            CPUs.
        device: "cpu"; "opencl" for the first OpenCL device; "opencl:1" or "opencl:NAME", also without "opencl:", for the one
            with this number or part of a name in `trib devices`. Default: what the library was built for. The fallback
            runs, with a RuntimeWarning, where no device can run the model and none is named.
        weights: path of the .triw file; default: beside the library.
        capacities: rows of the states that grow: {"T": 4096}; default: those of tri.build.
        verify: compare all weights with their digests.
        timeout_ms: a call that takes an OpenCL device longer raises a DeviceError, and so do all later calls; 0: no limit.
        open_timeout_ms: the same for opening the model, with the programs that the driver must compile the first time. An interrupt takes effect when it is open.

    Raises: NotFoundError, LoadError, WeightsError, DeviceError, ArgumentError, OutOfMemoryError.
    """
    path = os.fspath(path)
    if not os.path.exists(path):
        raise errors.NotFoundError(f"there is no library {path}: build it with trib.build or `trib build`")
    if not os.path.isfile(path):
        raise errors.LoadError(
            f"{path} is no library but a folder: build it with trib.build, and load a library of its folder build"
        )
    options = _Options(
        path=str(pathlib.Path(os.fsdecode(path)).absolute()),
        threads=_count("threads", threads, 0),
        contexts=_count("contexts", contexts or len(os.sched_getaffinity(0)), 1),
        device=device,
        weights=None if weights is None else os.fsdecode(os.path.abspath(weights)),
        capacities=tuple(_capacities(capacities or {})),
        verify=bool(verify),
        timeout_ms=_count("timeout_ms", timeout_ms, 0),
        open_timeout_ms=_count("open_timeout_ms", open_timeout_ms, 0),
    )
    return Model(options)
