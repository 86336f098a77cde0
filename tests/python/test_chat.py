"""examples/chat as its page says: from Python and from C."""

import os
import sys
import unittest

import numpy as np
import trib
from project import ProjectTest, run

LINES = {
    "3 + 4 =": "3 + 4 = 7",
    "the opposite of loud is": "the opposite of loud is quiet.",
    "the snow": "the snow is white.",
    "one hen, three": "one hen, three hens.",
}


class Chat(ProjectTest):
    example = "chat"

    def setUp(self):
        super().setUp()
        self.trib("build")

    def test_from_python_and_from_c(self):
        said = run([sys.executable, "chat.py", *LINES, "X"], self.dir).stdout.splitlines()
        self.assertEqual(said[:-1], list(LINES.values()))
        self.assertIn("there is no 'X'", said[-1])
        run(["cc", "-o", "build/chat", "chat.c", "-Lbuild", "-lchat", "-Wl,-rpath,$ORIGIN"], self.dir)
        for beginning, line in LINES.items():
            self.assertEqual(run(["build/chat", beginning], self.dir).stdout, line + "\n")
        self.assertIn("usage", run(["build/chat", "X"], self.dir, ok=False).stderr)

    def test_the_state_is_what_was_read(self):
        """Characters one by one, or all at once: the same logits but for the order of sums, which changes few codes."""
        with trib.load(os.path.join(self.dir, "build", "libchat.so")) as model:
            tokens = np.array([[35, 22, 19, 1, 33, 25, 36]])
            whole = np.array(model.step(tokens))
            model.reset()
            for k in range(tokens.shape[1]):
                last = np.array(model.step(tokens[:, k : k + 1]))
        self.assertLess(np.abs(last - whole).max(), 0.05 * np.abs(whole).max())


if __name__ == "__main__":
    unittest.main()
