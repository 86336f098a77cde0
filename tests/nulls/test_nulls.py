"""NULL in every pointer of the public headers is an error or what the header says, never a crash. The C program beside it makes the calls; this reads the headers, so that a new
function, parameter or member without a case fails."""
import glob
import os
import re
import unittest

from project import SOURCE, TRIB, ProjectTest, run

LIB = os.path.join(os.path.dirname(TRIB), "lib/trib")
HEADERS = ("backend/runtime/abi/tri.h", "builder/lib/tri_build.h", "builder/lib/tri_lazy.h", "backend/runtime/abi/tri_live.h")
NET = """\
import nn

layer Net() {
    state k: Tensor<float32, [1, cap T, 8]>
    state steps: Tensor<int32, [2]> = tensor([7, 8])
    let fc = nn.BitLinear(8, 3)
    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 3]> {
        let unused = 1
        steps = steps + 1
        k.append(x.reshape([1, N, 8]), dim=1)
        return fc(x) + k.sum()
    }
}
"""
MANIFEST = """\
model net
    sources = src/net.tri
    entry = Net
    input x = float32 [?, 8]
    state.T = 8
    profile = true
    emit = {}
"""
FUNCTION = re.compile(r"[\w\s*}]*?\b(\w+)\(([^()]*)\)\s*", re.S)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.S)


def declarations(text):
    """A header without comments, preprocessor lines and what only an implementation sees."""
    text = text.split("#if defined(TRI_LIVE_IMPLEMENTATION)")[0]
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    return text.replace('extern "C" {', "")


def pointer_names(owner, declaration):
    """The pointers of `const char *const *models` or `int (*run)(struct tri_model *m, uint32_t entry)`, named after their owner."""
    function = re.search(r"\(\*(\w+)\)\((.*)\)", declaration, re.S)
    if function:
        member = f"{owner}.{function[1]}"
        return [member] + [name for part in function[2].split(",") for name in pointer_names(member, part)]
    names = []
    first, *more = declaration.split(",")
    for part in [first] + more:
        star = re.search(r"(\*(?:\s*const\s*\*)?)\s*(\w+)(?:\[\w+\])?\s*$", part)
        if star:
            names += [f"{owner}.{star[2]}"] + [f"{owner}.{star[2]}[]"] * (star[1].count("*") > 1)
    return names


def pointers(text, prefix=None):
    """Every pointer that a header takes or gives."""
    text = declarations(text)
    found = []
    for name, body in STRUCT.findall(text):
        for member in body.split(";"):
            found += pointer_names(name, member)
    for declaration in re.sub(r"\{[^{}]*\}", "", text).split(";"):
        function = FUNCTION.fullmatch(declaration)
        if function:
            owner = "NAME_" + function[1][len(prefix):] if prefix and function[1].startswith(prefix) else function[1]
            found += [n for p in function[2].split(",") for n in pointer_names(owner, p)]
    return set(found)


class Nulls(ProjectTest):
    def build(self, emit, *flags):
        self.write("src/net.tri", NET)
        self.write("tri.build", MANIFEST.format(emit))
        self.trib("build", *flags)

    def nulls(self, *args):
        """Runs the cases of a command; returns the pointers that behaved."""
        done = run([os.path.join(self.tmp, "nulls"), *args], self.dir, ok=False, env={**self.env, "PATH": os.path.dirname(TRIB) + ":" + os.environ["PATH"]})
        lines = done.stdout.splitlines()
        self.assertEqual([line for line in lines if not line.startswith("ok ")] + [done.stderr], [""], args)
        self.assertEqual(done.returncode, 0)
        return {line[3:] for line in lines}

    def test_every_pointer(self):
        self.build("library header live opencl")
        run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-o", os.path.join(self.tmp, "nulls"), *glob.glob(os.path.join(SOURCE, "tests/nulls/*.c")), "-Ibuild",
             "-I" + os.path.join(SOURCE, "builder/lib"), "-I" + os.path.join(SOURCE, "backend/runtime/abi"), "-L" + LIB, "-Wl,-rpath," + LIB, "-ltrib", "-ldl", "-lpthread"], self.dir)
        wanted = set().union(*(pointers(self.read(os.path.join(SOURCE, h)).decode()) for h in HEADERS))
        wanted |= {n for n in pointers(self.read("build/net.h").decode(), "net_") if n.startswith("NAME_")}
        self.assertGreater(len(wanted), 120)
        model = self.nulls("model", "build/libnet.so")
        self.assertEqual(self.nulls("model", "build/libnet_opencl.so"), model)
        seen = model | self.nulls("live", "./build/libnet.so") | self.nulls("build", ".") | self.nulls("lazy", ".", "net")
        self.build("library", "--lazy")
        self.assertEqual(self.nulls("model", "build/libnet.so"), model)
        self.assertEqual(sorted(wanted - seen), [], "pointers without a case in tests/nulls")
        self.assertEqual(sorted(seen - wanted), [], "cases of no pointer")


if __name__ == "__main__":
    unittest.main()
