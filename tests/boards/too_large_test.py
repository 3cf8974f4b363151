#!/usr/bin/python3
"""A model that does not fit its board is refused with sizes and the largest tensors: by the command before anything is
built, and by the compiler, whatever builds the image. Usage: too_large_test.py BUILD/thimble FOLDER BOARD MODEL"""

import re
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


def refused_by_command(thimble, board, model):
    begin = time.monotonic()
    r = subprocess.run([thimble, "board", "build", board, model], capture_output=True, text=True)
    seconds = time.monotonic() - begin
    print(r.stderr)
    if r.returncode != 1:
        return f"exit status {r.returncode}, not 1"
    if seconds > 20:
        return f"it took {seconds:.0f} s: something was built"
    sizes = re.search(r"takes (\d+) bytes.*has (\d+) for it: (\d+) are missing", r.stderr)
    if not sizes:
        return "the sizes are not named"
    needed, available, missing = map(int, sizes.groups())
    if needed - available != missing or missing <= 0:
        return f"needed {needed}, available {available}, missing {missing}"
    if not re.search(r"the largest tensors are \S+ \w+ \d+, \S+ \w+ \d+, ", r.stderr):
        return "the largest tensors are not named"
    return 0


def refused_by_compiler(folder, board, model):
    family = next((SOURCE / "ports").glob(f"*/boards/{board}")).parents[1].name
    configured = subprocess.run(
        ["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", f"-DTHIMBLE_BOARD={board}", f"-DTHIMBLE_BOARD_MODELS={model}",
         "--toolchain", SOURCE / f"tools/cmake/boards/{family}.cmake"], capture_output=True, text=True)
    if configured.returncode != 0:
        return configured.stdout + configured.stderr
    r = subprocess.run(["cmake", "--build", folder, "--target", model], capture_output=True, text=True)
    if r.returncode == 0:
        return "the image was built"
    found = [re.search(rf"{word}<(\d+)", r.stdout) for word in ("Needed", "Available", "Missing")]
    if not all(found):
        return r.stdout
    needed, available, missing = (int(m.group(1)) for m in found)
    print(f"the compiler: needed {needed}, available {available}, missing {missing}")
    if needed - available != missing or missing <= 0:
        return "that does not add up"
    if not re.search(r"LargeTensor\{\"\S+\", \"\w+\", \d+\}", r.stdout):
        return "the largest tensors are not named:\n" + r.stdout
    return 0


def main(thimble, folder, board, model):
    return refused_by_command(thimble, board, model) or refused_by_compiler(Path(folder) / f"large-{board}", board, model)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
