"""The build server of a project: start, use and end. Its builds differ from others only in speed."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest

from project import SLOWER, TRIB, ProjectTest, any_moment, open_terminal, processes_in, wait_for_end, wait_until

PATIENCE = 20 * SLOWER  # seconds
STEPS = 40


def source(numbers, types="N, 64"):
    steps = [f"""fn step{i}(x: Tensor<float32, [{types}]>) -> Tensor<float32, [N, 64]> {{
    let shifted = x * {0.5 + i / 100} - {i}.25
    return relu(shifted * sigmoid(x)) / {numbers.get(i, 3.5)}
}}
""" for i in range(STEPS)]
    calls = "\n".join(f"        let h{i + 1} = step{i}(h{i})" for i in range(STEPS))
    return "\n".join(steps) + f"""
layer Net() {{
    fn forward(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {{
        let h0 = x
{calls}
        return h{STEPS}
    }}
}}
"""


MANIFEST = """\
project served
    version = 1.0

model net
    sources = src/*.tri
    entry = Net
"""


def same_words(text):
    """Removes what differs between builds: times, sizes, orders of parallel work."""
    text = re.sub(r"\d+\.\d+ s\b", "T s", text)
    text = re.sub(r"\r?\x1b\[K|\r", "", text)
    lines = [re.sub(r"\[[\d/]+\] ", "[] ", line) for line in text.splitlines()]
    progress = sorted(line for line in lines if line.startswith("[] "))
    return progress + [without_figures(line) for line in lines if not line.startswith("[] ")]


def without_figures(line):
    if not line.startswith('{"type":"build"'):
        return line
    record = json.loads(line)
    for key in ("wall_ms", "phases_ms", "peak_rss_kb", "efficiency", "cache"):
        record.pop(key)
    return json.dumps(record)


class ServerTest(ProjectTest):
    server = "on"

    def setUp(self):
        super().setUp()
        self.numbers, self.fresh = {}, 0
        self.write("tri.build", MANIFEST)
        self.save()

    def save(self, **changes):
        """Returns the source of the project; each change is a number of one step."""
        self.numbers.update({int(k[1:]): v for k, v in changes.items()})
        self.write("src/net.tri", source(self.numbers))

    def state(self):
        """Returns the state of the server, or None."""
        said = self.trib("server").stdout
        if "no server" in said:
            return None
        state = dict(re.findall(r"^(\w+) +(.*)$", said, re.M))
        return {"pid": int(state["pid"].split(",")[0]), "warm": "warming" not in state["pid"], "builds": int(state["builds"])}

    def warm(self):
        """Runs a build that compiles and starts a server. Returns the process id of the server."""
        self.fresh += 1
        self.save(s0=100 + self.fresh)
        self.trib("build")
        return wait_until(lambda: (s := self.state()) and s["warm"] and s["pid"], lambda: f"no server comes: {self.state()}, processes {processes_in(self.tmp)}")

    def gone(self, pid):
        wait_for_end(pid, PATIENCE)

    def outputs(self, where=None):
        folder = os.path.join(where or self.dir, "build")
        found = {}
        for name in filter(lambda n: os.path.isfile(os.path.join(folder, n)), sorted(os.listdir(folder))):
            with open(os.path.join(folder, name), "rb") as f:
                found[name] = f.read()
        return found

    def assert_as_clean(self, message=""):
        where = os.path.join(self.tmp, "clean", "project")
        shutil.rmtree(os.path.dirname(where), ignore_errors=True)
        shutil.copytree(self.dir, where, ignore=shutil.ignore_patterns("build", ".trib"))
        self.trib("build", "--no-cache", "--no-server", "-C", where)
        self.assertEqual(self.outputs(), self.outputs(where), message)

    def start(self, *args, **more):
        return subprocess.Popen([TRIB, "build", *args], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


class Serving(ServerTest):
    def test_a_build_starts_a_server_for_the_next(self):
        pid = self.warm()
        self.assertEqual(oct(os.stat(self.path(".trib/server.sock")).st_mode & 0o777), "0o600")
        for i in range(5):
            self.save(s3=11.5 + i)
            self.assertIn("1 compiled", self.trib("build").stdout)
            self.assertEqual(self.state(), {"pid": pid, "warm": True, "builds": i + 1})
        self.assert_as_clean()
        self.assertIn("nothing to do", self.trib("build").stdout)
        self.assertEqual(self.state()["builds"], 5, "nothing to do: the server is not asked")

    def test_look_ups_in_memory(self):
        """The server's first build fills L1: its second one finds the front end and every fragment but that of the edited unit there."""
        self.warm()
        self.save(s3=11.5)
        self.build()
        self.save(s3=12.5)
        levels = self.build()["cache"]["levels"]
        self.assertEqual(levels["l1"], {"lookups": STEPS + 2, "hits": STEPS + 1, "rate": round((STEPS + 1) / (STEPS + 2), 9)})
        self.assertEqual(levels["l3"], {"lookups": 1, "hits": 0, "rate": 0})
        (week,) = json.loads(self.trib("profile", "history", "--format=json").stdout)["weeks"]
        self.assertGreater(week["levels"]["l1"]["hits"], STEPS)

    def test_status_and_stop(self):
        self.assertIsNone(self.state())
        self.assertIn("no server", self.trib("server", "stop").stdout)
        self.trib("server", "start")
        pid = wait_until(self.state, "no server comes")["pid"]
        self.trib("server", "stop")
        self.gone(pid)
        self.assertFalse(os.path.exists(self.path(".trib/server.sock")))
        self.assertIn("did you mean `status`", self.fails("server", "statsu", code=2))
        os.unlink(self.path("tri.build"))
        self.assertIn("tri.build", self.fails("server", code=2))

    def test_one_server_for_a_project(self):
        pid = self.warm()
        for _ in range(3):
            self.trib("server", "run")
        self.assertEqual(processes_in(self.tmp + "/"), [])
        self.assertEqual(self.state()["pid"], pid)

    def test_requests_carry_the_environment(self):
        self.warm()
        other = os.path.join(self.tmp, "other")
        before, self.env["XDG_CACHE_HOME"] = self.env["XDG_CACHE_HOME"], other
        self.save(s3=9.5)
        self.trib("build")
        self.assertEqual(self.state()["builds"], 1)
        self.assertTrue(os.path.isdir(os.path.join(other, "trib")))
        self.env["TRIB_CACHE_SIZE"] = "nonsense"
        self.save(s3=9.75)
        self.assertIn("TRIB_CACHE_SIZE", self.fails("build"))
        del self.env["TRIB_CACHE_SIZE"]
        self.env["XDG_CACHE_HOME"] = before
        self.assertEqual(self.state()["builds"], 2)
        self.trib("build")
        self.assert_as_clean()

    def test_other_contexts_build_themselves(self):
        pid = self.warm()
        for i, (args, env, more) in enumerate([
            (["-j3"], {}, {}),
            (["-l", "100"], {}, {}),
            (["--low-memory"], {}, {}),
            (["--no-server"], {}, {}),
            (["--trace", "trace.json"], {}, {}),
            ([], {"HOME": self.tmp}, {}),
            ([], {"MAKEFLAGS": "w"}, {}),
            ([], {"CI": "true", "TRIB_SERVER": ""}, {}),
            ([], {"TRIB_SERVER": "0"}, {}),
            ([], {}, {"umask": 0o077}),
            ([], {}, {"preexec_fn": lambda: os.nice(1)}),
        ]):
            self.save(s3=1.25 + i)
            kept, self.env = self.env, {**self.env, **env}
            self.assertIn("1 compiled", self.trib("build", *args, **more).stdout)
            self.env = kept
            self.assertEqual(self.state(), {"pid": pid, "warm": True, "builds": 0}, (args, env, more))
        self.assert_as_clean()

    def test_no_server_if_it_is_switched_off(self):
        def none(*args, **env):
            shutil.rmtree(self.path(".trib"), ignore_errors=True)
            kept, self.env = self.env, {**self.env, **env}
            self.fresh += 1
            self.save(s0=100 + self.fresh)
            self.assertRegex(self.trib("build", *args).stdout, "[1-9] compiled")
            self.env = kept
            self.assertIsNone(self.state(), (args, env))  # its socket would be there before the build has ended

        none("--no-server")
        none("--no-cache", "-O0")
        none(TRIB_SERVER="off")
        none(TRIB_SERVER="", CI="1")
        none(MAKEFLAGS="w")
        self.write("tri.build", MANIFEST + "\nserver\n    enabled = false\n")
        none(TRIB_SERVER="")
        self.write("tri.build", MANIFEST)
        self.env["XDG_CONFIG_HOME"] = os.path.join(self.tmp, "config")
        self.trib("config", "set", "server.enabled", "false")
        none(TRIB_SERVER="")
        self.trib("config", "unset", "server.enabled")
        self.env["TRIB_SERVER"] = ""
        self.warm()


def without_tasks(x):
    """The start and the end of tasks come in the order in which workers take them."""
    if isinstance(x, str):
        return "".join(line for line in x.splitlines(True) if '"type":"task-' not in line)
    if isinstance(x, (list, tuple)):
        return type(x)(y for y in map(without_tasks, x) if y != "")
    return x


class SameOutput(ServerTest):
    """Text, exit code and files are equal with and without a server."""

    ERROR = "\nfn wrong(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 32]> {\n    return x\n}\n"
    SYNTAX = "\nfn wrong(x: Tensor<float32 -> {\n"

    def edits(self):
        """Yields a name, a change of the folder, and the arguments of the build."""
        def put(name, text):
            return lambda where: self.put(where, name, text)

        yield "one function", put("src/net.tri", source({3: 1.5})), []
        yield "verbose", put("src/net.tri", source({3: 2.5})), ["--verbose"]
        yield "explained", put("src/net.tri", source({3: 2.75, 4: 2.25})), ["--explain"]
        yield "json", put("src/net.tri", source({5: 2.75})), ["--message-format=json"]
        yield "an error", put("src/net.tri", source({5: 2.5}) + self.ERROR), []
        yield "an error in json", put("src/net.tri", source({5: 2.25}) + self.ERROR), ["--message-format=json"]
        yield "a syntax error", put("src/net.tri", source({6: 2.5}) + self.SYNTAX), []
        yield "an error that many callers see", put("src/net.tri", source({}, types="N, 63")), ["-k"]
        yield "unused things", put("src/net.tri", source({7: 7}).replace("let shifted", "let other = x\n    let shifted")), ["--deny-warnings"]
        yield "another level", put("src/net.tri", source({7: 7.5})), ["-O0"]
        yield "no such model", put("src/net.tri", source({7: 7.25})), ["nothing"]
        yield "no such flag", put("src/net.tri", source({7: 7.75})), ["--nothing"]
        yield "no such cpu", put("src/net.tri", source({7: 8.75})), ["--cpu", "z80"]
        yield "a broken manifest", put("tri.build", MANIFEST + "nonsense\n"), []
        yield "another manifest", put("tri.build", MANIFEST + "    opt = 0\n"), []
        yield "something in the way", self.in_the_way, []
        yield "nothing in the way", self.out_of_the_way, []
        yield "a linker that fails", put("src/net.tri", source({8: 8.25})), ["--linker", "false"]
        yield "a missing linker", put("src/net.tri", source({8: 8.5})), ["--linker", "no-such-linker"]
        yield "a linker", put("src/net.tri", source({8: 8.75})), ["--linker", "cc"]
        yield "timing", put("src/net.tri", source({9: 8.75})), ["--timing"]
        yield "no cache", put("src/net.tri", source({9: 9.75})), ["--no-cache"]
        yield "no source", lambda where: os.unlink(os.path.join(where, "src", "net.tri")), []
        yield "a source again", put("src/net.tri", source({9: 9.5})), []

    @staticmethod
    def in_the_way(where):
        os.unlink(os.path.join(where, "build", "libnet.so"))
        os.mkdir(os.path.join(where, "build", "libnet.so"))

    @staticmethod
    def out_of_the_way(where):
        os.rmdir(os.path.join(where, "build", "libnet.so"))

    @staticmethod
    def put(where, name, text):
        with open(os.path.join(where, name), "w", encoding="utf-8") as f:
            f.write(text)

    def both(self, run):
        """Makes each edit in a folder with a server and in one without, and compares the results of run(folder, args, env)."""
        self.pair = [os.path.join(self.tmp, name, "project") for name in ("with", "without")]
        envs = [{**self.env, "XDG_CACHE_HOME": os.path.join(self.tmp, f"cache{i}"), "TRIB_SERVER": server} for i, server in enumerate(("on", "off"))]
        for where, env in zip(self.pair, envs):
            shutil.copytree(self.dir, where)
            self.env = env
            self.trib("build", "-C", where)
        self.env, self.dir = envs[0], self.pair[0]
        wait_until(lambda: (s := self.state()) and s["warm"], "no server comes")
        for name, edit, args in self.edits():
            with self.subTest(edit=name):
                came = []
                for where, env in zip(self.pair, envs):
                    edit(where)
                    came.append(without_tasks(run(where, args, {**os.environ, **env})))
                if name != "timing":
                    self.assertEqual(*came)
                self.assertEqual(self.outputs(self.pair[0]), self.outputs(self.pair[1]))
        self.assertGreater(self.state()["builds"], 12)

    def test_pipes(self):
        def run(where, args, env):
            done = subprocess.run([TRIB, "build", *args], cwd=where, env=env, capture_output=True, text=True, timeout=60 * SLOWER)
            return done.returncode, same_words(done.stdout), same_words(done.stderr)

        self.both(run)

    def test_one_pipe_keeps_the_order(self):
        def run(where, args, env):
            done = subprocess.run([TRIB, "build", *args], cwd=where, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60 * SLOWER)
            return done.returncode, same_words(done.stdout)

        self.both(run)

    def test_closed_streams(self):
        """With closed standard streams, the output is not written into another file."""
        def run(where, args, env):
            said = []
            for streams in (">&-", "2>&-", "<&- >&- 2>&-"):
                done = subprocess.run(["sh", "-c", f'exec "$@" {streams}', "sh", TRIB, "build", *args], cwd=where, env=env, capture_output=True, text=True,
                                      timeout=60 * SLOWER)
                said.append((done.returncode, same_words(done.stdout), same_words(done.stderr)))
                with open(os.path.join(where, ".trib/lock"), "rb") as f:
                    said.append(f.read())
            self.assertEqual({said[i] for i in (1, 3, 5)}, {b""})
            return said

        self.both(run)

    def test_terminals(self):
        for end in open_terminal():  # skips all of the test, not each of its edits
            os.close(end)

        def run(where, args, env):
            ours, theirs = open_terminal()
            process = subprocess.Popen([TRIB, "build", *args], cwd=where, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
            os.close(theirs)
            text = b""
            try:
                while more := os.read(ours, 4096):
                    text += more
            except OSError:  # the last that could write is gone
                pass
            os.close(ours)
            lines = same_words(re.sub(r"\r\[[^\r\x1b]*\x1b\[K", "", text.decode()))
            return process.wait(), lines

        self.both(run)


class Lifetime(ServerTest):
    def test_ends_when_the_store_is_removed(self):
        pid = self.warm()
        shutil.rmtree(self.path(".trib"))
        self.gone(pid)
        pid = self.warm()
        self.trib("clean")
        self.gone(pid)
        pid = self.warm()
        os.rename(self.path(".trib"), self.path("elsewhere"))
        self.gone(pid)

    def test_at_once(self):
        """The server creates no file in a project that is being removed."""
        for i in range(15):
            self.save(s0=100 + i)
            self.trib("build")
            time.sleep(i / 5000)  # how far the server has come when the project goes
            shutil.rmtree(self.dir)
            self.write("tri.build", MANIFEST)

    def test_ends_when_the_project_is_removed(self):
        pid = self.warm()
        shutil.rmtree(self.dir)
        self.gone(pid)
        os.mkdir(self.dir)

    def test_survives_a_move_of_the_project(self):
        pid = self.warm()
        where = os.path.join(self.tmp, "moved", "here")
        os.mkdir(os.path.dirname(where))
        os.rename(self.dir, where)
        self.dir = where
        self.save(s3=1.5)
        self.trib("build")
        self.assertEqual(self.state(), {"pid": pid, "warm": True, "builds": 1})
        self.assert_as_clean()

    def test_ends_when_idle(self):
        self.env["TRIB_SERVER_IDLE"] = "1"
        pid = self.warm()
        self.save(s3=1.5)
        self.trib("build")
        self.gone(pid)
        self.assertFalse(os.path.exists(self.path(".trib/server.sock")))

    def installed(self):
        """Another installation of trib: its executable."""
        where = os.path.join(self.tmp, "bin", "trib")
        os.makedirs(os.path.dirname(where))
        shutil.copy2(TRIB, where)
        os.symlink(os.path.join(os.path.dirname(TRIB), "lib"), os.path.join(self.tmp, "bin", "lib"))
        return where

    def test_ends_when_the_executable_is_replaced(self):
        trib = self.installed()
        subprocess.run([trib, "build"], cwd=self.dir, env={**os.environ, **self.env}, check=True, capture_output=True)
        pid = wait_until(self.state, "no server comes")["pid"]
        os.unlink(trib)
        shutil.copy2(TRIB, trib)
        self.gone(pid)

    def test_ends_when_another_version_asks(self):
        trib = self.installed()
        pid = self.warm()
        self.save(s3=1.5)
        done = subprocess.run([trib, "build"], cwd=self.dir, env={**os.environ, **self.env}, check=True, capture_output=True, text=True)
        self.assertIn("1 compiled", done.stdout)
        self.gone(pid)
        self.assertNotEqual(wait_until(self.state, "no server comes")["pid"], pid)
        self.assert_as_clean()


class Faults(ServerTest):
    """The build succeeds whatever happens to the server."""

    def change_all(self, value):
        self.save(**{f"s{i}": value + i / 1000 for i in range(STEPS)})

    def test_server_killed_during_a_build(self):
        rng = random.Random(1)
        for i in range(8):
            pid = self.warm()
            self.change_all(2 + i)
            build = self.start()
            if i % 2:
                any_moment(rng, 0.01)
            else:
                said = [build.stdout.readline() for _ in range(1 + i)]
            os.kill(pid, signal.SIGKILL)
            out, err = build.communicate(timeout=PATIENCE)
            self.assertEqual((build.returncode, err), (0, ""), out)
            if i % 2 == 0:  # one build had begun, and a second one started from the beginning
                self.assertTrue(said[0].startswith("[1/") and "[1/" in out, (said, out))
            self.assert_as_clean(f"round {i}")

    def test_server_stopped_before_a_build(self):
        pid = self.warm()
        os.kill(pid, signal.SIGSTOP)
        self.save(s3=1.5)
        self.assertIn("1 compiled", self.trib("build").stdout)
        self.assertIn("does not answer", self.fails("server", code=3))
        self.assert_as_clean()
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(wait_until(self.state, "it does not go on"), {"pid": pid, "warm": True, "builds": 0})
        self.save(s3=1.75)
        self.trib("build")
        self.assertEqual(self.state()["builds"], 1)
        self.assert_as_clean()

    def test_server_stopped_during_a_build(self):
        pid = self.warm()
        self.change_all(7)
        build = self.start()
        for line in build.stdout:  # it has begun
            os.kill(pid, signal.SIGSTOP)
            break
        out, err = build.communicate(timeout=PATIENCE)
        self.assertEqual(build.returncode, 0, out + err)
        self.gone(pid)
        self.assert_as_clean()

    def test_interrupted(self):
        pid, ends = self.warm(), []
        for i in range(30):
            self.change_all(2 + i)
            build = self.start("-O3")
            for line in build.stdout:
                build.send_signal((signal.SIGINT, signal.SIGTERM)[i % 2])
                break
            out, err = build.communicate(timeout=PATIENCE)
            ends.append((build.returncode, err))
            self.assertIn(ends[-1], [(130, "trib: interrupted\n"), (0, "")], out)  # it may be quicker than we are
            self.assertEqual(self.state()["pid"], pid)
            self.trib("build")
            self.assert_as_clean()
            if ends.count((130, "trib: interrupted\n")) == 2:
                break
        else:
            self.fail(ends)

    def test_the_client_is_killed(self):
        pid = self.warm()
        self.change_all(4)
        build = self.start()
        for line in build.stdout:
            build.kill()
            break
        build.communicate(timeout=PATIENCE)
        self.change_all(5)
        self.trib("build")
        self.assertEqual(self.state()["pid"], pid)
        self.assert_as_clean()

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user(self):
        self.copy_trib()
        pid = self.warm()
        self.save(s3=1.5)
        for folder, folders, files in os.walk(self.dir):
            for name in [".", *folders, *files]:
                os.chmod(os.path.join(folder, name), 0o777)
        self.assertIn("1 compiled", self.trib("build", user=65534, group=65534).stdout)
        self.assertEqual(self.state(), {"pid": pid, "warm": True, "builds": 0})

    def test_closed_output_pipe(self):
        self.warm()
        ends = []
        for server in ("on", "off"):
            self.env["TRIB_SERVER"] = server
            self.save(s3=5 + len(ends))
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([TRIB, "build"], cwd=self.dir, env={**os.environ, **self.env}, stdout=writer, stderr=subprocess.PIPE, restore_signals=True, timeout=PATIENCE)
            os.close(writer)
            ends.append((done.returncode, done.stderr))
        self.assertEqual(*ends)
        self.assertEqual(ends[0][0], -signal.SIGPIPE)

    def test_concurrent_processes(self):
        self.warm()
        self.change_all(6)
        builds = [self.start() for _ in range(4)]
        said = [build.communicate(timeout=PATIENCE) for build in builds]
        self.assertEqual([b.returncode for b in builds], [0] * 4, said)
        self.assertEqual(sum(f"{STEPS} compiled" in out for out, _ in said), 1, said)
        self.assert_as_clean()

    def test_foreign_files_at_the_socket(self):
        """Another file at the path of the socket, or a server that sends nothing, wrong data, or too much."""
        import socket
        self.trib("build", "--no-server")
        path = self.path(".trib/server.sock")
        self.write(".trib/server.sock", "no socket")
        self.save(s3=1.5)
        self.trib("build")
        wait_until(self.state, "no server comes")
        self.trib("server", "stop")
        for i, answer in enumerate((b"", b"\0", b"\0\0\0\0", b"\7\7\7\7", b"x" * 1000, None)):
            here = os.getcwd()
            os.chdir(self.dir)
            impostor = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            impostor.bind(".trib/server.sock")
            os.chdir(here)
            impostor.listen(4)

            def play(answer=answer, impostor=impostor):
                try:
                    connection, _ = impostor.accept()
                    connection.recv(1 << 18)
                    if answer:
                        connection.send(answer)
                    if answer is None:
                        connection.recv(1)  # until the client has lost patience
                    connection.close()
                except OSError:
                    pass

            thread = threading.Thread(target=play, daemon=True)
            thread.start()
            self.save(s3=2 + i / 8)
            self.assertIn("1 compiled", self.trib("build").stdout, answer)
            thread.join(PATIENCE)
            impostor.close()
            os.unlink(path)
            self.assert_as_clean()
        self.trib("server", "start")
        pid = wait_until(lambda: (s := self.state()) and s["warm"] and s["pid"], "no server comes")
        os.chdir(self.dir)
        for said in (b"", b"nonsense", b"\0" * 100000, b"1brt" + b"\xff" * 2000, os.urandom(5000)):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.connect(".trib/server.sock")
            if said:
                client.send(said)
            client.close()
        os.chdir(here)
        self.save(s3=9.5)
        self.trib("build")
        self.assertEqual(self.state(), {"pid": pid, "warm": True, "builds": 1})


if __name__ == "__main__":
    unittest.main()
