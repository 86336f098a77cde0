"""OpenCL libraries with `fallback = cpu`: the CPU runs the model where no device can, and says why."""
import os
import re
import subprocess
import unittest

import numpy as np
from project import ProjectTest

MANIFEST = """\
project p

model net
    sources  = src/*.tri
    entry    = Net
    emit     = opencl header
    fallback = cpu
    state.T  = 8
"""
NET = """\
layer Net() {
    state seen: Tensor<float32, [cap T, 4]>
    param w: Tensor<trit, [4, 8]> = tensor([[1, -1, 0, 1, 1, 0, -1, 1], [0, 1, 1, -1, 0, 1, 1, 0], [1, 1, 1, 1, -1, -1, -1, -1], [0, 0, 1, 0, 1, 0, 1, 0]], dtype=trit)
    fn forward(x: Tensor<float32, [N, 4]>) -> Tensor<float32, [N, 8]> {
        seen.append(x, dim=0)
        return x @ float32(w) + seen.sum()
    }
}
"""
PROGRAM = """\
#include <stdio.h>
#include <string.h>
#include "net.h"

int main(int argc, char **argv)
{
    tri_options o = {.size = sizeof o, .device = argc > 1 ? argv[1] : NULL};
    tri_error err;
    float x[4] = {1, 2, 3, 4}, out[8];
    net *m = net_open(&o, &err);
    if (!m)
        return printf("%s\\n", err.message), 1;
    net_io io = {{x, {1, 4}, 2, TRI_FLOAT32}, {out, {1, 8}, 2, TRI_FLOAT32}};
    for (int i = 0; i < 2; i++)
        if (net_run(m, &io, &err))
            return printf("%s\\n", err.message), 1;
    const tri_device *d = net_device(m);
    printf("%s|%s|%s|%g %g|%s\\n", strcmp(d->name, "cpu") ? "device" : "cpu", d->desc->backend, net_desc.backend, out[0], out[7], d->why);
    net_close(m);
    return 0;
}
"""
NO_DRIVER = {"OCL_ICD_VENDORS": "/nonexistent"}
WARNING = r"trib: warning: net runs on the CPU: no OpenCL platform is installed"


class Fallback(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/net.tri", NET)
        self.env["POCL_CACHE_DIR"] = self.path("pocl")
        np.save(self.path("x.npy"), np.arange(8, dtype=np.float32).reshape(2, 4))

    def on_device(self, *flags, **env):
        """The output of a run, and what it said."""
        self.env.update(env)
        done = self.trib("run", "net", "--device", "opencl", "--input", "x=x.npy", "--output", "out=out.npy", *flags)
        for name in env:
            del self.env[name]
        return np.load(self.path("out.npy")), done.stderr

    def program(self, *args, **env):
        if not os.path.exists(self.path("program")):
            self.write("main.c", PROGRAM)
            self.run_tool(["cc", "-Ibuild", "main.c", "build/libnet_opencl.so", "-Wl,-rpath,build", "-o", "program"])
        return subprocess.run([self.path("program"), *args], cwd=self.path("."), capture_output=True, text=True, env={**os.environ, **self.env, **env}, check=False)

    def run_tool(self, argv):
        done = subprocess.run(argv, cwd=self.path("."), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_processor_may_be_chosen(self):
        """Also by default, since the fallback is code for it; and by every name of a device, in C as on the command line."""
        on, _ = self.on_device()
        os.makedirs(self.path("tests/net"))
        np.save(self.path("tests/net/x.npy"), np.load(self.path("x.npy")))
        np.save(self.path("tests/net/out.npy"), on)
        for flags in [], ["--device", "cpu"], ["--device", "opencl:0"], ["--device", "0"]:
            done = self.trib("run", "net", *flags, "--input", "x=x.npy", "--output", "out=out.npy")
            self.assertEqual(done.stderr, "")
            np.testing.assert_array_equal(on, np.load(self.path("out.npy")))
            self.assertEqual(self.trib("test", *flags).stdout, "net: ok\ntrib: 1 passed, 0 failed\n")
            self.env.update(NO_DRIVER)
            works = self.trib("run", "net", *flags, "--input", "x=x.npy", ok=None)
            self.assertEqual(works.returncode, 3 if "0" in "".join(flags) else 0)
            for name in NO_DRIVER:
                del self.env[name]
        self.edit("tri.build", "    fallback = cpu\n", "")
        self.assertIn("is built without a library for the CPU", self.trib("run", "net", "--device", "cpu", "--input", "x=x.npy", ok=False).stderr)

    def test_runs_where_no_driver_is(self):
        on, said = self.on_device()
        self.assertNotIn("warning", said)
        off, said = self.on_device(**NO_DRIVER)
        self.assertRegex(said, WARNING)
        np.testing.assert_array_equal(on, off)
        self.assertEqual(sorted(os.listdir(self.path("build"))), ["libnet_opencl.so", "net.h"])

    def test_without_it_there_is_an_error(self):
        self.edit("tri.build", "    fallback = cpu\n", "")
        self.on_device()
        size = os.stat(self.path("build/libnet_opencl.so")).st_size
        self.env.update(NO_DRIVER)
        done = self.trib("run", "net", "--device", "opencl", "--input", "x=x.npy", ok=False)
        self.assertIn("no OpenCL platform is installed", done.stderr)
        self.trib("build")
        self.assertIn("this library has no code for the CPU: `fallback = cpu` in its manifest adds it", self.program("cpu").stdout)
        self.edit("tri.build", "    state.T", "    fallback = cpu\n    state.T")
        self.trib("build")
        self.assertGreater(os.stat(self.path("build/libnet_opencl.so")).st_size, size)
        self.edit("tri.build", "fallback = cpu", "fallback = gpu")
        self.assertIn("`fallback` must be `none` (the default) or `cpu`", self.trib("build", ok=False).stderr)

    def test_where_it_has_no_effect(self):
        self.assertIn("`fallback` has no effect with --lazy", self.trib("build", "--lazy").stderr)
        self.assertIn("--lazy", self.trib("run", "net", "--lazy", "--device", "opencl", "--input", "x=x.npy", ok=False).stderr)
        self.edit("tri.build", "opencl header", "library header")
        self.assertIn("`fallback` has no effect: model `net` has no library for devices", self.trib("build").stderr)

    def test_c_interface(self):
        self.trib("build")
        for args in [], ["0"], ["opencl"], ["opencl:0"]:
            self.assertRegex(self.program(*args).stdout, r"^device\|opencl\|opencl\|24 18\|\n$")
        self.assertEqual(self.program("opencl:", **NO_DRIVER).stdout, self.program(**NO_DRIVER).stdout)
        self.assertEqual(self.program("cpu").stdout, "cpu|cpu|opencl|24 18|the caller chose it\n")
        self.assertRegex(self.program(**NO_DRIVER).stdout, r"^cpu\|cpu\|opencl\|24 18\|no OpenCL platform is installed")
        named = self.program("nosuch")
        self.assertIn("there is no OpenCL device nosuch", named.stdout)
        self.assertEqual(named.returncode, 1)

    def test_beside_a_library_for_the_cpu(self):
        """Both libraries have the CPU's code, which is compiled once; an equal build changes nothing."""
        self.edit("tri.build", "opencl header", "library opencl header")
        self.trib("build")
        off, said = self.on_device(**NO_DRIVER)
        self.assertRegex(said, WARNING)
        done = self.trib("run", "net", "--input", "x=x.npy", "--output", "out=cpu.npy")
        self.assertNotIn("warning", done.stderr)
        np.testing.assert_array_equal(off, np.load(self.path("cpu.npy")))
        before = os.stat(self.path("build/libnet_opencl.so")).st_mtime_ns
        self.trib("build")
        self.assertEqual(os.stat(self.path("build/libnet_opencl.so")).st_mtime_ns, before)

    def test_weights_in_a_file(self):
        """The file is that of the CPU; the weights of devices stay in the library."""
        self.edit("tri.build", "    state.T", "    weights.inside = 1\n    state.T")
        self.trib("build")
        self.assertEqual(len([f for f in os.listdir(self.path("build")) if f.endswith(".triw")]), 1)
        on, _ = self.on_device()
        off, said = self.on_device(**NO_DRIVER)
        self.assertRegex(said, WARNING)
        np.testing.assert_array_equal(on, off)
        self.assertEqual(self.trib("validate").stdout, "net: ok\n")
        (file,) = (f for f in os.listdir(self.path("build")) if f.endswith(".triw"))
        with open(self.path("build/" + file), "r+b") as f:
            f.seek(-1, os.SEEK_END)
            last = f.read(1)[0]
            f.seek(-1, os.SEEK_END)
            f.write(bytes([last ^ 1]))
        for words in ["validate"], ["validate", "build/libnet_opencl.so"], ["run", "net", "--no-build", "--device", "opencl", "--input", "x=x.npy"]:
            self.assertIn("the file has damaged data", self.trib(*words, ok=False).stderr)
        self.assertEqual(self.program().returncode, 0)  # without `verify` only what runs is read

    def test_other_linkers_and_caches(self):
        off, _ = self.on_device(**NO_DRIVER)
        self.edit("tri.build", "    state.T", "    linker = cc\n    state.T")
        linked, said = self.on_device(**NO_DRIVER)
        self.assertRegex(said, WARNING)
        np.testing.assert_array_equal(linked, off)
        self.trib("clean")
        again, said = self.on_device(**NO_DRIVER)
        self.assertRegex(said, WARNING)
        np.testing.assert_array_equal(again, off)

    def test_profile(self):
        """A profile and a benchmark are those of the code that ran."""
        self.on_device("--profile-out", "p.json", **NO_DRIVER)
        shown = self.trib("profile", "report", "p.json").stdout
        self.assertIn("src/net.tri", shown)
        self.env.update(NO_DRIVER)
        done = self.trib("bench", "net", "--compare", "opencl", "--batch", "1,2", "--max-time", "50ms")
        self.assertEqual(re.findall(WARNING, done.stderr), [WARNING])
        self.assertEqual(len(re.findall(rf"(?m)^net on cpu, {os.cpu_count()} threads?, batch", done.stdout)), 2)
        self.assertIn("src/net.tri", done.stdout)


if __name__ == "__main__":
    unittest.main()
