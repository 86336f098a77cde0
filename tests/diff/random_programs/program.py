"""Random programs as data: statements with an operation, arguments and attributes. Types follow from those of the inputs, so that a part can be dropped
or changed (shrink.py) and the rest is still known to be valid."""
import dataclasses

from bounds import Invalid, Type, union

OPERATIONS = {}  # by name


class Operation:
    """draw(g) -> (arguments, attributes); infer(types, attributes) -> a type or a list of them; text(names, attributes, types) -> an expression.

    weight: how often it is drawn, in proportion."""

    def __init__(self, draw, infer, text, weight, results):
        self.draw, self.infer, self.text, self.weight, self.results = draw, infer, text, weight, results


def operation(name, draw, infer, text, weight=1.0, results=1):
    OPERATIONS[name] = Operation(draw, infer, text, weight, results)


@dataclasses.dataclass
class Statement:
    op: str  # of OPERATIONS, or "call", "if", "for", "while"
    results: list
    args: list = dataclasses.field(default_factory=list)
    attrs: dict = dataclasses.field(default_factory=dict)
    blocks: list = dataclasses.field(default_factory=list)

    def copy(self, **changes):
        new = dataclasses.replace(self, results=list(self.results), args=list(self.args), attrs=dict(self.attrs), blocks=[b.copy() for b in self.blocks])
        return dataclasses.replace(new, **changes)


@dataclasses.dataclass
class Block:
    body: list
    results: list  # names

    def copy(self):
        return Block([s.copy() for s in self.body], list(self.results))


@dataclasses.dataclass
class Parameter:
    name: str
    type: Type
    init: str


@dataclasses.dataclass
class Function:
    name: str
    args: list  # names
    block: Block
    params: list  # of Parameter: with any it is a layer
    attribute: str = ""
    layers: list = dataclasses.field(default_factory=list)  # (member, function's name)

    def copy(self):
        return dataclasses.replace(self, args=list(self.args), block=self.block.copy(), params=list(self.params), layers=list(self.layers))

    def is_layer(self):
        return bool(self.params or self.layers)


@dataclasses.dataclass
class Program:
    name: str
    seed: int
    inputs: dict  # name -> Type
    functions: dict  # by name, in order; the last one is the entry
    positive: set = dataclasses.field(default_factory=set)

    def copy(self):
        return dataclasses.replace(self, inputs=dict(self.inputs), functions={k: f.copy() for k, f in self.functions.items()})

    @property
    def entry(self):
        return self.functions[self.name]

    def infer(self):
        """The types of the outputs. Raises Invalid."""
        return call(self, self.entry, list(self.inputs.values()))

    def symbols(self):
        found = {}
        for t in self.inputs.values():
            for s in t.shape:
                for a in s.terms:
                    found[a] = None
        return list(found)

    def has_control(self):
        return any(walk(f.block, lambda s: s.op in ("if", "while") or (s.op == "for" and not isinstance(s.attrs["n"], int))) for f in self.functions.values())


def walk(block, found):
    return any(found(s) or any(walk(b, found) for b in s.blocks) for s in block.body)


def call(program, f, types):
    env = dict(zip(f.args, types, strict=True))
    env.update((p.name, p.type) for p in f.params)
    return run_block(program, f.block, env)


def run_block(program, block, env):
    env = dict(env)
    for s in block.body:
        env.update(zip(s.results, infer(program, s, env), strict=True))
    return [lookup(env, n) for n in block.results]


def lookup(env, name):
    if name not in env:
        raise Invalid
    return env[name]


def scalar(t, elem):
    if t.rank or t.elem != elem or not t.sure() or t.wild:
        raise Invalid


def infer(program, s, env):
    """The types of a statement's results."""
    types = [lookup(env, n) for n in s.args]
    if s.op == "call":
        f = program.functions.get(s.attrs["function"])
        if f is None or len(f.args) != len(types):
            raise Invalid
        return call(program, f, types)
    if s.op == "if":
        scalar(types[0], "bool")
        return [union(a, b) for a, b in zip(run_block(program, s.blocks[0], env), run_block(program, s.blocks[1], env), strict=True)]
    if s.op in ("for", "while"):
        return infer_loop(program, s, types, env)
    out = OPERATIONS[s.op].infer(types, s.attrs)
    return out if isinstance(out, list) else [out]


def index_type(n, most):
    return Type("int64" if n == "size" else "int32", (), 0, most)


def infer_loop(program, s, types, env):
    """args: the carried values first, in order of the block's results; then the condition of a while, or the tensor whose size a for runs over. Each
    iteration widens the types."""
    n = s.attrs["n"]
    if s.op == "while":
        scalar(types[-1], "bool")
    if n == "size":
        if types[-1].rank <= s.attrs["axis"]:
            raise Invalid
    elif not isinstance(n, int):
        scalar(lookup(env, n), "int32")
        if env[n].hi > s.attrs["most"]:
            raise Invalid
    carried = s.attrs["carried"]
    state = types[: len(carried)]
    for k in range(n if isinstance(n, int) else s.attrs["most"]):
        inner = {**env, **dict(zip(carried, state)), s.attrs["index"]: index_type(s.attrs["n"], s.attrs["most"])}
        after = run_block(program, s.blocks[0], inner)
        if s.attrs.get("leave"):  # a break leaves them as they were
            scalar(run_block(program, Block(s.blocks[0].body, [s.attrs["leave"]]), inner)[0], "bool")
        state = [union(a, b) for a, b in zip(state, after, strict=True)]
    return state


# ---- text ----

class Writer:
    def __init__(self, program):
        self.program, self.lines = program, []

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, block, env):
        """Writes the body; returns the types of all names in it."""
        env = dict(env)
        for s in block.body:
            getattr(self, "put_" + s.op, self.put_op)(depth, s, env)
            env.update(zip(s.results, infer(self.program, s, env)))
        return env

    def let(self, names):
        return f"let {names[0]}" if len(names) == 1 else f"let ({', '.join(names)})"

    def values(self, names):
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    def put_op(self, depth, s, env):
        self.put(depth, f"{self.let(s.results)} = {OPERATIONS[s.op].text(s.args, s.attrs, [env[a] for a in s.args])}")

    def put_call(self, depth, s, env):
        self.put(depth, f"{self.let(s.results)} = {s.attrs.get('member') or s.attrs['function']}({', '.join(s.args)})")

    def put_if(self, depth, s, env):
        self.put(depth, f"{self.let(s.results)} = if {s.args[0]} {{")
        self.block(depth + 1, s.blocks[0], env)
        self.put(depth + 1, self.values(s.blocks[0].results))
        self.put(depth, "} else {")
        self.block(depth + 1, s.blocks[1], env)
        self.put(depth + 1, self.values(s.blocks[1].results))
        self.put(depth, "}")

    def put_for(self, depth, s, env):
        carried, n = s.attrs["carried"], s.attrs["n"]
        for result, start in zip(s.results, s.args):
            self.put(depth, f"let {result} = {start}")
        if n == "size":
            n = f"{s.args[-1]}.shape[{s.attrs['axis']}]"
        known = "_" if isinstance(n, int) else ""
        head = f"for {s.attrs['index']}{known} in 0..{n}"
        if s.op == "while":
            self.put(depth, f"let {s.attrs['index']} = 0")
            head = f"while {s.attrs['index']} < {n} && {s.args[-1]}"
        self.put(depth, head + " {")
        if known and s.op == "for":
            self.put(depth + 1, f"let {s.attrs['index']} = tensor({s.attrs['index']}_)")
        for c, result in zip(carried, s.results):
            self.put(depth + 1, f"let {c} = {result}")
        self.block(depth + 1, s.blocks[0], {**env, **loop_names(s, env)})
        if s.attrs.get("leave"):
            self.put(depth + 1, f"if {s.attrs['leave']} {{ break }}")
        for result, value in zip(s.results, s.blocks[0].results):
            self.put(depth + 1, f"{result} = {value}")
        if s.op == "while":
            self.put(depth + 1, f"{s.attrs['index']} += 1")
        self.put(depth, "}")

    put_while = put_for


def loop_names(s, env):
    """The types of the names that a loop's body has, in its first iteration."""
    return {**dict(zip(s.attrs["carried"], (env[a] for a in s.args))), s.attrs["index"]: index_type(s.attrs["n"], s.attrs["most"])}


def function_text(w, f, types):
    prefix, depth = "", 0
    if f.is_layer():
        w.put(0, f"{f.attribute}layer {f.name}() {{")
        for p in f.params:
            w.put(1, f"param {p.name}: {p.type.text()} = {p.init}")
        for member, name in f.layers:
            w.put(1, f"let {member} = {name}()")
        prefix, depth = "forward", 1
    declared = [f"{n}: {t.text()}" for n, t in zip(f.args, types)] if f.name == w.program.name else f.args
    w.put(depth, f"{'' if f.is_layer() else f.attribute}fn {prefix or f.name}({', '.join(declared)}) {{")
    env = dict(zip(f.args, types))
    env.update((p.name, p.type) for p in f.params)
    w.block(depth + 1, f.block, env)
    w.put(depth + 1, f"return {', '.join(f.block.results)}")
    w.put(depth, "}")
    if f.is_layer():
        w.put(0, "}")


def calls_of(program):
    """The types of some call of each function that is used."""
    found = {}

    def visit(f, types):
        found[f.name] = types
        env = dict(zip(f.args, types))
        env.update((p.name, p.type) for p in f.params)
        visit_block(f.block, env)

    def visit_block(block, env):
        env = dict(env)
        for s in block.body:
            if s.op == "call":
                visit(program.functions[s.attrs["function"]], [env[a] for a in s.args])
            for b in s.blocks:
                more = {}
                if s.op != "if":
                    more = loop_names(s, env)
                visit_block(b, {**env, **more})
            env.update(zip(s.results, infer(program, s, env)))

    visit(program.entry, list(program.inputs.values()))
    return found


def text(program):
    """The program as a .tri file."""
    w = Writer(program)
    used = calls_of(program)
    for f in program.functions.values():
        if f.name in used:
            function_text(w, f, used[f.name])
    text = "\n".join(w.lines) + "\n"
    return "import quant\n" + text if "quant." in text else text
