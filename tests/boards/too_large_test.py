#!/usr/bin/python3
"""An image whose model does not fit its board is refused with sizes and the largest tensors.
Usage: too_large_test.py BUILD/thimble BOARD MODEL"""

import re
import subprocess
import sys


def main(thimble, board, model):
    r = subprocess.run([thimble, "board", "build", board, model], capture_output=True, text=True)
    print(r.stderr)
    if r.returncode != 1:
        return f"exit status {r.returncode}, not 1"
    needed, available, missing = (
        int(re.search(rf"{word}\D*(\d+)", r.stderr).group(1)) for word in ("[Nn]eeded", "[Aa]vailable", "[Mm]issing"))
    if needed - available != missing or missing <= 0:
        return f"needed {needed}, available {available}, missing {missing}"
    if not re.search(r"LargeTensor\{\"\S+\", \"\w+\", \d+\}", r.stderr):
        return "the largest tensors are not named"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
