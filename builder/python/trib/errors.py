"""The exceptions of trib. All derive from :class:`Error`, and their texts say what to do."""


class Error(Exception):
    """Base of all exceptions of trib."""


class ArgumentError(Error, TypeError):
    """A call has other arguments than the entry's inputs, or one that is no tensor."""


class ShapeError(Error, ValueError):
    """A tensor has another shape than its input or output. The text names the dimensions."""


class DtypeError(Error, TypeError):
    """A tensor has another element type than its input or output."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for weights, states or intermediate tensors."""


class DeviceError(Error, RuntimeError):
    """A tensor is on another device, or the library needs a device or processor that is missing."""


class RangeError(Error, ValueError):
    """A value is out of range: an index, or a trit that is none of -1, 0 and 1."""


class WeightsError(Error, RuntimeError):
    """The weights file (.triw) of a library is missing, damaged, or of another build."""


class AssertionFailed(Error, AssertionError):
    """An `assert` of the network failed."""


class CompileError(Error, RuntimeError):
    """Sources have errors: `diagnostics` has them as objects (:class:`trib.Diagnostic`). `summary` is that of a build.

    Notebooks show the lines of the sources: in colours, or as HTML.
    """

    def __init__(self, message, diagnostics=(), summary=None):
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)
        self.summary = summary

    def render(self, color=False):
        """Returns all diagnostics with the lines of the sources; with `color` for a terminal."""
        return "\n".join(d.render(color) for d in self.diagnostics) or str(self)

    def _render_traceback_(self):
        return self.render(color=True).split("\n")

    def _repr_html_(self):
        return "".join(d._repr_html_() for d in self.diagnostics)


class BuildError(Error, RuntimeError):
    """A build could not read or write a file, get a dependency, or start its process."""


class BuildCancelled(Error):
    """A build was cancelled. The last good outputs are current; the next build continues with what is done."""


class BusyError(Error, RuntimeError):
    """Another thread is running this model, and its states allow one run at a time."""


class CapacityError(Error, RuntimeError):
    """A state has no room for this run."""


class LoadError(Error, RuntimeError):
    """A file is no library of this version of trib."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such library, project or part of trib."""


class ClosedError(Error, RuntimeError):
    """The model was closed."""


class ForkError(Error, RuntimeError):
    """The process was forked while the model ran, or after its device was opened."""


class GradientError(Error, RuntimeError):
    """A tensor requires a gradient, and compiled models compute none."""


class RegressionError(Error, AssertionError):
    """A profile is worse than its baseline or budget. `findings` are dicts with `item`, `metric` and `value`."""

    def __init__(self, findings):
        self.findings = tuple(findings)
        worse = "; ".join(f"{f['item']}: {f['metric']} {f['value']:g}" for f in self.findings)
        super().__init__(f"slower or larger than allowed: {worse}: see `trib profile compare`, or update the baseline")


class ExportError(Error, RuntimeError):
    """A model of PyTorch has operations that the language lacks. The text lists all, with modules and what to write."""


class OperatorError(Error, RuntimeError):
    """A model has operators that the language lacks. The text lists all, with their nodes and what to write."""


# In the order of enum tri_code of tri.h: the exception, and what to do if the library does not say so.
_CODES = (
    (Error, ""),
    (ArgumentError, ""),
    (ShapeError, ""),
    (DtypeError, ""),
    (OutOfMemoryError, "use smaller inputs or capacities, or fewer contexts"),
    (DeviceError, ""),
    (RangeError, "check the values of the inputs"),
    (WeightsError, "put the .triw file of this build beside the library, or pass its path as `weights`"),
    (AssertionFailed, ""),
    (CompileError, ""),
    (BusyError, "wait for that call, or open the model again with new()"),
    (CapacityError, "call reset(), or load the model with larger `capacities`"),
)


def of_code(code, message):
    """Returns the exception of a code of tri.h. The extension module calls it."""
    kind, remedy = _CODES[code] if 0 <= code < len(_CODES) else (Error, "")
    return kind(f"{message}: {remedy}" if remedy else message)


def similar(name, names):
    """Returns ", did you mean `…`" for a misspelt name, or an empty text."""
    import difflib

    found = difflib.get_close_matches(name, names, 1)
    return f", did you mean `{found[0]}`" if found else ""


def argument_error(entry, names, args, words):
    """Returns the exception of a call whose arguments are not the inputs. The extension module calls it."""
    wanted = f"{entry}({', '.join(names)})"
    if len(args) > len(names):
        return ArgumentError(f"{wanted} was called with {len(args)} inputs: pass {len(names)}")
    words = words or {}
    for name in words:
        if name not in names and name != "out":
            return ArgumentError(
                f"{wanted} has no input `{name}`{similar(name, names)}: its inputs are {', '.join(names) or 'none'}"
            )
    for i, name in enumerate(names):
        if i < len(args) and name in words:
            return ArgumentError(f"{wanted} got input `{name}` twice: pass it once")
        if i >= len(args) and name not in words:
            return ArgumentError(f"{wanted} was called without input `{name}`: pass it")
    return ArgumentError(f"{wanted} was called with wrong arguments")


def load_error(path, why):
    """Returns the exception of a file that is no library. The extension module calls it."""
    import os

    return LoadError(f"cannot load {os.path.normpath(path)}: {why.replace(path + ': ', '')}")


def closed_error(name):
    """Returns the exception of a call of a closed model. The extension module calls it."""
    return ClosedError(f"the model {name} was closed: load it again")


def busy_error(name):
    """Returns the exception of a call during another thread's run. The extension module calls it."""
    return BusyError(f"another thread is running the model {name}: {_CODES[10][1]}")


def fork_error(name):
    """Returns the exception of a model that a fork made unusable. The extension module calls it."""
    return ForkError(
        f"this process was forked while the model {name} ran or had a device: load it again here, or fork before"
    )


def build_error(message):
    """Returns the exception of a builder that cannot start. The extension module calls it."""
    return BuildError(message)


def build_busy():
    """Returns the exception of a builder that is building. The extension module calls it."""
    return BusyError("this builder is building: wait for it or call cancel(), or use another trib.Builder")


def builder_closed():
    """Returns the exception of a closed builder. The extension module calls it."""
    return ClosedError("the builder was closed: open another trib.Builder")


def trit_error(name):
    """Returns the exception of a tensor that has other values than trits. The extension module calls it."""
    return RangeError(f"input {name}: a trit is -1, 0 or 1, but there are other values: quantize it before")


def overlap_error(output, other):
    """Returns the exception of an output in the memory of another tensor. The extension module calls it."""
    return ArgumentError(f"out: the memory of {output} overlaps that of {other}: pass memory of its own")
