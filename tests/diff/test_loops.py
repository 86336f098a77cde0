"""The interpreter of the loop IR against the reference interpreter (loop-run), and the text of the loop IR (loop-ir), on whole programs.

LOOP_RUN and LOOP_IR are the paths of these two tools."""
import os
import shutil
import unittest

from project import SOURCE, ProjectTest, run
import test_programs as programs

CONFIGURATIONS = [("x86-64-v2", "-O0"), ("x86-64-v3", "-O1"), ("x86-64-v4", "-O2"), ("x86-64-v3", "-O3"), ("opencl", "-O0"), ("opencl", "-O1"),
                  ("opencl-wide", "-O1")]
IMAGES = ["Vgg16", "ResNet18", "ResNet50", "MobileNetV2", "EfficientNetB0", "DenseNet201", "VitB16"]


class LoopTest(ProjectTest):
    def loop_run(self, target, *words):
        return run([os.environ["LOOP_RUN"], target, "run", *words], self.dir, True, self.env)

    def check_text(self, level):
        text = self.trib("build", level, "--dump-loops").stdout
        self.write("all.loops", "".join(line for line in text.splitlines(True) if line[0] not in ";="))  # without places in the source and names of models
        run([os.environ["LOOP_IR"], "all.loops"], self.dir)


class Programs(programs.Programs, LoopTest):
    def check(self, name, n, target, level):
        rng = programs.generator(name, n)
        inputs = {k: programs.draw(rng, s, {"N": n, "M": 3, "T": 5}) for k, s in programs.PROGRAMS[name][0].items()}
        with self.subTest(program=name, batch=n, target=target, level=level):
            self.loop_run(target, name, level, *self.input_flags(inputs))

    def test_every_level_against_numpy(self):
        for target, level in CONFIGURATIONS:
            for name in programs.PROGRAMS:
                self.check(name, 5, target, level)

    def test_interpreter_against_numpy(self):
        for n in (0, 1, 33):
            for name in programs.PROGRAMS:
                if n or name not in programs.NOT_EMPTY:
                    self.check(name, n, "x86-64-v3", "-O1")

    def test_text(self):
        self.check_text("-O0")
        self.check_text("-O1")


class Zoo(LoopTest):
    def setUp(self):
        super().setUp()
        for name in os.listdir(os.path.join(SOURCE, "examples", "zoo")):
            if name.endswith(".tri"):
                shutil.copy(os.path.join(SOURCE, "examples", "zoo", name), self.dir)
        shutil.copy(os.path.join(SOURCE, "tests", "diff", "zoo_small.tri"), self.dir)
        models = "".join(f"\nmodel {m}\n    sources = zoo_small.tri\n    entry = {m}\n" for m in [*IMAGES, "MnistMlp", "BitNet2B"]).replace("entry = BitNet2B", "entry = BitNet2B.prefill")
        self.write("tri.build", "project zoo\n    version = 1.0\n" + models)

    def test_loops(self):
        for target, level in (("x86-64-v3", "-O1"), ("opencl", "-O1"), ("opencl-wide", "-O1")):
            for model in IMAGES:
                with self.subTest(model=model, target=target):
                    self.loop_run(target, model, level, "--input", "x=random:1x3x32x32")
            self.loop_run(target, "MnistMlp", level, "--input", "x=random:2x1x28x28")

    def test_text(self):
        self.check_text("-O1")


if __name__ == "__main__":
    unittest.main()
