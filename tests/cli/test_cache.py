"""The user's cache from the command line: sharing between projects, limits, settings and their origins, damage."""
import glob
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from project import TRIB, ProjectTest

CHAIN = "\n".join(f"fn step{i}(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {{\n    return relu(x * {i}.0) / {i + 1}.0\n}}" for i in range(8)) + """

layer Net() {
    fn forward(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {
        return step7(step6(step5(step4(step3(step2(step1(step0(x))))))))
    }
}
"""
MANIFEST = "project chain\n    version = 1.0\n\nmodel chain\n    sources = src/*.tri\n    entry   = Net\n"


class Cache(ProjectTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_CONFIG_HOME"] = os.path.join(self.tmp, "config")
        self.write("src/net.tri", CHAIN)
        self.write("tri.build", MANIFEST)

    def folder(self):
        return os.path.join(self.env["XDG_CACHE_HOME"], "trib", "v4")

    def stats(self, *args):
        return json.loads(self.trib("cache", "stats", "--format=json", *args).stdout)

    def fresh(self):
        for name in ("build", ".trib"):
            shutil.rmtree(self.path(name), True)

    def clone(self, name):
        """Works in a copy elsewhere from here on."""
        other = os.path.join(self.tmp, name, "deep", "project")
        shutil.copytree(self.dir, other, ignore=shutil.ignore_patterns("build", ".trib"))
        self.dir = other


class SameProjectElsewhere(Cache):
    def test_a_copy_compiles_nothing(self):
        first = self.build()
        self.assertEqual(first["units"]["compiled"], 9)
        library, header = self.read("build/libchain.so"), self.read("build/chain.h")
        self.clone("elsewhere")
        second = self.build()
        self.assertEqual((second["units"]["compiled"], second["units"]["reused"]), (0, 9))
        self.assertEqual((self.read("build/libchain.so"), self.read("build/chain.h")), (library, header))
        self.assertIn("nothing to do", self.trib("build").stdout)
        self.edit("src/net.tri", "x * 3.0", "x * 33.0")
        done = self.trib("build", "--explain").stdout
        self.assertIn("compile step3 [N, 64]: its body changed (src/net.tri:10)", done)
        self.assertIn("1 compiled, 8 reused", done)

    def test_fragments_alone_are_enough(self):
        self.build()
        self.trib("cache", "clear", "--level", "l2")
        self.clone("elsewhere")
        again = self.build()
        self.assertEqual(again["units"]["compiled"], 0)
        self.assertEqual(again["cache"]["hits"], 9)

    def plans(self):
        kind = next(k for k in self.stats()["kinds"] if k["kind"] == "plan")
        return kind["hits"], kind["misses"], kind["entries"]

    def test_a_copy_with_an_edit_plans_what_changed(self):
        self.build()
        self.assertEqual(self.plans(), (0, 9, 9))
        self.clone("elsewhere")
        self.edit("src/net.tri", "x * 3.0", "x * 33.0")
        self.assertEqual(self.build()["units"]["compiled"], 1)
        self.assertEqual(self.plans(), (8, 10, 10))
        edited = self.read("build/libchain.so")
        self.fresh()
        self.trib("cache", "clear")
        self.build()
        self.assertEqual(self.read("build/libchain.so"), edited)

    def test_why_units_were_compiled_is_summed(self):
        self.build()
        self.edit("src/net.tri", "x * 3.0", "x * 33.0")
        self.build()
        self.fresh()
        self.edit("src/net.tri", "x * 4.0", "x * 44.0")
        self.build("-O2")
        self.assertEqual({k: n for k, n in self.stats()["compiled"].items() if n}, {"new": 9 + 1, "its body changed": 1})  # at -O2 all is inlined into the net
        said = self.trib("cache", "stats", "--detailed").stdout
        self.assertIn("1  its body changed", said)

    def test_a_plan_with_other_callees_is_not_reused(self):
        inlined = CHAIN.replace("fn step3", "@inline\nfn step3")
        self.write("src/net.tri", inlined)
        self.build()
        self.clone("elsewhere")
        self.edit("src/net.tri", "x * 3.0", "x * 33.0")
        self.build()
        edited = self.read("build/libchain.so")
        hits, _, entries = self.plans()
        self.assertEqual((hits, entries), (8, 8))  # the net's entry was found, but is built again and replaces the other
        self.trib("cache", "clear")
        self.fresh()
        self.build()
        self.assertEqual(self.read("build/libchain.so"), edited)

    def test_without_records_of_builds(self):
        self.env["TRIB_CACHE_L2"] = "off"
        self.build()
        self.clone("elsewhere")
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.env["TRIB_CACHE_L3"] = "off"
        self.fresh()
        self.assertEqual(self.build()["units"]["compiled"], 9)

    def test_another_content_is_another_build(self):
        self.build()
        self.clone("elsewhere")
        self.edit("src/net.tri", "x * 3.0", "x * 4.5")
        self.assertEqual(self.build()["units"]["compiled"], 1)
        wanted = self.read("build/libchain.so")
        self.env["XDG_CACHE_HOME"] = os.path.join(self.tmp, "other-cache")
        self.fresh()
        self.build()
        self.assertEqual(self.read("build/libchain.so"), wanted)

    def test_flags_and_files_are_part_of_the_key(self):
        self.build()
        self.fresh()
        self.assertEqual(self.build("-O2")["units"]["compiled"], self.build("-O2")["units"]["total"])
        self.fresh()
        self.write("src/more.tri", "fn more(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {\n    return x\n}\n")
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.write("src/more.tri", "fn more(x: Tensor<float32, [N]> {\n")
        self.fails("build")

    def test_the_commit_is_part_of_the_key(self):
        git = lambda *args: subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=self.dir, check=True, capture_output=True)
        git("init", "-q")
        git("add", "src", "tri.build")
        git("commit", "-qm", "one")
        self.build()
        first = self.read("build/libchain.so")
        self.fresh()
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertEqual(self.read("build/libchain.so"), first)
        git("commit", "-q", "--allow-empty", "-m", "two")
        self.fresh()
        self.build()
        self.assertNotEqual(self.read("build/libchain.so"), first)
        self.assertNotEqual(self.trib("version", "--model", "build/libchain.so").stdout.strip(), "")

    def test_a_lost_output_is_copied(self):
        self.build()
        library = self.read("build/libchain.so")
        os.unlink(self.path("build/libchain.so"))
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertEqual(self.read("build/libchain.so"), library)

    def test_warnings_are_repeated_by_every_build(self):
        self.edit("src/net.tri", "    return relu(x * 3.0)", "    let unused = x\n    return relu(x * 3.0)")
        for _ in range(2):
            self.fresh()
            self.assertIn("W0201", self.trib("build").stderr)


class Inspection(Cache):
    def test_stats(self):
        empty = self.stats()
        self.assertEqual((empty["entries"], empty["hits"], empty["misses"]), (0, 0, 0))
        self.assertFalse(os.path.exists(self.folder()))  # looking makes nothing
        self.build()
        self.clone("elsewhere")
        self.build()
        s = self.stats()
        kinds = {k["kind"]: k for k in s["kinds"]}
        self.assertEqual(kinds["fragment"]["entries"], 9)
        self.assertEqual(kinds["fragment"]["misses"], 9)
        self.assertEqual(kinds["fragment"]["miss_reasons"], {"absent": 9, "evicted": 0, "expired": 0, "damaged": 0})
        self.assertEqual(kinds["output"]["hits"], 2)
        self.assertGreater(kinds["fragment"]["made_in_ms"], 0)
        self.assertLess(kinds["fragment"]["disk_bytes"], kinds["fragment"]["content_bytes"])
        self.assertEqual(sum(k["entries"] for k in s["kinds"]), s["entries"])
        self.assertEqual(sum(a["entries"] for a in s["last_used"]), s["entries"])
        self.assertLessEqual(s["oldest"], s["newest"])
        real = sum(os.stat(os.path.join(root, f)).st_blocks * 512 for root, _, files in os.walk(self.folder()) for f in files)
        self.assertLess(abs(s["size_bytes"] - real), 4096 * 300)
        text = self.trib("cache", "stats", "--detailed").stdout
        for word in ("fragment", "l3", "absent: ", "< 1 hour", "of 5.0 GiB"):
            self.assertIn(word, text)

    def test_nothing_to_do_counts_nothing(self):
        self.build()
        before = self.stats()
        self.trib("build")
        self.assertEqual(self.stats(), before)

    def test_clear_and_prune(self):
        self.build()
        self.trib("cache", "clear", "--level=l2")
        self.assertEqual({k["level"]: k["entries"] for k in self.stats()["kinds"]}["l2"], 0)
        self.assertEqual(json.loads(self.trib("cache", "prune", "--days", "1", "--format=json").stdout)["removed_entries"], 0)
        self.assertIn("removed", self.trib("cache", "clear").stdout)
        self.assertFalse(os.path.exists(self.folder()))
        self.assertEqual(self.stats()["entries"], 0)
        self.assertIn("removed 0 entries", self.trib("cache", "prune").stdout)

    def test_programs_of_devices(self):
        folder = os.path.join(os.path.dirname(self.folder()), "opencl")
        os.makedirs(folder)
        for name, days in (("00", 0), ("7f", 3), ("a0.77-0x1", 200)):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(bytes(5000))
            os.utime(f.name, (time.time() - days * 86400,) * 2)
        said = self.stats()["opencl"]
        self.assertEqual(said["entries"], 3)
        self.assertGreaterEqual(said["disk_bytes"], 3 * 5000)
        self.assertIn("3 programs", self.trib("cache", "stats").stdout)
        self.assertEqual(json.loads(self.trib("cache", "prune", "--days", "100", "--format=json").stdout)["removed_entries"], 1)
        self.assertIn("removed 1 entries", self.trib("cache", "prune", "--days", "2").stdout)
        self.assertEqual(os.listdir(folder), ["00"])
        self.assertIn("removed 1 entries", self.trib("cache", "clear").stdout)
        self.assertFalse(os.path.exists(folder))

    def test_prune_frees_disk_space(self):
        self.env["TRIB_CACHE_L2"] = "off"
        self.write("tri.build", MANIFEST + "    input x = float32 [?, 64]\n")
        self.build()
        os.makedirs(os.path.join(self.folder(), "large"), exist_ok=True)
        source = "".join(f"fn f{i}(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {{\n    return tanh(x * {i}.5) + exp(x) * {i}.0\n}}\n" for i in range(400))
        calls = "".join(f"        y = f{i}(y)\n" for i in range(400))
        self.write("src/net.tri", source + "layer Net() {\n    fn forward(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {\n        let y = x\n" + calls + "        return y\n    }\n}\n")
        self.env["TRIB_CACHE_COMPRESS"] = "0"
        self.build()
        size = self.stats()["size_bytes"]
        self.assertGreater(size, 1 << 20)
        self.trib("cache", "clear", "--level=l3")
        self.assertLess(self.stats()["size_bytes"], size // 4)
        self.assertIn("all valid", self.trib("cache", "validate").stdout)
        self.fresh()
        self.assertEqual(self.build()["units"]["compiled"], 401)

    def test_wrong_usage(self):
        self.assertIn("did you mean `stats`", self.fails("cache", "stat", code=2))
        self.assertIn("stats, clear, prune or validate", self.fails("cache", code=2))
        self.assertIn("l2 or l3", self.fails("cache", "clear", "--level=l1", code=2))
        self.assertIn("16MiB", self.fails("cache", "prune", "--size=1", code=2))
        self.assertIn("text or json", self.fails("cache", "stats", "--format=xml", code=2))


class Damage(Cache):
    def damage(self):
        """Flips a byte in every compressed value of data.mdb, also in pages that are free."""
        path = os.path.join(self.folder(), "data.mdb")
        with open(path, "r+b") as f:
            data = bytearray(f.read())
            for frame in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), bytes(data)):
                data[frame.start() + 6] ^= 1
            f.seek(0)
            f.write(data)

    def test_validate(self):
        self.assertIn("0 entries checked", self.trib("cache", "validate").stdout)
        self.build()
        self.assertIn("all valid", self.trib("cache", "validate").stdout)
        self.damage()
        self.assertRegex(self.fails("cache", "validate"), r"trib: \w+ [0-9a-f]{32}: its checksum does not match")
        reported = json.loads(self.trib("cache", "validate", "--format=json", ok=False).stdout)
        self.assertEqual(reported["repaired"], False)
        self.assertTrue(9 <= len(reported["faults"]) <= reported["checked"])
        self.assertIn("removed", self.trib("cache", "validate", "--repair").stdout)
        self.assertIn("all valid", self.trib("cache", "validate").stdout)
        self.fresh()
        self.build()

    def test_missing_and_unknown_files(self):
        self.write("tri.build", MANIFEST)
        self.build()
        stray = os.path.join(self.folder(), "large", "ab", "ab" + "0" * 30)
        os.makedirs(os.path.dirname(stray), exist_ok=True)
        with open(stray, "wb") as f:
            f.write(b"x" * 1000)
        self.assertIn("it is missing from the index", self.fails("cache", "validate"))
        self.trib("cache", "validate", "--repair")
        self.assertFalse(os.path.exists(stray))

    def test_a_damaged_entry_is_compiled_again(self):
        self.env["TRIB_CACHE_L2"] = "off"
        self.build()
        self.damage()
        self.fresh()
        self.assertEqual(self.build()["units"]["compiled"], 9)
        self.assertEqual({k["kind"]: k for k in self.stats()["kinds"]}["fragment"]["miss_reasons"]["damaged"], 9)
        self.assertIn("all valid", self.trib("cache", "validate").stdout)

    def test_a_cache_that_cannot_be_written(self):
        self.build()
        self.fresh()
        self.env["TRIB_CACHE_READ_ONLY"] = "yes"
        stamps = {p: os.stat(p).st_mtime_ns for p in glob.glob(self.folder() + "/data.mdb")}
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.edit("src/net.tri", "x * 3.0", "x * 7.5")
        self.assertEqual(self.build()["units"]["compiled"], 1)
        self.assertEqual({p: os.stat(p).st_mtime_ns for p in stamps}, stamps)

    def make_read_only(self):
        where = os.path.join(self.env["XDG_CACHE_HOME"], "trib")
        for command in (["mount", "--bind", where, where], ["mount", "-o", "remount,ro,bind", where]):
            if subprocess.run(command, capture_output=True).returncode:
                self.skipTest("mounting is not permitted")
        self.addCleanup(subprocess.run, ["umount", "-l", where], check=False)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_damage_on_a_read_only_file_system(self):
        self.build()
        path = os.path.join(self.folder(), "data.mdb")
        size = os.path.getsize(path)
        with open(path, "r+b") as f:
            f.seek(8192)  # behind what LMDB checks when it opens a file
            f.write(b"\xff" * (size - 8192))
        self.make_read_only()
        self.fresh()
        self.assertIn("9 compiled", self.trib("build").stdout)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_a_read_only_file_system(self):
        self.build()
        self.make_read_only()
        self.fresh()
        done = self.trib("build")
        self.assertIn("0 compiled", done.stdout)
        self.assertEqual(done.stderr, "")
        self.edit("src/net.tri", "x * 3.0", "x * 7.5")
        done = self.trib("build")
        self.assertIn("1 compiled", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertIn("all valid", self.trib("cache", "validate").stdout)

    def test_without_a_home(self):
        env = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        run = lambda *args: subprocess.run([TRIB, *args], cwd=self.dir, env=env, capture_output=True, text=True)
        self.assertIn("9 compiled", run("build").stdout)
        shutil.rmtree(self.path("build"))
        shutil.rmtree(self.path(".trib/store"))
        self.assertIn("0 compiled", run("build").stdout)
        self.assertIn(".trib/cache", run("config", "get", "dir").stdout)
        self.assertEqual(run("config", "set", "l2", "off").returncode, 3)


class Limits(Cache):
    def test_a_limit_of_entries(self):
        self.env["TRIB_CACHE_ENTRIES"] = "5"
        self.build()
        self.assertLessEqual(self.stats()["entries"], 5)
        self.fresh()
        self.assertGreater(self.build()["units"]["compiled"], 0)
        self.assertEqual(self.stats()["limits"]["entries"], 5)

    def test_concurrent_builds(self):
        self.env["TRIB_CACHE_SIZE"] = "16MiB"
        copies = []
        for i in range(4):
            copy = os.path.join(self.tmp, f"copy{i}")
            shutil.copytree(self.dir, copy)
            copies.append(copy)
        env = {**os.environ, **self.env}
        builds = [subprocess.Popen([TRIB, "build"], cwd=c, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for c in copies]
        self.assertEqual([(b.communicate()[1], b.returncode) for b in builds], [(b"", 0)] * 4)
        outputs = set()
        for c in copies:
            with open(os.path.join(c, "build/libchain.so"), "rb") as f:
                outputs.add(f.read())
        self.assertEqual(len(outputs), 1)
        self.assertIn("all valid", self.trib("cache", "validate").stdout)

    def test_no_cache(self):
        for args, env in ((("--no-cache",), {}), ((), {"TRIB_CACHE": "off"})):
            self.env.update(env)
            self.fresh()
            self.trib("build", *args)
            self.assertFalse(os.path.exists(self.folder()))


class Config(Cache):
    def listed(self):
        return {s["key"]: (s["value"], s["origin"], s["where"]) for s in json.loads(self.trib("config", "list", "--format=json").stdout)}

    def test_precedence_of_origins(self):
        config = os.path.join(self.env["XDG_CONFIG_HOME"], "trib", "config")
        key = "cache.max_size"
        self.assertEqual(self.listed()[key], ("5GiB", "default", ""))
        self.trib("config", "set", key, "4GiB")
        self.assertEqual(self.listed()[key], ("4GiB", "user", config + ":2"))
        self.write("tri.build", MANIFEST + "\ncache\n    max_size = 3GiB\n")
        self.assertEqual(self.listed()[key], ("3GiB", "project", "tri.build:9"))
        self.env["TRIB_CACHE_SIZE"] = "2GiB"
        self.assertEqual(self.listed()[key], ("2GiB", "environment", "TRIB_CACHE_SIZE"))
        self.assertEqual(self.stats()["limits"]["size_bytes"], 2 << 30)
        self.env["TRIB_CACHE_DIR"] = os.path.join(self.tmp, "by-env")
        flag = os.path.join(self.tmp, "by-flag")
        self.assertEqual(self.trib("config", "get", "dir").stdout.strip(), self.env["TRIB_CACHE_DIR"])
        self.assertEqual(self.trib("config", "get", "dir", "--cache-dir", flag).stdout.strip(), flag)
        self.trib("build", "--cache-dir", flag)
        self.assertTrue(os.path.exists(os.path.join(flag, "v4", "data.mdb")))
        self.assertFalse(os.path.exists(self.env["TRIB_CACHE_DIR"]))

    def test_the_file_keeps_its_comments(self):
        config = os.path.join(self.env["XDG_CONFIG_HOME"], "trib", "config")
        os.makedirs(os.path.dirname(config))
        with open(config, "w", encoding="utf-8") as f:
            f.write("# mine\n\ncache # here\n    # how much\n    max_size = $\n        1GiB\n    l2 = yes\n")
        self.assertEqual(self.trib("config", "get", "cache.max_size").stdout, "1GiB\n")
        self.trib("config", "set", "max_size", "2GiB")
        self.trib("config", "set", "max_age", "30")
        self.trib("config", "unset", "l2")
        self.trib("config", "unset", "l3")
        with open(config, encoding="utf-8") as f:
            self.assertEqual(f.read(), "# mine\n\ncache # here\n    # how much\n    max_size = 2GiB\n    max_age = 30\n")
        self.trib("config", "set", "dir", "/tmp/a b$c")
        self.assertEqual(self.trib("config", "get", "dir").stdout, "/tmp/a b$c\n")

    def test_bad_values(self):
        for name, value, says in (("max_size", "lots", "512MiB"), ("max_size", "1MiB", "16MiB"), ("compress", "20", "19"), ("l2", "maybe", "true or false"),
                                  ("dir", "relative", "absolute"), ("max_age", "0", "positive"), ("dir", "/a #b", "cannot be stored")):
            self.assertIn(says, self.fails("config", "set", name, value, code=2))
        self.assertIn("did you mean `cache.max_size`", self.fails("config", "set", "cache.max_sise", "1GiB", code=2))
        self.assertIn("did you mean `list`", self.fails("config", "lst", code=2))
        self.fails("config", "get", code=2)
        config = os.path.join(self.env["XDG_CONFIG_HOME"], "trib", "config")
        os.makedirs(os.path.dirname(config))
        for text, says in (("cache\n    max_size = 3x\n", "config:2:16"), ("model m\n    entry = x\n", "only the blocks `cache`, `server` and `build`"), ("cache\n    colour = red\n", "its keys are")):
            with open(config, "w", encoding="utf-8") as f:
                f.write(text)
            self.assertIn(says, self.fails("build"))
            self.assertIn(says, self.fails("config", "list"))
        os.unlink(config)
        self.env["TRIB_CACHE_SIZE"] = "3x"
        self.assertIn("TRIB_CACHE_SIZE=3x", self.fails("build"))

    def test_concurrent_processes(self):
        env = {**os.environ, **self.env}
        keys = (("max_size", "1GiB"), ("max_age", "3"), ("max_entries", "9"), ("compress", "3"), ("l2", "off"), ("read_only", "yes"))
        runs = [subprocess.Popen([TRIB, "config", "set", k, v], cwd=self.dir, env=env) for k, v in keys]
        self.assertEqual([r.wait() for r in runs], [0] * len(keys))
        listed = self.listed()
        for k, v in keys:
            self.assertEqual(listed["cache." + k][0], v)


if __name__ == "__main__":
    unittest.main()
