"""trib profile serve: the page of the newest build, which follows `trib watch`, and only for browsers of this machine."""
import http.client
import os
import re
import signal
import socket
import subprocess
import unittest

from browser import PageTest
from project import TRIB

SOURCE = "@noinline\nfn scale(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return exp(x)\n}\n\nfn gain(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return scale(x) + 1.0\n}\n"


class Serve(PageTest):
    def setUp(self):
        super().setUp()
        self.write("src/gain.tri", SOURCE)
        self.write("tri.build", "project p\n    version = 1.0\n\nmodel gain\n    sources = src/*.tri\n    entry   = gain\n    input x = float32 [?]\n")

    def start(self, *args):
        p = self.process(*args)
        self.addCleanup(self.stop, p)
        return p

    def process(self, *args):
        return subprocess.Popen([TRIB, *args], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def stop(self, p):
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
        p.wait(30)
        p.stdout.close()

    def serve(self):
        self.server = self.start("profile", "serve", "--port=0")
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", self.server.stdout.readline()).group(1))

    def ask(self, path="/", method="GET", **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request(method, path, headers={"Host": f"127.0.0.1:{self.port}", **headers})
        answer = c.getresponse()
        body = answer.read()
        c.close()
        return answer.status, body, answer

    def text(self):
        return self.js("return document.body.innerText")

    def test_follows_watch(self):
        self.serve()
        self.browser.get(f"http://127.0.0.1:{self.port}/")
        self.assertIn("No build was measured yet", self.text())
        watch = self.start("watch")
        self.wait(lambda: "Newest build of gain" in self.text(), "no page")
        self.tab("Graph")
        self.wait(lambda: "compiled units" in self.text() and "live" in self.text(), "no graph")
        self.assertIn("2 nodes", self.text())
        self.edit("src/gain.tri", "exp(x)", "exp(x) * 3.0")
        self.wait(lambda: self.js("return data.profiles[0].profile.facts['units.compiled']") == 1, "the page did not follow")
        self.assertEqual(self.js("return location.hash"), "#graph")  # the open tab stays
        self.assertEqual([e for e in self.browser.get_log("browser") if e["level"] == "SEVERE"], [])
        self.stop(watch)
        self.trib("build", "-O2")
        self.wait(lambda: self.js("return data.profiles[0].profile.settings.opt") == "2", "no page of trib build")
        self.trib("clean")
        self.wait(lambda: "No build was measured yet" in self.text(), "still a page after trib clean")
        self.ask("/version")  # the server has the lock again
        self.trib("build")
        self.wait(lambda: "Newest build of gain" in self.text(), "no page after trib clean")
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(30), 130)
        self.wait(lambda: "the server has ended" in self.text(), "no word about the end")

    def test_builds_without_a_server_leave_nothing(self):
        self.serve()
        self.server.kill()  # leaves its lock file
        self.server.wait()
        self.trib("build")
        with self.assertRaises(FileNotFoundError):
            self.read(".trib/profile.json")

    def test_refuses(self):
        self.trib("build")
        self.serve()
        status, body, answer = self.ask()
        self.assertEqual((status, answer.getheader("X-Frame-Options"), answer.getheader("Cache-Control")), (200, "DENY", "no-store"))
        self.assertEqual(self.ask("/version")[0], 200)
        for path in "/../tri.build", "/tri.build", "/%2e%2e/tri.build", "//", "/?x", "/.trib/profile.json":
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask(Host="evil.example")[0], 403)
        self.assertEqual(self.ask(Origin="http://evil.example")[0], 403)
        self.assertEqual(self.ask(**{"Sec-Fetch-Site": "cross-site"})[0], 403)
        for method in "POST", "PUT", "DELETE", "OPTIONS", "HEAD":
            self.assertEqual(self.ask(method=method)[0], 405, method)
        with socket.create_connection(("127.0.0.1", self.port)) as silent:  # a connection without a request delays no other
            self.assertEqual(self.ask()[0], 200)
            silent.sendall(b"\x00" * 9000)
            self.assertIn(b"431", silent.recv(100))
        self.assertIn("another `trib profile serve`", self.fails("profile", "serve", "--port=0", code=3))
        self.write(".trib/profile.json", b'{"type":"profile","version":99,"settings":"<script>alert(1)</script>"}')
        body = self.ask()[1]
        self.assertIn(b"newer trib", body)
        self.assertNotIn(b"<script>alert", body)

    def test_wrong_use(self):
        self.assertIn("--port wants", self.fails("profile", "serve", "--port=70000", code=2))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.assertIn("--port 0 chooses", self.fails("profile", "serve", f"--port={taken.getsockname()[1]}", code=3))


if __name__ == "__main__":
    unittest.main()
