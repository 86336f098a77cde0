"""C sources of models in place of their libraries: what a test of libraries runs is the source, compiled by a C compiler (c_shim.c)."""
import glob
import os
import re
import subprocess

from project import SOURCE

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SHIM = os.path.join(SOURCE, "tests", "c_shim.c")


def compile_source(path, *flags, compiler="gcc", output="/dev/null"):
    """Compiles the C file with all warnings as errors, as a user who has no library of C would."""
    done = subprocess.run([compiler, *STRICT, *flags, "-c", path, "-o", output], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{compiler} {' '.join(flags)}: {done.stderr[:3000]}")


def link_shim(folder, name, header_name, objects, *flags, compiler="gcc"):
    """Replaces libNAME.so by a library of objects that have the interface of the header. The descriptor is still that of the one for the CPU."""
    library, cpu = os.path.join(folder, f"lib{name}.so"), os.path.join(folder, f"cpu_{name}.so")
    os.replace(library, cpu)
    with open(os.path.join(folder, header_name), encoding="utf-8") as f:
        header = f.read()
    weights = re.findall(rf'#define {name}_WEIGHTS "(.*)"', header)
    words = {"HEADER": f'"{folder}/{header_name}"', "MODEL": name, "CPU_LIBRARY": f'"{cpu}"', "WEIGHTS": f'"{folder}/{weights[0]}"' if weights else '""',
             "ENTRIES(X)": " ".join(f"X({p})" for p in re.findall(r"^int (\w+)_run\(", header, re.M)), **({"STATES": "1"} if "_reset(" in header else {})}
    done = subprocess.run([compiler, "-shared", "-fPIC", *(f"-D{k}={v}" for k, v in words.items()), "-I", SOURCE, *flags, SHIM, *objects, "-o", library, "-lm", "-ldl"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[:3000])


def replace_library(folder, name, compiler="gcc", flags=("-O1", "-ffreestanding")):
    """Replaces libNAME.so by a library of NAME.c."""
    objects = os.path.join(folder, f"{name}.o")
    compile_source(os.path.join(folder, f"{name}.c"), *flags, "-fPIC", compiler=compiler, output=objects)
    link_shim(folder, name, f"{name}.h", [objects], compiler=compiler)


class InC:
    """Mixed into a test: each build also writes sources, which then replace the libraries."""
    compiler, flags = "gcc", ("-O1", "-ffreestanding")
    source_emit, source_end = "c", ".c"

    def replace(self, folder, name):
        replace_library(folder, name, self.compiler, self.flags)

    def setUp(self):
        super().setUp()
        log = os.environ["TRIB_C_RUNS"] = os.path.join(self.tmp, "c_runs")
        self.addCleanup(lambda: self.assertTrue(os.path.exists(log), "no run of a C source"))

    def trib(self, *args, **more):
        if args[0] != "build":
            return super().trib(*args, **more)
        done = super().trib(*args, "--emit", f"library,{self.source_emit}", **more)
        for path in glob.glob(os.path.join(self.dir, "build", f"*{self.source_end}")):
            self.replace(os.path.dirname(path), os.path.basename(path)[:-len(self.source_end)])
        return done
