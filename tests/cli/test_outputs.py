"""Output files: each belongs to one model, is in the project unless the user says otherwise, and is not written through a link that leaves the project."""
import os
import unittest

from project import ProjectTest

NET = "layer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n        return relu(x)\n    }\n}\n"


def model(name, *lines):
    return f"model {name}\n    sources = net.tri\n    entry = Net\n    input x = float32 [?, 8]\n" + "".join(f"    {line}\n" for line in lines) + "\n"


class Outputs(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.outside = os.path.join(self.tmp, "outside")
        os.mkdir(self.outside)
        self.env["XDG_CONFIG_HOME"] = os.path.join(self.tmp, "config")

    def manifest(self, *models):
        self.write("tri.build", "".join(models))

    # ---- one writer ----

    def test_two_models_and_one_file(self):
        self.manifest(model("q", "emit = library opencl"), model("q_opencl", "emit = library"))
        for args in (["build"], ["check"], ["build", "q"], ["build", "q_opencl"]):
            said = self.fails(*args)
            self.assertIn("models `q` and `q_opencl` write the same file, `build/libq_opencl.so`", said)
        self.assertFalse(os.path.exists(self.path("build")))
        self.manifest(model("q", "emit = library opencl"), model("q_opencl", "emit = library", "out = build/other"))
        self.trib("check")

    def test_models_share_the_live_header(self):
        self.manifest(model("net", "emit = library live"), model("tri_live"))
        self.assertIn("E0709", self.fails("build"))
        self.manifest(model("a", "emit = library live"), model("b", "emit = library live"))
        self.trib("build")

    def test_folders_by_two_spellings(self):
        self.manifest(model("q", "emit = opencl library", "out = build"), model("q_opencl", "out = ./build/../build"))
        self.assertIn("write the same file", self.fails("check"))

    # ---- inside ----

    def test_out_outside(self):
        for out in ("../outside", self.outside, "build/../../outside", "link", "link/deeper"):
            if out == "link":
                os.symlink(self.outside, self.path("link"))
            self.manifest(model("net", f"out = {out}"))
            said = self.fails("build")
            self.assertIn("outside the project", said)
            self.assertIn(f"--out {out}", said)
            self.assertIn("build.out_outside", said)
            self.assertEqual(os.listdir(self.outside), [])
        self.trib("build", "--out", self.outside)
        self.assertIn("libnet.so", os.listdir(self.outside))
        self.assertIn("is left unchanged", self.trib("clean").stderr)
        self.assertIn("libnet.so", os.listdir(self.outside))
        self.trib("config", "set", "build.out_outside", "true")
        self.manifest(model("net", "out = ../outside/deeper"))
        self.trib("build")
        self.assertIn("deeper", os.listdir(self.outside))

    def test_a_project_does_not_allow_it_itself(self):
        self.manifest(model("net", "out = ../outside"), "build\n    out_outside = true\n")
        self.assertIn("belongs to the user's configuration", self.fails("build"))
        self.assertEqual(os.listdir(self.outside), [])

    def test_a_link_to_the_default_folder(self):
        os.symlink(self.outside, self.path("build"))
        self.manifest(model("net"))
        self.assertIn("outside the project", self.fails("build"))
        self.trib("build", "--out=build")
        self.assertIn("libnet.so", os.listdir(self.outside))

    def test_a_link_to_the_folder_of_the_store(self):
        self.manifest(model("net"))
        os.symlink(self.outside, self.path(".trib"))
        said = self.fails("build", code=3)
        self.assertIn("`.trib` is a link that leads out of the project", said)
        self.assertEqual(os.listdir(self.outside), [])
        self.trib("config", "set", "build.out_outside", "true")
        self.trib("build")
        self.assertIn("store", os.listdir(self.outside))
        self.assertIn("nothing to do", self.trib("build").stdout)
        self.trib("config", "unset", "build.out_outside")
        os.unlink(self.path(".trib"))
        os.mkdir(self.path(".trib"))
        os.symlink(os.path.join(self.outside, "store"), self.path(".trib/store"))
        self.edit("net.tri", "relu", "tanh")
        self.assertIn("`.trib/store` is a link that leads out of the project", self.fails("build", code=3))

    # ---- links ----

    def test_a_link_out_is_replaced(self):
        victim = os.path.join(self.outside, "victim")
        self.manifest(model("net"))
        for name in ("libnet.so", "net.h"):
            for again in (False, True):  # compiled, and from the cache
                with open(victim, "w") as f:
                    f.write("mine")
                self.trib("clean")
                os.mkdir(self.path("build"))
                os.symlink(victim, self.path("build/" + name))
                self.trib("build", *(["--no-cache"] if not again else []))
                with open(victim) as f:
                    self.assertEqual(f.read(), "mine")
                self.assertFalse(os.path.islink(self.path("build/" + name)))

    def test_a_link_inside_is_followed(self):
        self.manifest(model("net"))
        self.write("kept/libnet.so", "old")
        os.mkdir(self.path("build"))
        os.symlink("../kept/libnet.so", self.path("build/libnet.so"))
        self.trib("build")
        self.assertTrue(os.path.islink(self.path("build/libnet.so")))
        self.assertGreater(os.path.getsize(self.path("kept/libnet.so")), 1000)

    def test_output_folders_of_devices(self):
        self.manifest(model("net"))
        os.mkdir(self.path("dir"))
        os.symlink("/dev/null", self.path("dir/net.h"))
        self.trib("build", "--out=dir")
        self.assertEqual(os.readlink(self.path("dir/net.h")), "/dev/null")
        os.rename(self.path("dir"), self.path("build"))
        self.trib("build")
        self.assertFalse(os.path.islink(self.path("build/net.h")))


if __name__ == "__main__":
    unittest.main()
