"""What a C program may do wrong with a library is an error that says so: never wrong numbers, never a crash."""
import os
import subprocess
import unittest

from project import TRIB, ProjectTest

TOOLS = os.path.join(os.path.dirname(TRIB), "tests")
SQUARE = "fn square(x: Tensor<float32, [32, 32]>) -> Tensor<float32, [32, 32]> { return x + x @ x }\n"
class Library(ProjectTest):
    emit = "library"
    closes = 200

    def project(self, name, text, entries=None):
        self.write(f"{name}.tri", text)
        self.write("tri.build", f"project misuse\nmodel {name}\n    sources = {name}.tri\n    entry = {entries or name}\n    emit = {self.emit}\n")
        self.trib("build")
        return self.path(f"build/lib{name}.so" if self.emit == "library" else f"build/lib{name}_opencl.so")

    def program(self, name, *args, text=""):
        done = subprocess.run([os.path.join(TOOLS, name), *args], input=text, capture_output=True, text=True, env={**os.environ, **self.env}, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_one_handle_in_many_threads(self):
        said = self.program("handles", self.project("square", SQUARE), "square_desc", str(self.closes))
        self.assertGreater(int(said.split()[2]), 0, "no two runs met: " + said)

    def test_sizes_beyond_64_bits(self):
        """Inputs without elements, and a temporary of N·M whose bytes are 0 modulo 2**64."""
        library = self.project("wide", "fn wide(x: Tensor<float32, [N, 0]>, y: Tensor<float32, [M, 0]>) { return softmax(x @ y.transpose(0, 1), dim=1).sum() }\n")
        said = self.program("probe", library, "wide_desc", text=f"wide 0 {2**33} {2**33}\nwide 0 {2**32} {2**30}\nwide 0 2 2\n").splitlines()
        self.assertRegex(said[0], "^error 4 .*no memory holds")
        self.assertRegex(said[1], "^error 4 .")
        self.assertRegex(said[2], "^ok .")


class Devices(Library):
    emit = "opencl"
    closes = 10


if __name__ == "__main__":
    unittest.main()
