"""Programs that load new libraries while they run."""
import os
import shutil
import signal
import subprocess

from project import SOURCE, run
from watching import PATIENCE, WatchTest, unittest

GAIN = "fn gain(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x * %s\n}\n"
MANIFEST = """\
project live
    version = 1.0

model gain
    sources = gain.tri
    entry   = gain
    input x = float32 [?]
    emit    = library header live
"""
REBUILDS = 50


class Live(WatchTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("gain.tri", GAIN % "1.0")
        shutil.copy(os.path.join(SOURCE, "tests/watch/live_many.c"), self.dir)
        self.w = self.watch()
        self.w.event("watching")

    def start(self, *flags):
        run(["cc", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g", *flags, "-o", "build/many", "live_many.c", "-lpthread", "-ldl"], self.dir)
        p = subprocess.Popen(["build/many"], cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdin.close(), p.stdout.close()))
        self.assertEqual(p.stdout.readline(), "ready\n")
        return p

    def tell(self, p):
        p.stdin.write("published\n")
        p.stdin.flush()
        return p.stdout.readline()

    def publish(self, text):
        self.write("gain.new~", text)
        os.rename(self.path("gain.new~"), self.path("gain.tri"))
        save = self.w.event("save")
        self.assertTrue(save["ok"], save)

    def finish(self, p):
        rest, _ = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, rest)
        words = rest.split()
        self.assertEqual((words[0], words[2]), ("end", "0"), rest)
        return int(words[1]), [float(f) for f in words[3:]]

    def rebuild_under_calls(self, *flags):
        p = self.start(*flags)
        for i in range(2, REBUILDS + 2):
            self.publish(GAIN % f"{i}.0")
            self.assertEqual(self.tell(p).split(), ["taken", str(i)])
        calls, factors = self.finish(p)
        self.assertGreater(calls, REBUILDS)
        for generation, factor in enumerate(factors, 1):
            self.assertEqual(factor, generation)

    def test_many_threads_during_repeated_builds(self):
        self.rebuild_under_calls()

    def test_the_same_under_the_thread_sanitizer(self):
        probe = run(["cc", "-fsanitize=thread", "-x", "c", "-", "-o", "/dev/null"], self.dir, ok=False, input="int main(void) { return 0; }\n")
        if probe.returncode:
            self.skipTest("no thread sanitizer")
        self.rebuild_under_calls("-fsanitize=thread")

    def test_leaks_and_other_errors_of_memory(self):
        p = self.start("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        for i in range(2, 6):
            self.publish(GAIN % f"{i}.0")
            self.tell(p)
        self.finish(p)

    def test_incompatible_libraries_are_refused(self):
        p = self.start()
        self.publish("fn gain(x: Tensor<float32, [N]>) -> Tensor<float64, [N]> {\n    return float64(x) * 2.0\n}\n")
        said = self.tell(p)
        self.assertTrue(said.startswith("refused 1 "), said)
        self.assertIn("`out` has another name, type or shape: restart the program", said)
        self.publish(GAIN % "3.0")
        self.assertEqual(self.tell(p).split(), ["taken", "2"])
        with open(self.path("build/broken"), "wb") as f:
            f.write(self.read("build/libgain.so")[:5000])
        self.w.end()
        os.rename(self.path("build/broken"), self.path("build/libgain.so"))
        self.assertIn("refused 2 ", self.tell(p))
        shutil.copy("/lib/x86_64-linux-gnu/libm.so.6", self.path("build/other.so"))
        os.rename(self.path("build/other.so"), self.path("build/libgain.so"))
        said = self.tell(p)
        self.assertIn("refused 2 ", said)
        self.assertIn("this version of trib did not build it", said)
        self.trib("build")
        self.assertEqual(self.tell(p).split()[0], "taken")
        self.assertEqual(self.finish(p)[1][:2], [1.0, 3.0])

    def test_weights_outside_the_library(self):
        """The file of an older generation goes when the next is published."""
        layer = ("import nn\n\nlayer gain() {{\n    let wide = nn.Linear(300, {})\n\n    fn forward(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {{\n"
                 "        return x * {}.0 + 0.0 * sum(wide(ones([1, 300]) * sum(x)))\n    }}\n}}\n")
        self.write("tri.build", MANIFEST + "    weights.inside = 4KiB\n")
        self.assertTrue(self.w.event("save")["ok"])
        self.publish(layer.format(10, 1))
        self.assertEqual(len(self.weights()), 1)
        p = self.start()
        for i in range(2, 6):
            self.publish(layer.format(10 + i, i))
            self.assertEqual(self.tell(p).split()[-1], str(i))  # a call that missed the old weights may have taken it already
            self.assertEqual(len(self.weights()), 1)
        self.assertEqual(self.finish(p)[1], [1.0, 2.0, 3.0, 4.0, 5.0])

    def weights(self):
        return [n for n in os.listdir(self.path("build")) if n.endswith(".triw")]

    def test_every_language_and_compiler(self):
        self.write("use.c", '#include "build/gain.h"\n#define TRI_LIVE_IMPLEMENTATION\n#include "build/tri_live.h"\n')
        self.write("alone.c", '#include "build/tri_live.h"\nint main(void) { return tri_live_open("libnone.so", 0, 0) != 0; }\n')
        for cc in ("gcc -std=c11", "gcc -std=gnu17", "g++ -x c++ -std=c++11", "g++ -x c++ -std=c++20", "clang -std=c11", "clang++ -x c++ -std=c++11"):
            if shutil.which(cc.split()[0]):
                for name in ("use.c", "alone.c"):
                    run([*cc.split(), "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-c", name, "-o", "build/use.o"], self.dir)


class Example(WatchTest):
    example = "live"

    def start(self):
        run(["cc", "-Wall", "-Wextra", "-Werror", "-o", "build/live", "live.c", "-lm"], self.dir)
        p = subprocess.Popen(["build/live"], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdout.close()))
        return p, [p.stdout.readline() for _ in range(22)]

    def end(self, p, signal_number):
        p.send_signal(signal_number)
        self.assertEqual(p.wait(timeout=PATIENCE), 0)

    def test_the_curve_bends(self):
        w = self.watch()
        w.event("watching")
        p, curve = self.start()
        curves = [curve]
        self.replace("src/gain.tri", "drive = 2.0", "drive = 5.0")
        save = w.event("save")
        self.assertRegex(save["text"], "^src/gain.tri:3 `drive` 2.0→5.0: 1 unit, ")
        curves.append([p.stdout.readline() for _ in range(22)])
        self.assertEqual([c[0] for c in curves], ["generation 1\n", "generation 2\n"])
        self.assertNotEqual(curves[0][1:], curves[1][1:])
        self.end(p, signal.SIGTERM)

    def test_ctrl_c_ends_it(self):
        self.trib("build")
        p, _ = self.start()
        self.replace("src/gain.tri", "drive = 2.0", "drive = 5.0")
        self.trib("build")
        self.assertEqual(p.stdout.readline(), "generation 2\n")  # without a standard input it went on
        self.end(p, signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
