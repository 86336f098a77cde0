"""trib profile scaling: models of known sizes, jobs and levels."""
import json
import os
import unittest

from project import ProjectTest

NET = "import nn\n\nlayer {name}() {{\n    let a = nn.Linear({n}, {n})\n    let b = nn.Linear({n}, {n})\n    fn forward(x: Tensor<float32, [N, {n}]>) -> Tensor<float32, [N, {n}]> {{\n        return relu(b(a(x)))\n    }}\n}}\n"


class Scaling(ProjectTest):
    def setUp(self):
        super().setUp()
        manifest = "project p\n"
        for k, n in enumerate((8, 16, 64)):
            self.write(f"n{n}.tri", NET.format(name=f"N{n}", n=n) + "# a line\n" * k)
            manifest += f"\nmodel n{n}\n    sources = n{n}.tri\n    entry = N{n}\n    input x = float32 [?, {n}]\n"
        self.write("tri.build", manifest)

    def test_sizes_lines_jobs_and_levels(self):
        r = json.loads(self.trib("profile", "scaling", "-n", "1", "--format=json").stdout)
        self.assertEqual(r["type"], "scaling")
        self.assertEqual([(m["name"], m["parameters"], m["layers"], m["lines"]) for m in r["models"]],
                         [(f"n{n}", 2 * (n * n + n), 2, 9 + k) for k, n in enumerate((8, 16, 64))])
        self.assertTrue(all(m["measured"] and m["wall_ns"] > 0 and m["peak_bytes"] > 0 for m in r["models"]))
        self.assertEqual(set(r["lines"]), {"parameters", "lines"})  # all have two layers
        self.assertEqual([s["flag"] for s in r["settings"]], ["-j1", "-j2", "-j4", "-j8", "-O0", "-O1", "-O2", "-O3", "-Os"])
        self.assertFalse(any(name.startswith("build") for name in os.listdir(self.dir)))

    def test_named_models_and_formats(self):
        text = self.trib("profile", "scaling", "n8", "n16", "-n", "1", "--max-time", "1s").stdout
        self.assertNotIn("n64", text)
        self.assertIn("at least three models", text)
        self.assertIn("speed-up", text)
        self.assertIn("| -O3 |", self.trib("profile", "scaling", "n8", "-n", "1", "--max-time", "1ms", "--format=markdown").stdout)

    def test_bad_input(self):
        self.assertIn("--max-time", self.fails("profile", "scaling", "--max-time", "5MB", code=2))
        self.fails("profile", "scaling", "nothing", code=2)
        self.write("n8.tri", "layer N8(")
        self.fails("profile", "scaling", "n8", "-n", "1", code=1)


if __name__ == "__main__":
    unittest.main()
