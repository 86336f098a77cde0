"""Groups modules that differ in constants only. Each group becomes one layer, and the constants that differ its
arguments."""

import keyword
import re

from .parts import Hole, Use, constant_text
from .tree import Step, choose_kinds, signature

WORDS = {
    "fn", "let", "const", "import", "as", "return", "if", "else", "for", "in", "while", "break", "continue", "where",
    "true", "false", "none", "nn",
}  # fmt: skip


class Group:
    """Modules of one layer. `texts` gives the constants of the first one their text: a number, or the name of an
    argument."""

    def __init__(self, modules):
        self.modules, self.first = modules, modules[0]
        self.name, self.arguments, self.texts = "", [], {}


def camel(name):
    """`self_attn` as SelfAttn."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_") if word) or "Layer"


def make_groups(tree):
    """The layers of a tree, parts before those that hold them."""
    choose_kinds(tree)
    by_skeleton = {}
    for module in sorted(tree.modules.values(), key=lambda m: m.height):
        module.skeleton = _skeleton(tree, module)
        if module.kind == "layer":
            by_skeleton.setdefault(module.skeleton, []).append(module)
    groups = [Group(modules) for modules in by_skeleton.values()]
    sizes = {name for m in tree.modules.values() for body in m.bodies for name in body.sizes.values()}
    _name_groups(groups, sizes)
    for module in tree.modules.values():
        module.holes = None
    for group in sorted(groups, key=lambda g: g.first.height):
        _find_arguments(group)
    return groups


def _skeleton(tree, module):
    params = tuple((word, tensor.dtype, tensor.dim()) for word, (_, tensor) in module.params.items())
    children = tuple((".".join(child.place()), child.skeleton) for child in module.children.values())
    if module.kind == "nn":
        start = len(module.parent.path)
        return ("nn", module.cls, tuple(_part_key(tree, part, start) for part in module.made.parts))
    if module.kind == "sequence":
        return ("sequence", children)
    return ("layer", module.cls, params, children, tuple(signature(tree, body, False) for body in module.bodies))


def _part_key(tree, part, start):
    if isinstance(part, Use):
        return ("tied", tree.graph.params[part.node][start:])
    return part.key() if isinstance(part, Hole) else part


def _name_groups(groups, sizes):
    used = {}
    for group in groups:
        module = group.first
        base = module.cls.rsplit(".", 1)[-1].split("[")[0]
        if (
            not base.isidentifier()
            or base in ("Sequential", "ModuleList", "ModuleDict")
            or keyword.iskeyword(base)
            or base in WORDS
        ):
            base = camel(module.place()[-1] if module.path else "Model")
            base = base if base.isidentifier() else camel(re.sub(r"\W", "_", module.path))
            base = base if base.isidentifier() else f"Layer{base}"
        base = f"{base}Layer" if base in sizes else base  # a dimension has no layer's name
        others = used.setdefault(base, [])
        group.name = base if not others else _variant(base, module, others, used)
        others.append(module)
        used.setdefault(group.name, []).append(module)


# A second layer of one class is named after a part that the first one lacks, else numbered.
def _variant(base, module, others, used):
    known = {child.place()[0] for child in others[0].children.values()}
    extra = [child.place()[0] for child in module.children.values() if child.place()[0] not in known]
    name = base + camel(extra[0]) if extra and extra[0].isidentifier() else ""
    number = 2
    while not name or name in used:
        name, number = f"{base}{number}", number + 1
    return name


# ---- constants ----


def constructor_parts(module):
    """The parts of the call that creates a module. They are made once, so that their constants can be filled in."""
    if getattr(module, "constructor", None) is None:
        if module.kind == "nn":
            module.constructor = module.made.parts
        elif module.kind == "sequence":
            module.constructor = [part for child in module.children.values() for part in constructor_parts(child)]
        else:
            module.constructor = [Hole(value, hint) for hint, value in module.group_values]
    return module.constructor


def module_holes(module):
    """All constants of a module, in one order for the modules of a group."""
    holes = []
    module.param_holes = {}
    for word, (_, tensor) in module.params.items():
        module.param_holes[word] = [Hole(int(size), "size") for size in tensor.shape]
        holes += module.param_holes[word]
    for child in module.children.values():
        holes += [part for part in constructor_parts(child) if isinstance(part, Hole)]
    for body in module.bodies:
        holes += [dim for dims in body.signature for dim in dims if isinstance(dim, Hole)]
        for item in body.items:
            if isinstance(item, Step):
                holes += [part for part in item.template.parts if isinstance(part, Hole)]
    return holes


def _same(a, b):
    return type(a) is type(b) and (a == b or repr(a) == repr(b))  # a NaN is equal to none


def _find_arguments(group):
    rows = [module_holes(module) for module in group.modules]
    found, taken = {}, _taken_names(group.first)
    ordered = sorted(range(len(rows[0])), key=lambda i: rows[0][i].soft)  # soft ones last: they use arguments of others
    for i in ordered:
        hole, values = rows[0][i], [row[i].value for row in rows]
        if all(_same(value, values[0]) for value in values):
            group.texts[id(hole)] = constant_text(hole.value)
            continue
        key = (_family(hole.hint), tuple((type(value).__name__, repr(value)) for value in values))
        if key not in found:
            if hole.soft:
                group.texts[id(hole)] = "?"
                continue
            found[key] = _argument_name(hole.hint, taken)
            taken.add(found[key])
            group.arguments.append((found[key], _argument_type(hole.hint, values), values))
        group.texts[id(hole)] = found[key]
    for k, module in enumerate(group.modules):
        module.group = group
        module.group_values = [(name, values[k]) for name, _, values in group.arguments]


SIZES = ("size", "in_", "out_", "num_features", "num_channels", "shape", "rows", "features", "channels", "hidden")


def _family(hint):
    """Arguments for sizes are one if they are equal in all modules; others only if they mean the same."""
    return "size" if hint.startswith(SIZES) else hint


def _taken_names(module):
    names = {child.place()[0] for child in module.children.values()} | set(module.params) | WORDS
    for body in module.bodies:
        names |= {"x", "y", "size"} | {node.name for node in body.inputs}
    return names


def _argument_name(hint, taken):
    hint = hint.rstrip("0123456789") or "size"
    hint = {"size": "features", "shape": "features", "value": "value", "n": "count"}.get(hint, hint)
    name, number = hint, 2
    while name in taken:
        name, number = f"{hint}{number}", number + 1
    return name


def _argument_type(hint, values):
    kinds = {type(value) for value in values}
    if kinds == {int} and hint not in ("value", "alpha", "exponent", "min", "max"):
        return "int"
    return {frozenset({float}): "float", frozenset({bool}): "bool", frozenset({str}): "str"}.get(frozenset(kinds), "")
