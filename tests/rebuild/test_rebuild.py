"""The units that an edit compiles, and the reasons that --explain gives."""
import json
import os
import re
import shutil
import subprocess
import unittest

from project import TRIB, ProjectTest, run

BLOCKS = """\
# Two steps and a small inlined one.
fn scale(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    let doubled = x * 2.0
    return doubled + 1.0
}

fn squash(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    return sigmoid(x) - 0.5
}

@inline
fn shift(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
    return x + 3.0
}
"""
NET = """\
import "blocks.tri" as blocks

layer Net() {
    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
        let a = blocks.scale(blocks.shift(x))
        let b = blocks.squash(a)
        return relu(b)
    }
}
"""
MANIFEST = """\
project rebuild
    version = 1.0

model net
    sources = src/*.tri
    entry   = Net
    input x = float32 [?, 8]
"""


# Block is channels-last from outside because it convolves. Side has nothing to do with that.
CONVOLUTIONS = """\
layer Block() {
    param w: Tensor<float32, [8, 8, 3, 3]> = randn([8, 8, 3, 3])
    fn forward(x: Tensor<float32, [N, 8, 6, 6]>) { return conv2d(x, w, padding=1) + 1.0 }
}

fn side(x: Tensor<float32, [N, 8, 6, 6]>) { return sigmoid(x.sum(dim=1)) * 2.0 }

layer Net() {
    let block = Block()
    fn forward(x: Tensor<float32, [N, 8, 6, 6]>) { return (block(relu(x)), side(x)) }
}
"""


class Layouts(ProjectTest):
    """What a unit's body says of the layouts of its arguments is a part of its interface."""

    def setUp(self):
        super().setUp()
        self.write("net.tri", CONVOLUTIONS)
        self.write("tri.build", "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net\n")
        self.build("-O0")

    def explained(self):
        said = self.trib("build", "-O0", "--explain").stdout
        return dict(re.findall(r"^compile (\w+).*?: (.*)", said, re.M))

    def test_another_layout_compiles_the_callers(self):
        first = self.read("build/libnet.so")
        self.edit("net.tri", "conv2d(x, w, padding=1) + 1.0", "x * w.sum()")
        changed = self.explained()
        self.assertEqual(set(changed), {"Block", "Net"})
        self.assertEqual(changed["Net"], "layouts of arguments changed")
        self.assertRegex(changed["Block"], "its body changed")
        self.edit("net.tri", "x * w.sum()", "conv2d(x, w, padding=1) + 1.0")
        self.assertEqual(self.explained(), {})
        self.assertEqual(self.read("build/libnet.so"), first)

    def test_the_same_layout_compiles_the_unit_alone(self):
        self.edit("net.tri", "padding=1) + 1.0", "padding=1) + 2.0")
        self.assertEqual(set(self.explained()), {"Block"})

    def test_an_entry_is_plain(self):
        self.edit("tri.build", "entry   = Net", "entry   = Net Block")
        changed = self.explained()
        self.assertEqual(changed, {"Block": "layouts of arguments changed", "Net": "layouts of arguments changed"})
        incremental = self.read("build/libnet.so")
        shutil.rmtree(self.path(".trib"))
        self.build("-O0", "--no-cache")
        self.assertTrue(self.read("build/libnet.so") == incremental)


class AnotherCompiler(ProjectTest):
    """A byte at the end of an executable or of a module changes nothing but the compiler's id."""

    def setUp(self):
        super().setUp()
        self.write("src/blocks.tri", BLOCKS)
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST)
        self.modules = self.copy_trib()

    def work(self):
        """How often each stage and pass of the compiler ran in the build of p.json, by its path, and how much checking allocated."""
        paths, calls = [], {}
        for i in json.loads(self.read("p.json"))["items"]:
            paths.append((*(paths[i["parent"]] if "parent" in i else ()), i["name"]))
            if i["kind"] in ("stage", "pass") and paths[-1][0] in ("typecheck", "elaborate", "opt", "codegen") and "calls" in i:
                calls[paths[-1]] = (i["calls"][0], i["allocations"][0] if i["name"] == "check" else 0)
        return calls

    def test_nothing_of_the_old_one_is_used(self):
        total = self.build("-j1", "--profile-out=p.json")["units"]["total"]
        work = self.work()
        self.assertIn(("opt", "fold"), work)
        for file in (self.executable, os.path.join(self.modules, "libtrib-codegen.so")):
            with open(file, "ab") as f:
                f.write(b"\n")
            said = self.trib("build", "-n", "--explain").stdout
            self.assertEqual(len(re.findall(r"^would compile .*: the compiler changed$", said, re.M)), total, said)
            record = self.build("-j1", "--profile-out=p.json")
            self.assertEqual((record["units"]["compiled"], record["units"]["reused"], record["cache"]["hits"]), (total, 0, 0), record)
            self.assertEqual(self.work(), work)

    def test_the_old_one_finds_its_own(self):
        self.build()
        before = os.path.getsize(self.executable)
        with open(self.executable, "ab") as f:
            f.write(b"\n")
        self.build()
        os.truncate(self.executable, before)
        self.assertEqual(self.build()["units"]["compiled"], 0)


class WithoutTheCache(ProjectTest):
    """A project remembers what its last builds compiled: an edit needs no user's cache."""

    def setUp(self):
        super().setUp()
        self.write("src/blocks.tri", BLOCKS)
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST + "    emit = library opencl\n")

    def compiled(self, *flags):
        return self.build(*flags)["units"]["compiled"]

    def edit_once(self, *flags):
        """Compiles one unit for each back end."""
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        self.assertEqual(self.compiled(*flags), 2)
        self.edit("src/blocks.tri", "sigmoid(x) - 0.25", "sigmoid(x) - 0.5")
        self.assertEqual(self.compiled(*flags), 0)

    def test_no_cache(self):
        self.assertGreater(self.compiled("--no-cache"), 2)
        self.edit_once("--no-cache")

    def test_cache_switched_off(self):
        self.env["TRIB_CACHE"] = "off"
        self.compiled()
        self.edit_once()

    def test_cache_cleared(self):
        self.compiled()
        self.trib("cache", "clear")
        self.edit_once()

    def test_a_build_that_was_copied_from_the_cache(self):
        self.compiled()
        first = self.dir
        self.dir = os.path.join(self.tmp, "clone")
        shutil.copytree(first, self.dir, ignore=shutil.ignore_patterns("build", ".trib"))
        self.assertEqual(self.compiled(), 0)
        self.trib("cache", "clear")
        self.edit_once()

    def test_lazy(self):
        self.compiled("--lazy", "--no-cache")
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        record = self.build("--lazy", "--no-cache")
        self.assertEqual(record["cache"]["misses"], 2)

    def test_another_level_and_back(self):
        self.compiled("-O1", "--no-cache")
        self.assertGreater(self.compiled("-O2", "--no-cache"), 0)
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        self.assertEqual(self.compiled("-O1", "--no-cache"), 2)

    def test_a_failed_build_keeps_what_it_compiled(self):
        self.write("tri.build", MANIFEST)
        self.compiled("--no-cache")
        os.remove(self.path("build/libnet.so"))
        os.mkdir(self.path("build/libnet.so"))
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        self.assertNotEqual(self.trib("build", "--no-cache", ok=False).returncode, 0)
        os.rmdir(self.path("build/libnet.so"))
        self.assertEqual(self.compiled("--no-cache"), 0)

    def test_a_damaged_log_is_made_again(self):
        self.compiled("--no-cache")
        folder = self.path(".trib/fragments")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "r+b") as f:
                f.seek(200)
                f.write(bytes(100))
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        self.compiled("--no-cache")
        incremental = self.read("build/libnet.so")
        self.trib("clean")
        self.compiled("--no-cache")
        self.assertEqual(self.read("build/libnet.so"), incremental)


class TwoBackEnds(ProjectTest):
    """Each back end of a model has its own units: planned, kept and explained by themselves."""

    def setUp(self):
        super().setUp()
        self.write("src/blocks.tri", BLOCKS)
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST)
        self.units = self.build()["units"]["total"]
        self.write("tri.build", MANIFEST + "    emit = library opencl\n")

    def test_units_are_counted_for_each(self):
        units = self.build()["units"]
        self.assertEqual((units["total"], units["compiled"], units["reused"]), (2 * self.units, self.units, self.units))

    def test_an_edit_compiles_the_unit_for_each(self):
        self.build()
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        said = self.trib("build", "--explain").stdout
        for title in ("the CPU", "OpenCL"):
            self.assertRegex(said, rf"compile squash .* for {title}: its body changed")
        self.assertIn(f"trib: 2 compiled, {2 * self.units - 2} reused, 1 linked", said)

    def test_unchanged_units_are_neither_planned_nor_built(self):
        self.build()
        before = self.read("build/libnet_opencl.so")
        os.remove(self.path("build/libnet_opencl.so"))
        record = self.build()
        self.assertEqual((record["units"]["compiled"], record["cache"]["misses"]), (0, 0))
        self.assertEqual(self.read("build/libnet_opencl.so"), before)

    def test_the_library_does_not_depend_on_the_cache(self):
        self.build()
        before = self.read("build/libnet_opencl.so")
        shutil.rmtree(self.path("build"))
        shutil.rmtree(self.path(".trib"))
        self.assertEqual(self.build("--no-cache", "-j4")["units"]["compiled"], 2 * self.units)
        self.assertEqual(self.read("build/libnet_opencl.so"), before)

    def test_weights_are_packed_once(self):
        self.edit("src/net.tri", "layer Net() {", "layer Net() {\n    param w: Tensor<float32, [8]> = randn([8])")  # no kernel packs it
        self.edit("src/net.tri", "return relu(b)", "return relu(b * w)")
        self.assertEqual(self.build()["weights"]["packed"], 1)


class Summaries(ProjectTest):
    """Program passes read the summaries that the records of unchanged units have."""

    def setUp(self):
        super().setUp()
        self.write("src/blocks.tri", BLOCKS)
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST)

    def summarised(self):
        said = self.trib("build", "--timing").stdout
        found = re.search(r"(?m)^ +summarise +\S+ \S+ +\S+ % +\S+ \S+ +(\d+) ", said)
        return int(found[1]) if found else 0

    def test_an_edit_summarises_one_unit(self):
        self.write("src/blocks.tri", BLOCKS.replace("@inline\n", ""))
        self.assertEqual(self.summarised(), 4)
        self.write("src/blocks.tri", BLOCKS.replace("@inline\n", "").replace("- 0.5", "- 0.25"))
        self.assertEqual(self.summarised(), 1)

    def test_what_is_inlined_has_no_record(self):
        self.assertEqual(self.summarised(), 4)
        self.write("src/blocks.tri", BLOCKS.replace("- 0.5", "- 0.25"))
        self.assertEqual(self.summarised(), 2)


class Rebuild(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("src/blocks.tri", BLOCKS)
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST)
        first = self.build()
        self.total = first["units"]["total"]
        self.assertEqual(first["units"]["compiled"], self.total)
        self.assertGreaterEqual(self.total, 3)

    def test_moved_files_and_definitions(self):
        before = self.read("build/libnet.so")
        os.makedirs(self.path("src/parts"))
        os.rename(self.path("src/blocks.tri"), self.path("src/parts/steps.tri"))
        self.edit("src/net.tri", '"blocks.tri"', '"parts/steps.tri"')
        self.assertEqual(self.build()["units"]["compiled"], 0)
        squash = BLOCKS[BLOCKS.index("fn squash"):BLOCKS.index("@inline")]
        self.edit("src/parts/steps.tri", squash, "")
        self.write("src/net.tri", self.read("src/net.tri").decode().replace("blocks.squash", "squash") + squash)
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertFalse(self.read("build/libnet.so") == before, "the library has the old lines")

    def lines(self):
        """For each unit the lines of its code, as a debugger sees them."""
        said = subprocess.run(["readelf", "--debug-dump=decodedline", self.path("build/libnet.so")], check=True, capture_output=True, text=True).stdout
        return [(path, int(line)) for path, line in re.findall(r"^(\S+\.tri) +(\d+) +0x", said, re.M)]

    def test_moved_lines(self):
        """Nothing is compiled when lines move, and the library has today's lines; comments that move nothing change nothing."""
        before, moved = self.lines(), self.read("build/libnet.so")
        self.assertIn(("src/blocks.tri", 4), before)
        self.edit("src/blocks.tri", "# Two steps", "# One\n# Two steps")
        again = self.build()
        self.assertEqual(again["units"]["compiled"], 0)
        self.assertEqual(self.lines(), [(path, line + (path == "src/blocks.tri")) for path, line in before])
        self.edit("src/blocks.tri", "# One", "# Another text")
        self.assertEqual(self.build()["phases_ms"]["link"], 0)
        self.edit("src/blocks.tri", "# Another text\n", "")
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertTrue(self.read("build/libnet.so") == moved, "another library")

    def test_inlined_lines(self):
        """Code of an inlined function names it and the place of the call; a loop of several lines names all of them."""
        said = self.trib("build", "--dump-loops").stdout
        self.assertRegex(said, r"; %\d+ src/blocks.tri:13:\d+ add in src/net.tri:5:\d+ shift")
        ir = self.trib("build", "--dump-ir").stdout
        self.assertRegex(ir, r"(?m)^%\d+ = add .* ; src/blocks.tri:13:\d+ add in src/net.tri:5:\d+ shift$")
        self.assertEqual(re.findall(r"(?m)^%\d+ = [^;]*$", ir), [], "instructions without a place")
        loops = re.findall(r"nest of \[%\d+(?:, %\d+)+\]", said)
        self.assertTrue(loops, said)
        info = subprocess.run(["readelf", "--debug-dump=info", self.path("build/libnet.so")], check=True, capture_output=True, text=True).stdout
        self.assertIn("DW_TAG_inlined_subroutine", info)
        self.assertRegex(info, r"DW_AT_name +: shift \[N, 8\]")

    def test_definitions_of_one_name(self):
        """Two of the same name in different files are two, whichever is loaded first."""
        self.write("src/more.tri", BLOCKS.replace("- 0.5", "- 0.25"))
        self.edit("src/net.tri", "layer Net", 'import "more.tri" as more\n\nlayer Net')
        self.edit("src/net.tri", "return relu(b)", "return relu(more.squash(b))")
        self.assertEqual(self.build()["units"]["compiled"], 2)
        self.edit("src/more.tri", "- 0.25", "- 0.125")
        self.assertEqual(self.build()["units"]["compiled"], 1)
        units = re.findall(r"^fn (squash_[0-9a-f]{16})\(", self.trib("build", "--dump-ir").stdout, re.M)
        self.assertEqual(len(set(units)), 2, units)

    def test_second_build_reads_nothing(self):
        again = self.build()
        work = {name: ms for name, ms in again["phases_ms"].items() if name not in ("setup", "cache")}
        self.assertEqual(set(work.values()), {0}, again)

    def compiled(self, *args):
        return self.build(*args)["units"]["compiled"]

    def explain(self):
        return self.trib("build", "--explain")

    def test_nothing_changed(self):
        self.assertEqual(self.compiled(), 0)

    def test_another_trib(self):
        """The build record of one trib does not count for another trib, in any folder."""
        other = self.path("other/trib")
        os.makedirs(os.path.dirname(other))
        shutil.copy2(TRIB, other)
        os.symlink(os.path.join(os.path.dirname(TRIB), "lib"), self.path("other/lib"))
        with open(other, "ab") as f:
            f.write(b"newer")
        self.assertIn(f"{self.total} compiled", run([other, "build"], self.dir, True, self.env).stdout)
        self.assertIn("nothing to do", run([other, "build"], self.dir, True, self.env).stdout)

    def test_warnings_are_repeated(self):
        self.edit("src/net.tri", "return relu(b)", "let idle = b\n        return relu(b)")
        first = self.trib("build")
        self.assertIn("W0201", first.stderr)
        again = self.trib("build")
        self.assertEqual((again.stdout, again.stderr), ("trib: nothing to do\n", first.stderr))
        self.edit("src/blocks.tri", "# Two steps", "# Two good steps")
        self.assertEqual(self.trib("build").stderr, first.stderr)
        self.assertIn("warnings are denied", self.fails("build", "--deny-warnings"))

    def test_denied_warnings_leave_the_last_good_library(self):
        before = self.read("build/libnet.so")
        self.edit("src/net.tri", "return relu(b)", "let idle = b\n        return relu(b + 1.0)")
        for _ in range(2):
            self.assertIn("warnings are denied", self.fails("build", "--deny-warnings"))
            self.assertTrue(self.read("build/libnet.so") == before)
        self.edit("src/net.tri", "let idle = b\n", "")
        self.build("--deny-warnings")
        self.assertTrue(self.read("build/libnet.so") != before)

    def test_touch(self):
        os.utime(self.path("src/blocks.tri"))
        self.assertEqual(self.compiled(), 0)

    def test_comment_white_space_and_local_rename(self):
        self.edit("src/blocks.tri", "# Two steps", "# Two good steps")
        self.assertEqual(self.compiled(), 0)
        self.edit("src/blocks.tri", "    return doubled + 1.0", "\n\n      return doubled   + 1.0  # shifted\n")
        self.assertEqual(self.compiled(), 0)
        self.edit("src/blocks.tri", "doubled", "twice")
        self.assertEqual(self.compiled(), 0)

    def test_body_edit_compiles_that_unit_alone_and_says_why(self):
        self.edit("src/blocks.tri", "doubled + 1.0", "doubled + 1.5")
        said = self.explain()
        lines = [line for line in (said.stdout + said.stderr).splitlines() if "body" in line]
        self.assertEqual(len(lines), 1, said.stdout + said.stderr)
        self.assertIn("scale", lines[0])
        self.assertIn("src/blocks.tri:2", lines[0])

    def test_body_edit_count(self):
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        self.assertEqual(self.compiled(), 1)

    def test_edit_of_an_inlined_function_compiles_its_users(self):
        self.edit("src/blocks.tri", "x + 3.0", "x + 4.0")
        said = self.explain()
        self.assertIn("shift", said.stdout + said.stderr)
        self.edit("src/blocks.tri", "x + 4.0", "x + 5.0")
        self.assertEqual(self.compiled(), 1)

    def test_an_attribute_of_a_callee_changes_its_callers(self):
        self.edit("src/blocks.tri", "fn squash", "@inline\nfn squash")
        self.assertEqual(self.compiled(), 1)  # Net takes it in
        self.edit("src/blocks.tri", "sigmoid(x) - 0.5", "sigmoid(x) - 0.25")
        self.assertEqual(self.compiled(), 1)
        self.edit("src/blocks.tri", "@inline\nfn squash", "fn squash")
        self.assertEqual(self.compiled(), 1)  # squash, which is new; Net is what it was at first

    def test_an_effect_in_a_callee_keeps_the_call(self):
        self.edit("src/net.tri", "return relu(b)", "return relu(a)")
        self.assertEqual(self.compiled(), 1)
        self.edit("src/blocks.tri", "return sigmoid(x) - 0.5", "assert x.sum() > -1e30, \"small\"\n    return sigmoid(x) - 0.5")
        self.build()
        incremental = self.read("build/libnet.so")
        shutil.rmtree(self.path(".trib"))
        self.build("--no-cache")
        self.assertTrue(self.read("build/libnet.so") == incremental)

    def test_going_back_needs_no_compiler(self):
        self.edit("src/blocks.tri", "doubled + 1.0", "doubled + 1.5")
        self.assertEqual(self.compiled(), 1)
        self.edit("src/blocks.tri", "doubled + 1.5", "doubled + 1.0")
        self.assertEqual(self.compiled(), 0)

    def test_content_changed_with_the_old_time_stamp(self):
        path = self.path("src/blocks.tri")
        before = os.stat(path)
        self.edit("src/blocks.tri", "doubled + 1.0", "doubled + 7.0")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(self.compiled(), 1)

    def test_option_change(self):
        self.assertEqual(self.compiled("-O0") > 0, True)
        self.assertEqual(self.compiled(), 0)

    def test_lost_output_is_linked_again(self):
        want = self.read("build/libnet.so")
        os.unlink(self.path("build/libnet.so"))
        self.assertEqual(self.compiled(), 0)
        self.assertTrue(self.read("build/libnet.so") == want)

    def test_dry_run_for_programs(self):
        self.edit("src/blocks.tri", "+ 1.0", "+ 2.0")
        said = [json.loads(line) for line in self.trib("build", "-n", "--message-format=json").stdout.splitlines()]
        self.assertEqual([r["type"] for r in said], ["compile", "link", "build"])
        self.assertEqual(said[0]["name"], "scale [N, 8]")
        self.assertIn("src/blocks.tri", said[0]["reason"])
        self.assertEqual(said[1]["name"], "build/libnet.so")

    def test_dry_run_changes_nothing(self):
        want = self.read("build/libnet.so")
        self.edit("src/blocks.tri", "doubled + 1.0", "doubled + 1.5")
        said = self.trib("build", "-n")
        self.assertIn("scale", said.stdout + said.stderr)
        self.assertTrue(self.read("build/libnet.so") == want)
        self.assertEqual(self.compiled(), 1)

    def test_any_number_of_jobs_and_a_clean_build_give_the_same_bytes(self):
        self.edit("src/blocks.tri", "doubled + 1.0", "doubled + 1.5")
        self.build()
        incremental = self.read("build/libnet.so")
        for jobs in ("-j1", "-j4"):
            shutil.rmtree(self.path(".trib"))
            shutil.rmtree(self.path("build"))
            shutil.rmtree(self.env["XDG_CACHE_HOME"])
            self.build(jobs)
            self.assertTrue(self.read("build/libnet.so") == incremental)

    def test_clean(self):
        self.trib("clean")
        self.assertFalse(os.path.exists(self.path("build")))
        self.assertFalse(os.path.exists(self.path(".trib")))
        self.build()
        self.assertTrue(os.path.exists(self.path("build/libnet.so")))


class Control(ProjectTest):
    """The sides of a branch and the body of a loop are units of their own, named after what is in them."""

    def setUp(self):
        super().setUp()
        self.write("src/net.tri", """\
layer Net() {
    param w: Tensor<float32, [8, 8]> = randn([8, 8])
    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {
        let y = x
        while y.sum() > 1.0 { y = y * 0.5 }
        let settled = w
        while settled.max() > 0.5 { settled = settled * 0.5 }
        if y.sum() > 0.0 { y = x @ w } else { y = softmax(y) @ settled }
        return y
    }
}
""")
        self.write("tri.build", MANIFEST)
        self.build()

    def compiled(self):
        return self.build()["units"]["compiled"]

    def test_an_edit_of_one_side_leaves_the_other(self):
        self.edit("src/net.tri", "y = x @ w }", "y = x @ w + 1.0 }")
        self.assertEqual(self.compiled(), 2)  # the side, and what names it
        self.edit("src/net.tri", "let y = x\n", "let y = x  # the same\n")
        self.assertEqual(self.compiled(), 0)

    def test_an_edit_of_a_loop_of_parameters_changes_the_weights_alone(self):
        before = self.read("build/libnet.so")
        self.edit("src/net.tri", "settled = settled * 0.5", "settled = settled * 0.25")
        self.assertEqual(self.compiled(), 0)
        self.assertTrue(self.read("build/libnet.so") != before)

    def test_an_edit_of_what_a_loop_of_parameters_calls_changes_the_weights(self):
        self.edit("src/net.tri", "layer Net() {", "@noinline\nfn step(w: Tensor<float32, [8, 8]>) -> Tensor<float32, [8, 8]> { return w * 0.5 }\n\nlayer Net() {")
        self.edit("src/net.tri", "settled = settled * 0.5", "settled = step(settled)")
        self.build()
        before = self.read("build/libnet.so")
        self.edit("src/net.tri", "return w * 0.5", "return w * 0.25")
        self.assertEqual(self.compiled(), 0)
        self.assertTrue(self.read("build/libnet.so") != before)


if __name__ == "__main__":
    unittest.main()
