"""Makes a program that fails smaller, as long as it fails in the same way: fewer outputs, statements and cases, values as inputs, smaller sizes."""
import dataclasses

import draw
from bounds import RANGES, Invalid, Size
from program import infer


def candidates(program):
    """Smaller programs, the most promising first."""
    entry = program.entry
    if len(entry.block.results) > 1:
        for name in entry.block.results:
            p = program.copy()
            p.entry.block.results = [name]
            yield p
    body = entry.block.body
    for k in reversed(range(len(body))):  # an intermediate value as the output: later statements go
        for name in body[k].results:
            if [name] != entry.block.results:
                p = program.copy()
                p.entry.block.results = [name]
                yield p
    for k in range(len(body)):  # a statement's results as inputs
        p = as_inputs(program, k)
        if p:
            yield p
    for k, s in enumerate(body):  # an inlined call or branch
        if s.op == "call":
            p = inlined(program, k)
            if p:
                yield p
        for b in range(len(s.blocks)):
            if s.op == "if":
                p = program.copy()
                block = p.entry.block.body[k].blocks[b]
                rename = dict(zip(s.results, block.results))
                p.entry.block.body[k:k + 1] = block.body
                yield renamed(p, rename)
    for k, s in enumerate(body):
        for b in range(len(s.blocks)):
            for j in reversed(range(len(s.blocks[b].body))):
                p = program.copy()
                gone = p.entry.block.body[k].blocks[b].body.pop(j)
                types = dict(zip(p.entry.args, p.inputs.values()))
                same = [n for n in [*types, *s.args, *s.attrs.get("carried", [])] if n not in gone.results]
                for n in same[:4]:
                    yield renamed(p.copy(), dict.fromkeys(gone.results, n))
    values = sorted({s.constant for t in [*program.inputs.values(), *(q.type for f in program.functions.values() for q in f.params)] for s in t.shape if s.known()}, reverse=True)
    for v in values:
        for smaller in (1, 2, v // 2):
            if 0 < smaller < v:
                yield resized(program, v, smaller)
    for name in program.symbols():  # run-time sizes as constants
        yield replaced(program, name, 2)


def as_inputs(program, k):
    p = program.copy()
    env = dict(zip(p.entry.args, p.inputs.values()))
    env.update((q.name, q.type) for q in p.entry.params)
    try:
        for s in p.entry.block.body[:k]:
            env.update(zip(s.results, infer(p, s, env)))
        types = infer(p, p.entry.block.body[k], env)
    except Invalid:
        return None
    if any(t.elem == "bfloat16" for t in types):
        return None
    for name, t in zip(p.entry.block.body[k].results, types):
        lo, hi = (max(-7, t.lo), min(7, t.hi)) if t.elem not in RANGES or t.elem.startswith("int") else (t.lo, t.hi)
        if hi < lo:
            lo, hi = t.lo, t.hi
        whole = t.elem in RANGES
        p.inputs[name] = dataclasses.replace(t, lo=lo if whole else float(int(lo)), hi=hi if whole else float(int(hi)), err=0.0, grid=None if whole else 2)
        p.entry.args.append(name)
    del p.entry.block.body[k]
    return p


def inlined(program, k):
    p = program.copy()
    s = p.entry.block.body[k]
    f = p.functions[s.attrs["function"]]
    block = f.block.copy()
    rename = {n: f"{n}_{k}" for n in inner_names(block)}  # names of its own
    rename.update(zip(f.args, s.args))
    for statement in block.body:
        rename_statement(statement, rename)
    have = {q.name for q in p.entry.params}
    p.entry.params += [q for q in f.params if q.name not in have]
    p.entry.layers += [m for m in f.layers if m not in p.entry.layers]
    p.entry.block.body[k:k + 1] = block.body
    return renamed(p, dict(zip(s.results, (rename.get(n, n) for n in block.results))))


def inner_names(block):
    names = set()
    for s in block.body:
        names.update(s.results, s.attrs.get("carried", ()), [s.attrs["index"]] if "index" in s.attrs else ())
        for b in s.blocks:
            names |= inner_names(b)
    return names


def rename_statement(s, rename):
    s.results = [rename.get(n, n) for n in s.results]
    if "carried" in s.attrs:
        s.attrs["carried"], s.attrs["index"] = [rename.get(n, n) for n in s.attrs["carried"]], rename.get(s.attrs["index"], s.attrs["index"])
    s.args = [rename.get(n, n) for n in s.args]
    if isinstance(s.attrs.get("n"), str):
        s.attrs["n"] = rename.get(s.attrs["n"], s.attrs["n"])
    if s.attrs.get("leave"):
        s.attrs["leave"] = rename.get(s.attrs["leave"], s.attrs["leave"])
    for b in s.blocks:
        b.results = [rename.get(n, n) for n in b.results]
        for t in b.body:
            rename_statement(t, rename)


def renamed(p, rename):
    for s in p.entry.block.body:
        rename_statement(s, rename)
    p.entry.block.results = [rename.get(n, n) for n in p.entry.block.results]
    return p


def with_types(program, change):
    p = program.copy()
    p.inputs = {n: change(t) for n, t in p.inputs.items()}
    for f in p.functions.values():
        f.params = [dataclasses.replace(q, type=change(q.type), init=reinit(q, change(q.type))) for q in f.params]
    return p


def reinit(q, t):
    old, new = (f"[{', '.join(map(repr, x.shape))}]" for x in (q.type, t))
    return q.init.replace(old, new)


def resized(program, value, smaller):
    return with_types(program, lambda t: t.with_shape([Size.of(smaller) if s == value else s for s in t.shape]))


def replaced(program, name, value):
    return with_types(program, lambda t: t.with_shape([Size.of(s.at({**dict.fromkeys(program.symbols(), 2), name: value})) if name in s.terms else s for s in t.shape]))


def shrink(program, fails, steps=400):
    """The smallest program found for which `fails` is true."""
    again = True
    while again and steps > 0:
        again = False
        for p in candidates(program):
            try:
                draw.prune(p)
                p.infer()
                if any(t.elem == "bfloat16" for t in p.infer()) or not p.entry.block.body:
                    continue
            except (Invalid, KeyError, ValueError, RecursionError):
                continue
            steps -= 1
            if fails(p):
                program, again = p, True
                break
            if steps <= 0:
                break
    return program
