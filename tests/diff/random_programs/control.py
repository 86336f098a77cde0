"""Branches, loops and calls of random programs: what Drawer does beside single operations."""
from bounds import MOST, Invalid, Type, broadcast, rounded
from arithmetic import binary_infer
from program import Block, Statement, index_type, operation


class Control:
    def condition(self, body):
        """A scalar that is true or false at run time."""
        kind = self.integer(0, 4)
        if kind == 0:
            return self.fitting("bool", [], exactly=True)
        if kind == 1:
            n = self.indices([], 8)
            return self.add(body, Statement("scalar compare", [self.name("c")], [n], {"k": self.integer(1, 6), "op": self.choice(["<", ">", "=="])}))[0]
        if kind == 2:
            x = self.pick(lambda t: t.rank and t.elem == "bool")
            self.not_empty()
            return self.add(body, Statement("any", [self.name("c")], [x], {"axes": None, "keep": False}))[0]
        x = self.pick(lambda t: t.rank and t.exact() and not t.wild and t.elem != "bool")
        s = self.add(body, Statement("sum", [self.name("s")], [x], {"axes": None, "keep": False}))[0]
        return self.add(body, Statement("scalar compare", [self.name("c")], [s], {"k": self.integer(-3, 3), "op": self.choice(["<", ">"])}))[0]

    def draw_if(self, body, depth):
        c = self.condition(body)
        top, self.top = self.top, False
        blocks, scopes = [], []
        for _ in range(2):
            inner = self.block(self.integer(1, 4), depth - 1)
            scopes.append(self.scopes.pop())
            blocks.append(inner)
        self.top = top
        outer = self.scope()
        pairs = [(a, b) for a, t in {**outer, **scopes[0]}.items() for b, u in {**outer, **scopes[1]}.items()
                 if t.elem == u.elem and t.shape == u.shape and (a in scopes[0] or b in scopes[1])]
        if not pairs:
            raise Invalid
        chosen = self.rng.sample(pairs, min(len(pairs), self.integer(1, 2)))
        statement = Statement("if", [self.name("v") for _ in chosen], [c], {}, [Block(blocks[0], [a for a, _ in chosen]), Block(blocks[1], [b for _, b in chosen])])
        self.add(body, statement)

    def trips(self):
        """What a loop counts to, the most that it can be, and more arguments and attributes."""
        kind = self.integer(0, 3)
        if kind == 0:
            return self.integer(2, 3), 3, [], {}
        if kind == 1:
            x = self.pick(lambda t: any(not s.known() for s in t.shape))
            return "size", MOST, [x], {"axis": self.choice([k for k, s in enumerate(self.type(x).shape) if not s.known() and s.most() <= MOST])}
        return self.input("int32", [], 0, 4), 4, [], {}

    def draw_for(self, body, depth, op="for", more=()):
        starts = [self.pick(lambda t: t.elem in ("float32", "int32", "float64", "float16", "int64") and t.size() < 300 and not t.wild) for _ in range(self.integer(1, 2))]
        n, most, extra, attrs = self.trips()
        if more and extra:
            raise Invalid
        carried, index = [self.name("h") for _ in starts], self.name("i")
        types = [self.type(s) for s in starts]
        top, self.top = self.top, False
        inner = self.block(self.integer(1, 4), depth - 1, {**dict(zip(carried, types)), index: index_type(n, most)})
        results = []
        try:
            for c, t in zip(carried, types):
                results.append(self.update(inner, c, t))
            leave = self.condition(inner) if self.chance(0.3) and not isinstance(n, int) else None
        finally:
            self.scopes.pop()
            self.top = top
        statement = Statement(op, [self.name("v") for _ in starts], [*starts, *more, *extra], {**attrs, "n": n, "most": most, "carried": carried, "index": index, "leave": leave}, [Block(inner, results)])
        self.add(body, statement)

    def update(self, body, c, t):
        """The carried value of the next iteration, of the same type and about the same interval."""
        other = self.pick(lambda u: u.elem == t.elem and u.size() < 1e4 and not u.wild and self.fits_into(u, t))
        mixed = self.add(body, Statement("mix", [self.name("u")], [c, other], {"lo": int(t.lo) - 1, "hi": int(t.hi) + 1}))[0]
        return mixed

    def fits_into(self, u, t):
        try:
            return broadcast(u.shape, t.shape) == t.shape
        except Invalid:
            return False

    def draw_while(self, body, depth):
        c = self.fitting("bool", [], exactly=True)
        self.draw_for(body, depth, "while", [c])

    def draw_call(self, body):
        f = self.choice([f for f in self.program.functions.values() if f.name not in (self.program.name, self.function.name)])
        if f.is_layer() and self.function.attribute == "fn":
            raise Invalid
        args = []
        for t in f.sample:
            args.append(self.pick(lambda u, t=t: u.elem == t.elem and u.rank == t.rank and u.shape[1:] == t.shape[1:]))
        attrs = {"function": f.name}
        if f.is_layer():
            member = next((m for m, n in self.function.layers if n == f.name), None)
            if member is None or self.chance(0.4):
                member = self.name(f"{self.program.name}_{self.function.name}_l" if self.function.name != self.program.name else f"{self.program.name}_l")
                attrs["new"] = True
            attrs["member"] = member
        self.add(body, Statement("call", [self.name("v") for _ in f.block.results], args, attrs))
        if attrs.pop("new", None):
            self.function.layers.append((attrs["member"], f.name))


def scalar_compare_infer(types, attrs):
    (t,) = types
    if t.rank or not t.sure() or t.wild or t.elem == "bool":
        raise Invalid
    return Type("bool", (), 0, 1)


def mix_infer(types, attrs):
    """Half of both, or of integers their sum, within the interval."""
    c, u = types
    if c.elem != u.elem or broadcast(c.shape, u.shape) != c.shape or c.wild or u.wild or c.elem in ("bool", "trit"):
        raise Invalid
    if not c.is_float():
        out = binary_infer("+")([c, u], {})
        return Type(out.elem, out.shape, max(out.lo, attrs["lo"]), min(out.hi, attrs["hi"]))
    half = lambda t: rounded(t.elem, t.shape, t.lo / 2, t.hi / 2, t.err / 2, None if t.grid is None else t.grid + 1)
    out = binary_infer("+")([half(c), half(u)], {})
    lo, hi = max(out.lo, attrs["lo"]), min(out.hi, attrs["hi"])
    if lo > hi:
        raise Invalid
    return rounded(out.elem, out.shape, lo, hi, out.err, out.grid)


def mix_text(a, attrs, types):
    if types[0].is_float():
        return f"clip({a[0]} * 0.5 + {a[1]} * 0.5, {attrs['lo']}.0, {attrs['hi']}.0)"
    return f"clip({a[0]} + {a[1]}, {attrs['lo']}, {attrs['hi']})"


def never(g):
    raise Invalid


operation("scalar compare", never, scalar_compare_infer, lambda a, attrs, t: f"{a[0]} {attrs['op']} {attrs['k']}{'.0' if t[0].is_float() else ''}", 0)
operation("mix", never, mix_infer, mix_text, 0)
