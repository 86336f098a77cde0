"""The values in scope while a random program is written, and the statements over them."""
import control
import elementwise  # noqa: F401: registers its operations
import indexing  # noqa: F401
import network  # noqa: F401
import products  # noqa: F401
import quantize  # noqa: F401
import windows  # noqa: F401
from bounds import FLOATS, RANGES, Invalid, Size, Type, broadcast, count
from program import OPERATIONS, Parameter, Statement, infer

NAMES = list(OPERATIONS)
MOST_ELEMENTS = 30000
THEMES = {
    "mixed": ([2, 3], ["float32"], 1),
    "vectors": ([1, 2], ["float32", "float32", "int32", "float16"], 1),
    "images": ([4, 4, 4, 3], ["float32", "float32", "float32", "int8", "uint8"], 4),
    "sequences": ([3, 4, 2], ["float32", "float32", "float64"], 4),
    "integers": ([1, 2, 3], ["uint8", "int8", "int16", "int32", "int64", "trit", "bool"], 3),
    "trits": ([2, 2, 4], ["float32", "int8", "trit"], 3),
    "halves": ([1, 2, 3, 4], ["float16", "float16", "float32", "float64"], 1),
    "squares": ([2, 2, 3], ["float32", "float32", "float64", "float16", "int32"], 5),
    "wild": ([1, 2, 3], ["float32", "float32", "float64", "float16"], 1),
}
BOOST = {
    "images": ("conv2d", "conv1d", "pool2d", "adaptive_avgpool2d", "upsample2d", "norm", "conv_transpose2d", "binary +", "relu"),
    "sequences": ("attention", "softmax", "linear", "matmul", "norm", "rope", "permute", "reshape"),
    "integers": ("integer divide", "integer literal", "integer unary", "compare", "where", "cast", "sum", "matmul", "gather", "scatter", "index_select", "points", "window"),
    "squares": ("exp", "tanh", "sigmoid", "transpose", "permute", "flip", "slice", "binary +", "binary *", "roll", "softmax", "sum", "where", "select_scatter"),
    "trits": ("ternary_activation", "absmax_quantize", "absmean_quantize", "dequantize", "matmul", "linear", "conv2d", "bit_linear", "pack"),
}


class Drawer(control.Control):
    """The values in scope, by name, while a block is written."""

    def __init__(self, rng, program, theme):
        self.rng, self.program, self.theme = rng, program, theme
        self.scopes, self.fresh, self.function, self.top = [], 0, None, True
        ranks, elems, k = THEMES[theme]
        self.ranks, self.elems = ranks, elems
        boost = BOOST.get(theme, ())
        self.weights = [OPERATIONS[n].weight * (k if n in boost else 1) for n in NAMES]
        self.constants = [rng.choice([1, 2, 3, 4, 5, 6, 7, 8]) for _ in range(3)] + [rng.choice([2, 3, 4, 8, 9, 16, 17, 33])]
        if theme == "squares":  # many values of one shape
            self.constants = self.constants[-1:]

    # ---- choices ----

    def choice(self, values):
        if not values:
            raise Invalid
        return self.rng.choice(values)

    def chance(self, p):
        return self.rng.random() < p

    def integer(self, low, high):
        return self.rng.randint(low, high)

    def size(self):
        return Size.of(self.rng.choice(self.constants))

    def not_empty(self):
        self.program.positive.add("all")

    def name(self, letter):
        self.fresh += 1
        return f"{letter}{self.fresh}"

    # ---- values ----

    def scope(self):
        env = {}
        for s in self.scopes:
            env.update(s)
        return env

    def type(self, name):
        for s in reversed(self.scopes):
            if name in s:
                return s[name]
        raise Invalid

    def all(self, accept):
        return [n for n, t in self.scope().items() if accept(t)]

    def pick(self, accept):
        """A value in scope; more often a late one."""
        found = self.all(accept)
        if not found:
            raise Invalid
        return found[max(self.rng.randrange(len(found)) for _ in range(2 + (len(found) > 8)))]

    def pair(self, accept):
        a = self.pick(accept)
        t = self.type(a)

        def fits(u):
            try:
                return accept(u) and count(broadcast(t.shape, u.shape)) <= MOST_ELEMENTS
            except Invalid:
                return False

        if t.elem != "bool" and t.rank and t.shape[-1].known() and self.chance(0.2):
            b = self.weight(t.elem, [t.shape[-1]])
        else:
            b = self.pick(fits)
        return ([a, b] if self.chance(0.5) else [b, a]), {}

    def bounds(self, elem, positive=False):
        """An interval and a grid that inputs and parameters of this type have."""
        if elem in FLOATS:
            return (0.5, 2.0, 2) if positive else (-2.0, 2.0, 2)
        if elem == "bool":
            return 0, 1, None
        if elem == "trit":
            return -1, 1, None
        return (max(-7, RANGES[elem][0]), 7, None)

    def input(self, elem, shape, lo=None, hi=None):
        """A new input of the program, while its own body is drawn; elsewhere a value that fits."""
        shape = tuple(Size.of(s) for s in shape)
        divided = any(not isinstance(a, str) for s in shape for a in s.terms)  # a declaration does not determine such a size
        if divided or not self.top or len(self.program.inputs) >= 7 or count(shape) > MOST_ELEMENTS or elem == "bfloat16":
            return self.pick(lambda t: t.elem == elem and t.shape == shape)
        a, b, grid = self.bounds(elem)
        if lo is not None:
            a, b = lo, hi
        elif elem in RANGES and elem not in ("bool", "trit") and self.chance(0.2):
            a, b = RANGES[elem]
        t = Type(elem, shape, a, b, 0.0, grid, self.theme == "wild" and elem in FLOATS and self.chance(0.6))
        name = self.name("x")
        self.program.inputs[name] = t
        self.program.entry.args.append(name)
        self.scopes[0][name] = t
        return name

    def weight(self, elem, shape, positive=False):
        """A parameter, where the function is a layer; else a value that fits."""
        shape = tuple(Size.of(s) for s in shape)
        found = self.all(lambda t: t.elem == elem and t.shape == shape and (not positive or t.lo > 0.2) and not t.wild)
        if found and self.chance(0.25):
            return self.choice(found)
        if self.function.attribute == "fn" or not all(s.known() for s in shape) or count(shape) > 4000 or len(self.function.params) > 8:
            return self.choice(found)
        lo, hi, grid = self.bounds(elem, positive)
        name = self.name(f"{self.program.name}_{self.function.name}_w" if self.function.name != self.program.name else f"{self.program.name}_w")
        text = f"[{', '.join(map(repr, shape))}]"
        if elem in FLOATS:
            init = f"clip(round(randn({text}) * 4.0), {'2.0, 8.0' if positive else '-8.0, 8.0'}) / 4.0"
            init = init if elem == "float32" else f"{elem}({init})"
        elif elem == "trit":
            init = f"random_ternary({text})"
        else:
            init = f"{elem}(clip(round(randn({text}) * 4.0), -7.0, 7.0))"
        t = Type(elem, shape, lo, hi, 0.0, grid)
        self.function.params.append(Parameter(name, t, init))
        self.scopes[0][name] = t
        return name

    def indices(self, shape, limit):
        shape = tuple(Size.of(s) for s in shape)
        found = self.all(lambda t: t.elem in ("int32", "int64") and t.shape == shape and t.lo >= 0 and t.hi < limit)
        if found and self.chance(0.5):
            return self.choice(found)
        return self.input(self.choice(["int32", "int32", "int64"]), shape, 0, limit - 1)

    def fitting(self, elem, shape, exactly=False):
        """A value of that element type which broadcasts to the shape."""
        shape = tuple(Size.of(s) for s in shape)

        def fits(t):
            try:
                return t.elem == elem and not (exactly and t.shape != shape) and broadcast(t.shape, shape) == shape
            except Invalid:
                return False

        found = self.all(fits)
        if found and self.chance(0.7):
            return self.choice(found)
        return self.input(elem, shape)

    # ---- statements ----

    def add(self, body, statement):
        """Adds a statement if it is valid; returns its results."""
        types = infer(self.program, statement, self.scope())
        if any(count(t.shape) > MOST_ELEMENTS or t.rank > 6 for t in types):
            raise Invalid
        for t in types:
            for s in t.shape:
                if s.known() and s.constant < 1:
                    raise Invalid
        body.append(statement)
        self.scopes[-1].update(zip(statement.results, types))
        return statement.results

    def draw_operation(self, body):
        name = self.rng.choices(NAMES, self.weights)[0]
        op = OPERATIONS[name]
        args, attrs = op.draw(self)
        self.add(body, Statement(name, [self.name("v") for _ in range(op.results)], args, attrs))

    def statements(self, body, n, depth, kinds=None):
        done = tries = 0
        while done < n and tries < 30 * n:
            tries += 1
            try:
                kind = self.rng.random()
                if depth and kind < 0.09:
                    self.rng.choice([self.draw_if, self.draw_for, self.draw_for, self.draw_while])(body, depth)
                elif self.program.functions and kind > 0.9 and len(self.program.functions) > 1:
                    self.draw_call(body)
                else:
                    self.draw_operation(body)
                done += 1
            except Invalid:
                pass

    def block(self, n, depth, more=None):
        """Statements in a scope of their own; its types."""
        body = []
        self.scopes.append(dict(more or {}))
        self.statements(body, n, depth)
        return body
