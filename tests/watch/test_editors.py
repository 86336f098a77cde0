"""Saves by editors, version control and scripts under `trib watch`: each ends in one good build with the correct message."""
import os
import shutil
import signal
import subprocess
import time

from project import SLOWER, run
from test_watch import GAIN, HELPER, LIBRARY, MANIFEST
from watching import PATIENCE, WatchTest, unittest

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]


class EditorTest(WatchTest):
    args = ()

    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/gain.tri", GAIN)
        self.write("lib/deep/half.tri", HELPER)
        self.before()
        self.w = self.watch(*self.args)
        self.w.event("watching")

    def before(self):
        pass

    def until_good(self, text):
        """Saves until one that is good and has the text; all of them."""
        seen = []
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            save, _ = self.w.until("save")
            seen.append(save)
            if save["ok"] and text in save["text"]:
                return seen
        self.fail(seen)

    def until_ok(self, ok):
        """Saves until the expected result: a file that is truncated and then written may be read in between."""
        deadline = time.monotonic() + PATIENCE
        while self.w.event("save")["ok"] != ok:
            self.assertLess(time.monotonic(), deadline)

    def settle(self):
        """Waits for all saves; the last one is good. On a busy machine an edit may count as two, or two as one."""
        last = self.w.event("save")
        deadline = time.monotonic() + PATIENCE
        while (r := self.w.nothing(1.0 * SLOWER)) is not None:
            self.assertLess(time.monotonic(), deadline)
            last = r if r.get("event") == "save" else last
        self.assertTrue(last["ok"], last)

    def only(self, text):
        """One save, and it is good."""
        save = self.w.event("save")
        if os.getloadavg()[0] > 2 * os.cpu_count():  # the editor may have slept for long in the middle
            while not save["ok"]:
                save = self.w.event("save")
        self.assertTrue(save["ok"], save)
        self.assertIn(text, save["text"])
        return save

    def same_as_clean(self):
        watched = self.read(LIBRARY)
        self.assertEqual(self.w.end(), 130)
        shutil.rmtree(self.path("build"))
        shutil.rmtree(self.path(".trib"))
        self.trib("build", "--no-cache")
        self.assertEqual(self.read(LIBRARY), watched)


class Editors(EditorTest):
    @unittest.skipUnless(shutil.which("vim"), "no vim")
    def test_vim(self):
        for settings in "set nobackup writebackup", "set backup backupcopy=no", "set backup backupcopy=yes", "set nobackup nowritebackup swapfile":
            old = self.read("src/gain.tri").decode().split("x * ")[1].split("\n")[0]
            new = f"{float(old) + 1}"
            run(["vim", "-u", "NONE", "-N", "-es", "-c", settings, "-c", f"%s/x . {old}/x * {new}/", "-c", "wq", "src/gain.tri"], self.dir, ok=False, stdin=subprocess.DEVNULL)
            self.only(f"`scale` {old}→{new}")

    def test_emacs(self):
        """A lock link that leads nowhere, the old file as backup, a new one in its place, auto-save files."""
        for new in "3.0", "4.0":
            os.symlink("me@host.1234:1700000000", self.path("src/.#gain.tri"))
            self.write("src/#gain.tri#", "auto-saved")
            text = self.read("src/gain.tri").decode()
            old = text.split("x * ")[1].split("\n")[0]
            os.rename(self.path("src/gain.tri"), self.path("src/gain.tri~"))
            self.write("src/gain.tri", text.replace(f"x * {old}", f"x * {new}"))
            os.unlink(self.path("src/#gain.tri#"))
            os.unlink(self.path("src/.#gain.tri"))
            self.only(f"{old}→{new}")
        self.assert_silent(self.w)

    def test_a_lock_link_of_an_editor(self):
        """While a buffer has changes; `.#gain.tri` fits the pattern src/*.tri in no build."""
        os.symlink("me@host.1234:1700000000", self.path("src/.#gain.tri"))
        self.replace("src/gain.tri", "2.0", "3.0")
        self.until_good("2.0→3.0")
        os.unlink(self.path("src/.#gain.tri"))
        self.assert_silent(self.w)

    def test_vs_code(self):
        """Truncates, then writes; another process would see it empty in between."""
        for i in range(3, 9):
            text = GAIN.replace("2.0", f"{i}.0").encode()
            fd = os.open(self.path("src/gain.tri"), os.O_WRONLY)
            os.ftruncate(fd, 0)
            time.sleep(0.002)  # as long as the file is empty
            os.write(fd, text)
            os.close(fd)
            self.only(f"→{i}.0")

    def test_sed(self):
        run(["sed", "-i", "s/x . 2.0/x * 3.0/", "src/gain.tri"], self.dir)
        self.only("2.0→3.0")
        run(["sh", "-c", "printf '\\n# the end\\n' >> src/gain.tri"], self.dir)
        self.only("comments or white space")

    def test_touch_without_a_change(self):
        for _ in range(5):
            run(["touch", "src/gain.tri", "tri.build"], self.dir)
        self.assert_silent(self.w)

    def test_permissions(self):
        os.chmod(self.path("src/gain.tri"), 0o600)
        self.assert_silent(self.w)

    def test_a_change_and_its_undo(self):
        """After an undone change the state is as before."""
        self.write("src/gain.tri", GAIN.replace("2.0", "9.0"))
        self.write("src/gain.tri", GAIN)
        self.replace("src/gain.tri", "256", "257")
        self.settle()
        self.same_as_clean()


class Many(EditorTest):
    """Many files at once."""

    def before(self):
        for i in range(1000):
            self.write(f"lib/many/m{i}.tri", f"fn f{i}(x: int) -> int {{\n    return x + {i}\n}}\n")

    def test_touched_and_edited(self):
        for i in range(1000):
            os.utime(self.path(f"lib/many/m{i}.tri"))
        self.replace("src/gain.tri", "2.0", "3.0")
        self.settle()
        for i in range(1000):
            self.write(f"lib/many/m{i}.tri", f"# edited\nfn f{i}(x: int) -> int {{\n    return x + {i} + 1\n}}\n")
        self.replace("src/gain.tri", "3.0", "4.0")
        self.settle()
        self.same_as_clean()

    def test_src_deleted_and_created_again(self):
        shutil.rmtree(self.path("src"))
        self.assertFalse(self.w.event("save")["ok"])
        self.write("src/gain.tri", GAIN.replace("2.0", "5.0"))
        self.settle()
        self.replace("src/gain.tri", "5.0", "6.0")
        self.until_good("5.0→6.0")
        self.same_as_clean()


class Git(EditorTest):
    def before(self):
        self.write(".gitignore", "/build/\n/.trib/\n")
        self.git("init", "-q", "-b", "main", ".")
        self.commit()
        self.git("checkout", "-q", "-b", "side")
        for i in range(8):
            self.write("src/gain.tri", GAIN.replace("2.0", f"{i + 3}.0"))
            self.write(f"lib/step{i}.tri", HELPER.replace("half", f"half{i}"))
            self.commit()
        self.git("checkout", "-q", "main")
        self.write("lib/deep/half.tri", HELPER.replace("2.0", "4.0"))
        self.commit()

    def git(self, *args):
        return run([*GIT, *args], self.dir, env={"HOME": self.tmp, "GIT_CONFIG_GLOBAL": "/dev/null"})

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def test_checkout_of_another_branch(self):
        self.git("checkout", "-q", "side")
        self.settle()
        self.git("checkout", "-q", "main")
        self.settle()
        self.same_as_clean()

    def test_rebase(self):
        self.git("checkout", "-q", "side")
        self.settle()
        self.git("rebase", "-q", "main")
        self.settle()
        self.same_as_clean()

    def test_commit_alone(self):
        """A commit changes the descriptor of the library, and no unit."""
        self.git("commit", "-q", "--allow-empty", "-m", "y")
        save = self.w.event("save")
        self.assertTrue(save["ok"], save)
        self.same_as_clean()


class Trouble(EditorTest):
    def test_manifest_broken_then_good(self):
        good = self.read("tri.build")
        for bad in b"", b"modle gain\n", good.replace(b"entry   = gain", b"entry   = gone"), good[:40], b"\xff\xfe\0":
            self.write("tri.build", bad)
            self.until_ok(False)
            self.write("tri.build", good)
            self.until_ok(True)
        os.unlink(self.path("tri.build"))
        self.until_ok(False)
        self.write("tri.build", good)
        self.until_ok(True)
        self.replace("src/gain.tri", "2.0", "3.0")
        self.until_good("2.0→3.0")
        self.same_as_clean()

    def test_output_folder_that_cannot_be_written(self):
        os.rename(self.path("build"), self.path("kept"))
        self.write("build", b"a file")
        self.replace("src/gain.tri", "2.0", "3.0")
        self.assertFalse(self.w.event("save")["ok"])
        os.unlink(self.path("build"))
        os.rename(self.path("kept"), self.path("build"))
        self.replace("src/gain.tri", "3.0", "4.0")
        self.until_good("4.0")
        self.same_as_clean()

    def test_interrupted_at_any_moment(self):
        self.w.end()
        for i in range(12):
            w = self.watch()
            if i % 2:
                w.event("watching")
                self.replace("src/gain.tri", "x * ", f"{i}.5 + x * ")
            time.sleep(i * 0.004)  # the moment
            self.assertIn(w.end([signal.SIGINT, signal.SIGTERM][i % 3 == 0]), (130, -2, -15))
        self.w = self.watch()
        self.w.event("watching")
        self.same_as_clean()


class Full(WatchTest):
    """A disk that is full for a while."""

    def test_disk_full_and_free_again(self):
        small = os.path.join(self.tmp, "small")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", small], capture_output=True, check=False).returncode:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=False)
        self.dir = small
        self.env["TRIB_CACHE_DIR"] = os.path.join(self.tmp, "elsewhere")
        self.write("tri.build", MANIFEST)
        self.write("src/gain.tri", GAIN)
        self.write("lib/half.tri", HELPER)
        w = self.watch()
        w.event("watching")
        good = self.read(LIBRARY)
        self.replace("src/gain.tri", "2.0", "3.0")
        self.assertTrue(w.event("save")["ok"])
        good = self.read(LIBRARY)
        fd = os.open(self.path("filler"), os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(fd, b"x" * 4096)
        except OSError:
            os.close(fd)
        with open(self.path("src/gain.tri"), "r+") as f:  # as long as it was: there is no room for more
            f.write(GAIN.replace("2.0", "7.0"))
        save = w.event("save")
        self.assertEqual(self.read(LIBRARY) == good, not save["ok"])
        os.unlink(self.path("filler"))
        with open(self.path("src/gain.tri"), "r+") as f:
            f.write(GAIN.replace("2.0", "8.0"))
        while not (save := w.event("save"))["ok"] or "8.0" not in save["text"]:
            pass
        watched = self.read(LIBRARY)
        self.assertEqual(w.end(), 130)
        shutil.rmtree(self.path("build"))
        self.trib("build", "--no-cache")
        self.assertEqual(self.read(LIBRARY), watched)


@unittest.skipIf(SLOWER > 1, "a sanitizer wants to be loaded first")
class Remote(EditorTest):
    """A file system without events for changes on other machines."""

    def before(self):
        shim = os.path.join(self.tmp, "remote.so")
        run(["cc", "-shared", "-fPIC", "-o", shim, os.path.join(os.path.dirname(os.path.abspath(__file__)), "preload_remote.c")], self.tmp)
        self.env["LD_PRELOAD"] = shim

    def test_remote_file_systems_are_polled(self):
        self.w.end()
        w = self.watch()
        started = w.event("watching")
        self.assertEqual(started["by"], "polling")
        self.assertIn("another machine", started["why_polling"])
        self.replace("src/gain.tri", "2.0", "3.0")
        save = w.event("save")
        self.assertTrue(save["ok"])
        self.assertIn("2.0→3.0", save["text"])


class Polled(Editors):
    """Polling may miss steps of a save; the last build is the same."""

    args = ("--poll", "15")

    def only(self, text):
        return self.until_good(text)[-1]


if __name__ == "__main__":
    unittest.main()
