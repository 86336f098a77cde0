"""What other tests run in libraries for the CPU, run in C sources."""
import os
import unittest

import random_states
import test_caches
import test_control
import test_empty
import test_indexing
import test_lines
import test_programs
from c_source import InC, compile_source

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


if __name__ == "__main__":
    unittest.main()
