"""The operations of a traced model: without mutation, without operations on sizes, and without those that change
nothing.

`torch.export` and Dynamo both give a graph of ATen operations. Each node knows the calls of modules that it is in."""

import re

import torch
from torch.utils import _pytree as pytree

# Operations whose result is their first argument, as far as values go.
IDENTITIES = {
    "aten.alias", "aten.detach", "aten.contiguous", "aten.clone", "aten.lift_fresh_copy", "aten.lift_fresh",
    "aten.dropout", "aten.feature_dropout", "aten.alpha_dropout", "aten.native_dropout",
}  # fmt: skip
# Operations of decompositions whose first result is the one that matters.
FIRST = {
    "aten._native_batch_norm_legit_no_training", "aten.native_layer_norm", "aten.native_group_norm",
    "aten.max_pool2d_with_indices",
}  # fmt: skip
# Operations without a result.
CHECKS = ("aten._assert", "aten.sym_constrain", "aten._check")


class Op:
    """One operation: `name` without its overload, arguments by name, and the calls of modules around it."""

    __slots__ = ("args", "name", "node", "overload", "stack")

    def __init__(self, node, name, overload, args, stack):
        self.node, self.name, self.overload, self.args, self.stack = node, name, overload, args, stack

    @property
    def value(self):
        """The fake tensor (or tuple of them) that the operation gives."""
        return self.node.meta.get("val")

    def uses(self):
        """The nodes that it reads."""
        return [leaf for leaf in pytree.tree_leaves(list(self.args.values())) if isinstance(leaf, torch.fx.Node)]


class Graph:
    """`ops` in order; `inputs` as (name, node); `params` maps nodes to names of `tensors`; `outputs` are nodes, or
    constants; `written` are inputs and parameters that change in place. `axis_names` gives the names of symbolic sizes,
    by symbol."""

    def __init__(self, inputs, params, tensors, axis_names=None):
        self.inputs, self.params, self.tensors = inputs, params, tensors
        self.axis_names = axis_names or {}
        self.ops, self.outputs, self.written = [], [], set()


class Aliased(Exception):
    """Raised if a tensor is changed in place while a view of it is used later."""


class Changing(Exception):
    """Raised if a run changes parameters or buffers, whose names are the argument."""


def tensor_of(node):
    """The fake tensor of a node, or None."""
    value = node.meta.get("val", node.meta.get("example_value"))
    return value if isinstance(value, torch.Tensor) else None


def target_name(target):
    """("aten.relu", "default") of an ATen operation; other functions have the name of their module."""
    if isinstance(target, torch._ops.OpOverload):
        return f"{target.namespace}.{target._schema.name.split('::')[1]}", target._overloadname
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}", ""
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}", ""


def bound_arguments(node):
    """The arguments of a node by the names of its schema, with defaults."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return {str(i): arg for i, arg in enumerate(node.args)} | dict(node.kwargs)
    schema = node.target._schema.arguments
    given = dict(zip((arg.name for arg in schema), node.args)) | dict(node.kwargs)
    return {arg.name: given.get(arg.name, arg.default_value) for arg in schema}


def mutated_argument(target):
    """The name of the argument that an operation changes in place, or None."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    for arg in target._schema.arguments:
        if arg.alias_info is not None and arg.alias_info.is_write:
            return arg.name
    return None


def is_view(target):
    """True if the result may share memory with the first argument."""
    return isinstance(target, torch._ops.OpOverload) and any(
        arg.alias_info is not None and not arg.alias_info.is_write for arg in target._schema.arguments
    )


def same_size(a, b):
    """True if two sizes are known to be equal."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt) and a.node.expr == b.node.expr


def same_shape(a, b):
    """True if two tensors have one shape."""
    return len(a.shape) == len(b.shape) and all(same_size(x, y) for x, y in zip(a.shape, b.shape))


def same_type(a, b):
    """True if two tensors have one shape and element type."""
    return a.dtype == b.dtype and same_shape(a, b)


# Reads and writes of one tensor's memory, so that a change in place becomes a new value.
class _Memory:
    def __init__(self, last_use):
        self.root, self.current, self.views, self.last_use = {}, {}, {}, last_use

    def resolve(self, node):
        root = self.root.get(node)
        return node if root is None else self.current[root]

    def add_view(self, base, view):
        base = self.root.get(base, base)
        if base is not view:
            group = self.views.setdefault(base, {base})
            group.add(view)
            self.views[view] = group

    def write(self, original, result, position):
        original = self.root.get(original, original)
        for other in self.views.get(original, ()):
            if self.root.get(other, other) is not original and self.last_use.get(other, -1) > position:
                raise Aliased(str(result.target))
        root = self.root.setdefault(original, original)
        self.current[root] = result
        self.root[result] = root


def _last_uses(nodes):
    last = {}
    for position, node in enumerate(nodes):
        for used in node.all_input_nodes:
            last[used] = position
    return last


NEUTRAL = {"aten.add": 0, "aten.sub": 0, "aten.mul": 1, "aten.div": 1}
CASTS = {
    "aten.to", "aten._to_copy", "aten.type_as", "aten.expand", "aten.expand_as", "aten.view", "aten.reshape",
    "aten.squeeze", "aten.slice",
}  # fmt: skip


def _is_true(node):
    """True of a tensor that is made of nothing but `True`."""
    if node.op != "call_function":
        return False
    name, _ = target_name(node.target)
    return tensor_of(node).dtype == torch.bool and name in ("aten.ones", "aten.new_ones")


def _drop_empty(args, value):
    """Removes tensors of shape [0], which `torch.cat` takes among those of any rank, as an empty cache has."""
    kept = [tensor for tensor in args["tensors"] if tuple(tensor_of(tensor).shape) != (0,)]
    if kept and all(tensor_of(tensor).dtype == value.dtype for tensor in kept):
        args["tensors"] = kept


def _equal_argument(name, args, node):
    """The argument that has the same value as the result, or None."""
    value, first = tensor_of(node), args.get("self", args.get("input"))
    if name == "aten.cat" and len(args["tensors"]) == 1:
        first = args["tensors"][0]
        return first if same_type(value, tensor_of(first)) else None
    if value is None or not isinstance(first, torch.fx.Node) or tensor_of(first) is None:
        return None
    other = args.get("other")
    if name in ("aten.__and__", "aten.bitwise_and", "aten.logical_and") and isinstance(other, torch.fx.Node):
        pairs = ((first, other), (other, first))
        return next((a for a, b in pairs if _is_true(b) and same_type(value, tensor_of(a))), None)
    if name in IDENTITIES and not (args.get("train") or args.get("training")):
        return first
    if not same_type(value, tensor_of(first)):
        return None
    neutral = (
        name in NEUTRAL and isinstance(other, (int, float)) and other == NEUTRAL[name] and not args.get("rounding_mode")
    )
    return first if name in CASTS or neutral else None


def _read(graph, nodes, stack_of):
    nodes = list(nodes)
    memory, same = _Memory(_last_uses(nodes)), {}

    def resolve(node):
        node = memory.resolve(node)
        while node in same:
            node = memory.resolve(same[node])
        return node

    for position, node in enumerate(nodes):
        if node.op == "output":
            leaves = pytree.tree_leaves(node.args[0])
            graph.outputs = [resolve(leaf) if isinstance(leaf, torch.fx.Node) else leaf for leaf in leaves]
        if node.op != "call_function" or isinstance(
            node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)
        ):
            continue
        name, overload = target_name(node.target)
        if name.startswith(CHECKS):
            continue
        raw = bound_arguments(node)
        args = pytree.tree_map(lambda leaf: resolve(leaf) if isinstance(leaf, torch.fx.Node) else leaf, raw)
        written = mutated_argument(node.target)
        if written is not None:
            memory.write(raw[written], node, position)
            if memory.root[node].op != "call_function":
                graph.written.add(memory.root[node])
            name = re.sub(r"_$", "", name)
        elif is_view(node.target) and node.args and isinstance(node.args[0], torch.fx.Node):
            memory.add_view(node.args[0], node)
        if name in FIRST:
            node.meta["val"] = node.meta["val"][0]
        if name == "_operator.getitem" and target_name(args["0"].target)[0] in FIRST:
            name += "" if args["1"] else ".first"
        if name == "aten.cat":
            _drop_empty(args, tensor_of(node))
        equal = args["0"] if name == "_operator.getitem.first" else _equal_argument(name, args, node)
        if equal is not None:
            same[node] = equal
            if written is not None:
                memory.current[memory.root[node]] = same[node]
            continue
        graph.ops.append(Op(node, name, overload, args, stack_of(node)))
    _remove_dead(graph)
    return graph


def _remove_dead(graph):
    live = {node for node in graph.outputs if isinstance(node, torch.fx.Node)}
    kept = []
    for op in reversed(graph.ops):
        if op.node in live:
            live.update(op.uses())
            kept.append(op)
    graph.ops = kept[::-1]


def _exported_stack(node):
    return [(key, path, str(cls)) for key, (path, cls) in node.meta.get("nn_module_stack", {}).items()]


def read_exported(program, axis_names):
    """The graph of an ExportedProgram."""
    signature = program.graph_signature
    if signature.buffers_to_mutate:
        raise Changing(sorted(set(signature.buffers_to_mutate.values())))
    kinds = torch.export.graph_signature.InputKind
    inputs, params, tensors = [], {}, {}
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for spec in signature.input_specs:
        node = nodes.get(getattr(spec.arg, "name", ""))
        if spec.kind == kinds.USER_INPUT:
            if node is not None and tensor_of(node) is not None:
                inputs.append((node.name, node))
        elif spec.kind in (kinds.PARAMETER, kinds.BUFFER, kinds.CONSTANT_TENSOR):
            params[node] = spec.target
            tensors[spec.target] = program.state_dict.get(spec.target, program.constants.get(spec.target))
    graph = _read(Graph(inputs, params, tensors, axis_names), program.graph.nodes, _exported_stack)
    changed = sorted(params[node] for node in graph.written if node in params)
    if changed:
        raise Changing(changed)
    return graph


# Dynamo gives paths such as L['self'].layer1.0, and classes as objects; the root module is not in them.
def _dynamo_path(path):
    path = re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", re.sub(r"^L\['self'\]|^L\b", "", path))
    return path.replace("._modules", "").strip(".")


def _dynamo_stack(node):
    stack = [("", "", "torch_module.Model")]
    for key, (path, cls) in (node.meta.get("nn_module_stack") or {}).items():
        path = _dynamo_path(path)
        if path:
            stack.append((key, path, f"{cls.__module__}.{cls.__qualname__}"))
    return stack


def read_traced(module, inputs, params, tensors, axis_names):
    """The graph of a module that `make_fx` made of Dynamo's. Constants of the module become parameters."""
    params, tensors = dict(params), dict(tensors)
    for node in module.graph.nodes:
        if node.op == "get_attr" and isinstance(getattr(module, node.target, None), torch.Tensor):
            params[node], tensors[node.target] = node.target, getattr(module, node.target)
            node.meta["val"] = tensors[node.target]
    return _read(Graph(inputs, params, tensors, axis_names), module.graph.nodes, _dynamo_stack)
