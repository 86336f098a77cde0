"""A client that speaks the protocol with the real language server."""
import json
import os
import selectors
import subprocess

from project import TRIB

FULL = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"workspaceEdit": {"documentChanges": False}},
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "publishDiagnostics": {"relatedInformation": True, "tagSupport": {"valueSet": [1, 2]}},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
    },
}


class Failure(Exception):
    """An error response; .code is the protocol's."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    def __init__(self, cwd, env):
        self.process = subprocess.Popen([TRIB, "lsp"], cwd=cwd, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.data = b""
        self.next_id = 0
        self.diagnostics = {}  # uri: what was published last
        self.published = []  # (uri, version) in order
        self.requests = []  # of the server

    # ---- bytes ----

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages):
        """Sends all messages in one write."""
        out = b""
        for m in messages:
            body = json.dumps({"jsonrpc": "2.0", **m}, ensure_ascii=False).encode()
            out += b"Content-Length: %d\r\n\r\n" % len(body) + body
        self.raw(out)

    def read(self, timeout=30):
        """The next message of the server, or None at its end."""
        with selectors.DefaultSelector() as s:
            s.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                head, sep, rest = self.data.partition(b"\r\n\r\n")
                if sep:
                    size = int(head.split(b":")[1])
                    if len(rest) >= size:
                        self.data = rest[size:]
                        return json.loads(rest[:size])
                if not s.select(timeout):
                    raise TimeoutError("the server says nothing")
                more = os.read(self.process.stdout.fileno(), 65536)
                if not more:
                    return None
                self.data += more

    # ---- messages ----

    def note(self, message):
        if message.get("method") == "textDocument/publishDiagnostics":
            p = message["params"]
            self.diagnostics[p["uri"]] = p["diagnostics"]
            self.published.append((p["uri"], p.get("version")))
        elif "method" in message:
            self.requests.append(message)

    def answer(self, wanted):
        while True:
            message = self.read()
            if message is None:
                raise EOFError("the server ended")
            if "method" not in message and message["id"] == wanted:
                if "error" in message:
                    raise Failure(message["error"])
                return message["result"]
            self.note(message)

    def ask(self, method, params=None):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params or {}})
        return self.answer(self.next_id)

    def tell(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def start(self, capabilities=None):
        result = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities or FULL})
        self.tell("initialized")
        return result

    def stop(self):
        """Shutdown and exit; the exit code."""
        self.ask("shutdown")
        self.tell("exit")
        self.process.stdin.close()
        while self.read() is not None:
            pass
        self.process.stdout.close()
        return self.process.wait(30)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass

    # ---- documents ----

    def open(self, uri, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tri", "version": 1, "text": text}})

    def change(self, uri, version, *changes):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def sync(self):
        """Waits until everything sent is handled, with its diagnostics."""
        for _ in range(2):
            self.ask("workspace/symbol", {"query": "\x7f"})

    def rest(self, uri):
        """Waits until the idle server publishes diagnostics of the document again."""
        n = len(self.published)
        while uri not in (u for u, _ in self.published[n:]):
            self.note(self.read())

    def at(self, method, uri, position, **more):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": position, **more})
