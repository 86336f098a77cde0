"""Commands in any folder of a project, and relative paths in their arguments."""
import os
import shutil
import unittest

from project import TRIB, ProjectTest, run


class Places(ProjectTest):
    def setUp(self):
        super().setUp()
        self.trib("new", "p", "-q")
        self.deep = self.path("p/some/folder")
        os.makedirs(self.deep)

    def there(self, *words, ok=True, folder=None):
        return run([TRIB, *words], folder or self.deep, ok=ok, env=self.env)

    def test_the_manifest_is_found_above(self):
        self.assertIn("1 linked", self.there("build").stdout)
        self.assertTrue(os.path.exists(self.path("p/build/libp.so")))
        self.assertIn("nothing to do", self.there("build").stdout)
        self.assertEqual(os.listdir(self.deep), [])
        for words in (["check"], ["fmt", "--check"], ["params"], ["graph"], ["deps"], ["explain", "Net"], ["config"], ["cache", "stats"], ["server"], ["update"], ["run", "--help"]):
            done = self.there(*words, ok=False)
            self.assertNotIn("E0719", done.stderr, words)
        self.there("clean")
        self.assertFalse(os.path.exists(self.path("p/build")))

    def test_diagnostics_are_relative_to_the_project(self):
        self.edit("p/src/main.tri", "relu", "rellu")
        self.assertIn("--> src/main.tri:9", self.there("build", ok=False).stderr)

    def test_paths_of_flags_are_those_of_the_folder(self):
        self.there("build", "--out", "lib", "--trace", "trace.json")
        self.assertEqual(sorted(os.listdir(self.deep)), ["lib", "trace.json"])
        self.assertIn("no --input for `x`", self.there("run", "lib/libp.so", ok=False).stderr)
        done = self.there("run", "lib/libp.so", "--input", "x=nosuch.npy", ok=False)
        self.assertIn("some/folder/nosuch.npy", done.stderr)

    def test_paths_of_operands(self):
        self.assertIn("main.tri", self.there("deps", "../../src/main.tri").stdout)
        self.write("p/some/folder/a.tri", "const A: int8 = 1 + \"text\"\n")
        self.assertIn("--> a.tri:1", self.there("check", "a.tri", ok=False).stderr)
        self.assertEqual(self.there("fmt", "a.tri").returncode, 0)

    def test_the_nearest_project_is_used(self):
        self.trib("new", "p/some/inner", "-q")
        os.mkdir(self.path("p/some/inner/x"))
        self.there("build", folder=self.path("p/some/inner/x"))
        self.assertTrue(os.path.exists(self.path("p/some/inner/build/libinner.so")))
        self.assertFalse(os.path.exists(self.path("p/build")))

    def test_through_a_server(self):
        """Paths of the folder, also where a build server builds."""
        self.env["TRIB_SERVER"] = "on"
        self.there("server", "start")
        for _ in range(3):
            self.edit("p/src/main.tri", "relu(", "tanh(")
            self.there("build", "--out", "lib")
            self.assertTrue(os.path.exists(os.path.join(self.deep, "lib/libp.so")))
            shutil.rmtree(os.path.join(self.deep, "lib"))
            self.edit("p/src/main.tri", "tanh(", "relu(")
        self.there("server", "stop")

    def test_a_manifest_in_a_shared_folder(self):
        """Another user's file in /tmp is not a project."""
        if os.geteuid() != 0:
            self.skipTest("needs a file of another user")
        shared = self.path("shared")
        os.makedirs(os.path.join(shared, "mine"))
        shutil.copy(self.path("p/tri.build"), shared)
        os.chmod(shared, 0o1777)
        mine = os.path.join(shared, "mine")
        self.assertNotIn("E0719", self.there("build", ok=False, folder=mine).stderr)
        os.chown(os.path.join(shared, "tri.build"), 65534, 65534)
        self.assertIn("E0719", self.there("build", ok=False, folder=mine).stderr)

    def test_no_such_command(self):
        said = self.fails("frobnicate", code=2)
        self.assertIn("no command `frobnicate`", said)


if __name__ == "__main__":
    unittest.main()
