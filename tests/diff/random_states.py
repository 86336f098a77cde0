"""random_states.py [COUNT]: random layers with states, and random sequences of runs, against NumPy. `TRIB_SEED` draws the same ones again."""
import os
import random
import sys
import unittest

import numpy as np

from library_states import CAPACITY, Model, ModelError
from project import ProjectTest

TYPES = {"float32": np.float32, "float16": np.float16, "int8": np.int8, "int32": np.int32, "float64": np.float64}
MOST = 12
FAILED = [54]  # a temporary that grows was laid over a smaller one
COUNT = int(sys.argv.pop(1)) if sys.argv[1:2] and sys.argv[1].isdigit() else 12


class State:
    def __init__(self, r, number):
        self.name, self.capacity, self.dtype = f"s{number}", f"T{number}", r.choice(list(TYPES))
        self.shape = [r.choice([1, 2, 3, 5, 8]) for _ in range(r.randrange(1, 5))]
        self.axis = r.randrange(len(self.shape))
        self.boxed = r.random() < 0.5  # in a layer of its own

    def type(self, size):
        return f"Tensor<{self.dtype}, [{', '.join(size if k == self.axis else str(n) for k, n in enumerate(self.shape))}]>"

    def path(self):
        return f"box_{self.name}.k" if self.boxed else self.name

    def slice(self, text):
        return f"[{', '.join(text if k == self.axis else ':' for k in range(len(self.shape)))}]"

    def rows(self, r, n):
        shape = [n if k == self.axis else size for k, size in enumerate(self.shape)]
        return np.array([r.randrange(-100, 100) for _ in range(int(np.prod(shape)))]).astype(TYPES[self.dtype]).reshape(shape)

    def box(self):
        return f"""layer Box_{self.name}() {{
    state k: {self.type("cap " + self.capacity)}
    fn add(x: {self.type("N")}) {{
        k.append(x, dim={self.axis})
        return k
    }}
    fn set(x: {self.type("N")}) {{ k = x }}
    fn last(x: {self.type("N")}) {{ k = k{self.slice("-2:")} }}
    fn twice(x: {self.type("N")}) {{ k.append(k) }}
}}
"""


class Entry:
    """`ops`: what it does, in order, each with a state and the number of its input."""

    def __init__(self, r, number, states):
        self.name, self.ops = f"e{number}", []
        for _ in range(r.randrange(1, 6)):
            s = r.choice(states)
            self.ops.append((r.choice(["append", "append", "append", "append", "append old", "set", "last", "twice", "read", "read"]), s, len(self.ops)))
        self.ops.append(("read", r.choice(states), len(self.ops)))

    def source(self):
        args = ", ".join(f"x{k}: {s.type(f'N{k}')}" for _, s, k in self.ops)
        lines, results = [], []
        for op, s, k in self.ops:
            name = s.path()
            if op == "read":
                lines.append(f"let y{k} = {name}")
            elif op == "append old":
                lines.append(f"let y{k} = {name}")
            if op.startswith("append"):
                lines.append(f"let z{k} = box_{s.name}.add(x{k})" if s.boxed else f"{name}.append(x{k}, dim={s.axis - r_sign(k) * len(s.shape)})")
            elif op == "set":
                lines.append(f"box_{s.name}.set(x{k})" if s.boxed else f"{name} = x{k}")
            elif op == "last":
                lines.append(f"box_{s.name}.last(x{k})" if s.boxed else f"{name} = {name}{s.slice('-2:')}")
            elif op == "twice":
                lines.append(f"box_{s.name}.twice(x{k})" if s.boxed else f"{name}.append({name})")
            if op in ("read", "append old"):
                results.append(f"y{k}")
        body = "\n        ".join(lines + [f"return {', '.join(results)}"])
        return f"    fn {self.name}({args}) {{\n        {body}\n    }}\n"

    def run(self, values, inputs):
        """The results; changes `values`. None: it does not fit. A state may be longer in between."""
        results = []
        for (op, s, _), x in zip(self.ops, inputs):
            v = values[s.name]
            if op in ("read", "append old"):
                results.append(v)
            if op.startswith("append"):
                v = np.concatenate([v, x], s.axis)
            elif op == "set":
                v = x
            elif op == "last":
                v = v[tuple(slice(-2, None) if k == s.axis else slice(None) for k in range(v.ndim))]
            elif op == "twice":
                v = np.concatenate([v, v], s.axis)
            values[s.name] = v
        return results if all(values[s.name].shape[s.axis] <= MOST for _, s, _ in self.ops) else None


def r_sign(k):
    """Alternates between dimensions from the front and from the back."""
    return k % 2


class RandomStates(ProjectTest):
    def test_programs(self):
        first = int(os.environ.get("TRIB_SEED", random.randrange(1 << 30)))
        for number, seed in enumerate([*FAILED, *range(first, first + COUNT)]):
            with self.subTest(seed=seed):
                self.program(random.Random(seed), number)

    def program(self, r, number):
        states = [State(r, k) for k in range(r.randrange(1, 4))]
        entries = [Entry(r, k, states) for k in range(r.randrange(1, 4))]
        source = "".join(s.box() for s in states if s.boxed) + "layer Net() {\n"
        for s in states:
            source += f"    let box_{s.name} = Box_{s.name}()\n" if s.boxed else f"    state {s.name}: {s.type('cap ' + s.capacity)}\n"
        source += "".join(e.source() for e in entries) + "}\n"
        name = f"net{number}"
        self.write("net.tri", source)
        used = sorted({s.capacity for e in entries for _, s, _ in e.ops})
        manifest = (f"model {name}\n    sources = net.tri\n    entry = {' '.join('Net.' + e.name for e in entries)}\n    opt = {r.choice('0123')}\n"
                   + "".join(f"    state.{c} = {MOST}\n" for c in used))
        self.write("tri.build", manifest)
        self.trib("build")
        model = Model(self.path(f"build/lib{name}.so"), threads=r.choice([1, 2]))
        values = {s.name: s.rows(r, 0) for s in states}
        saved = model.save(), values
        for _ in range(14):
            e = r.choice(entries)
            inputs = [s.rows(r, r.choice([0, 1, 1, 1, 2, 3])) for _, s, _ in e.ops]
            after = dict(values)
            want = e.run(after, inputs)
            if any(op == "last" for op, *_ in e.ops) and not self.has_two(e, values, inputs):
                continue
            if want is None:
                before = model.save()
                with self.assertRaises(ModelError) as error:
                    model.run(list(model.entries)[entries.index(e)], inputs, [w.shape for w in e.run(dict(values), inputs) or self.shapes(e, values, inputs)])
                self.assertEqual(error.exception.code, CAPACITY, source)
                self.assertEqual(model.save(), before)
            else:
                got = model.run(list(model.entries)[entries.index(e)], inputs, [w.shape for w in want])
                for k, (g, w) in enumerate(zip(got, want)):
                    if g.tobytes() != np.ascontiguousarray(w).tobytes():
                        rows = [x.shape[s.axis] for (_, s, _), x in zip(e.ops, inputs)]
                        self.fail(f"{manifest}{source}\n{e.name}, result {k}, with {rows} rows on {[v.shape for v in values.values()]}:\n{g}\nnot\n{w}")
                values = after
            what = r.random()
            if what < 0.1:
                model.reset()
                values = {s.name: s.rows(r, 0) for s in states}
            elif what < 0.2:
                saved = model.save(), values
            elif what < 0.3:
                model.load(saved[0])
                values = saved[1]
        model.close()

    @staticmethod
    def shapes(e, values, inputs):
        """The shapes of the results of a run that does not fit."""
        values, shapes = dict(values), []
        for k, (op, s, _) in enumerate(e.ops):
            part = Entry.__new__(Entry)
            part.ops = [(op, s, k)]
            if op in ("read", "append old"):
                shapes.append(values[s.name])
            part.run(values, [inputs[k]])
        return shapes

    @staticmethod
    def has_two(e, values, inputs):
        """True if each state has two rows when its last two are taken: with fewer the run fails."""
        values = dict(values)
        for k, (op, s, _) in enumerate(e.ops):
            if op == "last" and values[s.name].shape[s.axis] < 2:
                return False
            part = Entry.__new__(Entry)
            part.ops = [(op, s, k)]
            part.run(values, [inputs[k]])
        return True


if __name__ == "__main__":
    unittest.main()
