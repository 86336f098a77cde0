"""`trib.compare`: where the results of a library depart from those of the model."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile

import torch
from torch.utils import _pytree as pytree

from .. import project, safetensors
from ..errors import ArgumentError
from .exporter import split_inputs, trace, trained_layers, translate_traced, unwrap
from .graph import tensor_of
from .tree import Tree


@dataclasses.dataclass(frozen=True)
class Difference:
    """How far one layer's output is from the model's: `path` and `cls` of the module, the largest absolute difference,
    that relative to the largest element, and `departs` if an element is outside of the tolerance."""

    path: str
    cls: str
    absolute: float
    relative: float
    departs: bool

    def __str__(self):
        mark = "  departs" if self.departs else ""
        return (
            f"{self.path or 'the result'}  {self.cls}  {self.absolute:.3g} ({self.relative:.2g} of the largest){mark}"
        )


class Comparison(tuple):
    """The differences of all layers in the order of their results; the last ones are those of the library itself."""

    @property
    def first(self):
        """The first layer that departs, or None."""
        return next((row for row in self if row.departs), None)

    def __str__(self):
        first = self.first
        if first is None:
            return "\n".join([*map(str, self), "no layer departs"])
        where = f"`{first.path}` ({first.cls}) is the first layer that departs"
        if not first.path:
            where = "the library departs, but no layer does: its sources or weights are others than those of its folder"
        return "\n".join([*map(str, self), where])


def compare(model, library, inputs, *, rtol=1e-4, atol=1e-5):
    """Compares a library with the model that it was exported from, layer by layer.

    `library` is a `trib.Model`, the path of a library, or the folder of `trib.export`; `inputs` are those of
    `trib.export`. The same graph is built once more, with the results of all modules as outputs and the weights of the
    library's folder, and each is compared with what PyTorch computes. An element departs if it differs by more than
    `atol + rtol * |expected|`.

    Returns a `Comparison`: a tuple of `Difference`, with `first`; printed, it is a table.

    Raises: ArgumentError if the folder has no library; those of `trib.export`.
    """
    model = unwrap(model)
    args, kwargs = split_inputs(inputs)
    opened, folder = _open(library)
    program, graph = trace(model, args, kwargs, None)
    results = list(graph.outputs)
    rows = _results_of_modules(graph, trained_layers(model))
    graph.outputs = [node for _, _, node in rows]
    wanted = _Recorder(program).values(args, kwargs, [*graph.outputs, *results])
    given = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    inner = _results_of_layers(model, graph, folder, given) if rows else ()
    differences = [
        _difference(path, cls, got, want, rtol, atol) for (path, cls, _), got, want in zip(rows, inner, wanted)
    ]
    last = zip(_call(opened, given), wanted[len(rows) :])
    return Comparison(
        differences + [_difference("", type(model).__name__, got, want, rtol, atol) for got, want in last]
    )


def _results_of_layers(model, graph, folder, given):
    """The results of all modules of a graph as a library computes them, with the weights of the folder."""
    text, entry, tree = translate_traced(model, graph)
    tensors = {full: tensor for module in tree.modules.values() for full, tensor in module.params.values()}
    tensors = {name: _weights_of(folder).get(name, tensor) for name, tensor in tensors.items()} if folder else tensors
    with tempfile.TemporaryDirectory(prefix="trib-compare-") as made:
        project.write(made, "layers", text, entry, tensors)
        project.build(made)
        return _call(_open(project.library(made, "layers"))[0], given)


def _open(library):
    """(model, folder of its project or None)."""
    from ..model import Model, load

    if isinstance(library, Model):
        return library, _project_of(pathlib.Path(library.path))
    path = pathlib.Path(library)
    if path.is_dir():
        found = sorted(path.glob("build/lib*.so"))
        if not found:
            project.build(path)
            found = sorted(path.glob("build/lib*.so"))
        if len(found) != 1:
            raise ArgumentError(f"{path}/build has {len(found)} libraries: give the path of one")
        return load(found[0]), path
    return load(path), _project_of(path)


def _project_of(path):
    folder = path.resolve().parent.parent
    return folder if (folder / "tri.build").is_file() else None


def _weights_of(folder):
    found = sorted(folder.glob("*.safetensors"))
    return safetensors.read(found[0]) if len(found) == 1 else {}


def _call(model, given):
    made = next(iter(model.entries.values()))(*given)
    return made if isinstance(made, tuple) else (made,)


def _results_of_modules(graph, known):
    """(path, class, node) of each result of a call of a module, in the order of the graph. Layers of `trib.nn` are
    `known`: the parts of one have no results of their own."""
    rows, seen = [], set()

    def visit(body):
        for item in body.items:
            if hasattr(item, "body"):
                visit(item.body)
                last = [node for node in item.outs if tensor_of(node) is not None and node not in seen]
                seen.update(last)
                rows.extend((item.body.path, item.body.cls.rsplit(".", 1)[-1], node) for node in last)

    visit(Tree(graph, {}, known).root)
    return rows


class _Recorder(torch.fx.Interpreter):
    """Runs an exported program and keeps the values of nodes, before later operations change them in place."""

    def __init__(self, program):
        super().__init__(program.graph_module)
        self.program, self.kept = program, {}

    def run_node(self, node):
        value = super().run_node(node)
        if node in self.kept and isinstance(value, torch.Tensor):
            self.kept[node] = value.clone()
        return value

    def values(self, args, kwargs, nodes):
        """The values of nodes for these inputs."""
        self.kept = dict.fromkeys(nodes)
        program, users = self.program, iter(pytree.tree_leaves((args, kwargs)))
        kinds = torch.export.graph_signature.InputKind
        flat = []
        for spec in program.graph_signature.input_specs:
            if spec.kind == kinds.USER_INPUT:
                flat.append(next(users))
            else:
                flat.append(program.state_dict.get(spec.target, program.constants.get(spec.target)))
        with torch.no_grad():
            self.run(*flat)
        return [self.kept[node] for node in nodes]


def _difference(path, cls, got, want, rtol, atol):
    got, want = got.detach().double(), want.detach().double()
    if got.shape != want.shape:
        return Difference(path, cls, float("inf"), float("inf"), True)
    gap = (got - want).abs()
    gap = torch.where((got == want) | (got.isnan() & want.isnan()), 0.0, gap)
    largest = float(gap.max()) if gap.numel() else 0.0
    finite = want.abs()[want.isfinite()]
    top = float(finite.max()) if finite.numel() else 0.0
    limit = torch.where(want.isfinite(), atol + rtol * want.abs(), 0.0)  # other elements must be equal
    departs = bool((~(gap <= limit)).any())
    return Difference(path, cls, largest, largest / top if top else largest, departs)
