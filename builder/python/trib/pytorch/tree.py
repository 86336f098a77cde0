"""The modules of a graph: each with its parameters, its parts, and the bodies of its calls.

The operations are grouped by the calls of modules around them. A call takes the values that it uses from outside of it,
and gives those that are used after it; so a module may have any number of both. A module that is called in several ways
has a body for each."""

import re

import torch

from .graph import target_name, tensor_of
from .modules import OPEN_WEIGHT, constructor, states_of
from .operators import Unsupported, template
from .parts import DTYPES, Hole, Size, Use
from .sizes import expression, name_sizes, size_text

SEQUENTIAL = "torch.nn.modules.container.Sequential"


class Module:
    """`path` in the model, class, parent and the place in it; parameters by name, and bodies."""

    def __init__(self, path, cls, parent):
        self.path, self.cls, self.parent = path, cls, parent
        self.children, self.params, self.bodies = {}, {}, []
        self.read_outside = set()  # parameters that other modules read
        self.opened = False  # True if other modules read parameters of its parts
        self.kind, self.made, self.height, self.skeleton, self.group = "layer", None, 0, None, None

    def place(self):
        """The path in the parent, as a list of names."""
        start = len(self.parent.path) + 1 if self.parent.path else 0
        return self.path[start:].split(".")


def param_word(word):
    """The name of a parameter in the language: those of a `ParameterList` are numbers in PyTorch."""
    return word if word.isidentifier() else "p" + re.sub(r"\W", "_", word)


class Call:
    """One call of a module in the body of another one."""

    __slots__ = ("body", "index", "inputs", "module", "outs")

    def __init__(self, module, body):
        self.module, self.body = module, body
        self.inputs, self.outs, self.index = body.inputs, body.outputs, 0

    def states(self):
        """How many states the module has if it is a recurrent layer of `nn`, else 0."""
        return states_of(self.module.cls) if self.module.kind == "nn" else 0


class Step:
    """One operation, as a template."""

    __slots__ = ("op", "outs", "template")

    def __init__(self, op, made):
        self.op, self.template, self.outs = op, made, [op.node]


class Body:
    """The items of a call in order; `sizes` names the sizes of its signature, `extra` are sizes that its caller
    passes."""

    def __init__(self, path, cls, parent):
        self.path, self.cls, self.parent = path, cls, parent
        self.items, self.inputs, self.outputs = [], [], []
        self.sizes, self.extra, self.module, self.signature = {}, [], None, []

    def chain(self):
        """This call and those around it, from the inside."""
        body = self
        while body is not None:
            yield body
            body = body.parent

    def covers(self, name):
        """True if the parameter `name` belongs to this module or its parts."""
        return not self.path or name.startswith(self.path + ".")


class Tree:
    """The modules of a graph by path; `errors` are (operation, module's path, what to write).

    `trained` gives layers of `trib.nn` by path: (template of the constructor, tensors by name)."""

    def __init__(self, graph, classes, trained):
        self.graph, self.classes, self.trained, self.errors = graph, classes, trained, []
        self.modules = {"": Module("", "", None)}
        self.root = Body("", "", None)
        self._open_bodies()
        self._find_values()
        self._make_bodies(self.root)

    # ---- calls ----

    def _open_bodies(self):
        current, keys, self.home = self.root, [], {}
        for op in self.graph.ops:
            entries = self._nested(op.stack)
            common = 0
            while common < min(len(keys), len(entries)) and keys[common][0] == entries[common][0]:
                common += 1
            for _ in keys[common:]:
                current = current.parent
            for _key, path, cls in entries[common:]:
                inner = Body(path, cls, current)
                current.items.append(inner)
                current = inner
            keys = entries
            current.items.append(op)
            self.home[op.node] = current

    def _nested(self, stack):
        """The entries of a stack whose paths are parts of each other. A module from elsewhere is a part of its
        caller."""
        entries, path = [], ""
        for key, inner, cls in stack:
            if not inner:
                self.root.cls = self.modules[""].cls = self.root.cls or cls
            elif not path or inner.startswith(path + "."):
                entries.append((key, inner, cls))
                path = inner
        return entries

    # ---- values that enter and leave calls ----

    def _find_values(self):
        self.chains = {}
        for op in self.graph.ops:
            home = self.home[op.node]
            for node in op.uses():
                if tensor_of(node) is not None or isinstance(node.meta.get("val"), (tuple, list)):
                    self._use(node, home)
        self.root.inputs = [node for _, node in self.graph.inputs]
        self.root.outputs = [node for node in self.graph.outputs if isinstance(node, torch.fx.Node)]
        for node in self.root.outputs:
            self._leave(node, self.root)
        order = {op.node: position for position, op in enumerate(self.graph.ops)}
        for body in {inner for home in self.home.values() for inner in home.chain()} - {self.root}:
            body.outputs.sort(key=order.get)

    def _use(self, node, home):
        name = self.graph.params.get(node)
        producer = self.home.get(node)
        around = set(producer.chain()) if producer else ()
        for body in home.chain():
            if body in around or body.parent is None:
                break
            if name is not None and body.covers(name):
                break
            if node not in body.inputs:
                body.inputs.append(node)
        if producer:
            self._leave(node, home)

    def _leave(self, node, home):
        producer = self.home.get(node)
        if producer is None:
            return
        around = set(home.chain())
        for body in producer.chain():
            if body in around:
                break
            if node not in body.outputs:
                body.outputs.append(node)

    # ---- bodies ----

    def module(self, path, cls=""):
        """The module of a path, with those that it is in."""
        found = self.modules.get(path)
        if found is None:
            parent = self._parent(path)
            found = self.modules[path] = Module(path, cls or self.classes.get(path, ""), parent)
            parent.children[path] = found
        found.cls = found.cls or cls
        return found

    def _parent(self, path):
        """The nearest module around a path; those that only hold others become layers, except lists."""
        names = path.split(".")
        for count in range(len(names) - 1, 0, -1):
            outer = ".".join(names[:count])
            if outer in self.modules:
                return self.modules[outer]
            # A list is a part of the module that holds it: `layers.0`. Below a name there must be a layer.
            if not names[count].isdigit():
                return self.module(outer)
        return self.modules[""]

    def _make_bodies(self, body):
        """Makes the items of a body, from the inside. Modules are found from the outside, so that each is a part of the
        nearest one."""
        body.module = self.module(body.path, body.cls) if body.path else self.modules[""]
        items = []
        known = self.trained.get(body.path)
        if known and _is_known(body):
            body.module.kind, body.module.made = "nn", known[0]
            names = {word: f"{body.path}.{word}" for word in known[1]}
            self.graph.tensors.update((names[word], tensor) for word, tensor in known[1].items())
            body.module.params = {word: (names[word], tensor) for word, tensor in known[1].items()}
            body.items = []
        for item in body.items:
            if isinstance(item, Body):
                self._make_bodies(item)
                items.append(Call(item.module, item))
            else:
                items.append(self._step(item, body))
        body.items = [item for item in items if item is not None]
        self._name_sizes(body)
        for node in self._params_of(body):
            self._add_param(self.graph.params[node], body)
        for index, other in enumerate(body.module.bodies):
            if body.module.kind == "nn" or signature(self, other, True) == signature(self, body, True):
                body.index = index
                break
        else:
            body.index = len(body.module.bodies)
            body.module.bodies.append(body)
        for item in body.items:
            if isinstance(item, Call):
                item.index = item.body.index

    def _step(self, op, body):
        try:
            return Step(op, template(op))
        except Unsupported as error:
            self.errors.append((op.name, body.path, str(error)))
            return None

    def _params_of(self, body):
        found = []
        for item in body.items:
            nodes = item.inputs if isinstance(item, Call) else item.op.uses()
            found += [n for n in nodes if n in self.graph.params and n not in found and n not in body.inputs]
        return found

    def _add_param(self, name, body):
        path, _, word = name.rpartition(".")
        owner = self.module(path)
        safe = param_word(word)
        owner.params.setdefault(safe, (name[: len(name) - len(word)] + safe, self.graph.tensors[name]))
        if owner is not body.module:
            owner.read_outside.add(word)
            while owner.parent is not body.module:
                owner = owner.parent
                owner.opened = True

    def _member_names(self):
        """The names of all parts and parameters, which no dimension may have."""
        return {word for path in (*self.modules, *self.graph.params.values()) for word in path.split(".")}

    def _name_sizes(self, body):
        tensors = [tensor_of(node) for node in body.inputs if tensor_of(node) is not None]
        given = self.graph.axis_names
        body.sizes = name_sizes(tensors, given, {name for name, _ in self.graph.inputs} | self._member_names())
        if body.parent is None:
            # An entry's sizes may be multiples of a symbol, which then has the name.
            body.sizes = {expr: name for expr, name in body.sizes.items() if expr.is_Symbol}
            loose = {
                s for t in tensors for size in t.shape if (e := expression(size)) is not None for s in e.free_symbols
            }
            for symbol in sorted(loose - set(body.sizes), key=str):
                body.sizes[symbol] = given.get(symbol, f"S{len(body.sizes)}")
        for expr in self._sizes_of(body):
            if size_text(expr, body.sizes) is None:
                body.extra.append(expr)
                body.sizes[expr] = f"size{len(body.extra)}" if len(body.extra) > 1 else "size"
        for node in body.inputs:
            dims = [] if tensor_of(node) is None else tensor_of(node).shape
            body.signature.append(
                [
                    expression(size) if expression(size) is not None else Hole(int(size), "size", soft=True)
                    for size in dims
                ]
            )

    def _sizes_of(self, body):
        for item in body.items:
            if isinstance(item, Call):
                yield from item.body.extra
            else:
                yield from (part.expr for part in item.template.parts if isinstance(part, Size))


def _is_known(body):
    """True if a call of a known layer takes and gives what the layer of `nn` does."""
    states = states_of(body.cls)
    if not states:
        return len(body.inputs) == len(body.outputs) == 1
    plain = any(not isinstance(item, Body) and item.name in RECURRENCES for item in body.items)
    return plain and len(body.inputs) in (1, 1 + states) and None not in map(result_number, body.outputs)


RECURRENCES = ("aten.lstm", "aten.gru", "aten.rnn_tanh", "aten.rnn_relu")


def result_number(node):
    """Which result of a recurrence a node is: y is 0, the states follow. None if it is no such result."""
    while node.op == "call_function" and node.args:
        if target_name(node.target)[0] == "_operator.getitem":
            return node.args[1] if target_name(node.args[0].target)[0] in RECURRENCES else None
        node = node.args[0] if isinstance(node.args[0], torch.fx.Node) else node.args[0][0]
    return None


def signature(tree, body, values):
    """What a body computes, without the names of values; with `values` also its constants."""
    numbers = {node: ("in", i) for i, node in enumerate(body.inputs)}
    key = [body.cls]
    for node, dims in zip(body.inputs, body.signature):
        tensor = tensor_of(node)
        shape = [
            body.sizes.get(dim, str(dim)) if not isinstance(dim, Hole) else dim.value if values else None
            for dim in dims
        ]
        key.append((None if tensor is None else tensor.dtype, *shape))

    def number(node):
        if node in numbers:
            return numbers[node]
        name = tree.graph.params.get(node, "")
        return ("param", name[len(body.path) :] if body.path else name)

    def part_key(part):
        if isinstance(part, Hole):
            return (*part.key(), type(part.value).__name__, repr(part.value)) if values else part.key()
        if isinstance(part, Use):
            return (*number(part.node), part.prec)
        return ("size", size_text(part.expr, body.sizes)) if isinstance(part, Size) else part

    for item in body.items:
        if isinstance(item, Call):
            start = len(body.path) + 1 if body.path else 0
            place = (item.module.path[start:], item.index)
            passed = tuple(size_text(expr, body.sizes) for expr in item.body.extra)
            key.append(("call", place, tuple(map(number, item.inputs)), passed))
        else:
            key.append((item.template.prec, *map(part_key, item.template.parts)))
        for out in item.outs:
            numbers[out] = ("value", len(numbers))
    return (*key, *map(number, body.outputs))


# ---- what each module becomes ----


def choose_kinds(tree):
    """Decides which modules are layers of `nn`, which are lists of layers, and which are layers of their own."""
    for module in sorted(tree.modules.values(), key=lambda m: -len(m.path.split(".")) if m.path else 1):
        module.height = 1 + max((child.height for child in module.children.values()), default=-1)
        if not module.path or len(module.bodies) != 1 or module.kind == "nn":
            continue
        body = module.bodies[0]
        if _is_standard(tree, module, body):
            module.kind = "nn"
        elif module.cls == SEQUENTIAL and is_sequence(module, body):
            module.kind = "sequence"


def _is_standard(tree, module, body):
    if len(body.items) != 1 or not isinstance(body.items[0], Step) or body.extra or module.children:
        return False
    op = body.items[0].op
    made = constructor(module.cls, module.path, op, tree.graph.params)
    tied = [part.node for part in made.parts if isinstance(part, Use)] if made else []
    if made is None or len(body.inputs) != 1 + len(tied):
        return False
    if tied and not _can_tie(tree, module, body, tied[0]):
        return False
    short = module.cls.rsplit(".", 1)[1]
    if module.read_outside - ({"weight"} if short in OPEN_WEIGHT else set()):
        return False
    module.made = made
    return True


def _can_tie(tree, module, body, weight):
    """True if the module that holds a layer can give it a weight that was declared before."""
    name, holder = tree.graph.params[weight], module.parent
    if len(module.bodies) != 1 or weight in holder.bodies[0].inputs if holder.bodies else True:
        return False
    owner = tree.modules[name.rpartition(".")[0]]
    siblings = list(holder.children.values())
    first = next((i for i, child in enumerate(siblings) if (owner.path + ".").startswith(child.path + ".")), None)
    if owner is not holder and (first is None or first > siblings.index(module)):
        return False
    body.inputs.remove(weight)
    for other in _calls_of(tree.root, module):
        other.inputs = [node for node in other.inputs if node is not weight]
    return True


def _calls_of(body, module):
    for item in body.items:
        if isinstance(item, Call):
            yield from [item] if item.module is module else _calls_of(item.body, module)


def is_sequence(module, body):
    """True if a body calls numbered parts one after the other, each with the result of the one before."""
    if (
        module.params
        or module.opened
        or len(body.inputs) != 1
        or body.outputs != (body.items[-1].outs if body.items else None)
        or body.extra
    ):
        return False
    value, last = body.inputs[0], -1
    for item in body.items:
        if (
            not isinstance(item, Call)
            or item.states()
            or item.inputs != [value]
            or len(item.outs) != 1
            or item.index
            or item.body.extra
        ):
            return False
        place = item.module.place()
        if item.module.parent is not module or len(place) != 1 or not place[0].isdigit() or int(place[0]) <= last:
            return False
        value, last = item.outs[0], int(place[0])
    return len(module.children) == len(body.items)


def param_type(tensor, shape):
    """The type of a parameter, with the text of its sizes."""
    return f"Tensor<{DTYPES[tensor.dtype]}, [{', '.join(shape)}]>"
