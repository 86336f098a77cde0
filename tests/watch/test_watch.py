"""Saves of every kind, and the reactions of `trib watch`."""
import os
import shutil
import signal
import subprocess
import time

from project import wait_for_end, wait_until
from watching import PATIENCE, WatchTest, unittest

GAIN = """\
# Two steps.
const hidden = 256

fn scale(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {
    return x * 2.0
}

fn gain(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {
    return scale(x) + hidden
}
"""
MANIFEST = """\
project watched
    version = 1.0

model gain
    sources = src/*.tri lib/**/*.tri
    entry   = gain
    input x = float32 [?]
"""
HELPER = "fn half(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x / 2.0\n}\n"
LIBRARY = "build/libgain.so"


class Saves(WatchTest):
    args = ()

    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/gain.tri", GAIN)
        self.write("lib/deep/half.tri", HELPER)
        self.w = self.watch(*self.args)
        self.started = self.w.event("watching")

    def save_gain(self, text):
        """Writes in place without truncating: the process may be stopped at any time."""
        with open(self.path("src/gain.tri"), "r+b", buffering=0) as f:
            f.write(text.encode())
            f.truncate()

    def saved(self):
        return self.w.event("save")

    def assert_text(self, save, cause, result):
        self.assertRegex(save["text"], rf"^{cause}: {result}, [0-9.]+ m?s")

    def test_atomic_rename(self):
        self.replace("src/gain.tri", "256", "512")
        save = self.saved()
        self.assertTrue(save["ok"])
        self.assert_text(save, "src/gain.tri:2 `hidden` 256→512", "1 unit")
        self.assertEqual([(c["file"], c["line"], c["name"], c["before"], c["after"]) for c in save["changes"]],
                         [("src/gain.tri", 2, "hidden", "256", "512")])
        self.assertEqual((save["generation"], save["stale"], save["outputs"][0]), (2, False, LIBRARY))

    def test_written_in_place_in_pieces(self):
        with open(self.path("src/gain.tri"), "w") as f:
            for line in GAIN.replace("2.0", "3.0").splitlines(True):
                f.write(line)
                f.flush()
                time.sleep(0.005)  # a slow editor
        self.assert_text(self.saved(), "src/gain.tri:5 `scale` 2.0→3.0", "1 unit")

    def test_deleted_and_created_again(self):
        os.unlink(self.path("src/gain.tri"))
        self.write("src/gain.tri", GAIN.replace("2.0", "4.0"))
        self.assert_text(self.saved(), "src/gain.tri:5 `scale` 2.0→4.0", "1 unit")

    def test_swap_files_and_backups_are_ignored(self):
        for name in ("src/.gain.tri.swp", "src/gain.tri~", "src/4913", "src/#gain.tri#", "notes.txt"):
            self.write(name, "x")
            os.unlink(self.path(name))
        os.utime(self.path("src/gain.tri"))
        self.assert_silent(self.w)

    def test_comments_compile_nothing(self):
        self.replace("src/gain.tri", "Two steps", "Two good steps")
        save = self.saved()
        self.assert_text(save, "src/gain.tri:1 comments or white space", "nothing to do")
        self.assertEqual(save["generation"], 1)

    def test_error_and_repair(self):
        before = self.read(LIBRARY)
        self.replace("src/gain.tri", "scale(x)", "scal(x)")
        save, said = self.w.until("save")
        self.assertEqual((save["ok"], save["errors"], save["stale"], save["saves_behind"]), (False, 1, True, 1))
        self.assertIn("E0201", [r["code"] for r in said if r["type"] == "diagnostic"])
        self.assert_text(save, "src/gain.tri:9 `gain` scale→scal", "1 error")
        self.assertRegex(save["text"], "; build/libgain.so is stale: built at [0-9:]{8}, 1 save ago$")
        self.replace("src/gain.tri", "x * 2.0", "x *")
        self.assertEqual(self.saved()["saves_behind"], 2)
        self.assertEqual(self.read(LIBRARY), before)
        self.write("src/gain.tri", GAIN.replace("2.0", "5.0"))
        save = self.saved()
        self.assertTrue(save["ok"])
        self.assertFalse(save["stale"])
        self.assertNotEqual(self.read(LIBRARY), before)

    def test_new_files_and_folders_that_match_a_pattern(self):
        self.write("src/more.tri", "fn unused(x: int) -> int {\n    return x\n}\n")
        self.assert_text(self.saved(), "src/more.tri is new", "nothing to do")
        self.write("lib/deep/deeper/third.tri", HELPER.replace("half", "third"))
        self.assert_text(self.saved(), "lib/deep/deeper/third.tri is new", "nothing to do")
        self.replace("lib/deep/deeper/third.tri", "x / 2.0", "x / y")
        self.assertFalse(self.saved()["ok"])
        shutil.rmtree(self.path("lib/deep/deeper"))
        save = self.saved()
        self.assertTrue(save["ok"], save)
        self.assertIn("lib/deep/deeper/third.tri is gone", save["text"])
        os.unlink(self.path("src/more.tri"))
        self.assertIn("src/more.tri is gone", self.saved()["text"])

    def test_a_folder_that_is_moved_away_and_back(self):
        os.rename(self.path("src"), self.path("away"))
        self.assertFalse(self.saved()["ok"])
        self.write("away/gain.tri", GAIN.replace("2.0", "6.0"))
        os.rename(self.path("away"), self.path("src"))
        self.assertTrue(self.saved()["ok"])
        self.replace("src/gain.tri", "6.0", "7.0")
        self.assert_text(self.saved(), "src/gain.tri:5 `scale` 6.0→7.0", "1 unit")

    def test_an_edited_manifest(self):
        self.replace("tri.build", "version = 1.0", "version = 1.1")
        self.assert_text(self.saved(), "tri.build:2 `version` 1.0→1.1", "linked")
        self.replace("tri.build", "sources = src/*.tri lib/**/*.tri", "sources = other/*.tri")
        self.assertFalse(self.saved()["ok"])
        self.write("other/gain.tri", GAIN.replace("2.0", "8.0"))
        save = self.saved()
        self.assertTrue(save["ok"], save)
        self.replace("other/gain.tri", "8.0", "9.0")
        self.assert_text(self.saved(), "other/gain.tri:5 `scale` 8.0→9.0", "1 unit")

    def test_a_burst_of_saves_ends_in_the_last(self):
        for i in range(60):
            self.save_gain(GAIN.replace("2.0", f"{i + 10}.5"))  # all of one length
            time.sleep(0.003)  # a save every 3 ms
        deadline = time.monotonic() + PATIENCE
        while True:
            save, said = self.w.until("save")
            if os.getloadavg()[0] < 2 * os.cpu_count():  # else the writer may have slept for long in the middle of a save
                self.assertTrue(save["ok"], [save, said])
            if save["ok"] and save["changes"][0]["after"] == "69.5":
                break
            self.assertLess(time.monotonic(), deadline)
        self.assertIsNone(self.w.nothing(0.5))
        watched = self.read(LIBRARY)
        shutil.rmtree(self.path("build"))
        self.w.end()
        self.trib("build", "--no-cache")
        self.assertEqual(self.read(LIBRARY), watched)

    def test_links_are_followed(self):
        os.mkdir(self.path("elsewhere"))
        os.rename(self.path("src/gain.tri"), self.path("elsewhere/real.tri"))
        os.symlink("../elsewhere/real.tri", self.path("src/gain.tri"))
        if self.started["by"] == "inotify":
            self.w.event("rescan")  # now the link's folder is watched
        self.replace("elsewhere/real.tri", "2.0", "3.5")
        self.assertIn("3.5", self.saved()["text"])
        self.replace("elsewhere/real.tri", "3.5", "4.5")
        self.assertIn("3.5→4.5", self.saved()["text"])

    def test_removed_store_and_outputs(self):
        self.trib("clean")
        self.replace("src/gain.tri", "2.0", "3.0")
        self.assertTrue(self.saved()["ok"])
        self.assertTrue(os.path.exists(self.path(LIBRARY)))

    def test_interrupt(self):
        self.assertEqual(self.w.end(), 130)
        self.assertEqual(self.w.event("end")["event"], "end")

    def test_reported_mode(self):
        self.assertEqual((self.started["by"], self.started["why_polling"]), ("inotify", None))


class Polling(Saves):
    args = ("--poll", "20")

    def save_gain(self, text):
        """Polling cannot notice that a file is still being written."""
        self.write("src/new~", text)
        os.rename(self.path("src/new~"), self.path("src/gain.tri"))

    def test_reported_mode(self):
        self.assertEqual((self.started["by"], self.started["why_polling"]), ("polling", None))

    def ends_well(self):
        """A half-written file may count as a save. The last save is complete and good."""
        last = super().saved()
        while (r := self.w.nothing(1.0)) is not None:
            last = r if r.get("event") == "save" else last
        self.assertTrue(last["ok"], last)
        watched = self.read(LIBRARY)
        self.w.end()
        shutil.rmtree(self.path("build"))
        self.trib("build", "--no-cache")
        self.assertEqual(self.read(LIBRARY), watched)

    def test_written_in_place_in_pieces(self):
        with open(self.path("src/gain.tri"), "w") as f:
            for line in GAIN.replace("2.0", "3.0").splitlines(True):
                f.write(line)
                f.flush()
                time.sleep(0.005)  # a slow editor
        self.ends_well()

    def test_deleted_and_created_again(self):
        os.unlink(self.path("src/gain.tri"))
        self.write("src/gain.tri", GAIN.replace("2.0", "4.0"))
        self.ends_well()


class Limits(WatchTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/gain.tri", GAIN)
        self.write("lib/half.tri", HELPER)

    def test_inotify_limit_reached(self):
        for limit in ("max_inotify_instances", "max_inotify_watches"):
            prefix = ("unshare", "-Ur", "sh", "-c", f'echo 0 > /proc/sys/user/{limit} && exec "$0" "$@"')
            if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
                self.skipTest("user namespaces are not allowed here")
            w = self.watch(prefix=prefix)
            started = w.event("watching")
            self.assertEqual(started["by"], "polling")
            self.assertRegex(started["why_polling"], "raise fs.inotify.max_user_")
            self.replace("src/gain.tri", "x *", "1.0 + x *")
            self.assertTrue(w.event("save")["ok"])
            w.end()

    def test_lost_events(self):
        """More events than the kernel queues while trib does not read: a full scan finds the save."""
        w = self.watch()
        w.event("watching")
        with open("/proc/sys/fs/inotify/max_queued_events") as f:
            most = int(f.read())
        w.process.send_signal(signal.SIGSTOP)
        for _ in range(most // 2 + 100):
            for name in ("a", "b"):
                os.close(os.open(self.path("src/" + name), os.O_CREAT | os.O_WRONLY))
        self.replace("src/gain.tri", "2.0", "3.0")
        w.process.send_signal(signal.SIGCONT)
        save, before = w.until("save")
        self.assertIn("rescan", [r.get("event") for r in before])
        self.assertTrue(save["ok"])
        self.assertIn("2.0→3.0", save["text"])
        self.replace("src/gain.tri", "3.0", "4.0")
        self.assertIn("3.0→4.0", w.event("save")["text"])


class Commands(WatchTest):
    def setUp(self):
        super().setUp()
        self.write("tri.build", MANIFEST)
        self.write("src/gain.tri", GAIN)
        self.write("lib/half.tri", HELPER)

    def lines(self, name, n):
        """The file's lines once there are n."""
        def enough():
            return os.path.exists(self.path(name)) and len(lines := self.read(name).decode().split()) >= n and lines

        return wait_until(enough, f"{name} has no {n} lines", PATIENCE)

    def test_the_command_restarts_after_good_builds(self):
        script = "trap 'echo ended >> log; exit 0' TERM; echo started >> log; while :; do sleep 0.05; done"
        w = self.watch("--", "sh", "-c", script)
        self.assertEqual(self.lines("log", 1), ["started"])
        self.replace("src/gain.tri", "2.0", "3.0")
        self.assertEqual(self.lines("log", 3), ["started", "ended", "started"])
        self.replace("src/gain.tri", "x *", "x * *")
        while w.event("save")["ok"]:
            pass
        self.assertEqual(len(self.lines("log", 3)), 3)
        self.assertEqual(w.end(), 130)
        self.assertEqual(self.lines("log", 4)[-1], "ended")

    @staticmethod
    def lives(pid):
        try:
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_a_command_that_ignores_sigterm(self):
        script = "trap '' TERM; (trap '' TERM; sleep 1000) & echo $! >> log; wait"
        w = self.watch("--", "sh", "-c", script)
        child = int(self.lines("log", 1)[0])
        self.assertEqual(w.end(), 130)
        wait_for_end(child, PATIENCE)

    def test_closed_output_ends_the_watch(self):
        p = subprocess.Popen([os.environ["TRIB"], "watch", "--", "sh", "-c", "echo $$ >> log; exec sleep 1000"], cwd=self.dir,
                             env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(lambda: (p.kill(), p.wait()))
        child = int(self.lines("log", 1)[0])
        p.stdout.close()
        self.replace("src/gain.tri", "2.0", "3.0")
        self.assertEqual(p.wait(timeout=PATIENCE), 130)
        children = {child, int(self.lines("log", 1)[-1])}
        self.assertFalse([c for c in children if self.lives(c)])

    def test_a_missing_command(self):
        w = self.watch("--", "no-such-program")
        self.assertEqual(w.event("command")["state"], "failed")
        self.replace("src/gain.tri", "2.0", "3.0")
        self.assertTrue(w.event("save")["ok"])

    def test_on_success_and_on_failure(self):
        w = self.watch("--on-success", "echo good >> log", "--on-failure", "echo bad >> log")
        self.assertEqual(self.lines("log", 1), ["good"])
        self.replace("src/gain.tri", "scale(x)", "scal(x)")
        self.assertEqual(self.lines("log", 2), ["good", "bad"])
        self.replace("src/gain.tri", "scal(x)", "scale(x)")
        self.assertEqual(self.lines("log", 3), ["good", "bad", "good"])
        self.assertEqual(w.end(), 130)

    def test_text_output(self):
        done = subprocess.Popen([os.environ["TRIB"], "watch"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (done.kill(), done.wait(), done.stdout.close()))
        while "watching" not in (line := done.stdout.readline()):
            pass
        self.assertRegex(line, r"^trib: watching \d+ files in \d+ folders$")
        self.replace("src/gain.tri", "256", "512")
        self.assertRegex(done.stdout.readline(), r"^src/gain.tri:2 `hidden` 256→512: 1 unit, [0-9.]+ ms$")
        done.send_signal(signal.SIGTERM)
        self.assertEqual(done.wait(timeout=PATIENCE), 130)

    def test_no_project(self):
        os.unlink(self.path("tri.build"))
        self.assertIn("tri.build", self.fails("watch", code=2))


if __name__ == "__main__":
    unittest.main()
