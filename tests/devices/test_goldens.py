#!/usr/bin/env python3
"""The programs of tests/golden/opencl for work groups compile for every device without a fault."""
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def main():
    with tempfile.TemporaryDirectory(prefix="trib-devices-") as folder:
        paths = []
        for path in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "opencl", "*.cl"))):
            if path.endswith("_wide.cl"):
                continue
            paths.append(os.path.join(folder, os.path.basename(path)))
            with open(paths[-1], "w", encoding="utf-8") as out:
                out.write("#define TRI_FP64 1\n")
                templates = [os.path.join(ROOT, "gpu", "templates", name) for name in ("opencl.cl", "helpers.cl", "lanes.cl", "groups/tile.cl")]
                for part in [*templates, path]:
                    with open(part, encoding="utf-8") as f:
                        out.write(f.read())
        sys.exit(subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "gpu-compile"), *paths, *sys.argv[1:]], check=False).returncode)


if __name__ == "__main__":
    main()
