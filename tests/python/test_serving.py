"""examples/serve: the server answers as the library does, while that is built again, at its limits, and when it ends."""
import http.client
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest

import numpy as np

import trib
from project import SLOWER, SOURCE, ProjectTest

SERVE = os.path.join(SOURCE, "examples", "serve")
sys.path.insert(0, SERVE)
from load_test import load_test  # noqa: E402


class ServerTest(ProjectTest):
    """self.server serves examples/digits; self.lines are what it printed."""

    example = "digits"
    options = ()

    def setUp(self):
        super().setUp()
        self.trib("build")
        self.library = self.path("build/libdigits.so")
        self.x = np.load(self.path("data/test_x.npy"))
        argv = [sys.executable, os.path.join(SERVE, "server.py"), self.library, "--port", "0", "--poll", "0.05", *self.options]
        self.server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        self.url = re.match(r"serving digits at (\S+)\n", self.server.stdout.readline())[1]
        self.address = ("127.0.0.1", int(self.url.rpartition(":")[2]))

    def connect(self):
        connection = http.client.HTTPConnection(*self.address, timeout=30 * SLOWER)
        self.addCleanup(connection.close)
        return connection

    def ask(self, method, path, body=None, kind="application/json", connection=None, **headers):
        """(status, the answer's object) of one request."""
        connection = connection or self.connect()
        connection.request(method, path, body, {"Content-Type": kind, **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def end(self):
        """What the server printed since the last line that was read, after SIGTERM."""
        self.server.send_signal(signal.SIGTERM)
        rest = self.server.stdout.read()
        self.assertEqual(self.server.wait(), 0, rest)
        return rest


class Serving(ServerTest):
    def test_load(self):
        right = 0
        with trib.load(self.library, threads=1) as model:
            for form, rows in (("npy", 1), ("json", 3), ("npy", 64)):
                report = load_test(self.url, [model], self.x, seconds=0.7, rows=rows, form=form)
                self.assertEqual(report.failures, [])
                self.assertGreater(len(report.seconds), 20 / SLOWER)
                self.assertLess(report.percentile(50), report.percentile(99))
                right += len(report.seconds)
        health = self.ask("GET", "/health")[1]
        self.assertEqual((health["model"], health["generation"], health["answers"]), ("digits", 1, {"200": right}))
        self.assertEqual(self.end(), f"answered {right + 1} requests\n")

    def test_load_from_the_command_line(self):
        argv = [sys.executable, os.path.join(SERVE, "load_test.py"), self.url, self.library, self.path("data/test_x.npy"), "--seconds", "0.3"]
        done = subprocess.run(argv, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^\d+ requests/s of 1 rows, p50 [\d.]+ ms, p99 [\d.]+ ms, \d+ right answers, 0 failures\n$")

    def test_wrong_answers_are_found(self):
        with trib.compile("fn f(x: Tensor<float32, [N, 64]>) { return x[:, :10] }", threads=1) as other:
            report = load_test(self.url, [other], self.x, seconds=0.2)
        self.assertEqual((set(report.failures), report.seconds), ({"a wrong answer of generation 1"}, []))

    def test_rebuilt_library(self):
        """No request is lost while the library is replaced, and each answer is that of its generation."""
        other = os.path.join(self.tmp, "other")
        shutil.copytree(self.dir, other, ignore=shutil.ignore_patterns("build", ".trib"))
        with open(os.path.join(other, "src", "digits.tri")) as file:
            text = file.read().replace("return fc3(g)", "return fc3(g) * 2.0")
        with open(os.path.join(other, "src", "digits.tri"), "w") as file:
            file.write(text)
        self.trib("build", "-C", other)
        shutil.copy(self.library, os.path.join(self.tmp, "first.so"))
        models = [trib.load(path, threads=1) for path in (os.path.join(self.tmp, "first.so"), os.path.join(other, "build", "libdigits.so"))]
        self.assertFalse(np.array_equal(models[0](self.x), models[1](self.x)))
        rebuild = threading.Timer(0.5, lambda: (self.write("src/digits.tri", text), self.trib("build")))
        rebuild.start()
        report = load_test(self.url, models, self.x, seconds=2 * SLOWER)
        rebuild.join()
        self.assertEqual((report.failures, report.generations), ([], {1, 2}))
        self.assertEqual(self.server.stdout.readline(), "serving generation 2\n")

    def test_libraries_that_cannot_replace_it(self):
        with open(self.library + ".new", "wb") as file:
            file.write(b"no library")
        os.replace(self.library + ".new", self.library)
        self.assertIn("still serving the last library: cannot load", self.server.stdout.readline())
        self.edit("src/digits.tri", "return fc3(g)", "return fc3(g)[:, :5]")
        self.edit("src/digits.tri", "[N, 10]", "[N, 5]")
        self.trib("build")
        said = self.server.stdout.readline()
        self.assertRegex(said, r"still serving .* clients expect .*float32\[N, 10\]\), the new one has .*float32\[N, 5\]\)")
        status, made = self.ask("POST", "/predict", json.dumps({"x": self.x[:2].tolist()}))
        self.assertEqual((status, np.shape(made["out"])), (200, (2, 10)))
        self.edit("src/digits.tri", "return fc3(g)[:, :5]", "return fc3(g) + 1.0")
        self.edit("src/digits.tri", "[N, 5]", "[N, 10]")
        self.trib("build")
        self.assertEqual(self.server.stdout.readline(), "serving generation 2\n")


class Mistakes(ServerTest):
    options = ("--contexts", "1", "--waiting", "0", "--rows", "1000", "--bytes", "300000", "--connections", "9")

    def npy(self, array, **options):
        file = io.BytesIO()
        np.save(file, array, **options)
        return file.getvalue()

    def test_requests(self):
        """On one connection, which stays usable."""
        row, npy = [0] * 64, "application/x-npy"
        good = self.npy(self.x[:1])
        connection = self.connect()
        for body, kind, status, error, text in (
            ("{", "application/json", 400, "ArgumentError", "no JSON"),
            (b"\xff", "application/json", 400, "ArgumentError", "no JSON"),
            ("[" * 100000, "application/json", 400, "ArgumentError", "no JSON"),
            ("[1]", "application/json", 400, "ArgumentError", "send an object with x: float32[N, 64]"),
            ('{"y": [1]}', "application/json", 400, "ArgumentError", "send an object with x: float32[N, 64]"),
            ('{"x": [[1, 2], [3]]}', "application/json", 400, None, "x: float32[N, 64]"),
            ('{"x": [["1"]]}', "application/json", 400, "DtypeError", "pass lists of numbers"),
            ('{"x": null}', "application/json", 400, "DtypeError", "pass lists of numbers"),
            ('{"x": [[1, 2]]}', "application/json", 400, "ShapeError", "got [1, 2]"),
            (json.dumps({"x": [row] * 1001}), "application/json", 413, "LengthError", "send at most 1000"),
            (good[:-1], npy, 400, "ArgumentError", "do not fit"),
            (good[:20], npy, 400, "ArgumentError", "no .npy file"),
            (good.replace(b"(1, 64)", b"(2**9,)"), npy, 400, "ArgumentError", "no .npy file"),
            (b"", npy, 400, "ArgumentError", "no .npy file"),
            (self.npy(np.array([{}]), allow_pickle=True), npy, 400, "ArgumentError", "object"),
            (self.npy(self.x[:1].astype(np.float64)), npy, 400, "DtypeError", "float64"),
            (self.npy(self.x[0]), npy, 400, "ShapeError", "got [64]"),
        ):
            got, answer = self.ask("POST", "/predict", body, kind, connection)
            self.assertEqual((got, error or answer["error"]), (status, answer["error"]), (body[:50], answer))
            self.assertIn(text, answer["message"])
        for method, path, status in (("GET", "/predict", 405), ("POST", "/health", 405), ("GET", "/", 404), ("POST", "/x", 404)):
            self.assertEqual(self.ask(method, path, "", connection=connection)[0], status, (method, path))
        connection.request("POST", "/predict", good, {"Content-Type": npy})
        answer = connection.getresponse()
        self.assertEqual(np.load(io.BytesIO(answer.read())).shape, (1, 10))
        self.assertEqual(self.ask("PUT", "/predict", "")[0], 501)

    def test_lengths(self):
        status, answer = self.ask("POST", "/predict", b" " * 300001)
        self.assertEqual((status, answer["message"]), (413, "the body has 300001 bytes: send at most 300000 at once"))
        self.assertEqual(self.ask("POST", "/predict", b"2\r\n{}\r\n0\r\n\r\n", **{"Transfer-Encoding": "chunked"})[0], 411)
        for length in ("x", "-1", "1e3"):
            self.assertEqual(self.ask("POST", "/predict", b"", **{"Content-Length": length})[0], 411, length)
        self.assertEqual(self.ask("POST", "/predict", b"", **{"Content-Length": "9" * 30})[0], 413)

    def test_too_many(self):
        with trib.load(self.library, threads=1) as model:
            report = load_test(self.url, [model], self.x, threads=8, rows=1000, seconds=1)
        self.assertTrue(report.seconds)
        self.assertEqual({f.partition(",")[0] for f in report.failures}, {'503: {"error": "BusyError"'})
        connections = [self.connect() for _ in range(9)]
        for connection in connections:
            while self.ask("GET", "/health", connection=connection)[0] != 200:
                pass  # the server has not noticed the end of the connections before
        self.assertEqual(self.ask("GET", "/health")[0], 503)
        self.assertEqual(self.ask("GET", "/health", connection=connections[8])[0], 200)

    def test_end(self):
        """Connections that wait are closed, and a request that began is answered."""
        idle = self.connect()
        self.assertEqual(self.ask("GET", "/health", connection=idle)[0], 200)
        body = json.dumps({"x": self.x[:1].tolist()}).encode()
        with socket.create_connection(self.address, timeout=30 * SLOWER) as late:
            head = f"POST /predict HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            late.sendall(head + body[:10])
            while self.ask("GET", "/health")[0] != 200:
                pass
            self.server.send_signal(signal.SIGTERM)
            self.assertEqual(idle.sock.recv(1), b"")
            late.sendall(body[10:])
            answer = late.makefile("rb").read()
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK"), answer)
        self.assertIn(b"Connection: close", answer)
        self.assertEqual(self.server.wait(), 0)

    def test_no_library(self):
        argv = [sys.executable, os.path.join(SERVE, "server.py"), "missing.so"]
        done = subprocess.run(argv, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "server.py: there is no library missing.so: build it with trib.build or `trib build`\n"))


if __name__ == "__main__":
    unittest.main()
