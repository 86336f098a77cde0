"""`profile = true` in the manifest: a program sees each statement and its time; without the key nothing changes."""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import time
import unittest

from project import SOURCE, ProjectTest, run

sys.path.insert(0, os.path.join(SOURCE, "scripts", "benchmarks"))
from abi import Desc, Event, HOOK, Options, Tensor, Unit  # noqa: E402

FLOAT32 = 8
RUNS = 3


class ProfileHook(ProjectTest):
    example = "digits"

    def switch_on(self, emit="library header"):
        self.edit("tri.build", f"    emit    = {emit}\n", f"    emit    = {emit}\n    profile = true\n")

    def statements(self, name, library="libdigits.so"):
        """Unit, name and line of the statements that the hook saw, in order."""
        seen = []

        def record(_, event):
            e = event.contents
            self.assertGreater(e.start_ns, 0)
            self.assertGreater(e.ns, 0)
            seen.append((e.unit.contents.name, e.statement))

        desc = self.run_model(name, HOOK(record), library=library)[0]
        text = lambda offset: ctypes.string_at(desc.texts + offset).decode()
        line = lambda s: desc.origins[desc.members[s.first_origin]].line
        return [(unit, text(desc.statements[k].name), line(desc.statements[k])) for unit, k in seen]

    def run_model(self, name, hook, size=ctypes.sizeof(Options), library="libdigits.so"):
        """Runs the library RUNS times; returns (descriptor, ns of each run, outputs). The name is new, because loaders know files by name."""
        self.write(name, self.read(f"build/{library}"))
        lib = ctypes.CDLL(self.path(name))
        lib.digits_open.restype = ctypes.c_void_p
        lib.digits_close.argtypes = [ctypes.c_void_p]
        lib.digits_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        model = lib.digits_open(ctypes.byref(Options(size, 2, None, None, hook, 42)), None)
        self.assertTrue(model)
        x, out = (ctypes.c_float * (5 * 64))(*(k % 17 for k in range(5 * 64))), (ctypes.c_float * 50)()
        shape = ctypes.c_int64 * 8
        io = (Tensor * 2)(Tensor(ctypes.addressof(x), shape(5, 64), 2, FLOAT32), Tensor(ctypes.addressof(out), shape(5, 10), 2, FLOAT32))
        times = []
        for _ in range(RUNS):
            start = time.monotonic_ns()
            self.assertEqual(lib.digits_run(model, io, None), 0)
            times.append((start, time.monotonic_ns()))
        lib.digits_close(model)
        return Desc.in_dll(lib, "tri_desc"), times, struct.pack("50f", *out)

    def test_each_statement_once_a_run(self):
        self.build()
        plain = self.run_model("plain.so", HOOK())[2]
        self.switch_on()
        self.build()
        events = []

        def record(user, event):
            e = event.contents
            events.append((user, e.size, ctypes.addressof(e.unit.contents), e.statement, e.start_ns, e.ns))

        desc, times, out = self.run_model("hooked.so", HOOK(record))
        self.assertEqual(out, plain)
        self.assertTrue(all(e[:2] == (42, ctypes.sizeof(Event)) for e in events))
        units = {ctypes.addressof(desc.units[k]): desc.units[k] for k in range(desc.n_units)}
        self.assertLessEqual({e[2] for e in events}, units.keys())
        at, entry = next((a, u) for a, u in units.items() if u.n_statements and a == events[-1][2])  # a caller ends after its callees
        statements = list(range(entry.first_statement, entry.first_statement + entry.n_statements))
        for start, end in times:
            of_run = [e for e in events if start <= e[4] <= end]
            of_entry = [e for e in of_run if e[2] == at]
            self.assertEqual([e[3] for e in of_entry], statements)
            self.assertGreater(sum(e[5] for e in of_entry), 0)
            self.assertLessEqual(sum(e[5] for e in of_entry), end - start)
        self.assertEqual(len(events) % RUNS, 0)
        text = lambda offset: ctypes.string_at(desc.texts + offset).decode()
        for _, _, unit, k, _, ns in events[-len(events) // RUNS:]:
            s = desc.statements[k]
            origin = desc.origins[desc.members[s.first_origin]]
            print(f"{units[unit].name.decode()}: {text(s.name)} {text(origin.file)}:{origin.line} {ns} ns")
            self.assertRegex(text(origin.file), r"\.tri$")
            self.assertGreater(origin.line, 0)

    def test_nobody_listens(self):
        self.switch_on()
        self.build()
        events = []
        hook = HOOK(lambda user, event: events.append(user))
        self.run_model("null.so", HOOK())
        self.run_model("short.so", hook, Options.profile.offset)  # a program of an older header
        self.assertEqual(events, [])
        self.run_model("all.so", hook)
        self.assertNotEqual(events, [])

    def test_without_the_key(self):
        events = []
        before, code = self.trib("build", "--dump-asm").stdout, self.build()
        self.run_model("plain.so", HOOK(lambda user, event: events.append(user)))
        self.assertEqual(events, [])
        self.assertFalse("tri_profile" in before)
        plain = self.read("build/libdigits.so")
        self.switch_on()
        self.assertTrue("tri_profile_begin" in self.trib("build", "--dump-asm").stdout)
        self.assertEqual(self.build()["units"]["compiled"], code["units"]["compiled"])
        self.edit("tri.build", "profile = true", "profile = false")
        self.assertEqual(self.trib("build", "--dump-asm").stdout, before)
        self.build()
        self.assertEqual(self.read("build/libdigits.so"), plain)

    @unittest.skipIf(os.environ.get("TRIB_SANITIZE"), "libtrib needs a program with the sanitizer")
    def test_lazy_library(self):
        self.switch_on()
        self.build()
        eager = self.statements("eager.so")
        self.assertNotIn("no effect", self.trib("build", "--lazy", "--no-cache").stderr)
        self.assertEqual(self.statements("lazy.so"), eager)

    def test_opencl_library(self):
        self.edit("tri.build", "library header", "opencl")
        self.build()
        self.assertEqual(self.statements("plain.so", "libdigits_opencl.so"), [])
        self.switch_on("opencl")
        self.assertNotIn("no effect", self.trib("build").stderr)
        kernels = self.statements("hooked.so", "libdigits_opencl.so")
        self.assertEqual(len(kernels) % RUNS, 0)
        self.assertTrue(any(name == "tri_matmul_i8_trit2" for _, name, _ in kernels), kernels)


PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "build/digits.h"

static int64_t seen_ns, seen;
static void hook(void *user, const tri_profile_event *e) { (void)user; seen_ns += e->ns; seen++; }

int main(int argc, char **argv)
{
	static float x[5 * 64], out[50];
	int runs = atoi(argv[argc - 1]);
	tri_error e;
	tri_options o = {.size = sizeof o, .threads = 2, .profile = hook};
	digits *m = digits_open(&o, &e);
	digits_io io = {.x = {x, {5, 64}, 2, TRI_FLOAT32}, .out = {out, {5, 10}, 2, TRI_FLOAT32}}, wrong = io;
	wrong.x.shape[1] = 63;
	for (int i = 0; i < runs; i++) {
		if (digits_run(m, &io, &e) != TRI_OK || digits_run(m, &wrong, &e) == TRI_OK)
			return 1;
	}
	const tri_profile *p = digits_profile(m, &e);
	if (!p)
		return puts(e.message), 2;
	int64_t sum = 0;
	printf("runs %llu wall %lld threads %u memory %llu ", (unsigned long long)p->runs, (long long)p->wall_ns, p->threads, (unsigned long long)p->memory_bytes);
	printf("copies %lld to %llu from %llu\n", (long long)(p->to_device_ns + p->from_device_ns), (unsigned long long)p->to_device_bytes, (unsigned long long)p->from_device_bytes);
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const tri_profile_entry *x = &p->entries[i];
		sum += x->wall_ns;
		printf("%d %s %s %s %s:%u %lld %llu %lld %lld %lld\n", (int)x->parent, x->code, x->operation, x->layer, x->file, x->line, (long long)x->memory, (unsigned long long)x->calls, (long long)x->wall_ns,
		       (long long)x->bytes, (long long)x->operations);
	}
	printf("seen %lld %lld %lld\n", (long long)seen, (long long)seen_ns, (long long)sum);
	if (digits_profile_reset(m, &e) != TRI_OK || !(p = digits_profile(m, &e)) || p->n_entries || p->runs)
		return 3;
	digits_run(m, &io, &e);
	p = digits_profile(m, &e);
	printf("again %llu %u\n", (unsigned long long)p->runs, p->n_entries);
	digits_close(m);
	return digits_profile(NULL, &e) != NULL;
}
"""


NET = """\
import nn

layer Gate(width: int) {
    let fc = nn.Linear(width, width, bias=false)
    fn forward(x: Tensor<float32, [N, width]>) { return softmax(tanh(fc(x)) * sigmoid(x)) }
}

layer Net() {
    let first = Gate(16)
    let second = Gate(16)
    fn forward(x: Tensor<float32, [4, 16]>) { return second(first(x)) + softmax(x) }
}
"""

NET_PROGRAM = r"""
#include <stdio.h>
#include "build/net.h"

int main(void)
{
	static float x[64], out[64];
	tri_error e;
	net *m = net_open(NULL, &e);
	net_io io = {.x = {x, {4, 16}, 2, TRI_FLOAT32}, .out = {out, {4, 16}, 2, TRI_FLOAT32}};
	if (!m || net_run(m, &io, &e) != TRI_OK)
		return 1;
	const tri_profile *p = net_profile(m, &e);
	for (uint32_t i = 0; i < p->n_entries; i++)
		printf("%s %lld\n", p->entries[i].operation, (long long)p->entries[i].memory);
	net_close(m);
	return 0;
}
"""


class Nested(ProjectTest):
    """The memory of statements in units that others call. A tensor has 4 x 16 floats: 256 bytes."""

    def setUp(self):
        super().setUp()
        self.write("src/net.tri", NET)

    def memory(self, emit, library):
        self.write("tri.build", f"model net\n    sources = src/net.tri\n    entry = Net\n    emit = {emit} header\n    profile = true\n")
        self.build()
        self.write("p.c", NET_PROGRAM)
        run(["cc", "p.c", "-o", "p", "-Lbuild", f"-l{library}", f"-Wl,-rpath,{self.path('build')}"], self.dir)
        lines = [line.split() for line in run([self.path("p")], self.dir).stdout.splitlines()]
        return [int(n) for name, n in lines if name == "matmul"], [int(n) for name, n in lines if name == "Gate"]

    def test_callers_count(self):
        # The first call: its result and that of the product. The second: the result of the first, too. The rows' maxima have 4 x 1 floats.
        self.assertEqual(self.memory("library", "net"), ([2 * 256, 3 * 256], [2 * 256 + 16, 3 * 256 + 16]))

    def test_bench_counts_the_same(self):
        self.memory("library", "net")
        profile = json.loads(self.trib("bench", "net", "--format=json", "--max-time=100ms", "--threads=1").stdout)
        peaks = {kind: [i["peak_bytes"][0] for i in profile["items"] if i["kind"] == kind] for kind in ("kernel", "unit")}
        self.assertEqual(peaks, {"kernel": [2 * 256, 3 * 256], "unit": [2 * 256 + 16, 3 * 256 + 16]})

    def test_opencl(self):
        products, gates = self.memory("opencl", "net_opencl")
        self.assertEqual(products[1] - products[0], 256)
        self.assertTrue(all(gate >= product for gate, product in zip(gates, products)), (products, gates))


class Collected(ProjectTest):
    """NAME_profile in a C program."""
    example = "digits"

    def collected(self, key="    profile = true\n", emit="library header", library="digits", runs=3):
        self.edit("tri.build", "    emit    = library header\n", f"    emit    = {emit}\n{key}")
        self.build()
        self.write("p.c", PROGRAM)
        self.built = subprocess.run(["cc", "-Wall", "-Werror", "p.c", "-o", "p", "-Lbuild", f"-l{library}", f"-Wl,-rpath,{self.path('build')}"], cwd=self.dir, capture_output=True, text=True)
        if self.built.returncode:
            return None
        return run([self.path("p"), str(runs)], self.dir).stdout.splitlines()

    def check(self, lines, runs):
        head = dict(zip(lines[0].split()[::2], map(int, lines[0].split()[1::2])))
        self.assertEqual((head["runs"], head["threads"] > 0), (runs, True))
        entries = [line.split(" ") for line in lines[1:-2]]
        roots = sum(int(e[-3]) for e in entries if e[0] == "-1")
        self.assertTrue(0 < roots <= head["wall"], lines)
        self.assertTrue(all(int(e[-4]) == runs for e in entries), lines)
        _, seen, seen_ns, total = lines[-2].split()
        self.assertEqual(int(seen), runs * len(entries))
        self.assertEqual(seen_ns, total)  # what the hook saw is what was summed
        self.assertEqual(lines[-1], f"again 1 {len(entries)}")
        memory = [int(e[5]) for e in entries]
        self.assertTrue(0 < max(memory) <= head["memory"], lines)
        for e, bytes_ in zip(entries, memory):
            self.assertTrue(e[0] == "-1" or bytes_ <= memory[int(e[0])], lines)  # a caller has what its callees have
        return head, entries

    def test_sums_are_those_of_the_events(self):
        head, entries = self.check(self.collected(), 3)
        self.assertGreater(head["memory"], 0)
        self.assertEqual((head["copies"], head["to"], head["from"]), (0, 0, 0))
        products = [e for e in entries if "matmul" in e[2]]
        self.assertEqual(len(products), 3)
        self.assertTrue(all(re.fullmatch(r"src/digits\.tri:\d+", e[4]) and int(e[-1]) >= 2 * 5 * 1280 for e in products), products)
        self.assertEqual({e[3]: int(e[5]) for e in products}, {"fc1": 5 * (64 + 4 + 128 * 4), "fc2": 5 * (128 + 4 + 128 * 4), "fc3": 5 * (128 + 4)})  # int8, scales, sums

    def test_opencl(self):
        lines = self.collected(emit="opencl header", library="digits_opencl", runs=2)
        self.assertIsNotNone(lines, self.built.stderr)
        head, entries = self.check(lines, 2)
        self.assertTrue(any("matmul" in e[2] for e in entries))
        self.assertEqual((head["to"], head["from"]), (2 * 4 * 5 * 64, 2 * 4 * 5 * 10))
        self.assertTrue(head["copies"] > 0 and head["copies"] + sum(int(e[-3]) for e in entries if e[0] == "-1") <= head["wall"])
        self.assertGreater(head["memory"], 0)

    def test_without_the_key(self):
        self.assertIsNone(self.collected(key=""))
        self.assertIn("digits_profile", self.built.stderr)


if __name__ == "__main__":
    unittest.main()
