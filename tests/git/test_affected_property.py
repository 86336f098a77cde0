"""Random edits of random projects. The definitions and models that `trib affected` names are compared with two oracles: the edits that the test made, and
full builds before and after. A model whose code differs must be named."""
import os
import random
import re
import shutil
import unittest

from project import run, TRIB
from repository import RepositoryTest

ROUNDS = int(os.environ.get("TRIB_EDITS", 25))


class Project:
    """Modules of functions that call functions of their own and of earlier modules; constants; models."""

    def __init__(self, rng):
        self.rng = rng
        self.defs = {}  # name: [module, uses, number, text style]
        self.modules = [f"m{i}" for i in range(rng.randint(2, 4))]
        for i in range(rng.randint(6, 14)):
            self.add(f"f{i}")
        names = list(self.defs)
        self.models = {f"net{i}": [rng.choice(names), 1] for i in range(rng.randint(1, 3))}
        self.spaces = {}
        self.fresh = 0
        self.moved = False  # the names of units, in symbols, have the module's path in their digest
        self.folder = "src"

    def order(self, name):
        return int(name[1:])

    def add(self, name):
        earlier = [n for n in self.defs if self.order(n) < self.order(name)]
        uses = self.rng.sample(earlier, min(len(earlier), self.rng.randint(0, 2)))
        self.defs[name] = [self.rng.choice(self.modules), uses, self.rng.randint(1, 99)]

    def text(self, module):
        mine = [n for n in sorted(self.defs, key=self.order) if self.defs[n][0] == module]
        out = []
        for other in self.modules:
            wanted = sorted({u for n in mine for u in self.defs[n][1] if self.defs[u][0] == other}) if other != module else []
            if wanted:
                out.append(f"from {other} import {', '.join(wanted)}\n")
        space = self.spaces.get(module, 0)
        for n in mine:
            _, uses, number = self.defs[n]
            calls = "".join(f" + {u}(x)" for u in uses)
            out.append("\n" * space + f"# {n}, {space}\nfn {n}(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> {{\n    return x * {number}.0{calls}\n}}\n")
        return "".join(out)

    def files(self):
        files = {f"{self.folder}/{m}.tri": self.text(m) for m in self.modules}
        files["tri.build"] = "".join(f"model {m}\n    sources = {self.folder}/{self.defs[entry][0]}.tri\n    entry = {entry}\n    opt = {opt}\n    input x = float32 [4]\n"
                                     for m, (entry, opt) in sorted(self.models.items()))
        return files

    def reach(self, name):
        seen, todo = set(), [name]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += self.defs[at][1]
        return seen

    # ---- edits ----

    def edit(self):
        what = self.rng.choice([self.number, self.number, self.call, self.move, self.blanks, self.new, self.entry, self.level, self.drop, self.rename_folder, self.uncall])
        what()

    def number(self):
        name = self.rng.choice(list(self.defs))
        self.defs[name][2] += 100

    def call(self):
        name = self.rng.choice(list(self.defs))
        more = [n for n in self.defs if self.order(n) < self.order(name) and n not in self.defs[name][1]]
        if more:
            self.defs[name][1].append(self.rng.choice(more))
        if self.circle():
            self.defs[name][1].pop()

    def uncall(self):
        name = self.rng.choice(list(self.defs))
        if self.defs[name][1]:
            self.defs[name][1].pop()

    def move(self):
        """To another module: nothing changes but the place, unless imports would go in a circle."""
        name = self.rng.choice(list(self.defs))
        was = self.defs[name][0]
        self.defs[name][0] = self.rng.choice(self.modules)
        if self.circle():
            self.defs[name][0] = was
        self.moved |= self.defs[name][0] != was

    def circle(self):
        edges = {m: {self.defs[u][0] for n in self.defs if self.defs[n][0] == m for u in self.defs[n][1]} - {m} for m in self.modules}
        done = set()
        while True:
            free = [m for m in self.modules if m not in done and edges[m] <= done]
            if not free:
                return len(done) < len(self.modules)
            done.update(free)

    def blanks(self):
        module = self.rng.choice(self.modules)
        self.spaces[module] = self.spaces.get(module, 0) + 1

    def new(self):
        self.fresh += 1
        self.add(f"f{100 + self.fresh}")
        if self.circle():
            del self.defs[f"f{100 + self.fresh}"]

    def drop(self):
        used = {u for d in self.defs.values() for u in d[1]} | {m[0] for m in self.models.values()}
        for name in list(self.defs):
            if name not in used and self.order(name) < 100:
                del self.defs[name]
                return

    def entry(self):
        model = self.rng.choice(list(self.models))
        self.models[model][0] = self.rng.choice(list(self.defs))

    def level(self):
        model = self.rng.choice(list(self.models))
        self.models[model][1] = 3 - self.models[model][1]

    def rename_folder(self):
        self.folder = "lib" if self.folder == "src" else "src"
        self.moved = True


class AffectedProperty(RepositoryTest):
    folder = "net"

    def put(self, project):
        for folder in "src", "lib":
            shutil.rmtree(self.path(folder), True)
        for name, text in project.files().items():
            self.write(name, text)

    def libraries(self, project):
        """The keys of each library's units, from nothing, in no repository: its code is then all that can differ. Source lines are in libraries, too."""
        folder = os.path.join(self.tmp, "plain")
        shutil.rmtree(folder, True)
        for name, text in project.files().items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        run([TRIB, "build"], folder, env=self.env)
        out = {}
        for model in project.models:
            with open(os.path.join(folder, f"build/lib{model}.so"), "rb") as f:
                out[model] = sorted(re.findall(rb"(?<![0-9a-f])[0-9a-f]{32}\0", f.read()))
            self.assertTrue(out[model])
        return out

    def one(self, seed):
        rng = random.Random(seed)
        project = Project(rng)
        while project.circle():
            project = Project(rng)
        self.put(project)
        self.commit()
        before_defs = {n: (d[2], list(d[1])) for n, d in project.defs.items()}
        before_models = {m: list(v) for m, v in project.models.items()}
        before = self.libraries(project)
        for _ in range(rng.randint(1, 4)):
            project.edit()
        self.put(project)
        if rng.random() < 0.3:
            self.git("add", "-A")
        after = self.libraries(project)
        # what was done, whatever the way there
        changed = {n for n, d in project.defs.items() if n in before_defs and before_defs[n] != (d[2], d[1])}
        added = set(project.defs) - set(before_defs)
        removed = set(before_defs) - set(project.defs)
        affected = {n for n in project.defs if n not in changed | added and project.reach(n) & (changed | added)}
        hit = {m for m, v in project.models.items() if v != before_models[m] or project.reach(v[0]) & (changed | added)}
        record = self.affected()
        loaded = set().union(*(self.loaded(project, m) for m in project.models))
        reported = {d["name"]: d["change"] for d in record["definitions"] if d["change"] != "moved"}
        want = {**{n: "changed" for n in changed}, **{n: "affected" for n in affected}, **{n: "added" for n in added}, **{n: "removed" for n in removed}}
        # A file that no model loads, before or after, is reported as added, as removed, or not at all.
        for name, change in want.items():
            if name in project.defs and project.defs[name][0] in loaded and reported.get(name) != "added":
                self.assertEqual(reported.get(name), change, f"seed {seed}, {name}")
        for name, change in reported.items():
            if change in ("changed", "affected"):
                self.assertEqual(want.get(name), change, f"seed {seed}, {name}")
        named = {m["name"] for m in record["models"] if m["affected"]}
        self.assertEqual(named, hit, f"seed {seed}")
        for model in project.models:
            if before[model] != after[model] and not project.moved:
                self.assertIn(model, named, f"seed {seed}: the library of {model} differs")
        return len(named), sum(before[m] != after[m] for m in project.models if not project.moved)

    def loaded(self, project, model):
        """The modules that a build of the model reads."""
        seen, todo = set(), [project.defs[project.models[model][0]][0]]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += [project.defs[u][0] for n, d in project.defs.items() if d[0] == at for u in d[1]]
        return seen

    def test_random_edits(self):
        first = int(os.environ.get("TRIB_SEED", 1))
        named = differ = 0
        for seed in range(first, first + ROUNDS):
            a, b = self.one(seed)
            named, differ = named + a, differ + b
        print(f"{ROUNDS} edits: {named} models named, {differ} libraries differ")
        self.assertGreater(differ, 0)


if __name__ == "__main__":
    unittest.main()
