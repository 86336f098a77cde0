"""Hostile environments: clocks, stamps, file systems without locks or shared mappings, files that change while they are read, concurrent builds, folders
that cannot be written."""
import json
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

from faulty import SLOWER, TRIB, FaultTest
from project import any_moment

DAY = 86400
CLOCKS = {"1970": lambda: 0, "2100": lambda: 4102444800, "yesterday": lambda: int(time.time()) - DAY, "tomorrow": lambda: int(time.time()) + DAY,
          "now": lambda: ""}
ACT_NEW = b"fn gate(x: Tensor<float32, [N, 4]>) -> Tensor<float32, [N, 4]> {\n    return relu(x) * 5.0 - 1.0\n}\n"
FILE_SYSTEMS = ("nomap", "nolock", "seconds", "nomap,nolock,seconds")


def weights(seed):
    """A safetensors file of the small project's parameters."""
    data = struct.pack("<36f", *((i * 7 + seed * 13) % 23 - 11 for i in range(36)))
    header = json.dumps({"fc.weight": {"dtype": "F32", "shape": [4, 8], "data_offsets": [0, 128]},
                         "fc.bias": {"dtype": "F32", "shape": [4], "data_offsets": [128, 144]}}).encode()
    return struct.pack("<Q", len(header)) + header + data


class EnvironmentTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", self.read("tri.build").decode() + "    weights = net.safetensors\n")
        self.write("net.safetensors", weights(1))

    def start(self, *args, dir=None, env=None):
        return subprocess.Popen([TRIB, *args], cwd=dir or self.dir, env={**self.env, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def good(self, want, **more):
        done = self.trib("build", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.visible() == want, "not as in a clean build: " + done.stdout + done.stderr)
        return done.stdout + done.stderr


class Clocks(EnvironmentTest):
    def test_clocks(self):
        """From one time to another, with edits that leave sizes alone, right after builds."""
        want = {}
        for value in (2, 3, 4):
            self.edit(old="2.0" if value == 2 else f"{value - 1}.0", new=f"{value}.0")
            want[value] = self.clean()
        self.keep()

        def jump(kind, first, second):
            self.restore()
            env = {"TRIB_CACHE_AGE": "1"}
            self.good(want[4], env={**env, **self.shim(clock=CLOCKS[first]())})
            self.edit(old="4.0", new="2.0")
            self.good(want[2], env={**env, **self.shim(clock=CLOCKS[second]())})
            self.edit(old="2.0", new="3.0")
            self.good(want[3], env={**env, **self.shim(clock=CLOCKS[first]())})
            self.good(want[3], env={**env, **self.shim(clock=CLOCKS[second]())})
            self.edit(old="3.0", new="4.0")
            self.good(want[4], env=env)
            self.assertIn("nothing to do", self.good(want[4], env=env))
        self.each_fault([("clock", a, b) for a in CLOCKS for b in CLOCKS], jump, 4)

    def test_old_stamps(self):
        """A file that was changed and got its stamp, or an older one, back."""
        old = self.clean()
        changes = {"src/act.tri": lambda data: data.replace(b"2.0", b"3.0"),
                   "src/net.tri": lambda data: data.replace(b"fc(x)", b"fc(-x)").replace(b"    fn forward", b"   fn forward"),
                   "tri.build": lambda data: data.replace(b"[?, 8]", b"[2, 8]"), "net.safetensors": lambda data: weights(2)}
        self.keep()

        def change(kind, name, how, wait):
            self.restore()
            self.good(old)
            time.sleep(wait)  # the build trusts a stamp that is older than a tick, and nothing sets the ctime in it
            self.assertIn("nothing to do", self.good(old))
            was, path = self.read(name), self.path(name)
            st = os.stat(path)
            now = changes[name](was)
            self.assertNotEqual(now, was)
            if how == "in place":
                with open(path, "r+b") as f:
                    f.write(now)
                    f.truncate()
            else:
                self.write("new", now)
                os.utime(self.path("new"), ns=(st.st_atime_ns, st.st_mtime_ns))
                os.rename(self.path("new"), path)
            os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns - (10**9 if how == "older" else 0)))
            want = self.clean()
            self.assertFalse(want == old)
            self.good(want)
            self.assert_mends(want)
        self.each_fault([("stamp", name, how, wait) for name in changes for how in ("in place", "renamed", "older") for wait in (0, 0.03)], change, 3)

    def test_file_systems(self):
        """Without shared mappings, without locks, with stamps of whole seconds."""
        want = {2: self.clean()}
        self.edit()
        want[3] = self.clean()
        self.edit(old="3.0", new="2.0")
        self.keep()

        def live(kind, simulate, other):
            self.restore()
            env = self.shim(simulate=simulate)
            for value in (2, 3, 2, 2, 3):
                if f"{5 - value}.0" in self.read("src/act.tri").decode():
                    self.edit(old=f"{5 - value}.0", new=f"{value}.0")
                said = self.good(want[value], env=env)
                self.assertNotIn("waiting for another", said)
            self.good(want[3], env=self.shim(simulate=other))
            self.assert_mends(want[3])
        self.each_fault([("file system", a, b) for a in FILE_SYSTEMS for b in FILE_SYSTEMS + ("",)], live, 3)


class Changes(EnvironmentTest):
    def stopped(self, n, count, *args, dir=None):
        """A build that stops before its n-th counted call, or after so many milliseconds; None if it ended before."""
        child = self.start(*args, dir=dir, env={} if count == "milliseconds" else self.shim(fault=f"stop:{n}", count=count))
        self.addCleanup(lambda: child.poll() is None and child.kill())
        if count == "milliseconds":
            time.sleep(n / 1000)
            os.kill(child.pid, signal.SIGSTOP)  # send_signal would reap one that has ended
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            return child
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        return None

    def go_on(self, child):
        child.send_signal(signal.SIGCONT)
        said = child.communicate(timeout=60 * SLOWER)[0].decode()
        return child.returncode, said

    def test_files_that_change_while_they_are_read(self):
        """Sources, the manifest and weights, changed in place, replaced, cut or removed at every call that reads or looks at the clock, and in between."""
        old = self.clean()
        changes = {"src/act.tri": ACT_NEW, "tri.build": self.read("tri.build").replace(b"[?, 8]", b"[2, 8]"), "net.safetensors": weights(2)}
        want, was = {}, {}
        for name, data in changes.items():
            was[name] = self.read(name)
            self.write(name, data)
            want[name] = self.clean()
            self.write(name, was[name])
        self.keep()
        n = {count: len(self.events("build", "-j1", count=count)) for count in ("reads", "times")}
        n["milliseconds"] = 60

        def change(kind, name, count, at):
            self.restore()
            child = self.stopped(at, count, "build", "-j1")
            if not child:
                return
            path = self.path(name)
            if kind == "changed in place":
                with open(path, "r+b") as f:
                    f.write(changes[name])
                    f.truncate()
            elif kind == "replaced":
                self.write("new", changes[name])
                os.rename(self.path("new"), path)
            elif kind == "cut":
                os.truncate(path, len(was[name]) // 3)
            else:
                os.unlink(path)
            code, said = self.go_on(child)
            gone = (kind, name) == ("removed", "tri.build")  # then there may be no project: wrong usage
            self.assertIn(code, (0, 1, 2, 3) if gone else (0, 1, 3), said)
            self.assertTrue(code == 0 or said.strip())
            self.assert_good(old, want[name])
            if self.rng.random() < 0.3:
                self.write(name, was[name])
                self.good(old)
            self.write(name, changes[name])
            self.assert_mends(want[name])
            self.forget()
            self.good(want[name])  # nothing wrong was left in the cache
            self.write(name, was[name])
            self.forget()
            self.good(old)
        self.each_fault([(kind, name, count, at) for kind in ("changed in place", "replaced", "cut", "removed") for name in changes
                         for count in n for at in range(1, n[count] + 1)], change, 5)

    def forget(self):
        self.remove(self.path(".trib"))
        self.remove(self.path("build"))

    def test_another_build_at_every_call(self):
        """One build stops before a call that writes; another one, of the same project or of one that shares the cache, runs meanwhile; the first goes on or is killed."""
        new = self.clean()
        other = os.path.join(self.work, "other")
        shutil.copytree(self.dir, other)
        self.keep()
        n = len(self.events("build", "-j1"))

        def meet(kind, at, end):
            self.restore()
            first = self.stopped(at, "writes", "build", "-j1")
            if not first:
                return
            second = self.start("build", dir=other if kind == "shared cache" else self.dir)
            try:
                second.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                pass
            if end == "killed":
                first.kill()
                first.communicate()
            else:
                code, said = self.go_on(first)
                self.assertEqual(code, 0, said)
            said = second.communicate(timeout=60 * SLOWER)[0].decode()
            self.assertEqual(second.returncode, 0, said)
            for dir in {self.dir, other if kind == "shared cache" else self.dir}:
                self.assert_good(new, dir=dir)
                self.assert_mends(new, dir)
        self.each_fault([(kind, at, end) for kind in ("same project", "shared cache") for at in range(1, n + 1) for end in ("goes on", "killed")], meet, 4)

    def test_many_builds_at_once(self):
        new = self.clean()
        self.keep()

        def many(kind, n, kills, _):
            self.restore()
            dirs = [self.dir] * n
            if kind == "projects at once":
                dirs = [shutil.copytree(self.dir, os.path.join(self.work, f"p{i}")) for i in range(n)]
            children = [self.start("build", "-j1", dir=dir) for dir in dirs]
            for child in children[:kills]:
                any_moment(self.rng, 0.02)
                child.kill()
            for i, child in enumerate(children):
                said = child.communicate(timeout=60 * SLOWER)[0].decode()
                self.assertEqual(child.returncode, 0 if i >= kills else child.returncode, said)
            for dir in set(dirs):
                self.assert_good(new, dir=dir)
                self.assert_mends(new, dir)
        self.each_fault([(kind, n, kills, i) for kind in ("builds at once", "projects at once") for n in (2, 8) for kills in (0, 1, n - 1) for i in range(10)],
                        many, 3)


@unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
class ReadOnly(EnvironmentTest):
    def mount(self, path, *options):
        done = subprocess.run(["mount", *options], capture_output=True, text=True)
        if done.returncode:
            self.skipTest("mounting is not permitted: " + done.stderr)
        self.addCleanup(self.free, path)

    def read_only(self, path):
        self.mount(path, "--bind", path, path)
        self.mount(path, "-o", "remount,ro,bind", path)

    def free(self, path):
        while subprocess.run(["umount", "-l", path], capture_output=True).returncode == 0:
            pass

    def test_read_only(self):
        """The project, its store, its outputs, the cache on a file system that cannot be written, before the first build and after one."""
        old = self.clean()
        self.edit()
        new = self.clean()
        self.edit(old="3.0", new="2.0")
        self.keep()
        places = {"project": self.dir, "store": self.path(".trib"), "outputs": self.path("build"), "cache": self.cache}

        def build(kind, place, before, out):
            self.restore()
            if before:
                self.good(old)
                self.edit()
            want = new if before else old
            os.makedirs(places[place], exist_ok=True)
            self.read_only(places[place])
            try:
                done = self.trib("build", *(("--out", os.path.join(self.work, "elsewhere")) if out else ()))
                self.assertIn(done.returncode, (0, 3), done.stderr)
                if place in ("store", "cache") or out:
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn("Read-only", done.stderr)
                if before:
                    self.assert_good(old, new)
            finally:
                self.free(places[place])
            self.assert_mends(want)
        self.each_fault([("read-only", place, before, out) for place in places for before in (False, True) for out in (False, True)], build, 3)

    def test_no_space_for_the_cache(self):
        """A file system that is full after so many KiB, for the cache, the store or both; it is empty again for the next build."""
        want = self.clean()

        def build(kind, name, kib):
            self.remove(self.work)
            shutil.copytree(os.path.join(self.tmp, "kept"), self.work)
            place = self.cache if name == "cache" else self.path(".trib")
            os.makedirs(place)
            self.mount(place, "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", place)
            try:
                self.good(want)
                self.edit()
                self.good(self.edited)
            finally:
                self.free(place)
            self.assert_mends(self.edited)
        self.keep()
        self.edit()
        self.edited = self.clean()
        self.each_fault([("full", name, kib) for name in ("cache", "store") for kib in list(range(4, 160, 4))], build, 3)


if __name__ == "__main__":
    unittest.main()
