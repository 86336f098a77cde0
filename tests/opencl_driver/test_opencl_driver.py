"""OpenCL libraries on drivers that fail: every call with every status, a device that is lost, limits of devices that are not here, damaged binaries."""
import os
import re
import signal
import subprocess
import tempfile
import unittest

from project import SLOWER, TRIB, ProjectTest

INJECT, DRIVER = os.environ["TRIB_INJECT"], os.environ["TRIB_OPENCL_DRIVER"]
MANIFEST = """\
project p

model net
    sources = src/*.tri
    entry   = Net
    input x = float32 [?, 4]
    input i = int32 [?]
    state.T = 64
    emit    = opencl
"""
# No kernel takes long to compile: programs are built with many options.
NET = """\
layer Net() {
    state k: Tensor<float32, [cap T, 4]>
    state steps: Tensor<int32, [2]> = tensor([7, 8])
    param w: Tensor<float32, [4, 600]> = ones([4, 600])
    fn forward(x: Tensor<float32, [N, 4]>, i: Tensor<int32, [M]>) {
        steps = steps + 1
        k.append(x, dim=0)
        let y = k @ w
        let n = 0
        while n < 2 {
            y = y * 0.5
            n += 1
        }
        assert y.max() < 1000.0, "too large"
        let s = if x.sum() > 0.0 { y + 1.0 } else { y - 1.0 }
        return s.sum(dim=0), y.index_select(0, i), steps
    }
}
"""
DECODER = """\
layer Net() {
    state k: Tensor<float32, [cap T, 8]>
    state v: Tensor<float32, [cap T, 8]>
    fn forward(x: Tensor<float32, [1, 8]>) {
        k.append(x * 0.5, dim=0)
        v.append(x + 1.0, dim=0)
        return softmax(x @ k.transpose(0, 1), dim=1) @ v
    }
}
"""


class Driver(ProjectTest):
    @classmethod
    def setUpClass(cls):
        """PoCL keeps the machine code of kernels there, which takes most of the time of a test."""
        super().setUpClass()
        cls.pocl = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.pocl.cleanup)

    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/net.tri", NET)
        self.trib("build")
        self.env["POCL_CACHE_DIR"] = self.pocl.name

    def inject(self, mode, **env):
        done = subprocess.run([INJECT, DRIVER, self.path("build/libnet_opencl.so"), mode], capture_output=True, text=True, env={**os.environ, **self.env, **env}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_call_fails_in_turn(self):
        calls, injected, harmless = map(int, re.findall(r"\d+", self.inject("errors")))
        self.assertEqual(injected, 6 * calls)
        self.assertLess(harmless, injected // 2)
        timed, injected, _ = map(int, re.findall(r"\d+", self.inject("timed errors")))
        self.assertGreater(timed, calls)
        self.assertEqual(injected, timed)

    def test_a_device_that_hangs(self):
        """A run fails after its time-out, later calls fail at once, closing returns, and the device may go on later."""
        self.assertGreater(int(self.inject("hangs")), 6)

    def test_a_compiler_that_hangs(self):
        """Opening fails after its time-out, from source and from a stored binary; another opening succeeds later."""
        for cache in "false", "true":
            self.assertRegex(self.inject("hanging build", TRIB_CACHE=cache), r"^the driver of `.+` did not open it within 30 ms: it hangs, .*; allow more time \(open_timeout_ms, --timeout\)\n$")

    def test_a_fork_while_a_thread_looks_for_devices(self):
        """The child looks for devices itself."""
        self.assertRegex(self.inject("fork"), "^no OpenCL platform is installed")

    def test_the_first_interrupt_ends_a_command_while_the_driver_compiles(self):
        self.env.update(LD_LIBRARY_PATH=os.path.dirname(DRIVER), OPENCL_DRIVER_HANGS_IN_BUILD="1", TRIB_CACHE="false")
        device = ["--device", "opencl"]
        for words in ["run", "net", "--no-build", "--input", "x=zeros:1x4", "--input", "i=zeros:1", *device], ["bench", "net", *device], ["devices", "--kernels", "net"]:
            child = subprocess.Popen([TRIB, *words], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **self.env})
            self.addCleanup(child.kill)
            while b"the driver hangs" not in (line := child.stderr.readline()):
                self.assertTrue(line, "it has ended")
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.communicate(timeout=60 * SLOWER)[1], b"trib: interrupted\n")
            self.assertEqual(child.returncode, 130)
        self.assertIn("within 30 ms", self.fails("devices", "--kernels", "net", "--timeout", "30ms", code=3))

    def test_asynchronous_runs(self):
        """The callback may run the model and close it; a model that is closed during a run is freed at its end."""
        self.inject("asynchronous")

    def test_states_that_move(self):
        """A kernel whose sizes are fixed is given the memory that has the state now."""
        self.assertEqual(self.inject("states").split(), ["9", "10", "11"])

    def test_runs_set_only_what_changes(self):
        """A decode step makes buffers rarely, sets few arguments, and waits in its last read alone; a run of the same sizes sets none."""
        self.write("tri.build", MANIFEST.replace("x = float32 [?, 4]\n    input i = int32 [?]", "x = float32 [1, 8]"))
        self.write("src/net.tri", DECODER)
        self.trib("build")
        launches, arguments, buffers, waits = map(int, re.findall(r"\d+", self.inject("calls")))
        self.assertLess(arguments, 2 * launches)
        self.assertLessEqual(buffers, 2)
        self.assertEqual(waits, 0)
        self.write("src/net.tri", "layer Net() {\n    fn forward(x: Tensor<float32, [1, 8]>) {\n        return softmax(x, dim=1)\n    }\n}\n")
        self.edit("tri.build", "    state.T = 64\n", "")
        self.trib("build")
        launches, *others = map(int, re.findall(r"\d+", self.inject("calls")))
        self.assertGreater(launches, 0)
        self.assertEqual(others, [0, 0, 0])

    def test_several_devices(self):
        said = dict(line.split(": ", 1) for line in self.inject("devices", POCL_DEVICES="basic pthread").splitlines())
        self.assertEqual([name for name, text in said.items() if text == "opens"], ["0", "1", "", "BASIC"])
        self.assertRegex(said["-"], "several OpenCL devices have - in their names: 0 is `.*basic.*`, 1 is `")
        for name in "2", "nosuch":
            self.assertRegex(said[name], f"there is no OpenCL device {name}: 0 is `.*basic.*`, 1 is `")

    def test_fallback(self):
        """A device that cannot run the model is as none: the CPU runs it."""
        self.write("tri.build", MANIFEST.replace("input i = int32 [?]", "fallback = cpu").replace("    state.T = 64\n", "").replace("float32", "float64"))
        self.write("src/net.tri", "layer Net() {\n    fn forward(x: Tensor<float64, [N, 4]>) {\n        return (x * 2.0).sum(dim=1)\n    }\n}\n")
        needs = "net: needs a device with float64 (cl_khr_fp64); without one "
        self.assertIn(f"{needs}the CPU runs it\n", self.trib("build").stdout)
        said = dict(line.split(": ", 1) for line in self.inject("limits").splitlines())
        self.assertEqual([said[why] for why in ("no float64", "no platform", "no device")], ["runs"] * 3)
        self.edit("tri.build", "    fallback = cpu\n", "")
        self.assertIn(f"{needs}it does not run: `fallback = cpu` adds code for the CPU\n", self.trib("build").stdout)
        said = dict(line.split(": ", 1) for line in self.inject("limits").splitlines())
        self.assertIn("float64, which this device does not support", said["no float64"])

    def test_lost_device(self):
        calls, injected, _ = map(int, re.findall(r"\d+", self.inject("lost")))
        self.assertEqual(injected, calls)

    def test_binaries(self):
        """The second start builds nothing; a damaged binary, a folder that cannot be written and other options only cost a build."""
        self.assertEqual(self.inject("builds"), "1\n")
        self.assertEqual(self.inject("builds"), "0\n")
        folder = os.path.join(self.env["XDG_CACHE_HOME"], "trib", "opencl")
        (name,) = os.listdir(folder)
        path = os.path.join(folder, name)
        with open(path, "rb") as f:
            whole = f.read()
        for damaged in b"", whole[:30], whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], bytes(len(whole)):
            with open(path, "wb") as f:
                f.write(damaged)
            self.assertEqual(self.inject("builds"), "1\n", len(damaged))
            self.assertEqual(self.inject("builds"), "0\n")
        self.assertEqual(self.inject("builds", TRIB_CACHE="false"), "1\n")
        self.assertEqual(self.inject("builds", XDG_CACHE_HOME="/proc/none"), "1\n")
        self.assertEqual(self.inject("builds", TRIB_OPENCL_VARIANT="groups", TRIB_CACHE_READ_ONLY="true"), "1\n")
        self.assertEqual(self.inject("builds", TRIB_OPENCL_VARIANT="groups"), "1\n")
        self.assertEqual(len(os.listdir(folder)), 2)
        self.trib("cache", "clear")
        self.assertFalse(os.path.exists(folder))

    def test_fast_forms(self):
        """A dot product of the device is used if it equals the host's; the binary without it is kept if it does not, or if the driver refuses it."""
        terms = "+".join(f"as_char4(a).s{i}*as_char4(b).s{i}" for i in range(4))
        for dot, builds in (f"-Ddot_4x8packed_ss_int(a,b)=({terms})", 1), ("-Ddot_4x8packed_ss_int(a,b)=(7)", 3), ("-Dunknown=1", 3): # as OpenCL C 3.0, 1.2
            device = {"TRIB_OPENCL_VARIANT": "groups", "TRIB_DRIVER_DOT": dot, "XDG_CACHE_HOME": self.path(f"cache{len(dot)}")}
            self.assertEqual(self.inject("builds", **device), f"{builds}\n", dot)
            self.assertEqual(self.inject("builds", **device), "0\n", dot)
            self.assertEqual(self.inject("builds", **{**device, "TRIB_OPENCL_VARIANT": "wide"}), "1\n", dot)

    def test_matrix_instructions(self):
        """Of the forms of a device the fastest that computes what the host does is used. PTX does not compile here."""
        for options, wrong, builds in ("-DTRI_EMULATED", "", 1), ("-DTRI_EMULATED", "tri_check_swap", 2), ("-DTRI_EMULATED", "tri_check_mma", 5), ("", "", 8):
            device = {"TRIB_OPENCL_VARIANT": "groups", "TRIB_DRIVER_NVIDIA": options, "TRIB_DRIVER_WRONG": wrong, "XDG_CACHE_HOME": self.path(f"cache{builds}")}
            self.assertEqual(self.inject("builds", **device), f"{builds}\n", options)
            self.assertEqual(self.inject("builds", **device), "0\n", options)

    def test_sub_groups(self):
        """Exchange and blocks are off, each for itself, if they give other values than the host, or if the driver refuses them."""
        for options, wrong, builds in ("-DTRI_EMULATED", "tri_check_blocks", 2), ("-DTRI_EMULATED", "tri_check_swap", 3), ("", "", 4):
            device = {"TRIB_OPENCL_VARIANT": "groups", "TRIB_DRIVER_INTEL": options, "TRIB_DRIVER_WRONG": wrong, "XDG_CACHE_HOME": self.path(f"cache{builds}")}
            self.assertEqual(self.inject("builds", **device), f"{builds}\n", wrong or options)
            self.assertEqual(self.inject("builds", **device), "0\n", wrong or options)

    def test_byte_products_of_processors(self):
        """They are used if the instruction adds the products that the host computes."""
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            has = " avx2 " in f.read()
        for made, builds in ("pmaddubsw", 1 + has), ("other", 1):
            dot = " ".join(f"-D__builtin_ia32_{made}{bits}(a,b)=(a)" for bits in (256, 512))
            device = {"TRIB_OPENCL_VARIANT": "wide", "TRIB_DRIVER_DOT": dot, "XDG_CACHE_HOME": self.path(f"cache_{made}")}
            self.assertEqual(self.inject("builds", **device), f"{builds}\n", dot)
            self.assertEqual(self.inject("builds", **device), "0\n", dot)

    def test_a_library_opens_without_a_loader(self):
        """It is loaded where there is no libOpenCL; opening the model says what is missing."""
        program = f"import ctypes; ctypes.CDLL({self.path('build/libnet_opencl.so')!r}).net_open(None, None); print('closed')"
        self.assertIn("closed", subprocess.run(["python3", "-c", program], capture_output=True, text=True, check=True).stdout)
        with open(self.path("build/libnet_opencl.so"), "rb") as f:
            self.assertNotIn("libOpenCL", subprocess.run(["readelf", "-d", f.name], capture_output=True, text=True, check=True).stdout)

    def test_constants_of_a_program_are_limited(self):
        """A device may have 64 KiB for all constants of a program: those that have no room are arguments of kernels."""
        values = [", ".join(f"{(i * 7 + k) % 11 - 5}.0" for k in range(250)) for i in range(60)]
        functions = "".join(f"@noinline\nfn f{i}(x: Tensor<float32, [250]>) {{ return x * 0.5 + tensor([{v}]) }}\n" for i, v in enumerate(values))
        calls = "".join(f"        x = f{i}(x)\n" for i in range(60))
        self.write("src/net.tri", functions + "layer Net() {\n    fn forward(x: Tensor<float32, [250]>) {\n" + calls + "        return x\n    }\n}\n")
        self.write("tri.build", "project p\n\nmodel net\n    sources = src/*.tri\n    entry = Net\n    input x = float32 [250]\n"
                   "    emit = library header opencl opencl-source\n")
        self.trib("build")
        sizes = [int(n) for n in re.findall(r"(?m)^constant float \w+\[(\d+)\]", self.read("build/net_wide.cl").decode())]
        self.assertTrue(48 << 10 < 4 * sum(sizes) <= 56 << 10, sum(sizes))
        cpu, device = (self.trib("run", "net", "--no-build", "--input", "x=ones", "--device", d).stdout for d in ("cpu", "opencl"))
        self.assertEqual(cpu, device)

    def test_forms_by_size(self):
        """The number of rows, which is known at run time, decides which form of a product with an epilogue runs."""
        self.write("src/net.tri", "layer Net() {\n    fn forward(x: Tensor<float32, [N, 4]>, w: Tensor<float32, [4, 40]>) { return relu(x @ w - 1.0) }\n}\n")
        self.write("tri.build", "project p\n\nmodel net\n    sources = src/*.tri\n    entry = Net\n    input x = float32 [?, 4]\n    input w = float32 [4, 40]\n"
                   "    emit = library header opencl opencl-source\n")
        self.trib("build")
        self.assertEqual(len(re.findall(r"#define TRI_NAME \w+_k0(?:_\d)?\n", self.read("build/net_groups.cl").decode())), 3)
        self.env["TRIB_OPENCL_VARIANT"] = "groups"
        for rows in 1, 2, 17, 70:
            run = [self.trib("run", "net", "--no-build", "--input", f"x=ones:{rows}x4", "--input", "w=ones", "--device", d)
                   for d in ("cpu", "opencl")]
            self.assertEqual(run[0].stdout, run[1].stdout)

    def test_limits(self):
        """Softmax needs local memory."""
        self.edit("src/net.tri", "y + 1.0", "softmax(y, dim=1)")
        self.edit("src/net.tri", "y - 1.0", "softmax(y - 1.0, dim=0)")
        self.trib("build")
        said = dict(line.split(": ", 1) for line in self.inject("limits").splitlines())
        for runs in "buffers of 1 MiB", "32-bit addresses", "big alignment", "own memory", "own memory, gpu", "no local memory":
            self.assertEqual(said[runs], "runs", runs)
        self.assertIn("install the driver", said["no platform"])
        self.assertRegex(said["no device"], "1 OpenCL platform without a device: .*XDG_CACHE_HOME.*install the driver")
        self.assertRegex(said["buffers of 1 KiB"], "a buffer of .* bytes is needed for the weights, but this device has none above 1024")
        for needs in "groups of 64", "groups of 16", "no local memory, gpu":
            self.assertRegex(said[needs], "runs|a kernel needs (a work group|local memory) of", needs)


if __name__ == "__main__":
    unittest.main()
