"""Diagnostics of the real executable: JSON, and the edits of `check --fix`."""
import json
import os
import pathlib
import re
import stat
import unittest

from project import TRIB, ProjectTest, run

GOLDEN = pathlib.Path(os.environ["TRIB_SOURCE"]) / "tests/golden"
BROKEN = [f for folder in ("check", "syntax") for f in sorted((GOLDEN / folder).glob("*.tri")) if not f.name.startswith("_")]
HEADER = re.compile(r"^(?:error|warning)\[([EW]\d{4})\]", re.M)

SLIPS = """\
import torch
import torch.nn as nn

def scale(x: Tensor<torch.float32, [N, 4]>, k: float) -> Tensor<torch.float32, [N, 4]> {
    y = torch.clamp(x, 0.0, 1.0)   # bounded to one
    if k > 1.0 and not (k == 2.0) {
        return y.view(-1, 4)
    } elif k == 3.0 {
        return y.T.T
    }
    retrun nn.ReLU()(y) * k
}
"""
PUT_RIGHT = """\
import nn as nn

fn scale(x: Tensor<float32, [N, 4]>, k: float) -> Tensor<float32, [N, 4]> {
    let y = clip(x, 0.0, 1.0)   # bounded to one
    if k > 1.0 && !(k == 2.0) {
        return y.reshape(-1, 4)
    } else if k == 3.0 {
        return y.transpose().transpose()
    }
    return nn.ReLU()(y) * k
}
"""


class Json(ProjectTest):
    def check(self, path, *flags):
        return run([TRIB, "check", path.name, *flags], path.parent, ok=False, env=self.env)

    def test_json_has_every_diagnostic(self):
        for path in BROKEN:
            with self.subTest(path.name):
                people = HEADER.findall(self.check(path).stderr)
                tools = self.check(path, "--message-format=json")
                self.assertEqual(tools.stderr, "")
                lines = [json.loads(line) for line in tools.stdout.splitlines()]
                found = [d for d in lines if d["type"] == "diagnostic"]
                self.assertEqual([d["code"] for d in found], people)
                self.assertEqual([d["type"] for d in lines[len(found):]], ["check"])
                self.check_places(path.parent, found)

    def check_places(self, folder, found):
        """Spans and edits lie in their files, and line, column and byte offset agree."""
        for span in [s for d in found for s in d["spans"]]:
            file = folder / span["file"]
            if not file.exists():
                continue
            text = file.read_bytes()
            self.assertLessEqual(span["start"], span["end"])
            self.assertLessEqual(span["end"], len(text))
            self.assertEqual(span["line"], text.count(b"\n", 0, span["start"]) + 1)
            self.assertEqual(span["col"], span["start"] - (text.rfind(b"\n", 0, span["start"]) + 1) + 1)
        for edit in [d["edit"] for d in found if d["edit"]]:
            self.assertIn(edit["applicability"], ("machine-applicable", "maybe-incorrect"))
            self.assertLessEqual(edit["start"], edit["end"])

    def test_broken_goldens_are_broken(self):
        self.assertGreater(sum("error" in self.check(p).stderr for p in BROKEN), len(BROKEN) // 2)


class Environment(ProjectTest):
    """Errors outside the sources have codes, too."""

    def setUp(self):
        super().setUp()
        self.trib("new", "hello")
        self.dir = self.path("hello")

    def test_unknown_models_and_profiles(self):
        self.assertIn("E0711", self.fails("build", "nosuch", code=2))
        self.assertIn("E0712", self.fails("build", "--profile", "nosuch", code=2))
        self.assertIn("E0713", self.fails("build", "--cpu", "z80", code=2))

    def test_patterns_without_a_match(self):
        self.write("tri.build", "model a\n    sources = none/*.tri\n    entry = Net\n")
        self.assertIn("E0710", self.fails("check"))

    def test_files_that_cannot_be_written(self):
        self.assertIn("E0802", self.trib("build", "--trace", self.path("tri.build/t.json"), ok=False).stderr)

    def test_a_size_that_cannot_be_inferred(self):
        self.write("a.tri", "fn f(x: Tensor<float32, [N * M]>) { return x.reshape([N, 3]) }\nmain { print(f(ones([6]))) }\n")
        self.assertIn("`N` cannot be inferred from the arguments of this call", self.trib("run", "--main", "a.tri", ok=False).stderr)

    def test_more_arguments_than_a_partial_layer_has(self):
        unknown = ", ".join(f"a{i}=1" for i in range(300))
        layer = "layer Fc(w: Tensor<float32, [K, N]>, x: Tensor<float32, [B, K]>) { return x @ w }\n"
        self.write("a.tri", f"{layer}main {{\n    let fc = Fc(ones([4, 3]))\n    print(fc(ones([2, 4]), {unknown}))\n}}\n")
        self.assertIn("has no argument `a0`", self.trib("run", "--main", "a.tri", ok=False).stderr)

    def test_a_file_without_main(self):
        self.write("a.tri", "const A = 1\n")
        self.assertIn("E0811", self.trib("run", "--main", "a.tri", ok=False).stderr)


class Fix(ProjectTest):
    def test_certain_fixes_are_applied(self):
        self.write("a.tri", SLIPS)
        os.chmod(self.path("a.tri"), 0o640)
        done = self.trib("check", "--fix", "a.tri")
        self.assertRegex(done.stderr, r"fixed a\.tri: \d+ changes")
        self.assertEqual(self.read("a.tri").decode(), PUT_RIGHT)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("a.tri")).st_mode), 0o640)
        self.assertEqual(os.listdir(self.dir), ["a.tri"])

    def test_uncertain_fixes_are_not_applied(self):
        text = "fn f(x: Tensor<float32, [4]>) {\n    return x + unknowable\n}\n"
        self.write("a.tri", text)
        done = self.fails("check", "--fix", "a.tri")
        self.assertIn("E0201", done)
        self.assertNotIn("fixed", done)
        self.assertEqual(self.read("a.tri").decode(), text)

    def test_a_diff_changes_nothing(self):
        self.write("a.tri", SLIPS)
        done = self.trib("check", "--fix", "--diff", "a.tri", ok=False)
        self.assertIn("-def scale", done.stdout)
        self.assertIn("+fn scale", done.stdout)
        self.assertEqual(self.read("a.tri").decode(), SLIPS)

    def test_files_above_the_project_are_unchanged(self):
        self.write("lib.tri", "def g(x: int) -> int {\n    return x\n}\n")
        self.write("inner/a.tri", 'import "../lib.tri" as lib\nfn f(x: torch.int32) -> int {\n    return lib.g(x)\n}\n')
        done = run([TRIB, "check", "--fix", "a.tri"], self.path("inner"), ok=False, env=self.env)
        self.assertEqual(done.returncode, 1)
        self.assertIn("def g", self.read("lib.tri").decode())
        self.assertIn("x: int32", self.read("inner/a.tri").decode())

    def test_json_lists_the_fixes(self):
        self.write("a.tri", SLIPS)
        lines = [json.loads(line) for line in self.trib("check", "--fix", "a.tri", "--message-format=json").stdout.splitlines()]
        self.assertEqual([d["type"] for d in lines], ["fix", "check"])
        self.assertEqual(lines[0]["file"], "a.tri")

    def test_warnings_can_be_denied(self):
        self.write("a.tri", "import nn\nfn f(x: int) -> int {\n    return x\n}\n")
        self.assertIn("W0202", self.trib("check", "a.tri").stderr)
        self.fails("check", "--deny-warnings", "a.tri")
        self.trib("check", "--fix", "a.tri")
        self.assertNotIn("import", self.read("a.tri").decode())


if __name__ == "__main__":
    unittest.main()
