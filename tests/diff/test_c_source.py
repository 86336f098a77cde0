"""What other tests run in libraries for the CPU, run in C sources."""
import os
import re
import subprocess
import unittest

import numpy as np

import random_states
import test_caches
import test_control
import test_empty
import test_indexing
import test_lines
import test_programs
from inference import InferenceTest
from project import SOURCE, ProjectTest
from c_source import STRICT, InC, compile_source, replace_library

COMPILERS = [(c, *flags) for c in ("gcc", "clang") for flags in (("-O0",), ("-O2", "-ffreestanding"))]


class Programs(InC, test_programs.Programs):
    def test_every_level_against_numpy(self):
        for level, self.compiler in (("-O1", "gcc"), ("-O2", "clang")):
            self.trib("build", level)
            self.compare(test_programs.PROGRAMS, test_programs.BATCHES)

    def test_compilers(self):
        self.trib("build", "-q")
        for name in test_programs.PROGRAMS:
            for compiler, *flags in COMPILERS:
                compile_source(self.path(f"build/{name}.c"), *flags, compiler=compiler)
        self.compare(("ints",), (1,))

    test_interpreter_against_numpy = None


class Indexing(InC, test_indexing.IndexingTest):
    def test_random_brackets(self):
        for dynamic in (False, True):
            brackets = self.draw(30, dynamic)
            self.trib("build")
            self.compare(brackets, "C")

    def test_out_of_range(self):
        self.check_out_of_range("library", "cpu")


class Lines(InC, test_lines.LinesTest):
    def test_all(self):
        for name in test_lines.CASES:
            self.fail_at(name, "library", "cpu")


class Control(InC, test_control.Control):
    def test_every_level(self):
        self.trib("build")
        self.compare()

    test_interpreter = None


class Empty(InC, test_empty.Empty):
    builds = (("-O1",),)


class Caches(InC, test_caches.Caches):
    def test_every_level(self):
        """Few steps, as on devices: later ones subtract sums of 10^7, which other orders round to other numbers."""
        self.trib("build")
        m = self.open("libnet.so")
        self.steps(m, (3, 1, 1, 5, 1))
        m.reset()
        self.steps(m, (5, 1, 1))

    test_threads_compute_the_same = test_opencl = test_saved_in_another_library = test_loop_interpreter = test_grows_in_place = None


class RandomStates(InC, random_states.RandomStates):
    pass


class Digits(InferenceTest):
    example = "digits"

    def test_the_same_as_the_library(self):
        self.trib("build", "--emit", "library,c")
        images = {"x": np.asarray(np.random.default_rng(3).integers(0, 17, (50, 64)), np.float32)}
        want = self.infer("digits", images, 0)[0]
        for compiler in ("gcc", "clang"):
            self.trib("build", "--emit", "library,c")
            replace_library(self.path("build"), "digits", compiler)
            np.testing.assert_allclose(self.infer("digits", images, 0)[0], want, 1e-5, 1e-5)

    def test_program_of_the_readme(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
            program = next(b for b in f.read().split("```") if '"mynet.h"' in b)
        self.trib("build", "--emit", "c")
        self.write("main.c", program.replace("mynet", "digits"))
        done = subprocess.run(["gcc", *STRICT, "-I", self.path("build"), self.path("main.c"), self.path("build/digits.c"), "-o", self.path("main"), "-lm"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([self.path("main")], check=True)


class Files(ProjectTest):
    MANIFEST = "project net\n\nmodel net\n    sources = net.tri\n    entry = net\n    emit = {}\n{}"

    def write_net(self, columns, emit, more=""):
        self.write("net.tri", f"import nn\nlayer net() {{\n    let a = nn.Linear(64, {columns})\n    fn forward(x: Tensor<float32, [N, 64]>) {{ return a(x) }}\n}}\n")
        self.write("tri.build", self.MANIFEST.format(emit, more))

    def weights(self):
        return sorted(f for f in os.listdir(self.path("build")) if f.endswith(".triw"))

    def test_weights_are_inside_up_to_a_mebibyte(self):
        for columns, files in ((4000, 0), (4100, 1)):
            self.write_net(columns, "c")
            self.trib("build")
            self.assertEqual(len(self.weights()), files)
            compile_source(self.path("build/net.c"))

    def test_each_output_has_its_weight_file(self):
        self.write_net(5000, "library c", "    weights.inside = 1KiB\n")
        self.trib("build")
        both = self.weights()
        self.assertEqual(len(both), 2)
        self.trib("build")
        self.assertEqual(self.weights(), both)
        self.trib("run", "net", "--no-build", "--input", "x=random")
        replace_library(self.path("build"), "net")
        self.trib("run", "net", "--no-build", "--input", "x=random")
        self.write_net(5001, "library c", "    weights.inside = 1KiB\n")
        self.trib("build")
        self.assertEqual(len(self.weights()), 2)
        self.assertFalse(set(self.weights()) & set(both))

    def test_another_weight_file_is_refused(self):
        self.write_net(5000, "library c")
        self.trib("build")
        replace_library(self.path("build"), "net")
        file = self.path(f"build/{self.weights()[0]}")
        with open(file, "r+b") as f:
            f.seek(30)  # the digest
            f.write(b"other")
        self.assertIn("is not the weight file of this model", self.fails("run", "net", "--no-build", "--input", "x=random", code=3))

    def test_refusals(self):
        self.write_net(10, "library header c")
        self.assertIn("`build/net.h` twice", self.fails("build"))
        self.write_net(10, "c", "    profile = true\n")
        self.assertIn("W0806", self.trib("build").stderr)

    def test_names_of_models_are_not_those_of_helpers(self):
        for name in ("places", "table0", "weight0"):
            self.write_net(10, "c")
            self.edit("tri.build", "model net", f"model {name}")
            self.trib("build")
            compile_source(self.path(f"build/{name}.c"))

    def test_names_of_the_c_library(self):
        """Each function of the headers that a source includes, and of some that its callers include."""
        headers = "".join(f"#include <{h}.h>\n" for h in ("stdint", "stddef", "math", "string"))
        subprocess.run(["gcc", "-xc", "-aux-info", self.path("functions"), "-S", "-o", "/dev/null", "-"], input=headers, text=True, check=True)
        with open(self.path("functions"), encoding="utf-8") as f:
            names = {*re.findall(r"(?<=[ *])([a-z]\w*) \(", f.read()), "printf", "exit", "float_t", "signgam"}
        self.assertGreater(len(names), 250)
        self.write_net(10, "c")
        for name in sorted(names):
            self.edit("tri.build", "project net\n", f"project net\n\nmodel {name}\n    sources = net.tri\n    entry = net\n    emit = c\n")
        said = self.fails("check")
        self.assertEqual({n for n in names if f"`{n}`" not in said}, set())
        self.write_net(10, "library c")
        self.edit("tri.build", "model net", "model exp")
        self.assertIn("remove `c` from `emit`", self.fails("build"))
        self.trib("build", "--emit", "library")

    def test_names_of_inputs_and_entries(self):
        inputs = ("NULL", "INT64_MAX", "size_t", "uint8_t", "NAN", "M_PI", "errno", "unix", "TRI_OK", "TRI_TENSOR", "exp", "memcpy", "isnan", "io")
        text = ", ".join(f"{n}: Tensor<float32, [SIZE_MAX]>" for n in inputs)
        self.write("net.tri", "".join(f"fn {e}({text}) {{ return {' + '.join(inputs)} }}\n" for e in ("exp", "memcpy")))
        self.write("tri.build", self.MANIFEST.format("c", "").replace("= net\n", "= exp memcpy\n"))
        self.trib("build")
        for flags in ((), ("-std=gnu17",)):
            compile_source(self.path("build/net.c"), "-include", "errno.h", *flags)

    def test_model_that_did_not_open(self):
        self.write_net(5000, "c")
        self.trib("build")
        self.write("main.c", """#include <string.h>
#include "build/net.h"
int main(void)
{
	float x[64] = {0}, y[5000];
	net m;
	net_io io = {{x, {1, 64}, 2, TRI_FLOAT32}, {y, {1, 5000}, 2, TRI_FLOAT32}};
	tri_error err;
	if (net_open(&m, 0, &err) != TRI_ERR_WEIGHTS)
		return 1;
	if (net_scratch_bytes(&m, &io, &err) != UINT64_MAX || strcmp(err.message, "the model is not open") != 0)
		return 2;
	err.message[0] = 0;
	return net_run(&m, &io, 0, 0, &err) != TRI_ERR_ARGUMENT || strcmp(err.message, "the model is not open") != 0 ? 3 : 0;
}
""")
        subprocess.run(["gcc", *STRICT, self.path("main.c"), self.path("build/net.c"), "-o", self.path("main"), "-lm"], check=True)
        subprocess.run([self.path("main")], check=True)

    def test_long_texts(self):
        text = "it's" * 1024
        self.write("net.tri", f"""layer net() {{
    fn forward(x: Tensor<float32, [N]>) -> Tensor<float32, [N]> {{
        print(f"{text}{{x}}")
        assert(x[0] > 0.0, "{text}")
        return x + x
    }}
}}
""")
        self.write("tri.build", self.MANIFEST.format("library c", ""))
        self.trib("build")
        replace_library(self.path("build"), "net")
        said = self.fails("run", "net", "--no-build", "--input", "x=zeros:4")
        self.assertIn(text + "{}\n (1 values)", said)
        self.assertIn("net.tri:4: it'sit's", said)

    def test_text_of_an_assertion(self):
        for text, want in (('f"{{1}}"', ": {1}"), ('f"{{{x[0, 0]}}}"', ": {{{}}}")):
            self.write_net(10, "library c")
            self.edit("net.tri", "return", f"assert(x[0, 0] > 2.0, {text})\n        return")
            self.trib("build")
            replace_library(self.path("build"), "net")
            self.assertIn(want, self.fails("run", "net", "--no-build", "--input", "x=ones:1x64"))

    def test_products_are_rounded(self):
        self.write("net.tri", "layer net() {\n    fn forward(x: Tensor<float32, [64]>) -> Tensor<float32, [64]> { return x * x + x }\n}\n")
        self.write("tri.build", self.MANIFEST.format("c", ""))
        self.trib("build")
        for compiler in ("gcc", "clang"):
            assembly = subprocess.run([compiler, "-O2", "-mfma", "-S", "-o", "-", self.path("build/net.c")], capture_output=True, text=True, check=True).stdout
            self.assertIn("mul", assembly)
            self.assertNotIn("vfm", assembly)

    def test_the_largest_sizes(self):
        self.write("net.tri", "layer net() {\n    fn forward(x: Tensor<int8, [N - 3]>) -> Tensor<int8, [N]> { return concat([x, zeros([3], dtype=int8)], dim=0) }\n}\n")
        self.write("tri.build", self.MANIFEST.format("c", ""))
        self.trib("build")
        self.write("main.c", """#include "build/net.h"
int main(void)
{
	net m;
	net_io io = {{&m, {INT64_MAX}, 1, TRI_INT8}, {&m, {INT64_MAX}, 1, TRI_INT8}};
	return net_open(&m, 0, 0) == TRI_OK && net_scratch_bytes(&m, &io, 0) == UINT64_MAX ? 0 : 1;
}
""")
        sanitize = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
        subprocess.run(["gcc", *STRICT, *sanitize, self.path("main.c"), self.path("build/net.c"), "-o", self.path("main"), "-lm"], check=True)
        subprocess.run([self.path("main")], check=True)

    def test_code_can_be_dumped(self):
        self.write_net(10, "c")
        self.assertIn("static void net_", self.trib("build", "--dump-code").stdout)


if __name__ == "__main__":
    unittest.main()
