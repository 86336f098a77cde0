"""trib profile targets: builds of reference models and of the project's models, beside what a build of their size may cost."""
import json
import os
import unittest

from project import ProjectTest

NET = "import nn\n\nlayer {name}() {{\n{lets}\n    fn forward(x: Tensor<float32, [N, 4]>) -> Tensor<float32, [N, 4]> {{\n{steps}\n        return y{n}\n    }}\n}}\n"


def net(name, n):
    lets = "\n".join(f"    let l{i} = nn.Linear(4, 4)" for i in range(n))
    steps = "        let y0 = x\n" + "\n".join(f"        let y{i + 1} = relu(l{i}(y{i}))" for i in range(n))
    return NET.format(name=name, n=n, lets=lets, steps=steps)


class Targets(ProjectTest):
    def targets(self, *args):
        """The report; the exit code is its verdict, whatever the machine."""
        done = self.trib("profile", "targets", "-n1", "--format=json", *args, ok=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        verdicts = [row[what] for row in report["rows"] for what in ("time", "memory")]
        self.assertLessEqual(set(verdicts), {"PASS", "FAIL"})
        self.assertEqual(report["verdict"], "FAIL" if "FAIL" in verdicts else "PASS")
        self.assertEqual(done.returncode, verdicts.count("FAIL") > 0)
        for row in report["rows"]:
            self.assertEqual(row["time"], "PASS" if row["least_ns"] <= row["target_ns"] else "FAIL")
            self.assertEqual(row["memory"], "PASS" if row["private_dirty_bytes"] <= row["target_bytes"] else "FAIL")
            self.assertTrue(0 < row["private_dirty_bytes"] < row["peak_bytes"] and 0 < row["least_ns"] <= row["wall_ns"], row)
        return report["rows"]

    def test_reference_models(self):
        """Without a project; nothing stays behind."""
        small, medium = self.targets("small", "medium")
        self.assertEqual([(r["class"], r["model"], r["generated"], r["parameters"], r["layers"]) for r in (small, medium)],
                         [("small", "mnist_mlp", True, 669706, 3), ("medium", "resnet18", True, 11689512, 41)])
        self.assertEqual((small["target_ns"], small["target_bytes"]), (100e6, 10e6))
        self.assertEqual(os.listdir(self.dir), [])
        self.assertEqual([n for n in os.listdir(self.env["TMPDIR"])], [])

    def test_models_of_the_project(self):
        self.write("few.tri", net("Few", 2))
        self.write("many.tri", net("Many", 21))
        self.write("tri.build", "project p\nmodel few\n    sources = few.tri\n    entry = Few\nmodel many\n    sources = many.tri\n    entry = Many\n")
        rows = self.targets("many", "few")
        self.assertEqual({(r["class"], r["model"], r["generated"], r["parameters"], r["layers"], r["lines"]) for r in rows},
                         {("small", "few", False, 2 * 20, 2, 12), ("medium", "many", False, 21 * 20, 21, 50)})
        self.assertEqual([(r["class"], r["generated"]) for r in self.targets("few", "small")], [("small", False), ("small", True)])
        text = self.trib("profile", "targets", "-n1", "few", "--format=markdown", "--", "-O2", ok=False).stdout
        self.assertRegex(text, r"\n\| small \| few \| 40 \| 2 \| .*\|\n")
        self.assertRegex(text, r"\n(PASS: 1|FAIL: 0) of 1 models keep to their targets\n")
        self.assertNotIn("build", os.listdir(self.dir))

    def test_bad_input(self):
        self.fails("profile", "targets", "nothing", code=2)
        self.assertIn("--max-time", self.fails("profile", "targets", "small", "--max-time", "5MB", code=2))
        self.write("few.tri", net("Few", 2))
        self.write("tri.build", "project p\nmodel few\n    sources = few.tri\n    entry = Few\n    weights = none.safetensors\n")
        self.assertIn("weights are missing", self.fails("profile", "targets", "few", code=2))
        self.env["TMPDIR"] = self.path("nowhere")
        self.assertIn("cannot make a folder", self.fails("profile", "targets", "small", code=3))

    def setUp(self):
        super().setUp()
        self.env["TMPDIR"] = os.path.join(self.tmp, "temporary")
        os.mkdir(self.env["TMPDIR"])


if __name__ == "__main__":
    unittest.main()
