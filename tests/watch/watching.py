"""A running `trib watch`, observed through its JSON events."""
import json
import os
import queue
import signal
import subprocess
import threading
import unittest

from project import TRIB, ProjectTest

PATIENCE = 60  # seconds; machines are shared


class Watcher:
    """A running process with its events in order."""

    def __init__(self, cwd, env, *args, prefix=()):
        self.process = subprocess.Popen([*prefix, TRIB, "watch", "--message-format=json", *args], cwd=cwd, env={**os.environ, **env},
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.records, self.errors = queue.Queue(), []
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.hear), (self.process.stderr, self.errors.append))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, take):
        for line in stream:
            take(line)

    def hear(self, line):
        self.records.put(json.loads(line))

    def next(self):
        try:
            return self.records.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"trib watch says nothing; errors: {''.join(self.errors)}") from None

    def until(self, event):
        """The next event of that name, and all records before it."""
        before = []
        while True:
            r = self.next()
            if r["type"] == "watch" and r["event"] == event:
                return r, before
            before.append(r)

    def event(self, event):
        return self.until(event)[0]

    def nothing(self, seconds):
        """Waits that long for no record. Returns the record that came, or None."""
        try:
            return self.records.get(timeout=seconds)
        except queue.Empty:
            return None

    def close(self):
        self.process.kill()
        self.process.wait()
        for reader, stream in zip(self.readers, (self.process.stdout, self.process.stderr)):
            reader.join(1)
            if not reader.is_alive():  # else a process that it started lives on and has the pipe open
                stream.close()

    def end(self, sig=signal.SIGINT):
        self.process.send_signal(sig)
        return self.process.wait(timeout=PATIENCE)


class WatchTest(ProjectTest):
    def watch(self, *args, **more):
        w = Watcher(self.dir, self.env, *args, **more)
        self.addCleanup(w.close)
        return w

    def replace(self, name, old, new):
        """Saves as most editors do: a new file, renamed."""
        text = self.read(name).decode()
        self.assertIn(old, text)
        self.write(name + ".new~", text.replace(old, new))
        os.rename(self.path(name + ".new~"), self.path(name))

    def assert_silent(self, w):
        """What came before is no save: the next build is of a definition, which is added now, and of it alone."""
        self.write("src/gain.new~", self.read("src/gain.tri") + b"fn marker(x: int) -> int {\n    return x\n}\n")
        os.rename(self.path("src/gain.new~"), self.path("src/gain.tri"))
        save, before = w.until("save")
        self.assertEqual(([r["type"] for r in before], [c["name"] for c in save["changes"]]), (["build"], ["marker"]), (before, save))


__all__ = ["PATIENCE", "Watcher", "WatchTest", "unittest"]
