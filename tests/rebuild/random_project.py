"""A random project with random edits: definitions in several files, two models. `render` returns its files; every edit is a method of Edits."""
import random

import numpy as np

from inference import safetensors


class Definition:
    """A function or a layer of some float32[N, 8] → float32[N, 8]."""

    def __init__(self, rng, name, kind):
        self.name, self.kind, self.attribute = name, kind, ""
        self.local, self.note = "v", ""
        self.steps = [self.step(rng) for _ in range(rng.randint(1, 3))]
        self.calls = []  # names of other definitions

    @staticmethod
    def step(rng):
        number = f"{rng.randint(1, 99)}.{rng.randint(0, 9)}"
        return rng.choice([f"{{v}} * {number}", f"{{v}} + {number}", "relu({v})", f"sigmoid({{v}}) - {number}", "{v} * SCALE", "softmax({v})",
                           f"maximum({{v}}, {number})", f"where({{v}} > {number}, {{v}}, -{{v}})"])

    def body(self, prefix_of, indent):
        v, pad = self.local, " " * indent
        lines = [f"{pad}let {v} = x"]
        for i, step in enumerate(self.steps):
            lines.append(f"{pad}{v} = {step.format(v=v)}" + (f"  # {self.note}" if i == 0 and self.note else ""))
        for callee in self.calls:
            lines.append(f"{pad}{v} = {prefix_of(callee)}({v})")
        return lines

    def render(self, prefix_of):
        head = [f"@{self.attribute}"] if self.attribute else []
        if self.kind == "fn":
            return head + [f"fn {self.name}(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{", *self.body(prefix_of, 4),
                           f"    return {self.local}", "}"]
        if self.kind == "control":
            return head + [f"fn {self.name}(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{", *self.body(prefix_of, 4),
                           f"    let i = 0", f"    while {self.local}.sum() > 100.0 && i < 4 {{", f"        {self.local} = {self.local} * 0.5",
                           "        i = i + 1", "    }", f"    return {self.local}", "}"]
        return head + [f"layer {self.name}(gain: float = 1.0) {{", "    param w: Tensor<float32, [8, 8]> = randn([8, 8])",
                       "    let folded = softmax(w) * gain",
                       "    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {", *self.body(prefix_of, 8),
                       f"        return {self.local} @ folded", "    }", "}"]


class Project:
    def __init__(self, rng):
        self.rng, self.serial = rng, 0
        self.files = {}   # module name → definitions, in order
        self.scale = "2.0"
        self.opt = None
        self.version = "1.0"
        self.keys = ""  # more of each model's block
        self.flags = []  # of the command line
        self.nets = {"one": [], "two": []}
        self.values = {}  # layer of a net, such as "one.s2" → seed of its weights
        self.touched = 0  # how often the order of tensors in the weights files was changed
        for _ in range(rng.randint(2, 3)):
            self.files[self.fresh("part")] = []
        for _ in range(rng.randint(5, 9)):
            self.add()
        for net in self.nets:
            for name in rng.sample(self.names(), 3):
                self.nets[net].append(name)

    def fresh(self, stem):
        self.serial += 1
        return f"{stem}{self.serial}"

    def definitions(self):
        return [d for file in self.files.values() for d in file]

    def names(self):
        return [d.name for d in self.definitions()]

    def add(self):
        kind = self.rng.choice(["fn", "fn", "fn", "control", "layer"])
        d = Definition(self.rng, self.fresh("L" if kind == "layer" else "f"), kind)
        self.files[self.rng.choice(list(self.files))].append(d)
        functions = self.callable_by(d)
        if functions and self.rng.random() < 0.6:
            d.calls = [self.rng.choice(functions)]

    def home(self, name):
        return next(module for module, file in self.files.items() if any(d.name == name for d in file))

    def repair(self):
        """A function may call only those of earlier files, or earlier ones of its file: so neither files nor functions form cycles."""
        earlier = set()
        for file in self.files.values():
            for d in file:
                d.calls = [o for o in d.calls if o in earlier]
                if d.kind != "layer":
                    earlier.add(d.name)

    def callable_by(self, d):
        earlier = []
        for o in self.definitions():
            if o is d:
                return earlier
            if o.kind != "layer":
                earlier.append(o.name)

    def render(self):
        """Path → text."""
        files = {"src/scale.tri": f"const SCALE = {self.scale}\n", "tri.build": self.render_manifest()}
        for module, file in self.files.items():
            home = {d.name: module for d in file}
            used = sorted({self.home(o) for d in file for o in d.calls} - {module})
            lines = [f'import "{other}.tri" as {other}' for other in used]
            if any("SCALE" in step for d in file for step in d.steps):
                lines.append('from "scale.tri" import SCALE')
            for d in file:
                lines += ["", *d.render(lambda o: o if o in home else f"{self.home(o)}.{o}")]
            files[f"src/{module}.tri"] = "\n".join(lines) + "\n"
        for net, members in self.nets.items():
            files[f"src/net_{net}.tri"] = self.render_net(net, members)
            files[f"weights/{net}.safetensors"] = self.render_weights(net)
        return files

    def layers(self, net):
        kinds = {d.name: d.kind for d in self.definitions()}
        return [f"s{i}" for i, o in enumerate(self.nets[net]) if kinds[o] == "layer"]

    def render_weights(self, net):
        arrays = {}
        for layer in self.layers(net)[::-1 if self.touched % 2 else 1]:
            seed = self.values.setdefault(f"{net}.{layer}", len(self.values))
            arrays[f"{layer}.w"] = np.random.default_rng(seed).standard_normal((8, 8), np.float32)
        return safetensors(arrays)

    def render_net(self, net, members):
        kinds = {d.name: d.kind for d in self.definitions()}
        lines = [f'import "{module}.tri" as {module}' for module in sorted({self.home(o) for o in members})]
        lines += ["", f"layer Net_{net}() {{"]
        for i, o in enumerate(members):
            if kinds[o] == "layer":
                lines.append(f"    let s{i} = {self.home(o)}.{o}({i + 1}.0)")
        lines += ["    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {", "        let y = x"]
        for i, o in enumerate(members):
            lines.append(f"        y = s{i}(y)" if kinds[o] == "layer" else f"        y = {self.home(o)}.{o}(y)")
        return "\n".join(lines + ["        return y", "    }", "}"]) + "\n"

    def render_manifest(self):
        opt = f"    opt = {self.opt}\n" if self.opt else ""
        return f"project random\n    version = {self.version}\n\n" + "\n".join(
            f"model {net}\n    sources = src/net_{net}.tri\n    entry   = Net_{net}\n    weights = weights/{net}.safetensors\n    input x = float32 [?, 8]\n{opt}{self.keys}" for net in self.nets)


class Edits:
    """Each method changes the project; those that change nothing that matters say so by returning True."""

    def __init__(self, project, rng):
        self.p, self.rng = project, rng

    def any(self, kinds=("fn", "control", "layer")):
        return self.rng.choice([d for d in self.p.definitions() if d.kind in kinds] or self.p.definitions())

    def comment(self):
        self.any().note = self.p.fresh("note ")
        return True

    def rename_local(self):
        self.any().local = self.p.fresh("v")
        return True

    def change_step(self):
        d = self.any()
        d.steps[self.rng.randrange(len(d.steps))] = Definition.step(self.rng)

    def add_step(self):
        self.any().steps.append(Definition.step(self.rng))

    def remove_step(self):
        d = self.any()
        if len(d.steps) > 1:
            d.steps.pop()

    def change_constant(self):
        self.p.scale = f"{self.rng.randint(1, 9)}.0"

    def change_attribute(self):
        self.any(("fn",)).attribute = self.rng.choice(["", "inline", "noinline", "opt(0)", "opt(2)"])

    def call_another(self):
        d = self.any()
        earlier = self.p.callable_by(d)
        d.calls = [self.rng.choice(earlier)] if earlier and self.rng.random() < 0.7 else []

    def add_definition(self):
        self.p.add()

    def remove_unused(self):
        used = {c for d in self.p.definitions() for c in d.calls} | {o for net in self.p.nets.values() for o in net}
        for file in self.p.files.values():
            file[:] = [d for d in file if d.name in used]

    def rename_definition(self):
        d = self.any()
        old, new = d.name, ("L" if d.kind == "layer" else "f") + d.name.strip("Lf") + "0"
        if new in self.p.names():
            return
        d.name = new
        for o in self.p.definitions():
            o.calls = [new if c == old else c for c in o.calls]
        for net in self.p.nets.values():
            net[:] = [new if c == old else c for c in net]

    def move_definition(self):
        d = self.any()
        self.p.files[self.p.home(d.name)].remove(d)
        self.p.files[self.rng.choice(list(self.p.files))].append(d)
        self.p.repair()

    def rename_file(self):
        old = self.rng.choice(list(self.p.files))
        new = self.p.fresh("part")
        self.p.files = {new if module == old else module: file for module, file in self.p.files.items()}

    def change_net(self):
        net = self.p.nets[self.rng.choice(list(self.p.nets))]
        net[self.rng.randrange(len(net))] = self.rng.choice(self.p.names())

    def change_level(self):
        self.p.opt = self.rng.choice([None, "0", "2", "s"])

    def change_version(self):
        self.p.version = f"1.{self.rng.randint(0, 9)}"

    def change_manifest(self):
        self.p.keys = self.rng.choice(["", "    weights.inside = 0\n", "    cpu = x86-64-v2\n", "    emit = library\n"])

    def change_flags(self):
        self.p.flags = self.rng.choice([[], ["-O0"], ["-O2"], ["-Os"], ["--cpu", "x86-64-v2"], ["-j1"]])

    def change_weights(self):
        layers = [f"{net}.{layer}" for net in self.p.nets for layer in self.p.layers(net)]
        if layers:
            self.p.values[self.rng.choice(layers)] = 1000 + int(self.p.fresh(""))

    def change_order_of_weights(self):
        self.p.touched += 1
        return True

    def nothing(self):
        return True


def edits(project, rng):
    made = Edits(project, rng)
    return {name: getattr(made, name) for name in dir(made) if not name.startswith("_") and name not in ("any", "p", "rng")}
