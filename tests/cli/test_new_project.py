"""trib new and trib init."""
import os
import unittest

from project import TRIB, ProjectTest, run


class New(ProjectTest):
    def at(self, folder, *words, **more):
        return run([TRIB, *words], self.path(folder), env=self.env, **more)

    def test_a_new_project_runs_and_tests_at_once(self):
        self.trib("new", "mynet")
        done = self.at("mynet", "run", "mynet")
        self.assertIn("out: float32 [4, 4]\ntensor([[", done.stdout)
        self.assertIn("inputs from tests/mynet", done.stderr)
        self.assertEqual(self.at("mynet", "test").stdout, "mynet: ok\ntrib: 1 passed, 0 failed\n")
        self.assertEqual(self.at("mynet", "test", "--device", "reference").stdout, "mynet: ok\ntrib: 1 passed, 0 failed\n")

    def test_hyphens(self):
        said = self.trib("new", "deep/my-net").stdout
        self.assertIn("`my-net` is called `my_net` in C: build/libmy_net.so, my_net_open(), my_net_run()", said)
        self.at("deep/my-net", "run")
        for command in ("build", "run", "test", "params", "graph"):
            self.at("deep/my-net", command, "my-net")
        self.assertEqual(sorted(os.listdir(self.path("deep/my-net/build"))), ["libmy_net.so", "my_net.h"])
        with open(self.path("deep/my-net/tri.build")) as f:
            self.assertIn("project my-net\n", f.read())

    def test_names_that_are_refused(self):
        for name, why in (("3d", "digit"), ("int", "C or C++"), ("class", "C or C++"), ("a.b", "`.`"), ("a b", "` `"), ("na\u00efve", "`\u00ef`"), ("m", "libm.so"),
                          ("tri_live", "tri_"), ("run", "`trib run` is a command"), ("..", "no name"), ("n" * 240, "200 characters")):
            said = self.fails("new", name, code=2)
            self.assertIn(why, said)
            self.assertFalse(name not in ("..",) and os.path.exists(self.path(name)))

    def test_init_of_sources_without_a_layer(self):
        self.write("p/src/a.tri", "const A: int8 = 1\n")
        self.assertIn("found no layer", self.trib("init", "p").stderr)
        self.assertIn("`trib new nowhere` creates one", self.fails("init", "nowhere", code=3))

    def test_a_folder_that_exists(self):
        os.mkdir(self.path("there"))
        self.assertIn("trib init there", self.fails("new", "there", code=2))

    def test_quiet(self):
        self.assertEqual(self.trib("new", "-q", "some-net").stdout, "")


class Init(New):
    def test_in_an_empty_folder(self):
        os.mkdir(self.path("some-net"))
        self.assertIn("`some-net` is called `some_net`", self.at("some-net", "init").stdout)
        self.assertIn("1 passed", self.at("some-net", "test").stdout)
        self.assertIn("already", self.fails("init", "some-net", code=2))

    def test_of_a_folder_by_name(self):
        os.mkdir(self.path("net"))
        self.trib("init", "net")
        self.assertTrue(os.path.exists(self.path("net/tri.build")))
        self.fails("init", "missing", code=3)

    def test_existing_files_are_unchanged(self):
        self.write("net/src/model.tri", "layer Inner() {\n    fn forward(x: Tensor<float32, [2]>) { return x }\n}\n"
                   "layer Outer() {\n    let inner = Inner()\n    fn forward(x: Tensor<float32, [2]>) { return inner(x) }\n}\n")
        self.write("net/.gitignore", "mine\n")
        self.assertIn("`entry = Outer` in tri.build", self.trib("init", "net").stdout)
        self.assertEqual(self.read("net/.gitignore"), b"mine\n")
        self.assertEqual(os.listdir(self.path("net/src")), ["model.tri"])
        self.at("net", "build")

    def test_invalid_folder_names(self):
        os.mkdir(self.path("a b"))
        self.assertIn("`trib new NAME`", self.fails("init", "a b", code=2))


if __name__ == "__main__":
    unittest.main()
