"""A fault at every writing call: kills before, after and in the middle, full disks, errors, short and interrupted writes."""
import os
import shutil
import time
import unittest

from faulty import MODES, TEMPORARY, FaultTest


def cases(events):
    return [(mode, e.number, e.call, os.path.basename(e.path)) for mode, needs in MODES.items() for e in events if e.can & needs == needs]


class Faults(FaultTest):
    clock = ""

    def run_fault(self, mode, n, *args):
        done = self.trib(*args, env=self.shim(fault=f"{mode}:{n}", clock=self.clock))
        if mode.startswith("kill"):
            self.assertEqual(done.returncode, -9, done.stderr)
        else:
            self.assertIn(done.returncode, (0, 3), done.stderr)
            self.assertTrue(done.returncode == 0 or done.stderr.strip())
        return done.returncode

    def each(self, args, old, new, settle=lambda: None, check=None, seconds=3):
        """Every fault of a command in the folder that was kept; `old` and `new`: the outputs before and after it."""
        self.clock = int(time.time()) + 3 * 86400 if "prune" in args else ""  # everything is old
        self.keep()
        settle()
        events = self.events(*args, clock=self.clock)

        def try_one(mode, n, call, name):
            self.restore()
            settle()
            spared = set(old) - set(new) if mode == "eio" and call == "unlink" else ()  # the fault prevents their removal
            if self.run_fault(mode, n, *args) == 0:
                now = self.visible()
                self.assertTrue({name: now[name] for name in now if name in new} == new, "it ended well without the new outputs")
            self.assert_good(old, new)
            (check or self.assert_mends)(new, spared=spared)
        self.each_fault(cases(events), try_one, seconds)

    def test_what_is_counted(self):
        """LMDB's files are among what the shim sees, and so is everything that strace would."""
        calls = {(e.call, os.path.basename(e.path)) for e in self.events("build", "-j1")}
        for call in ("open", "mmap", "fcntl"):
            self.assertIn((call, "lock.mdb"), calls)
        self.assertTrue({("pwrite", "data.mdb"), ("writev", "data.mdb"), ("pwritev", "data.mdb")} & calls, calls)
        self.assertIn(("rename", "libsmall.so"), calls)

    def test_cold_build(self):
        self.each(("build", "-j1"), {}, self.clean())

    def test_two_workers(self):
        self.each(("build", "-j2"), {}, self.clean(), seconds=2)

    def test_one_edit(self):
        old = self.clean()
        self.assertEqual(self.trib("build").returncode, 0)
        kept = self.read("src/act.tri")
        self.edit()
        new = self.clean()
        self.write("src/act.tri", kept)

        def settle():  # stamps are the copies' own
            self.assertEqual(self.trib("build").returncode, 0)
            self.edit()
        self.each(("build", "-j1"), old, new, settle)

    def test_weights_outside(self):
        self.write("tri.build", self.read("tri.build").decode() + "    weights.inside = 64B\n")
        old = self.clean()
        self.assertEqual(len([name for name in old if name.endswith(".triw")]), 1)
        self.assertEqual(self.trib("build").returncode, 0)
        kept = self.read("src/net.tri")
        self.edit("src/net.tri", "let fc =", "let fc2 =")
        self.edit("src/net.tri", "fc(x)", "fc2(x)")
        new = self.clean()
        self.write("src/net.tri", kept)

        def settle():
            self.assertEqual(self.trib("build").returncode, 0)
            self.edit("src/net.tri", "let fc =", "let fc2 =")
            self.edit("src/net.tri", "fc(x)", "fc2(x)")
        self.each(("build", "-j1"), old, new, settle)

    def test_external_linker(self):
        self.write("tri.build", self.read("tri.build").decode() + "    linker = cc\n")
        self.each(("build", "-j1"), {}, self.clean(), seconds=2)

    def test_fresh_clone(self):
        """All that is copied from the cache."""
        new = self.clean()
        self.assertEqual(self.trib("build").returncode, 0)
        self.remove(self.path("build"))
        self.remove(self.path(".trib"))
        self.each(("build", "-j1"), {}, new, seconds=2)

    def test_cache_commands(self):
        new = self.clean()
        self.assertEqual(self.trib("build").returncode, 0)
        clone = os.path.join(self.work, "clone")
        shutil.copytree(self.dir, clone, ignore=shutil.ignore_patterns("build", ".trib"))

        def check(want, spared):
            self.assert_mends(want, clone, spared)
            done = self.trib("cache", "validate")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for args in (("cache", "clear"), ("cache", "clear", "--level", "l3"), ("cache", "prune", "--days", "1"), ("cache", "validate", "--repair")):
            self.remove(os.path.join(self.tmp, "kept"))
            self.each(args, new, new, check=check, seconds=1.5)

    def test_sources_are_never_lost(self):
        ugly, was = b"fn gate( x :Tensor<float32,[N,4]> )->Tensor<float32,[N,4]>{\nreturn relu( x )*2.0 }\n", self.read("src/act.tri")
        self.write("src/act.tri", ugly)
        self.keep()

        def try_one(mode, n, *_):
            self.restore()
            self.run_fault(mode, n, "fmt")
            self.assertIn(self.read("src/act.tri"), (ugly, was))
            self.assertEqual(self.trib("fmt").returncode, 0)
            self.assertEqual(self.read("src/act.tri"), was)
            self.assertEqual(sorted(os.listdir(self.path("src"))), ["act.tri", "net.tri"])
        self.each_fault(cases(self.events("fmt")), try_one, 1)

    def test_configuration(self):
        self.keep()
        args = ("config", "set", "cache.max_size", "1GiB")

        def try_one(mode, n, *_):
            self.restore()
            self.run_fault(mode, n, *args)
            done = self.trib(*args)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1GiB", self.trib("config", "get", "cache.max_size").stdout)
            self.assertEqual([name for _, _, names in os.walk(os.path.join(self.work, "config")) for name in names if TEMPORARY.search(name)], [])
        self.each_fault(cases(self.events(*args)), try_one, 1)


if __name__ == "__main__":
    unittest.main()
