"""Writes layers as text of the language."""

import re
from collections import Counter

from .graph import tensor_of
from .layers import WORDS, constructor_parts
from .parts import ATOM, DTYPES, LOOSE, Hole, Use, constant_text
from .sizes import size_text
from .tree import Call, param_type, param_word, result_number

LINE = 100  # columns of a statement
INLINE = 72  # columns of an expression that is written where its value is used
LOCAL = 9  # the binding of a local's name
LETTERS = ("y", "z", "u", "v", "w", "a", "b", "c")


def write_program(tree, groups):
    """The source file of all layers; the entry comes last."""
    ordered = sorted(groups, key=lambda group: (group.first.height, group.first.path))
    layers = [LayerWriter(tree, group).text() for group in ordered]
    uses_nn = any("nn." in text for text in layers)
    return "\n\n".join((["import nn"] if uses_nn else []) + layers) + "\n"


def is_member(name):
    """True if a member of a layer may have this name."""
    return name.isidentifier() and name not in WORDS


CALLED = re.compile(r"(?<![.\w])([a-z]\w*)\(")


def is_plain(name, module):
    """True if the name of a member is no word of the language, and hides no function that the module's bodies call."""
    steps = (item.template.parts for body in module.bodies for item in body.items if not isinstance(item, Call))
    called = {word for parts in steps for part in parts if isinstance(part, str) for word in CALLED.findall(part)}
    return is_member(name) and name not in called


class LayerWriter:
    """One layer, from the first module of its group."""

    def __init__(self, tree, group):
        self.tree, self.group, self.module = tree, group, group.first

    def text(self):
        """The definition of the layer."""
        arguments = ", ".join(f"{name}: {kind}" if kind else name for name, kind, _ in self.group.arguments)
        lines = [f"layer {self.group.name}({arguments}) {{"]
        lines += self._params() + self._members()
        bodies = self.module.bodies
        for index, body in enumerate(bodies):
            lines += BodyWriter(self, body, function_name(index)).lines()
        if not bodies:
            lines.append("    fn forward(x) { return x }  # it only holds its members")
        return "\n".join([*lines, "}"])

    def constant(self, hole):
        """A constant, or nothing if it is the default of an argument by name."""
        text = self.group.texts.get(id(hole), None)
        text = constant_text(hole.value) if text is None else text
        if hole.keyword is None:
            return text
        return "" if text == constant_text(hole.default) else hole.keyword + text

    def _params(self):
        lines = []
        for word, (_, tensor) in self.module.params.items():
            shape = [self.constant(hole) for hole in self.module.param_holes[word]]
            lines.append(f"    param {word}: {param_type(tensor, shape)}")
        return lines

    # ---- parts ----

    def _members(self):
        lists = {}
        for child in self.module.children.values():
            lists.setdefault(member(child.place())[0], []).append(child)
        lines = []
        for name, children in lists.items():
            text = self._nested([(member(child.place())[1], self.constructor(child)) for child in children])
            if is_plain(name, self.module):
                lines.append(f"    let {name} = {text}")
            else:
                lines.append(f'    let {hidden_name(name)} = [("{name}", {text})]')
        return lines

    def constructor(self, child):
        """The call that creates a part."""
        if child.kind == "nn":
            return "".join(self._constructor_part(part) for part in child.made.parts).replace("(, ", "(")
        if child.kind == "sequence":
            inner = [([int(grand.place()[0])], self.constructor(grand)) for grand in child.children.values()]
            return f"nn.Sequential({self._nested(inner)})"
        values = [self.constant(hole) for hole in constructor_parts(child)]
        names = [name for name, _, _ in child.group.arguments]
        words = [value if i < 2 else f"{name}={value}" for i, (name, value) in enumerate(zip(names, values))]
        return f"{child.group.name}({', '.join(words)})"

    def _constructor_part(self, part):
        if isinstance(part, Use):
            return param_reference(self.tree, part.node, self.module)
        return part if isinstance(part, str) else self.constant(part)

    def _nested(self, items):
        """A part, or a list of parts with their indices."""
        if not items[0][0]:
            return items[0][1]
        rows = {}
        for (first, *rest), text in items:
            rows.setdefault(first, []).append((rest, text))
        texts = [self._nested(rows[i]) if i in rows else "nn.Identity()" for i in range(max(rows) + 1)]
        return list_text(texts)


def member(place):
    """(name, indices) of a place in a module. Numbered parts of the module itself are a list without a name."""
    if place[0].isdigit():
        return "_layers", [int(index) for index in place]
    return place[0], [int(index) for index in place[1:]]


def list_text(texts):
    """A list, with equal neighbours as a comprehension."""
    runs = []
    for text in texts:
        if runs and runs[-1][0] == text:
            runs[-1][1] += 1
        else:
            runs.append([text, 1])
    if len(texts) > 1 and len(runs) == 1:
        return f"[{texts[0]} for i in 0..{len(texts)}]"
    if not any(count > 2 for _, count in runs):
        return "[" + ", ".join(texts) + "]"
    return " + ".join(f"[{text}]" if count == 1 else f"[{text} for i in 0..{count}]" for text, count in runs)


def function_name(index):
    """The name of the function of a module's body."""
    return "forward" if index == 0 else f"forward{index + 1}"


class BodyWriter:
    """One function. A value that is used once is written where it is used, if the line stays short."""

    def __init__(self, layer, body, name):
        self.layer, self.body, self.name = layer, body, name
        self.params = layer.tree.graph.params
        self.out, self.values = [], {}  # values: node -> (text, binding, names in it)
        self.left = Counter(node for item in body.items for node in self._reads(item)) + Counter(body.outputs)
        self.taken = self._taken()
        self.functions = {}

    def _reads(self, item):
        return (
            item.inputs
            if isinstance(item, Call)
            else [part.node for part in item.template.parts if isinstance(part, Use)]
        )

    def _taken(self):
        layer = self.layer.module
        names = {member(child.place())[0] for child in layer.children.values()} | set(layer.params) | WORDS
        return names | {name for name, _, _ in self.layer.group.arguments} | set(self.body.sizes.values())

    def lines(self):
        """The lines of the function."""
        head = f"    fn {self.name}({', '.join(self._inputs())}) {{"
        items = self.body.items
        position = 0
        while position < len(items):
            count = self._loop(items, position)
            if not count:
                self._item(items[position])
            position += count or 1
        results = ", ".join(self._value(node, LOOSE) for node in self.body.outputs)
        if not self.out and len(head) + len(results) + 10 <= LINE:
            return [f"{head} return {results} }}"]
        return [head, *self.out, f"        return {results}", "    }"]

    # ---- arguments ----

    def _inputs(self):
        declared = []
        for number, (node, dims) in enumerate(zip(self.body.inputs, self.body.signature)):
            name = self._input_name(node, number)
            self._bind(node, name)
            tensor = tensor_of(node)
            if tensor is None:
                declared.append(name)
                continue
            sizes = [
                self.layer.constant(dim) if isinstance(dim, Hole) else size_text(dim, self.body.sizes) or "?"
                for dim in dims
            ]
            declared.append(f"{name}: Tensor<{DTYPES[tensor.dtype]}, [{', '.join(sizes)}]>")
        return declared + [self.body.sizes[expr] for expr in self.body.extra]

    def _input_name(self, node, number):
        if self.body.parent is None:
            names = {inner: name for name, inner in self.layer.tree.graph.inputs}
            return self._free(names[node])
        if node in self.params:
            return self._free(self.params[node].rpartition(".")[2])
        return self._free(assigned_name(node) or "x") if number else self._free("x")

    def _free(self, wanted):
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}{number}", number + 1
        self.taken.add(name)
        return name

    def _bind(self, node, name):
        self.values[node] = (name, LOCAL, {name})

    # ---- values ----

    def _value(self, node, prec):
        self.left[node] -= 1
        if node not in self.values:
            return param_reference(self.layer.tree, node, self.body.module)
        text, binding, _ = self.values[node]
        return f"({text})" if binding < prec else text

    def _names_in(self, nodes):
        return {name for node in nodes if node in self.values for name in self.values[node][2]}

    def _held(self):
        """The names that are still needed."""
        return {name for node, (_, _, names) in self.values.items() if self.left[node] > 0 for name in names}

    def _item(self, item):
        nodes = self._reads(item)
        names = self._names_in(nodes)
        text, prec = self._call(item) if isinstance(item, Call) else self._step(item)
        if len(item.outs) != 1:
            self._assign_all(item, text)
            return
        (node,) = item.outs
        if self.left[node] == 1 and len(text) <= (LINE if node in self.body.outputs else INLINE):
            self.values[node] = (text, prec, names)
        else:
            self._assign(node, text, nodes)

    def _assign(self, node, text, nodes):
        wanted, name = assigned_name(node), self._spent(nodes)
        if name and (wanted is None or wanted == name or wanted in self.taken):
            self.out.append(f"        {name} = {text}")
        else:
            name = self._fresh(node)
            self.out.append(f"        let {name} = {text}")
        self._bind(node, name)

    def _spent(self, nodes):
        """The local that is read first, if it is not needed any more: it may have the new value."""
        first = self.values.get(nodes[0]) if nodes else None
        return first[0] if first and first[1] == LOCAL and first[0] not in self._held() else None

    def _assign_all(self, item, text):
        names = [self._fresh(node) for node in item.outs]
        for node, name in zip(item.outs, names):
            self._bind(node, name)
        if item.states():
            given = {result_number(node): name for node, name in zip(item.outs, names)}
            names = [given.get(number, "_") for number in range(1 + item.states())]
            if item.states() == 2:
                names = [names[0], f"({names[1]}, {names[2]})"]
        self.out.append(f"        let ({', '.join(names)}) = {text}")

    def _fresh(self, node):
        wanted = assigned_name(node)
        if wanted and wanted not in self.taken:
            return self._free(wanted)
        for letter in LETTERS:
            if letter not in self.taken:
                return self._free(letter)
        return self._free(wanted or "y")

    def _step(self, item):
        template = item.template
        parts = []
        for part in template.parts:
            if isinstance(part, str):
                parts.append(part)
            elif isinstance(part, Hole):
                text = self.layer.constant(part)
                parts.append(text)
            elif isinstance(part, Use):
                parts.append(self._value(part.node, part.prec))
            else:
                parts.append(size_text(part.expr, self.body.sizes, part.prec) or "?")
        return "".join(parts), template.prec

    def _call(self, item, callee=None):
        arguments = [self._value(node, LOOSE) for node in item.inputs]
        if item.states() == 2 and len(arguments) == 3:
            arguments = [arguments[0], f"({arguments[1]}, {arguments[2]})"]
        arguments += [size_text(expr, self.body.sizes) for expr in item.body.extra]
        callee = callee or ".".join(member_path(item.module, self.body.module))
        callee += "" if item.index == 0 else "." + function_name(item.index)
        chosen = result_text(item) if item.states() and len(item.outs) == 1 else ""
        return f"{callee}({', '.join(arguments)}){chosen}", ATOM

    # ---- loops ----

    def _loop(self, items, start):
        """Writes a loop over a list of layers, each called with the result of the one before. Returns how many items it
        has."""
        count = self._chain_length(items, start)
        if count < 2:
            return 0
        first, last = items[start], items[start + count - 1]
        slot = next(i for i, node in enumerate(items[start + 1].inputs) if node is first.outs[0])
        for i, node in enumerate(first.inputs):
            if i != slot and node in self.values and self.values[node][1] != LOCAL:
                self._keep(node)
            self.left[node] -= count if i != slot else 0
        carried = self._carry(first.inputs[slot])
        name, (*outer, begin) = member(first.module.place())
        end = member(last.module.place())[1][-1] + 1
        whole = begin == 0 and end == 1 + max(member(c.place())[1][-1] for c in self._siblings(first.module))
        holder = first.module.parent
        listed = ".".join([*member_path(holder, self.body.module), member_name(name, holder)])
        listed += "".join(f"[{i}]" for i in outer)
        listed += "" if whole else f"[{begin}:{end}]"
        loop = self._free(singular(name))
        arguments = [carried if i == slot else self._again(node) for i, node in enumerate(first.inputs)]
        arguments += [size_text(expr, self.body.sizes) for expr in first.body.extra]
        called = loop if first.index == 0 else f"{loop}.{function_name(first.index)}"
        self.out.append(f"        for {loop} in {listed} {{ {carried} = {called}({', '.join(arguments)}) }}")
        self.taken.discard(loop)
        self._bind(last.outs[0], carried)
        return count

    def _siblings(self, module):
        place = module.place()
        return [
            c
            for c in module.parent.children.values()
            if member(c.place())[0] == member(place)[0] and c.place()[:-1] == place[:-1]
        ]

    def _chain_length(self, items, start):
        count, item = 1, items[start]
        while self._is_numbered(item) and start + count < len(items):
            following = items[start + count]
            if not self._follows(item, following):
                break
            count, item = count + 1, following
        return count

    def _is_numbered(self, item):
        return (
            isinstance(item, Call)
            and bool(member(item.module.place())[1])
            and len(item.outs) == 1
            and not item.states()
            and item.module.parent is not None
        )

    def _follows(self, item, following):
        if not self._is_numbered(following) or following.module.parent is not item.module.parent:
            return False
        (name, indices), (other, after) = member(item.module.place()), member(following.module.place())
        between = range(indices[-1] + 1, after[-1]) if after else ()
        siblings = {tuple(member(c.place())[1]) for c in self._siblings(item.module)}
        if (
            name != other
            or indices[:-1] != after[:-1]
            or after[-1] <= indices[-1]
            or any((*indices[:-1], i) in siblings for i in between)
        ):
            return False
        if following.index != item.index or self.left[item.outs[0]] != 1 or len(item.inputs) != len(following.inputs):
            return False
        if [*item.body.extra] != [*following.body.extra]:
            return False
        changed = [i for i, (a, b) in enumerate(zip(item.inputs, following.inputs)) if a is not b]
        return len(changed) == 1 and following.inputs[changed[0]] is item.outs[0]

    def _carry(self, node):
        """The local that a loop carries."""
        self.left[node] -= 1
        if node in self.values and self.values[node][1] == LOCAL and self.values[node][0] not in self._held():
            return self.values[node][0]
        text = self.values[node][0] if node in self.values else param_reference(self.layer.tree, node, self.body.module)
        name = self._fresh(node)
        self.out.append(f"        let {name} = {text}")
        return name

    def _keep(self, node):
        name = self._fresh(node)
        self.out.append(f"        let {name} = {self.values[node][0]}")
        self._bind(node, name)

    def _again(self, node):
        return self.values[node][0] if node in self.values else param_reference(self.layer.tree, node, self.body.module)


def member_path(module, holder):
    """The members that lead from a layer to a module in it."""
    names = []
    while module is not holder:
        names.insert(0, reference(module))
        module = module.parent
    return names


def result_text(call):
    """What chooses the one result that is used of a recurrent layer's."""
    number = result_number(call.outs[0])
    return "[0]" if not number else "[1]" if call.states() == 1 else f"[1][{number - 1}]"


def param_reference(tree, node, holder):
    """A parameter as seen from a layer."""
    path, _, word = tree.graph.params[node].rpartition(".")
    return ".".join([*member_path(tree.modules[path], holder), param_word(word)])


def reference(module):
    """A part as a member of the module that holds it."""
    name, indices = member(module.place())
    return member_name(name, module.parent) + "".join(f"[{i}]" for i in indices)


def member_name(name, holder):
    """A member of a layer, or the list with the member that has no plain name."""
    return name if is_plain(name, holder) else f"{hidden_name(name)}[0][1]"


def hidden_name(name):
    """The name of the list that gives a member a name that the language does not have."""
    return "_" + re.sub(r"\W", "_", name)


def singular(name):
    """The name of one element of a list."""
    name = name.strip("_")
    return (
        name[:-1]
        if name.endswith("s") and len(name) > 2 and is_member(name[:-1])
        else f"{name}_item"
        if is_member(name)
        else "item"
    )


ASSIGNMENT = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?::[^=]+)?=[^=]")


def assigned_name(node):
    """The local of the Python source that a value was assigned to, or None."""
    lines = (node.meta.get("stack_trace") or "").rstrip().splitlines()
    found = ASSIGNMENT.match(lines[-1]) if lines else None
    name = found.group(1) if found else None
    return name if name and is_member(name) and not name.startswith("_") else None
