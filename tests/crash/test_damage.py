"""Damaged files on disk: files of the project's store and of the user's cache are cut, flipped, removed or replaced. After each, the next build succeeds
and its outputs equal those of a clean one."""
import os
import unittest
import unittest.mock

from faulty import FaultTest

PAGE = 4096
KINDS = ("removed", "folder", "full folder", "link to nothing", "link to itself", "link to a file", "pipe", "device", "empty")
CACHE = ("true", "false")
HEAD = 96  # bytes at the start of a page that are LMDB's own


def positions(size):
    """Those to flip. All: every byte of a small file; of larger ones every head and every third byte. Else they are drawn from these."""
    return [p for p in range(size) if size <= 16 * PAGE or p % PAGE < HEAD or p % 3 == 0]


def lengths(size):
    """Those to cut to: every one within the heads of the first pages, around every border of pages, and every 61st."""
    near = {p for border in range(0, size, PAGE) for p in (border - 1, border, border + 1, border + HEAD) if 0 <= p < size}
    return sorted(near | set(range(min(size, 2 * HEAD))) | set(range(0, size, 61)))


class Damage(FaultTest):
    """Each case is an edit, or its taking back, on top of the damage: stamps and records are those of real builds."""

    def setUp(self):
        super().setUp()
        self.want = [self.clean()]
        self.edit()
        self.want.append(self.clean())
        self.edit(old="3.0", new="2.0")
        self.state = 0
        self.good("nothing")
        self.other = os.path.join(self.tmp, "other")
        with open(self.other, "w") as f:
            f.write("other\n")

    def good(self, what):
        done = self.trib("build")
        self.assertEqual(done.returncode, 0, f"{what}: {done.stderr}")
        now = self.visible()
        self.assertTrue(now == self.want[self.state], f"{what}: not as in a clean build, {sorted(now)}\n{done.stderr}")
        return done

    def turn(self):
        self.edit(old=f"{self.state + 2}.0", new=f"{3 - self.state}.0")
        self.state = 1 - self.state

    def files(self, root):
        return [os.path.join(at, name) for at, _, names in os.walk(root) for name in names]

    def stores(self):
        """Folders, by what they are."""
        return {"store": self.path(".trib/store"), "cache": os.path.join(self.cache, "trib", "v4")}

    def clone(self):
        """The project forgets: what there is comes from the cache."""
        self.remove(self.path(".trib"))
        self.remove(self.path("build"))

    def harm(self, which, name, how):
        path = os.path.join(self.stores()[which], name)
        if not os.path.exists(path):  # the store was replaced
            return
        how(path)
        if which == "cache" and self.rng.random() < 0.4:
            self.clone()
        elif self.rng.random() < 0.3:
            self.good(f"{which}/{name}")
        else:
            self.turn()
        self.good(f"{which}/{name}")

    def sizes(self):
        return [(which, os.path.relpath(path, folder), os.path.getsize(path)) for which, folder in self.stores().items() for path in self.files(folder)]

    def test_flipped_bits(self):
        def flip(kind, which, name, position):
            def one_bit(path):
                with open(path, "r+b") as f:
                    f.seek(position % os.path.getsize(path))
                    byte = f.read(1)
                    f.seek(-1, 1)
                    f.write(bytes([byte[0] ^ 1 << self.rng.randrange(8)]))
            self.harm(which, name, one_bit)
        self.each_fault([("flip", which, name, p) for which, name, size in self.sizes() for p in positions(size)], flip, 6)

    def test_cuts(self):
        def cut(kind, which, name, length):
            self.harm(which, name, lambda path: os.truncate(path, length))
        self.each_fault([("cut", which, name, n) for which, name, size in self.sizes() for n in lengths(size)], cut, 4)

    def test_zeroed_and_random_pages(self):
        def fill(kind, which, name, page):
            def overwrite(path):
                with open(path, "r+b") as f:
                    f.seek(page * PAGE)
                    f.write(bytes(PAGE) if kind == "zero" else self.rng.randbytes(PAGE))
            self.harm(which, name, overwrite)
        self.each_fault([(kind, which, name, page) for kind in ("zero", "random") for which, name, size in self.sizes()
                         for page in range(-(-size // PAGE))], fill, 3)

    def test_old_files(self):
        """A file of an earlier state in place of today's, as a backup or a lost write would leave it."""
        old = {}
        for which, folder in self.stores().items():
            for path in self.files(folder):
                with open(path, "rb") as f:
                    old[which, os.path.relpath(path, folder)] = f.read()
        self.turn()
        self.good("an edit")

        def bring_back(kind, which, name, mixed):
            def replace(path):
                with open(path, "r+b") as f:
                    now = f.read()
                    was = old[which, name]
                    pages = [(now if mixed and self.rng.random() < 0.5 else was)[p:p + PAGE] for p in range(0, max(len(now), len(was)), PAGE)]
                    f.seek(0)
                    f.write(b"".join(pages))
                    f.truncate()
            self.harm(which, name, replace)
        self.each_fault([("old", which, name, mixed) for which, name in old for mixed in [False] + [True] * 20], bring_back, 3)

    def test_large_entries(self):
        """Those that are files of their own. Only values that take much longer to make than to read are cached: these are means of 64 random ones."""
        self.edit("src/net.tri", "let fc = nn.Linear(8, 4)",
                  "param wide: Tensor<float32, [8, 16384]> = randn([64, 8, 16384]).mean(0)\n    let fc = nn.Linear(16384, 4)")
        self.edit("src/net.tri", "fc(x)", "fc(x @ wide)")
        self.want = [self.clean()]
        self.edit()
        self.want.append(self.clean())
        self.edit(old="3.0", new="2.0")
        self.state = 0
        self.good("nothing")
        large = [os.path.relpath(path, self.stores()["cache"]) for path in self.files(self.stores()["cache"]) if "/large/" in path]
        self.assertTrue(large)

        def replace(kind, name, in_place):
            path = os.path.join(self.stores()["cache"], name)
            if not os.path.lexists(path):
                return
            if kind == "large cut":
                os.truncate(path, self.rng.randrange(os.path.getsize(path)))
            elif kind == "large flipped":
                with open(path, "r+b") as f:
                    f.seek(self.rng.randrange(os.path.getsize(path)))
                    byte = f.read(1)
                    f.seek(-1, 1)
                    f.write(bytes([byte[0] ^ 1 << self.rng.randrange(8)]))
            else:
                for _ in range(in_place):
                    path = os.path.dirname(path)
                self.put(kind[len("large: "):], path)
            self.clone()
            self.good(kind)
            self.clone()
            done = self.good(kind)
            self.assertNotIn("warning", done.stderr)
            self.assertEqual(self.trib("cache", "validate", "--repair").returncode, 0)
        cases = [(kind, name, 0) for name in large for kind in ["large cut"] * 20 + ["large flipped"] * 20]
        cases += [("large: " + kind, name, up) for kind in KINDS for name in large for up in range(3)]
        self.each_fault(cases, replace, 4)

    def put(self, kind, path):
        """Something else in the place of a file or folder."""
        self.remove(path)
        if kind == "folder":
            os.mkdir(path)
        elif kind == "full folder":
            os.makedirs(os.path.join(path, "in/it"))
        elif kind == "link to nothing":
            os.symlink("nowhere/else", path)
        elif kind == "link to itself":
            os.symlink(os.path.basename(path), path)
        elif kind == "link to a file":
            os.symlink(self.other, path)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            os.symlink("/dev/zero", path)
        elif kind == "empty":
            open(path, "w").close()

    def refuses_the_link(self, path):
        """What the project keeps is not written through a link out of it."""
        done = self.trib("build")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"`{os.path.relpath(path, self.dir)}` is a link that leads out of the project", done.stderr)
        os.unlink(path)

    def test_something_else_in_their_place(self):
        def replace(kind, which, name):
            path = os.path.normpath(os.path.join(self.stores()[which], name))
            if not os.path.lexists(path):
                return
            self.put(kind, path)
            self.turn()
            if os.path.islink(path) and os.path.relpath(path, self.dir) in (".trib/store", ".trib/lock"):
                self.refuses_the_link(path)
            self.good(kind)
            self.turn()
            self.good(kind)
            with open(self.other) as f:
                self.assertEqual(f.read(), "other\n")
            done = self.trib("build")
            self.assertIn("nothing to do", done.stdout + done.stderr)
            if which == "cache":
                self.assertEqual(self.trib("cache", "validate", "--repair").returncode, 0)
        names = [(which, name) for which, name, _ in self.sizes()] + [("store", "."), ("cache", "."), ("store", "../lock")]
        self.each_fault([(kind, which, os.path.normpath(name)) for kind in KINDS for which, name in names], replace, 5)


class DamagedOutputs(FaultTest):
    def test_outputs(self):
        """Outputs that were changed, cut or removed are built again, also those with weights beside them."""
        self.write("tri.build", self.read("tri.build").decode() + "    weights.inside = 64B\n")
        both = [self.clean()]
        self.edit("src/net.tri", "fc", "fd")
        both.append(self.clean())
        self.assertEqual(self.trib("build").returncode, 0)
        state = 1

        def harm(kind, name, position, cache, edit):
            nonlocal state
            want = both[state]
            name = name if name in want else next(other for other in want if other.endswith(".triw"))
            path = os.path.join(self.dir, "build", name)
            if kind == "output removed":
                os.unlink(path)
            elif kind == "output cut":
                os.truncate(path, position % len(want[name]))
            else:
                with open(path, "r+b") as f:
                    f.seek(position % len(want[name]))
                    byte = f.read(1)
                    f.seek(-1, 1)
                    f.write(bytes([byte[0] ^ 1 << self.rng.randrange(8)]))
            if edit:
                self.edit("src/net.tri", *(("fd", "fc") if state else ("fc", "fd")))
                state = 1 - state
            with unittest.mock.patch.dict(self.env, TRIB_CACHE=cache):
                self.assert_mends(both[state])
        how = [(cache, edit) for cache in CACHE for edit in (False, True)]
        cases = [("output removed", name, 0, *h) for name in both[0] for h in how]
        cases += [(kind, name, n, *h) for kind in ("output cut", "output flipped") for name, data in both[0].items()
                  for n in range(0, len(data), 1 + len(data) // 200) for h in how]
        self.each_fault(cases, harm, 3)


if __name__ == "__main__":
    unittest.main()
