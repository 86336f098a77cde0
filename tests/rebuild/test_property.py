"""Random edits of random projects. After each, an incremental build equals a clean one, byte for byte. An oracle predicts the compiled units: those, reached
from the entries in the printed IR of a clean build, whose optimised code was never compiled before.

TRIB_EDITS sets the number of edits, TRIB_SEED the first seed."""
import copy
import json
import os
import random
import re
import shutil
import subprocess
import unittest

from project import ProjectTest, run, TRIB
from random_project import Project, edits

EDITS = int(os.environ.get("TRIB_EDITS", "60"))
SEED = int(os.environ.get("TRIB_SEED", "1"))
EDITS_A_PROJECT = 30


def dumped_units(text):
    """Symbol → text of what runs, of every unit that --dump-ir printed, apart from the places in the source."""
    text = re.sub(r"(?m)^(?!;)(.*?) +;.*$", r"\1", text)
    return dict(re.findall(r"^; run_fn\nfn (\w+)\((?:.*)\)\n((?:[^;\n].*\n)*)", text, re.M))


def reached(units, entries):
    """The units that an entry's code names, and so on."""
    todo, found = list(entries), set()
    while todo:
        symbol = todo.pop()
        if symbol in found:
            continue
        found.add(symbol)
        todo += set(re.findall(r"\w+_[0-9a-f]{16}", units[symbol])) & set(units)
    return found


def encoded(content):
    return content if isinstance(content, bytes) else content.encode()


def setting(files, flags, key, flag):
    """What the flags say, or the manifest, of the level or the processor."""
    said = re.search(flag, " ".join(flags)) or re.search(rf"{key} = (\S+)", files["tri.build"])
    return said and said.group(1)


EXPLAINED = ["build", "--explain", "--message-format=json"]


def definition(symbol):
    return symbol[:-17]


def levels(files):
    """Definition → its own level, where @opt gives one."""
    return {name: level for path, text in files.items() if path.endswith(".tri") for level, name in re.findall(r"^@opt\((\d)\)\n\w+ (\w+)", text, re.M)}


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = f.read()
    return found


class RandomEdits(ProjectTest):
    takes_flags = True

    def write_all(self, files):
        """Writes what differs, so that other files keep their stamps, and removes what is gone."""
        for name in sorted(os.listdir(self.path("src"))) if os.path.isdir(self.path("src")) else []:
            if f"src/{name}" not in files:
                os.unlink(self.path(f"src/{name}"))
        for name, text in files.items():
            if not os.path.exists(self.path(name)) or self.read(name) != encoded(text):
                self.write(name, text)

    def clean_build(self, where, flags, env):
        run([TRIB, "build", "--no-cache", *flags], where, env=env)

    def clean(self, files, flags):
        """Outputs of a build from nothing, and the oracle's units: (symbol, code, level)."""
        where = os.path.join(self.tmp, "clean")
        shutil.rmtree(where, ignore_errors=True)
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
            with open(os.path.join(where, name), "wb") as f:
                f.write(encoded(text))
        env = dict(self.env, XDG_CACHE_HOME=os.path.join(self.tmp, "nothing"), TRIB_SERVER="off")
        self.clean_build(where, flags, env)
        outputs = contents(os.path.join(where, "build"))
        level, cpu = setting(files, flags, "opt", r"-O(\w)"), setting(files, flags, "cpu", r"--cpu (\S+)")
        own, wanted = levels(files), set()
        for net in ("one", "two"):
            units = dumped_units(run([TRIB, "build", "--dump-ir", "-C", where, *flags, net], self.tmp, env=env).stdout)
            for symbol in reached(units, [s for s in units if definition(s) == f"Net_{net}"]):
                wanted.add((symbol, units[symbol], own.get(definition(symbol), level), cpu))
        return outputs, wanted

    def explained_build(self, flags):
        return self.trib(*EXPLAINED, *flags).stdout

    def check(self, project, compiled_before, what):
        """Returns the record of the build."""
        files, flags = project.render(), project.flags if self.takes_flags else []
        self.write_all(files)
        said = [json.loads(line) for line in self.explained_build(flags).splitlines()]
        compiled = sorted(re.split(r"[ (,]", one["name"])[0] for one in said if one["type"] == "compile")
        outputs, wanted = self.clean(files, flags)
        for name, content in outputs.items():
            self.assertTrue(self.read(f"build/{name}") == content, f"{name} is not what a clean build makes, after {what}")
        expected = sorted(definition(symbol) for symbol, *_ in wanted - compiled_before)
        self.assertEqual(compiled, expected, f"after {what}\n{said}")
        compiled_before |= wanted
        return said[-1]

    def begin(self):
        """Before the first build of a project."""

    def edit_one_project(self, seed, count):
        rng = random.Random(seed)
        shutil.rmtree(self.dir)
        os.mkdir(self.dir)
        shutil.rmtree(self.env["XDG_CACHE_HOME"], ignore_errors=True)
        self.begin()
        project, compiled, past = Project(rng), set(), []
        self.check(project, compiled, f"seed {seed}, the first build")
        for i in range(count):
            if past and rng.random() < 0.1:
                project, name = copy.deepcopy(rng.choice(past)), "going back"
                project.rng = rng
            else:
                past.append(copy.deepcopy(project))
                name, edit = rng.choice(sorted(edits(project, rng).items()))
                unchanged = edit()
                if unchanged:
                    name += " (nothing changes)"
            counted = name.startswith("change_weights") or name.startswith("change_order")
            record = self.check(project, compiled, f"seed {seed}, edit {i}: {name}")
            if counted:
                self.assertLessEqual(record["weights"]["packed"], 0 if unchanged else 1, f"weights packed by seed {seed}, edit {i}: {name}")

    def test_edits(self):
        done, seed = 0, SEED
        while done < EDITS:
            count = min(EDITS_A_PROJECT, EDITS - done)
            with self.subTest(seed=seed):
                self.edit_one_project(seed, count)
            done += count
            seed += 1


class RandomEditsInOneProcess(RandomEdits):
    """The same of a process that keeps what it can from one build to the next."""
    process, takes_flags = None, False

    def begin(self):
        self.end()
        self.process = subprocess.Popen([os.environ["TRIB_WARM"], *EXPLAINED], cwd=self.dir, env={**os.environ, **self.env}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(self.end)

    def end(self):
        if self.process:
            self.process.communicate()
        self.process = None

    def clean_build(self, where, flags, env):
        """By the same executable, which is a part of what its outputs are made from."""
        run([os.environ["TRIB_WARM"], "build", "--no-cache"], where, env=env, input="\n")

    def explained_build(self, flags):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        said = ""
        for line in self.process.stdout:
            if line.startswith("done "):
                self.assertEqual(line, "done 0\n", said)
                return said
            said += line
        self.fail(f"it ended\n{said}")


class ServedEdits(RandomEdits):
    """The same by build serveres, which are found, outlive many builds, and end with their projects."""

    server = "on"

    def edit_one_project(self, seed, count):
        super().edit_one_project(seed, count)
        state = self.trib("server", "status").stdout
        self.assertGreater(int(re.search(r"^builds +(\d+)$", state, re.M).group(1)), 0, state)


if __name__ == "__main__":
    unittest.main()
