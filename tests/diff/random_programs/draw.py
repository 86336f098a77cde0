"""Draws random programs: their inputs, functions and layers, and a body."""
import random

from bounds import Invalid, Size
from drawer import THEMES, Drawer
from program import Block, Function, Program, Statement


def draw_shape(g, rank):
    shape = [g.size() for _ in range(rank)]
    for i in range(rank):
        if g.chance(0.35 if i == 0 else 0.12) and not (rank == 4 and i == 1):
            shape[i] = Size({g.choice(["N", "N", "M", "K"]): 1})
    return shape


def draw_function(g, program, k):
    """A function or layer of up to two arguments like the program's inputs."""
    layer = g.chance(0.5)
    f = Function(f"{program.name}_f{k}", [], Block([], []), [], "" if layer else "fn")
    samples = [t for t in program.inputs.values() if t.rank]
    types = [g.choice(samples) for _ in range(g.integer(1, 2))]
    outer, g.scopes, g.function, g.top = g.scopes, [{}], f, False
    try:
        for t in types:
            name = g.name("a")
            f.args.append(name)
            g.scopes[0][name] = t
        g.statements(f.block.body, g.integer(2, 6), 1 if g.chance(0.3) else 0)
        values = [n for s in f.block.body for n in s.results]
        f.block.results = values[-g.integer(1, min(2, len(values))):]
        if not values:
            raise Invalid
    finally:
        g.scopes, g.function, g.top = outer, program.entry, True
    f.sample = types
    return f


def leaves(block):
    used = {n for s in block.body for n in uses(s)}
    return [n for s in block.body for n in s.results if n not in used]


def uses(s):
    """Names of the scope that a statement uses, also those inside of its blocks."""
    names = set(s.args)
    if isinstance(s.attrs.get("n"), str) and s.attrs["n"] != "size":
        names.add(s.attrs["n"])
    for b in s.blocks:
        names.update(b.results)
        for t in b.body:
            names |= uses(t)
        if s.attrs.get("leave"):
            names.add(s.attrs["leave"])
    return names


def finish(program):
    """Widens outputs that NumPy has no type for, and drops what no output needs."""
    entry = program.entry
    types = program.infer()
    for k, t in enumerate(types):
        if t.elem == "bfloat16":
            name = f"out_{k}"
            entry.block.body.append(Statement("cast", [name], [entry.block.results[k]], {"to": "float32"}))
            entry.block.results[k] = name
    prune(program)
    program.infer()


def prune(program):
    """Drops statements, parameters, inputs and functions without use."""
    changed = True
    while changed:
        changed = False
        for f in program.functions.values():
            used = set(f.block.results)
            for s in f.block.body:
                used |= uses(s)
            members = {s.attrs.get("member") for s in calls(f.block)}
            changed |= prune_block(f.block, used)
            f.params = [p for p in f.params if p.name in used]
            f.layers = [(m, n) for m, n in f.layers if m in members]
            if f.name == program.name:
                f.args = [a for a in f.args if a in used]
                program.inputs = {n: t for n, t in program.inputs.items() if n in used}
    for f in program.functions.values():  # in order: a layer that lost its parameters is a function
        f.layers = [(m, n) for m, n in f.layers if program.functions[n].is_layer()]
        for s in calls(f.block):
            if not program.functions[s.attrs["function"]].is_layer():
                s.attrs.pop("member", None)
    called = {program.name}
    for f in reversed(list(program.functions.values())):
        if f.name in called:
            called |= {s.attrs["function"] for s in calls(f.block)}
    program.functions = {n: f for n, f in program.functions.items() if n in called}


def prune_block(block, used):
    """Drops statements whose results no name of `used` is; True if there were any."""
    kept = [s for s in block.body if any(n in used for n in s.results)]
    changed = len(kept) < len(block.body)
    block.body = kept
    for s in kept:
        changed |= any([prune_block(b, used) for b in s.blocks])
    return changed


def calls(block):
    for s in block.body:
        if s.op == "call":
            yield s
        for b in s.blocks:
            yield from calls(b)


def draw_program(seed):
    """The program of a seed. Never fails: it tries again with more of the same random numbers."""
    rng = random.Random(seed)
    while True:
        program = Program(f"p{seed}", seed, {}, {})
        theme = rng.choice([*THEMES, "mixed", "images", "sequences"])
        g = Drawer(rng, program, theme)
        entry = Function(program.name, [], Block([], []), [], "")
        entry.layers = []
        program.functions[program.name] = entry
        g.function, g.scopes = entry, [{}]
        try:
            for _ in range(rng.randint(1, 3)):
                g.input(rng.choice(g.elems), draw_shape(g, rng.choice(g.ranks)))
            for k in range(rng.choice([0, 0, 1, 2, 3])):
                f = draw_function(g, program, k)
                f.attribute = rng.choice(["", "@noinline ", "@inline "])
                del program.functions[program.name]
                program.functions[f.name] = f
                program.functions[program.name] = entry
            g.statements(entry.block.body, rng.randint(3, 14), 2 if rng.random() < 0.4 else 0)
            found = leaves(entry.block)
            rng.shuffle(found)
            entry.block.results = found[:rng.randint(2, 8)]
            inner = [n for s in entry.block.body for n in s.results if n not in found]
            entry.block.results += rng.sample(inner, min(len(inner), rng.choice([0, 0, 1, 3])))  # values that others use, too
            if entry.block.results:
                finish(program)
                return program
        except Invalid:
            pass
