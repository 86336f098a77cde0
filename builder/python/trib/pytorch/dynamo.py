"""The backend "trib" of `torch.compile`: graphs of Dynamo become libraries, as models do in `trib.export`.

    compiled = torch.compile(model, backend="trib")

A library is in the user's cache under the digest of the graph, of the weights and of the program that builds it, so
another process loads it. Parts of a graph that the language lacks stay as they are, and a warning names them once. Only
forward passes are compiled."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
import torch._dynamo.exc
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.split_module import split_module
from torch.utils import _pytree as pytree

from .. import installation, project
from ..errors import Error, ExportError, GradientError
from .exporter import translate
from .graph import Aliased, mutated_argument, read_traced, tensor_of
from .operators import Unsupported, template
from .parts import DTYPES
from .sizes import expression

MAX_LIBRARIES = 100  # in the cache; older ones are removed
SMALLEST = 4  # operations of a part that is worth a library
STATIC = "_dynamo_static_input_type"


def backend(module, inputs, **_options):
    """Compiles a graph of Dynamo, and returns the function that runs it.

    Raises: GradientError if the graph is one of training. Whatever else fails leaves a graph eager.
    """
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs):
        raise _GradientError("the backend trib compiles forward passes only: call the model in torch.no_grad()")
    return _Compiled(module, list(inputs))


class _GradientError(GradientError, getattr(torch._dynamo.exc, "ShortenTraceback", RuntimeError)):
    """A GradientError that Dynamo passes on, instead of wrapping it in BackendCompilerFailed."""

    def __init__(self, text):
        known = hasattr(torch._dynamo.exc, "ShortenTraceback")
        super().__init__(text, **({"first_useful_frame": None} if known else {}))  # the traceback stays whole


class _Compiled:
    """A graph that was compiled for the weights that it had. It is compiled again if they change."""

    def __init__(self, module, inputs):
        self.module = module
        places = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.static = [i for i, node in enumerate(places) if _is_static(node, inputs[i])]
        self.sources = {i: _source_path(places[i]) for i in self.static}
        self._compile(inputs)

    def _compile(self, inputs):
        self.versions = [_version(inputs[i]) for i in self.static]
        self.held = [inputs[i] for i in self.static]
        self.run = _compile(self.module, inputs, self.sources)

    def __call__(self, *inputs):
        for i, held, version in zip(self.static, self.held, self.versions):
            if inputs[i] is not held or _version(held) != version:
                self._compile(list(inputs))
                break
        return self.run(inputs)


def _version(tensor):
    return None if tensor.is_inference() else tensor._version


def _is_static(node, value):
    marked = STATIC in (node.meta.get("tensor_dict") or {})
    return isinstance(value, torch.nn.Parameter) or (marked and isinstance(value, torch.Tensor))


# L['self']._modules['fc']._parameters['weight'] is fc.weight.
def _source_path(node):
    source = getattr(node.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", node.name)
    name = name() if callable(name) else name
    name = re.sub(r"^L\['self'\]|^L|\._(modules|parameters|buffers)\b", "", name)
    words = [word for word in re.split(r"\W+", name) if word]
    return ".".join(words) or node.name


# ---- the cache ----


def _graph_text(module, static):
    """The graph as text that is the same in every process."""
    lines = []
    for node in module.graph.nodes:
        target = (
            node.target
            if isinstance(node.target, str)
            else f"{node.target.__module__}.{getattr(node.target, '__qualname__', node.target)}"
        )
        value = node.meta.get("example_value") if node.op == "placeholder" else None
        kind = f"{value.dtype}{tuple(value.shape)}" if isinstance(value, torch.Tensor) else str(value)
        lines.append(f"{node.name} {node.op} {target} {node.args} {node.kwargs} {kind}")
    return "\n".join([*lines, str(static), torch.__version__])


def _digest_of(tensor):
    flat = tensor.detach().contiguous().reshape(-1)
    return hashlib.sha256(flat.view(torch.uint8).numpy() if flat.numel() else b"").digest()


def _digest(module, inputs, sources):
    """The name of a graph with its weights."""
    program = os.stat(installation.program())
    whole = hashlib.sha256(f"{program.st_size} {program.st_mtime_ns} {_graph_text(module, sources)}".encode())
    tensors = [inputs[i] for i in sources] + [value for _, value in _constants(module)]
    with ThreadPoolExecutor(2) as pool:  # hashing releases the interpreter's lock
        for digest in pool.map(_digest_of, tensors):
            whole.update(digest)
    return whole.hexdigest()[:32]


def _constants(module):
    names = [node.target for node in module.graph.nodes if node.op == "get_attr"]
    return [(name, value) for name in names if isinstance(value := getattr(module, name, None), torch.Tensor)]


def _cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "trib" / "torch"


def _prune(folder):
    entries = sorted(
        (entry for entry in folder.iterdir() if not entry.name.startswith(".")), key=lambda e: e.stat().st_mtime
    )
    for entry in entries[:-MAX_LIBRARIES]:
        shutil.rmtree(entry, ignore_errors=True)


def _store(name, fill):
    """The folder of a cache entry. `fill` writes a new one, which appears whole or not at all."""
    folder = _cache_folder() / name
    if folder.is_dir():
        os.utime(folder)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    try:
        fill(made)
        os.rename(made, folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    _prune(folder.parent)
    return folder


# ---- compilation ----


class _Refused(Exception):
    """The graph cannot become libraries; the text says why, unless it has nothing to compute."""


_named = set()


def _name_once(text):
    if text and text not in _named:
        _named.add(text)
        warnings.warn(f"trib: {text}", stacklevel=2)


def _made_or(eager, make, *arguments):
    """What `make` gives, or `eager` if it fails: a model runs, whatever its graphs have."""
    try:
        return make(*arguments)
    except _Refused as error:
        _name_once(str(error))
    except Exception as error:  # noqa: BLE001 the translation of foreign graphs has errors of many kinds
        text = str(error).strip().split("\n")[0]
        _name_once(f"a graph stays eager, because it cannot be translated: {type(error).__name__}: {text}")
    return eager


def _compile(module, inputs, sources):
    """A function of the list of inputs that runs a graph."""
    return _made_or(lambda inputs: module.forward(*inputs), _library_of, module, inputs, sources)


def _library_of(module, inputs, sources):
    if any(isinstance(x, torch.Tensor) and x.device.type != "cpu" for x in inputs):
        raise _Refused("a graph on another device than the processor stays eager")
    digest = _digest(module, inputs, sources)
    folder = _cache_folder() / digest
    if (folder / "call.json").is_file():
        os.utime(folder)
        return _load(folder)
    traced = _trace(module)
    graph = _graph_of(traced, inputs, sources)
    unsupported = _unsupported(graph)
    if not unsupported:
        return _build(digest, graph, traced)
    for (name, advice), paths in unsupported.items():
        _name_once(f"{name} in {paths[0]} stays eager: {advice}")
    return _split(traced, graph, inputs, sources)


def _trace(module):
    """Dynamo's graph as one of ATen operations, whose sizes are as open as Dynamo's."""
    values = [node.meta["example_value"] for node in module.graph.nodes if node.op == "placeholder"]
    # Tensors that the graph makes must be fake, too.
    modes = [value.fake_mode for value in values if isinstance(value, FakeTensor)] or [detect_fake_mode(values)]
    with torch.no_grad(), modes[0] or contextlib.nullcontext(), torch.fx.traceback.preserve_node_meta():
        return make_fx(torch.fx.Interpreter(module).run, tracing_mode="real", pre_dispatch=True)(*values)


def _graph_of(traced, inputs, sources):
    """The graph to translate; raises _Refused."""
    places = [node for node in traced.graph.nodes if node.op == "placeholder"]
    params = {places[i]: path for i, path in sources.items()}
    tensors = {path: inputs[i].detach() for i, path in sources.items()}
    users = [(f"x{i}", node) for i, node in enumerate(places) if node not in params and tensor_of(node) is not None]
    try:
        graph = read_traced(traced, users, params, tensors, {})
    except Aliased as error:
        raise _Refused(
            f"a graph with {error} of a view stays eager: change no tensor in place of which there are views"
        ) from None
    if graph.written:
        raise _Refused("a graph that changes its arguments stays eager: return new tensors")
    return graph


def _foreign(node):
    """A type of elements that the language lacks, of what a node gives or reads; or None."""
    values = pytree.tree_leaves([other.meta.get("val") for other in (node, *node.all_input_nodes)])
    types = (value.dtype for value in values if isinstance(value, torch.Tensor))
    return next((dtype for dtype in types if dtype not in DTYPES), None)


def _check_types(op):
    if dtype := _foreign(op.node):
        raise Unsupported(f"the language has no {str(dtype).removeprefix('torch.')}")


def _unsupported(graph):
    """{(operation, advice): modules' paths} of what the language lacks."""
    found = {}
    graph.refused = set()
    for op in graph.ops:
        try:
            template(op)
            _check_types(op)
        except Unsupported as error:
            graph.refused.add(op.node)
            found.setdefault((op.name, str(error)), []).append(op.stack[-1][1] or "the graph")
    return found


def _build(digest, graph, traced):
    """Builds the library of a graph into the cache, and opens it."""
    places = [node for node in traced.graph.nodes if node.op == "placeholder"]
    made = [leaf for leaf in graph.outputs if isinstance(leaf, torch.fx.Node) and tensor_of(leaf) is not None]
    made = list(dict.fromkeys(leaf for leaf in made if leaf not in places and leaf not in graph.params))
    call = {
        "inputs": [places.index(node) for _, node in graph.inputs],
        "outputs": [_output(leaf, made, places) for leaf in graph.outputs],
        "single": len(made) == 1,
    }
    if not made:
        raise _Refused
    graph.outputs = made
    try:
        text, entry, tree = translate(graph)
    except ExportError as error:
        raise _Refused(f"a graph stays eager: {error}") from None
    if tree.root.extra:
        raise _Refused("a graph with sizes that are none of its arguments' stays eager")
    tensors = {full: tensor for module in tree.modules.values() for full, tensor in module.params.values()}

    def fill(folder):
        project.write(folder, "graph", text, entry, tensors)
        try:
            project.build(folder)
        except Error as error:
            raise _Refused(f"a graph stays eager, because its library cannot be built:\n{error}") from None
        (folder / "graph.safetensors").unlink(missing_ok=True)
        (folder / "call.json").write_text(json.dumps(call))

    return _load(_store(digest, fill))


def _value(node):
    """The size of a node, or None. A graph that only returns it does not know its value."""
    if isinstance(node, torch.fx.Node) and node.target is torch.ops.aten.sym_size.int:
        return tensor_of(node.args[0]).shape[node.args[1]]
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else node


def _output(leaf, made, places):
    """Where a result comes from: (kind, number or value)."""
    if leaf in made:
        return "made", made.index(leaf)
    if leaf in places:
        return "input", places.index(leaf)
    value = _value(leaf)
    if leaf is None or isinstance(value, (bool, int, float, str)):
        return "constant", value
    for number, place in enumerate(places):
        sizes = [] if tensor_of(place) is None else list(map(expression, tensor_of(place).shape))
        if isinstance(value, torch.SymInt) and expression(value) in sizes:
            return "size", (number, sizes.index(expression(value)))
    raise _Refused("a graph that returns a list, or a number that it computes, stays eager")


# Results by kind, from what the library gives, the inputs and the number or value.
_RESULTS = {
    "made": lambda made, inputs, i: made[i],
    "input": lambda made, inputs, i: inputs[i],
    "size": lambda made, inputs, place: inputs[place[0]].shape[place[1]],
    "constant": lambda made, inputs, value: value,
}


def _load(folder):
    """The function that runs a library of the cache."""
    from ..model import load

    call = json.loads((folder / "call.json").read_text())
    entry = next(iter(load(project.library(folder, "graph")).entries.values()))
    places, outputs = call["inputs"], call["outputs"]
    if call["single"] and outputs == [["made", 0]]:
        return lambda inputs: (entry(*[inputs[i] for i in places]),)
    steps = [(_RESULTS[kind], value) for kind, value in outputs]

    def run(inputs):
        made = entry(*[inputs[i] for i in places])
        made = (made,) if call["single"] else made
        return tuple(step(made, inputs, value) for step, value in steps)

    return run


# ---- graphs of which a part stays eager ----


def _split(traced, graph, inputs, sources):
    """Libraries for the parts between operations that stay eager."""
    if any(node.op == "call_function" and mutated_argument(node.target) for node in traced.graph.nodes):
        raise _Refused("a graph that changes tensors in place, around operations that stay eager, stays eager itself")
    numbers, number, eager = {}, 0, None
    for node in traced.graph.nodes:
        if node.op not in ("call_function", "get_attr"):
            continue
        stays = node in graph.refused or _foreign(node) is not None
        if stays != eager and node.op == "call_function":
            eager, number = stays, number + 1
        numbers[node] = number
    whole = split_module(traced, traced, lambda node: numbers[node])
    names = dict(zip((n.name for n in traced.graph.nodes if n.op == "placeholder"), range(len(inputs))))
    for call in [node for node in whole.graph.nodes if node.op == "call_module"]:
        part = getattr(whole, call.target)
        known = {
            i: sources[names[arg.name]]
            for i, arg in enumerate(call.args)
            if names.get(getattr(arg, "name", None)) in sources
        }
        values = [inputs[names[arg.name]] if i in known else None for i, arg in enumerate(call.args)]
        replacement = _made_or(None, _part, part, values, known)
        if replacement is not None:
            setattr(whole, call.target, replacement)
    return lambda inputs: whole(*inputs)


class _Part(torch.nn.Module):
    """A part that runs as a library."""

    def __init__(self, run, single):
        super().__init__()
        self.run, self.single = run, single

    def forward(self, *inputs):
        outputs = self.run(inputs)
        return outputs[0] if self.single else outputs


def _part(part, values, sources):
    """The library of a part of a graph, or None if it stays eager."""
    places = [node for node in part.graph.nodes if node.op == "placeholder"]
    if any("val" not in node.meta for node in places):
        return None
    graph = _graph_of(part, values, sources)
    if len(graph.ops) < SMALLEST or _unsupported(graph):
        return None
    text = "\n".join(
        f"{n.name} {n.op} {n.target} {n.args} {n.kwargs} {tensor_of(n).shape if tensor_of(n) is not None else ''}"
        for n in part.graph.nodes
    )
    whole = hashlib.sha256(text.encode())
    for i in sources:
        whole.update(_digest_of(values[i]))
    digest = whole.hexdigest()[:32]
    folder = _cache_folder() / digest
    run = _load(folder) if (folder / "call.json").is_file() else _build(digest, graph, part)
    output = next(node for node in part.graph.nodes if node.op == "output")
    return _Part(run, not isinstance(output.args[0], (tuple, list)))
