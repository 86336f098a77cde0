"""trib build FILE.tri: a library from one file, without a project."""
import os
import unittest

from project import ProjectTest

NET = """\
import nn

layer Net() {
    let fc = nn.TernaryLinear(16, 4)
    fn forward(x: Tensor<float32, [N, 16]>) -> Tensor<float32, [N, 4]> { return relu(fc(x)) }
}
"""


class Single(ProjectTest):
    def names(self, folder="."):
        return sorted(os.listdir(self.path(folder)))

    def test_default_output_is_in_the_current_folder(self):
        self.write("deep/my-net.tri", NET)
        self.trib("build", "deep/my-net.tri")
        self.assertEqual(self.names(), ["deep", "libmy_net.so", "my_net.h"])
        self.assertEqual(self.names("deep"), ["my-net.tri"])
        self.assertIn("no --input for `x`", self.trib("run", "./libmy_net.so", ok=False).stderr)
        self.assertIn(b"my_net_run(", self.read("my_net.h"))
        os.rename(self.path("libmy_net.so"), self.path("renamed.so"))
        self.assertIn("no --input for `x`", self.trib("run", "./renamed.so", ok=False).stderr)

    def test_out_is_a_library_or_a_folder(self):
        self.write("a.tri", NET)
        self.trib("compile", "a.tri", "-o", "lib/libfoo.so")
        self.assertEqual(self.names("lib"), ["foo.h", "libfoo.so"])
        self.trib("build", "a.tri", "--out=folder", "--emit", "library")
        self.assertEqual(self.names("folder"), ["liba.so"])
        self.assertEqual(self.names(), ["a.tri", "folder", "lib"])

    def test_out_may_be_outside(self):
        self.write("a.tri", NET)
        for out in (os.path.join(self.tmp, "else", "libx.so"), "../up/x.so", "../folder"):
            self.trib("build", "a.tri", "-o", out)
        self.assertEqual(sorted(os.listdir(os.path.join(self.tmp, "else"))), ["libx.so", "x.h"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.tmp, "up"))), ["x.h", "x.so"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.tmp, "folder"))), ["a.h", "liba.so"])
        self.assertEqual(self.names(), ["a.tri"])
        self.assertIn("--out wants a value", self.fails("build", "a.tri", "-o", "", code=2))

    def test_wrong_operands(self):
        self.write("noext", NET)
        self.write("a.tri", NET)
        self.assertIn("the name of `noext` does not end in `.tri`", self.fails("build", "noext", "-o", "x.so", code=2))
        self.assertIn("takes one FILE.tri alone", self.fails("build", "a.tri", "a.tri", code=2))
        self.assertIn("`trib compile` wants a file", self.fails("compile", code=2))

    def test_the_users_cache_is_used(self):
        self.write("a.tri", NET)
        self.assertIn("1 compiled", self.trib("build", "a.tri").stdout)
        self.write("a.tri", "# a comment\n" + NET)
        self.assertIn("0 compiled, 1 reused", self.trib("build", "a.tri").stdout)

    def test_the_entry(self):
        other = NET.replace("Net", "Other").replace("import nn\n", "").replace(", 4", ", 5")
        self.write("a.tri", NET + other)
        self.trib("build", "a.tri")
        self.assertIn(b"float32 [N, 5]", self.read("a.h").replace(b"trib_", b""))
        self.trib("build", "a.tri", "--entry", "Net")
        self.assertIn(b"[N, 4]", self.read("a.h"))
        self.write("a.tri", NET.replace("layer Net", "@export\nlayer Net") + other)
        self.trib("build", "a.tri")
        self.assertIn(b"[N, 4]", self.read("a.h"))
        self.assertIn("did you mean `Net`?", self.fails("build", "a.tri", "--entry", "Nett"))
        self.write("b.tri", "const A: int8 = 1\n")
        self.assertIn("no layer and no function", self.fails("build", "b.tri"))

    def test_inputs_and_weights(self):
        self.write("f.tri", "fn scale(x, w) {\n    return x * w\n}\n")
        self.trib("build", "f.tri", "--input", "x=float32[?, 8]", "--input", "w=float32[8]")
        self.assertIn(b"/* input: float32 [D0, 8] */", self.read("f.h"))
        self.assertIn("--input 'x=float32[?, 64]'", self.fails("build", "f.tri", "--input", "x", code=2))
        self.fails("build", "f.tri", "--input", "x=float31[8]", code=2)
        self.assertIn("nosuch.safetensors", self.fails("build", "f.tri", "--weights", "nosuch.safetensors", code=3))

    def test_failures(self):
        self.assertIn("cannot read `nosuch.tri`", self.fails("build", "nosuch.tri", code=3))
        self.write("a.tri", NET.replace("relu", "rellu"))
        self.assertIn("--> a.tri:5", self.fails("build", "a.tri"))
        self.assertIn("FILE.tri", self.fails("build", "--weights", "w.safetensors", code=2))
        self.assertEqual(self.names(), ["a.tri"])

    def test_in_a_project(self):
        """A file is itself, also in a project."""
        self.trib("new", "p", "-q")
        self.trib("build", "main.tri", "-C", "p/src")
        self.assertEqual(self.names("p/src"), ["libmain.so", "main.h", "main.tri"])
        self.assertFalse(os.path.exists(self.path("p/.trib")))


if __name__ == "__main__":
    unittest.main()
