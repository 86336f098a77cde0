"""The library that is served, and how another one takes its place."""

import collections
import os

import trib

Loaded = collections.namedtuple("Loaded", "model generation stamp")


class Service:
    """The library that is served: it is replaced when its file is.

    A request uses the model that it began with. That one is freed when its last request has ended.
    """

    def __init__(self, path, contexts):
        self.path, self.contexts = path, contexts
        stamp = self._stamp()  # before: a library that replaces this one meanwhile is another one
        self.current = Loaded(self._open(), 1, stamp)
        self.refused_stamp = None  # of a library that could not be served

    def _open(self):
        model = trib.load(self.path, contexts=self.contexts, threads=1)
        if model.describe().states:
            model.close()
            raise trib.ArgumentError(f"{self.path} has states: each client would need a model of its own")
        return model

    def _stamp(self):
        try:
            s = os.stat(self.path)
        except OSError:
            return None
        return s.st_ino, s.st_size, s.st_mtime_ns

    def reload(self):
        """Serves the library's file if it is another one. Returns the text of what changed, or None."""
        old, stamp = self.current, self._stamp()
        if stamp in (None, old.stamp, self.refused_stamp):
            return None
        self.refused_stamp = stamp
        try:
            model = self._open()
        except trib.Error as error:
            return f"still serving the last library: {error}"
        entry, now = old.model.describe().entries[0], model.describe().entries[0]
        if entry != now:
            model.close()
            return f"still serving the last library: clients expect {entry}, the new one has {now}"
        self.refused_stamp = None
        self.current = Loaded(model, old.generation + 1, stamp)
        return f"serving generation {self.current.generation}"
