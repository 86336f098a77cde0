"""Extreme sources, as a broken generator might write them: each is accepted or rejected quickly, with a short message."""
import resource
import unittest

from project import SLOWER, ProjectTest

DEEP, MANY = 100_000, 200_000
LONG = 5_000_000
SECONDS = 20 * SLOWER  # of the processor; quadratic work on these takes minutes


def twice_each(first, again, n=40):
    return "".join(again.format(i=i, before=i - 1) if i else first for i in range(n))


NESTED = {
    "parentheses": "main { let x = " + "(" * DEEP + "1" + ")" * DEEP + " }\n",
    "brackets": "main { let x = " + "[" * DEEP + "1" + "]" * DEEP + " }\n",
    "blocks": "main { " + "if true { " * DEEP + "}" * DEEP + " }\n",
    "types": "fn f(x: " + "List<" * DEEP + ">" * DEEP + ") { }\n",
    "calls": "main { print(" + "f(" * DEEP + ")" * DEEP + ") }\n",
    "a sum": "main { let x = " + "1 + " * DEEP + "1 }\n",
}
REFUSED = {
    "an integer": ("E0311", "main { print(" + "1" * LONG + ") }\n"),
    "a string without an end": ("E0006", 'main { print("' + "a" * LONG),
    "bytes": ("E0001", b"\xff" * LONG),
    "errors": ("E0106", "main {\n" + "let = \n" * MANY + "}\n"),
    "errors on a line": ("E0201", "main { " + "let x = zz; " * MANY + "}\n"),
    "arguments": ("E0304", "fn f(a) { return a }\nmain { print(f(" + "1," * MANY + ")) }\n"),
    "sizes": ("E0503", "fn f(" + ",".join(f"x{i}: Tensor<float32, [N{i}]>" for i in range(MANY)) + ") { return x0 }\n"),
    "a shape": ("E0404", "main { print(zeros([" + "1," * MANY + "])) }\n"),
    "aliases": ("E0503", twice_each("type A0<N> = Tensor<float32, [N]>\n", "type A{i}<N> = (A{before}<N>, A{before}<N>)\n") + "fn f(x: A39<2>) { }\n"),
    "layers": ("E0503", twice_each("layer L0() { param w: Tensor<float32, [2]> = ones([2])\n fn forward(x) { return x + w } }\n",
                                   "layer L{i}() {{ let a = L{before}()\n let b = L{before}()\n fn forward(x) {{ return a(x) + b(x) }} }}\n")
               + "main { let m = L39() }\n"),
}
ACCEPTED = {
    "a comment": "#" + "a" * LONG + "\nmain { print(1) }\n",
    "a string": 'main { print(len("' + "a" * LONG + '")) }\n',
    "arguments": "fn f(" + ",".join(f"a{i}" for i in range(MANY)) + ") { return a1 }\n",
    "calls that double": twice_each("fn f0(x) { return x + 1 }\n", "fn f{i}(x) {{ return f{before}(x) + f{before}(x * 2) }}\n") + "fn g(x: Tensor<float32, [N]>) { return f39(x) }\n",
}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


class Extremes(ProjectTest):
    def check(self, source):
        self.write("big.tri", source)
        return self.trib("check", "big.tri", ok=False, preexec_fn=limit)

    def refused(self, name, code, source):
        with self.subTest(name):
            done = self.check(source)
            self.assertEqual(done.returncode, 1, done.stderr[:2000])
            self.assertIn(f"error[{code}]", done.stderr)
            self.assertLess(len(done.stderr), 500_000)

    def test_too_deep(self):
        for name, source in NESTED.items():
            self.refused(name, "E0120", source)

    def test_refused(self):
        for name, (code, source) in REFUSED.items():
            self.refused(name, code, source)

    def test_accepted(self):
        for name, source in ACCEPTED.items():
            with self.subTest(name):
                done = self.check(source)
                self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_many_run_time_sizes_at_a_time(self):
        """The offset of a temporary is the sum of the sizes before it. A longer sum than sizes hold once became 0, so that temporaries overlapped."""
        for n, code in ((20, 0), (60, 1)):
            declared = ", ".join(f"x{k}: Tensor<float32, [N{k}]>" for k in range(n))
            sorts = "".join(f"    let t{k} = sort(x{k})[0]\n" for k in range(n))
            sums = " + ".join(f"t{k}[0] + t{k}.sum()" for k in range(n))
            self.write("many.tri", f"layer many({declared}) {{\n{sorts}    return {sums}\n}}\n")
            inputs = "".join(f"    input x{k} = float32 [?]\n" for k in range(n))
            self.write("tri.build", f"project many\nmodel many\n    sources = many.tri\n    entry = many\n{inputs}")
            done = self.trib("build", "-O0", ok=False)
            self.assertEqual(done.returncode, code, done.stderr[:2000])
            if code:
                self.assertIn("error[E0591]: `many` has too many different run-time sizes at a time", done.stderr)

    def seconds_to_build(self, n, step):
        """Returns the processor time for a unit of n steps that no pass removes."""
        self.write("long.tri", f"fn long(x: Tensor<float32, [8, 8]>) -> Tensor<float32, [8, 8]> {{\n    let y = x\n    for i in 0..{n} {{ y = {step} }}\n    return y\n}}\n")
        self.write("tri.build", "project long\nmodel deep\n    sources = long.tri\n    entry = long\n    emit = library\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.trib("build", "--no-cache", "-j1")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def test_time_is_linear_in_the_size_of_a_unit(self):
        for step, n in (("y - softmax(y)", 200), ("y @ x", 4000)):
            with self.subTest(step):
                few, many = self.seconds_to_build(n, step), self.seconds_to_build(4 * n, step)
                self.assertLess(many, 8 * few + 0.5)  # by the square: 16 times


if __name__ == "__main__":
    unittest.main()
