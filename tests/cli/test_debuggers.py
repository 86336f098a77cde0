"""gdb, addr2line and perf show the lines, units and places of the sources in a library."""
import os
import shutil
import subprocess
import unittest

from project import ProjectTest, run

NET = """\
import nn

layer Block() {
    let fc = nn.BitLinear(64, 64)

    fn forward(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {
        let h = fc(x)
        let g = exp(h)
        return softmax(g) + x
    }
}

layer Net() {
    let first = Block()
    let second = Block()
    let last = nn.BitLinear(64, 10)

    fn forward(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 10]> {
        let a = first(x)
        let b = second(a)
        return last(b)
    }
}
"""
BUILD = "project net\n\nmodel net\n    sources = src/net.tri\n    entry   = Net\n    input x = float32 [?, 64]\n    opt = 1\n"
HOST = """\
#include <stddef.h>
#include "net.h"
int main(int argc, char **argv)
{
	static float x[64 * 64], out[64 * 10];
	(void)argv;
	net *m = net_open(NULL, NULL);
	net_io io = {.x = {x, {64, 64}, 2, TRI_FLOAT32}, .out = {out, {64, 10}, 2, TRI_FLOAT32}};
	for (int i = 0; m && i < (argc > 1 ? 3000 : 1); i++)
		if (net_run(m, &io, NULL) != TRI_OK)
			return 1;
	net_close(m);
	return !m;
}
"""


class Debuggers(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("src/net.tri", NET)
        self.write("tri.build", BUILD)
        self.write("host.c", HOST)
        self.trib("build")
        run(["cc", "-o", "host", "host.c", "-Ibuild", "-Lbuild", "-lnet", "-Wl,-rpath," + self.path("build")], self.dir)

    def line_of(self, text):
        return 1 + NET[:NET.index(text)].count("\n")

    def symbols(self):
        text = run(["readelf", "-sW", "build/libnet.so"], self.dir).stdout
        rows = [line.split(None, 7) for line in text[text.index("'.symtab'"):].splitlines()[2:]]
        return {r[7]: (int(r[1], 16), int(r[2], 0)) for r in rows if len(r) == 8 and r[3] == "FUNC"}

    def gdb(self, *commands):
        first = ["set debuginfod enabled off", "set breakpoint pending on", *commands]
        return run(["gdb", "-nx", "-batch", *[a for c in first for a in ("-ex", c)], "./host"], self.dir).stdout

    def test_gdb_stops_at_lines(self):
        """At a call that was inlined, at an operation that was fused with others, in a unit and in the model."""
        for text in "let h = fc(x)", "let g = exp(h)", "return softmax(g)", "let b = second(a)", "return last(b)":
            line = self.line_of(text)
            said = self.gdb(f"break net.tri:{line}", "run", "backtrace")
            self.assertRegex(said, rf"Breakpoint 1(\.1)?, .*{'Block' if line < 12 else 'Net'}\(\).* at src/net.tri:{line}\n{line}\t", said)
            self.assertIn(text, said)
            if line < 12:
                self.assertIn(f"Net() [N, 64] () at src/net.tri:{self.line_of('let a = first(x)')}", said)

    def test_symbols_are_units_and_places(self):
        names = list(self.symbols())
        self.assertIn("first and 1 more: Block() [N, 64]", names)  # both places share the code
        self.assertIn("Net() [N, 64]", names)
        self.assertTrue(any(n.startswith("first.fc matmul epilogue and 1 more: Block()") for n in names), names)
        self.assertTrue(any(n.startswith("last rms_norm nest: Net()") for n in names), names)
        self.assertIn("worker: threads", names)  # static functions of the runtime
        self.assertFalse([n for n in names if n.split(".")[0] in ("nest", "epilogue", "chunk")])

    def test_addresses_have_lines(self):
        """Every address of the code of units has a line; inlined calls are nested."""
        seen = set()
        for name, (at, size) in self.symbols().items():
            if "Block()" not in name and "Net()" not in name:
                continue
            places = [hex(at + k) for k in range(0, size, 1 + size // 50)]
            for tool in ("addr2line", "-fie"), ("llvm-symbolizer-19", "--inlines", "-fe"):
                if not shutil.which(tool[0]):
                    continue
                text = run([*tool, "build/libnet.so", *places], self.dir).stdout
                self.assertNotIn("??", text, name)
                seen.update(line for line in text.splitlines())
        self.assertTrue(any(s.endswith(f"src/net.tri:{self.line_of('let h = fc(x)')}") or f"src/net.tri:{self.line_of('let h = fc(x)')}:" in s
                            for s in seen), seen)
        self.assertTrue(any("std/nn.tri:" in s for s in seen), seen)
        self.assertIn("BitLinear(64, 64) [N, 64]", seen)

    def test_lines_do_not_change_the_code(self):
        def loaded():
            path = self.path("code.bin")
            run(["objcopy", "-O", "binary", "-j", ".text", self.path("build/libnet.so"), path], self.dir)
            return self.read("code.bin")
        before = loaded()
        self.write("src/net.tri", "\n\n" + NET)
        self.trib("build")
        self.assertEqual(loaded(), before)
        self.assertIn(f"src/net.tri:{self.line_of('let b = second(a)') + 2}\n", self.gdb(f"break net.tri:{self.line_of('let b = second(a)') + 2}", "run"))

    def test_perf(self):
        recorded = shutil.which("perf") and subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data", "./host", "long"], cwd=self.dir, capture_output=True)
        if not recorded or recorded.returncode:
            self.skipTest("perf cannot measure here")
        said = run(["perf", "report", "-i", "perf.data", "--stdio"], self.dir, env={**os.environ, "DEBUGINFOD_URLS": ""}).stdout
        self.assertIn("Block() [N, 64]", said)

    def test_code_of_a_first_call_has_names_for_perf(self):
        self.trib("build", "--lazy")
        with subprocess.Popen(["./host"], cwd=self.dir, env={**os.environ, **self.env, "TRIB_PERF_MAP": "1"}) as host:
            self.assertEqual(host.wait(), 0)
        path = f"/tmp/perf-{host.pid}.map"
        self.addCleanup(os.unlink, path)
        with open(path, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split(" ", 2) for line in f]
        self.assertTrue(all(int(at, 16) > 0 and int(size, 16) > 0 for at, size, _ in rows), rows)
        names = [name for _, _, name in rows]
        self.assertTrue(any("Block() [N, 64]" in n for n in names) and any("Net() [N, 64]" in n for n in names), names)
        code = sorted((int(at, 16), int(size, 16)) for at, size, _ in rows)
        self.assertTrue(all(a + n <= b for (a, n), (b, _) in zip(code, code[1:])), code)
        subprocess.run(["./host"], cwd=self.dir, check=True, env={**os.environ, **self.env})  # writes none

    def test_perf_of_lazy_code(self):
        self.trib("build", "--lazy")
        env = {**os.environ, **self.env, "TRIB_PERF_MAP": "1"}
        recorded = shutil.which("perf") and subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data", "./host", "long"], cwd=self.dir, capture_output=True, env=env)
        if not recorded or recorded.returncode:
            self.skipTest("perf cannot measure here")
        said = run(["perf", "report", "-i", "perf.data", "--stdio"], self.dir, env={**os.environ, "DEBUGINFOD_URLS": ""}).stdout
        self.assertIn("Block() [N, 64]", said)


if __name__ == "__main__":
    unittest.main()
