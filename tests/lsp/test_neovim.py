#!/usr/bin/env python3
"""The language server in a real editor: Neovim without a terminal (Debian: neovim). Skipped where there is none."""
import json
import os
import shutil
import subprocess
import unittest

from project import SLOWER, SOURCE, ProjectTest

NVIM = os.environ.get("TRIB_NVIM") or shutil.which("nvim")
MANIFEST = "project p\n    version = 1.0\n\nmodel net\n    sources = *.tri\n    entry   = Net\n    state.T = 64\n"
NET = """\
import nn

layer Net(depth: int = 2) {
    state seen: Tensor<float32, [8, cap T]>
    let blocks = [nn.Linear(8, 8) for i in 0..depth]
    let head = nn.Linear(99, 10)
    fn forward(x: Tensor<float32, [N, 8]>) {
        let y=x
        for block in blocks { y = block(y) }
        return head(y)
    }
}
"""


@unittest.skipUnless(NVIM, "there is no Neovim")
class Neovim(ProjectTest):
    def test_session(self):
        self.write("tri.build", MANIFEST)
        self.write("net.tri", NET)
        done = subprocess.run(
            [NVIM, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile " + os.path.join(SOURCE, "tests/lsp/editor.lua")],
            cwd=self.dir, env={**os.environ, **self.env, "HOME": self.tmp}, capture_output=True, text=True, timeout=120 * SLOWER,
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertEqual(len(lines), 1, done.stdout + done.stderr)
        got = json.loads(lines[0])
        self.assertEqual(got["diagnostics"][0][:2], [10, "E0401"])
        self.assertIn("`block` gives 8 features, `head` takes 99", got["diagnostics"][0][2])
        self.assertIn("let y: float32[N, 8]", got["hover"])
        definition = got["definition"][0] if isinstance(got["definition"], list) else got["definition"]
        self.assertEqual((definition.get("range") or definition["targetSelectionRange"])["start"], {"line": 5, "character": 8})
        self.assertEqual(got["signature"], "Linear(in_features: int, out_features: int, bias: bool = true)")
        self.assertIn("Linear", got["completion"])
        self.assertEqual([name for name in got["completion"] if name.startswith("_")], [])
        self.assertEqual(got["text"], NET.replace("99", "8").replace("cap T", "cap Length").replace("y=x", "y = x").splitlines())
        with open(self.path("tri.build"), encoding="utf-8") as f:
            self.assertEqual(f.read(), MANIFEST.replace("state.T", "state.Length"))


if __name__ == "__main__":
    unittest.main()
