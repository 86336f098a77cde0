"""State that a process retains between builds, or leaves to the next process, has no effect: after any edit, also a broken one, output and libraries equal
those of a clean build.

TRIB_EDITS sets the number of random edits, TRIB_SEED the first seed."""
import os
import random
import re
import shutil
import subprocess
import unittest

from project import ProjectTest, run

WARM = os.environ["TRIB_WARM"]
EDITS = int(os.environ.get("TRIB_EDITS", "60"))
SEED = int(os.environ.get("TRIB_SEED", "1"))
FILES = {
    "tri.build": "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry   = Net\n    input x = float32 [?, 8]\n",
    "src/sizes.tri": """\
const WIDTH = 8
const HALF = WIDTH // 2
const SLOPES = [0.5, 0.25, float(HALF)]
type Row<N> = Tensor<float32, [N, 8]>

fn doubled(n: int) -> int {
    return n * 2
}
""",
    "src/steps.tri": """\
import "sizes.tri" as sizes
from "sizes.tri" import Row

fn scaled(x: Row<N>, by: float = 2.0) -> Row<N> {
    let y = x * by
    return y + 1.0
}

fn halves(x: Row<N>) {
    return x[:, :sizes.HALF], x[:, sizes.HALF:]
}

fn folded(x: Row<N>) -> Row<N> {
    let a, b = halves(x)
    return concat([b, a], 1)
}

fn calmed(x: Row<N>) -> Row<N> {
    let y = x
    while y.sum() > 10.0 {
        y = y * 0.5
    }
    return y
}

fn slope(x: Row<N>, i: int) -> Row<N> {
    return scaled(x, sizes.SLOPES[i])
}

fn unused(x: Tensor<float32, [N, 3]>) -> Tensor<float32, [N, 3]> {
    return relu(x)
}
""",
    "src/blocks.tri": """\
import nn
import "steps.tri" as steps
from "sizes.tri" import doubled, WIDTH

layer Block(n: int, gain: float = 1.0) {
    let up = nn.Linear(n, doubled(n))
    let down = nn.Linear(doubled(n), n)

    fn forward(x: Tensor<float32, [N, n]>) -> Tensor<float32, [N, n]> {
        let y = down(relu(up(x)))
        if y.sum() > 0.0 {
            y = y * gain
        }
        return steps.scaled(y) + x
    }
}

# Nothing calls it: only its check can tell what is wrong with it.
fn spare(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    let a, b = steps.halves(steps.scaled(x) + steps.slope(x, 1))
    return concat([a, b], 1) * float(doubled(WIDTH))
}
""",
    "src/net.tri": """\
import "blocks.tri" as blocks
import "steps.tri" as steps
from "sizes.tri" import WIDTH

layer Net() {
    let first = blocks.Block(WIDTH)
    let second = blocks.Block(WIDTH, gain=0.5)

    fn forward(x: Tensor<float32, [N, WIDTH]>) -> Tensor<float32, [N, WIDTH]> {
        let y = steps.folded(steps.scaled(x, by=3.0))
        y = steps.slope(first(y), 1)
        return steps.calmed(second(y))
    }
}
""",
}

# (file, old, new): one after the other
EDITED = [
    ("src/steps.tri", "+ 1.0", "+ 2.0"),
    ("src/steps.tri", "fn scaled(x: Row<N>, by: float = 2.0) -> Row<N> {\n    let y = x * by\n    return y + 2.0", "fn scaled(x: Row<N>, by: float = 2.0) -> Row<N> {\n    let y = x * by\n    return slope(y, 0)"),  # a circle
    ("src/steps.tri", "return slope(y, 0)", "return y + 2.0"),
    ("src/sizes.tri", "const HALF = WIDTH // 2", "const HALF = WIDTH // 4"),
    ("src/steps.tri", "fn halves(x: Row<N>) {\n    return x[:, :sizes.HALF], x[:, sizes.HALF:]", "fn halves(x: Row<N>) {\n    return x[:, :sizes.HALF], x[:, :sizes.HALF]"),  # a size of the caller
    ("src/steps.tri", "return x[:, :sizes.HALF], x[:, :sizes.HALF]", "return x[:, :sizes.HALF], x[:, sizes.HALF:]"),
    ("src/sizes.tri", "    return n * 2", "    return n * 3"),
    ("src/sizes.tri", "const WIDTH = 8", "const WIDTH = 6"),
    ("src/sizes.tri", "const WIDTH = 6", "const WIDTH = 8"),
    ("src/steps.tri", "by: float = 2.0", "by: float"),
    ("src/steps.tri", "by: float)", "factor: float = 2.0)"),
    ("src/steps.tri", "factor: float = 2.0)", "by: float = 4.0)"),
    ("src/steps.tri", "from \"sizes.tri\" import Row", "from \"sizes.tri\" import Row, WIDTH"),
    ("src/steps.tri", "from \"sizes.tri\" import Row, WIDTH", "from \"sizes.tri\" import Row"),
    ("src/sizes.tri", "Tensor<float32, [N, 8]>", "Tensor<float32, [N, 4]>"),
    ("src/sizes.tri", "Tensor<float32, [N, 4]>", "Tensor<float32, [N, 8]>"),
    ("src/blocks.tri", "gain: float = 1.0", "gain: float = 3.0"),
    ("src/blocks.tri", "y = y * gain", "y = y * gain + 1.0"),
    ("src/blocks.tri", "    let down = nn.Linear(doubled(n), n)\n", "    let down = nn.Linear(doubled(n), n)\n    let more = nn.Linear(n, n)\n"),
    ("src/steps.tri", "fn calmed", "# a comment moves what follows\n\nfn calmed"),
    ("src/steps.tri", "        y = y * 0.5\n", "        y = y * 0.25\n        assert(y.sum() > 0.0)\n"),
    ("src/steps.tri", "# a comment moves what follows\n", ""),
    ("src/steps.tri", "    let a, b = halves(x)", "    let a, b = halves(x) # as two"),
    ("src/net.tri", "import \"steps.tri\" as steps\n", "import \"steps.tri\" as steps\nfrom \"steps.tri\" import unused\n"),
    ("src/net.tri", "from \"steps.tri\" import unused\n", ""),
    ("src/net.tri", "second(y)", "second(steps.slope(y, 2))"),
    ("src/net.tri", "second(steps.slope(y, 2))", "second(steps.slope(y, 3))"),
    ("src/net.tri", "second(steps.slope(y, 3))", "second(y)"),
    ("src/nn.tri", None, "fn Linear(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x\n}\n"),  # hides the library's
    ("src/nn.tri", None, None),
]


# Tasks, summaries, and what a build reports once: a clean one reports it again.
NOT_COMPARED = ("[", "trib: ", "net: ", "  before: ")


def reported(done):
    """The status of a build, and what it said of the sources."""
    lines = done.stdout.splitlines(keepends=True)
    return lines[-1], done.stderr + "".join(x for x in lines[:-1] if not x.startswith(NOT_COMPARED))


class InOneProcess(ProjectTest):
    def setUp(self):
        super().setUp()
        self.files = dict(FILES)
        for name, text in FILES.items():
            self.write(name, text)
        self.start()

    def start(self):
        self.process = subprocess.Popen([WARM, "build"], cwd=self.dir, env={**os.environ, **self.env}, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(self.process.communicate)

    def say(self):
        """The status of the next build, and what it says of the sources."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            if line.startswith("done "):
                return line, "".join(said)
            if not line.startswith(NOT_COMPARED):
                said.append(line)
        self.fail("it ended\n" + "".join(said))

    def outputs(self, where):
        found = {}
        for name in ("libnet.so", "net.h"):
            with open(os.path.join(where, "build", name), "rb") as f:
                found[name] = f.read()
        return found

    def compare(self, what):
        where = os.path.join(self.tmp, "clean")
        shutil.rmtree(where, ignore_errors=True)
        for name, text in self.files.items():
            os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
            with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                f.write(text)
        status, said = self.say()
        wanted_status, wanted = reported(run([WARM, "build"], where, env=self.env, input="\n"))
        self.assertEqual(status, wanted_status, f"{what}\n{said}\n---\n{wanted}")
        self.assertTrue(said == wanted, f"{what}\n{said}\n---\n{wanted}")
        if status == "done 0\n":
            self.assertTrue(self.outputs(self.dir) == self.outputs(where), f"another output after {what}")
        return status

    def put(self, name, text):
        if text is None:
            del self.files[name]
            os.unlink(self.path(name))
        else:
            self.files[name] = text
            self.write(name, text)

    def test_chosen_edits(self):
        self.assertEqual(self.compare("the first build"), "done 0\n")
        failed = 0
        for name, old, new in EDITED:
            if old is not None:
                self.assertTrue(old in self.files[name], f"{name} lacks {old}")
                new = self.files[name].replace(old, new, 1)
            self.put(name, new)
            failed += self.compare(f"{name}: {old} → {new}") != "done 0\n"
        self.assertGreater(failed, 5)

    def mutated(self, rng, text):
        tokens = re.findall(r"\s+|\w+|[^\w\s]", text)
        places = [i for i, t in enumerate(tokens) if not t.isspace()]
        i = rng.choice(places)
        kind = rng.randrange(4)
        if kind == 0:
            tokens[i] = ""
        elif kind == 1:
            tokens[i] = tokens[rng.choice(places)]
        elif kind == 2:
            numbers = [k for k in places if tokens[k].isdigit()] or [i]
            tokens[rng.choice(numbers)] = str(rng.choice([0, 1, 2, 3, 4, 8, 16]))
        else:
            lines = text.split("\n")
            k = rng.randrange(len(lines))
            lines[k:k + 1] = rng.choice([[], [lines[k]] * 2, [lines[k], "# note"]])
            return "\n".join(lines)
        return "".join(tokens)

    def test_random_edits(self):
        rng = random.Random(SEED)
        self.compare("the first build")
        good = dict(self.files)
        for i in range(EDITS):
            name = rng.choice(sorted(n for n in self.files if n.startswith("src/")))
            self.put(name, self.mutated(rng, self.files[name]))
            if self.compare(f"seed {SEED}, edit {i} of {name}") == "done 0\n":
                good = dict(self.files)
            elif rng.random() < 0.7:
                for n, text in good.items():
                    if self.files[n] != text:
                        self.put(n, text)


class FromProcessToProcess(InOneProcess):
    def start(self):
        pass

    def say(self):
        done = run([WARM, "build"], self.dir, env=self.env, input="\n")
        return reported(done)


if __name__ == "__main__":
    unittest.main()
