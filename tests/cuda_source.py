"""CUDA sources of models in place of their libraries: what a test of libraries runs is the sources, on the CPU (cuda_driver/emulator.c)."""
import os
import shutil
import subprocess

from c_source import STRICT, InC, link_shim
from project import SOURCE

DRIVER = os.path.join(SOURCE, "tests", "cuda_driver")
WARNINGS = ("-Wall", "-Werror", "-Wno-unknown-attributes", "-Wno-ignored-attributes", "-Wno-unused-function")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stderr[:3000]}")


def compile_for_devices(path, with_nvcc=True):
    """Compiles the kernels with all warnings as errors: with clang, without CUDA's headers; with nvcc and its headers if they are there."""
    for clang in filter(shutil.which, ("clang", "clang-19")):
        run(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-O1", "-Wall", "-Werror",
            "-I", DRIVER, "-S", path, "-o", "/dev/null")
    nvcc = shutil.which("nvcc", path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")
    if nvcc and with_nvcc:
        for arch in ("sm_80", "sm_90"):
            run(nvcc, f"-arch={arch}", "--fmad=false", "-Werror", "all-warnings", "-c", path, "-o", path + ".o")
        run("gcc", *STRICT, "-isystem", os.path.join(os.path.dirname(os.path.dirname(nvcc)), "include"), "-c", path[:-len(".cu")] + "_cuda.c", "-o", path + ".o")


def compile_for_emulator(folder, name, *flags):
    """Returns the object files of NAME.cu, NAME_cuda.c and the emulator."""
    paths = [os.path.join(folder, name + end) for end in (".cu.o", "_cuda.o", "_emulator.o")]
    run("clang", "-x", "c++", "-O1", "-ffp-contract=off", "-fPIC", *WARNINGS, *flags, "-I", DRIVER, "-c", os.path.join(folder, f"{name}.cu"), "-o", paths[0])
    run("gcc", *STRICT, "-O1", "-fPIC", "-I", DRIVER, "-c", os.path.join(folder, f"{name}_cuda.c"), "-o", paths[1])
    run("gcc", "-O1", "-fPIC", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-I", DRIVER, "-c", os.path.join(DRIVER, "emulator.c"), "-o", paths[2])
    return paths


def replace_library(folder, name, *flags):
    """Replaces libNAME.so by a library of NAME.cu and NAME_cuda.c."""
    link_shim(folder, name, f"{name}_cuda.h", compile_for_emulator(folder, name, *flags), "-DCUDA", "-I", DRIVER, "-Wl,-Bsymbolic")


class InCuda(InC):
    """Mixed into a test: each build also writes CUDA sources, which then replace the libraries."""
    source_emit, source_end = "cuda", ".cu"

    def replace(self, folder, name):
        replace_library(folder, name)
