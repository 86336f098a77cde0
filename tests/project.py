"""A project in a temporary folder and the real executable, for tests of the command line."""
import glob
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TRIB = os.environ["TRIB"]
SOURCE = os.environ["TRIB_SOURCE"]
SLOWER = int(os.environ.get("TRIB_SLOWER", 1))  # under sanitizers
os.environ.pop("TRIB_CACHE_DIR", None)  # each test has a cache of its own
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have background jobs ignore it, and programs inherit that


def run(argv, cwd, ok=True, env=None, **more):
    """Runs a command; with `ok` it must succeed."""
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=240 * SLOWER, **more)
    if ok and done.returncode:
        raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def open_terminal():
    """Both ends of a pseudo-terminal. A test is skipped where the system has none: a container without /dev/pts."""
    try:
        return pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no terminals here: {error}") from error


def wait_until(condition, what, patience=60 * SLOWER):
    """Polls until the condition has a true value, and returns it. `what` did not come: a text, or a function that makes one."""
    end = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.005)
    return value


def wait_for_end(pid, patience=60 * SLOWER):
    """Waits until the process has ended, whoever started it."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not select.select([process], [], [], patience)[0]:
            raise AssertionError(f"process {pid} does not end")
    finally:
        os.close(process)


def sleeps(pid):
    """True if all threads of the process wait for something."""
    def state(thread):
        with open(f"/proc/{pid}/task/{thread}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]

    return all(state(thread) == "S" for thread in os.listdir(f"/proc/{pid}/task"))


def any_moment(rng, most):
    """Waits for a random time: a kill or an interrupt may come at any moment, and no event may choose it."""
    time.sleep(rng.uniform(0, most))


def processes_in(folder):
    """Whose current folder is below that one, or was."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(folder + "/"):
                found.append(int(pid))
        except OSError:
            pass
    return found


class ProjectTest(unittest.TestCase):
    """self.dir is the project; its caches are its own."""

    executable = TRIB
    example = None  # copied from examples/ when set
    server = "off"  # "on": builds leave a build server, which must be gone when the test is over

    def setUp(self):
        self.tmp = tempfile.mkdtemp(prefix="trib-test-")
        self.addCleanup(self.no_process_stays)
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.dir = os.path.join(self.tmp, self.example or "project")
        self.env = {"XDG_CACHE_HOME": os.path.join(self.tmp, "cache"), "POCL_CACHE_DIR": os.path.join(self.tmp, "pocl"), "NO_COLOR": "1", "TRIB_SERVER": self.server, "CI": ""}
        if self.example:
            shutil.copytree(os.path.join(SOURCE, "examples", self.example), self.dir, ignore=shutil.ignore_patterns("build", ".trib"))
        else:
            os.mkdir(self.dir)

    def no_process_stays(self):
        """A server ends when its project goes."""
        wait_until(lambda: not processes_in(self.tmp), lambda: f"processes {processes_in(self.tmp)} are still there", 20 * SLOWER)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def edit(self, name, old, new):
        text = self.read(name).decode()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def trib(self, *args, ok=True, **more):
        return run([self.executable, *args], self.dir, ok, self.env, **more)

    def copy_trib(self):
        """From now on trib is a copy in the test's folder. Other users may start it, and they may not enter every folder where trib was built."""
        os.chmod(self.tmp, 0o755)
        self.executable = shutil.copy(TRIB, self.tmp)
        built, lib = os.path.join(os.path.dirname(TRIB), "lib"), os.path.join(self.tmp, "lib")
        modules = shutil.copytree(os.path.join(built, "trib"), os.path.join(lib, "trib"))
        for room in glob.glob(os.path.join(built, "libtrib_*.so")):  # of a build with shared room libraries
            shutil.copy(room, lib)
            self.env["LD_LIBRARY_PATH"] = lib
        return modules

    def build(self, *args):
        """The build record of a build that succeeds."""
        return json.loads(self.trib("build", "--message-format=json", *args).stdout.splitlines()[-1])

    def fails(self, *args, code=1):
        """What a failing command says; never a signal, never silence."""
        done = self.trib(*args, ok=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertTrue(done.stderr.strip())
        return done.stderr
