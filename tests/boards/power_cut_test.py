#!/usr/bin/python3
"""A run that loses its power again and again ends with the weights of one that does not.
Usage: power_cut_test.py BUILD/thimble BOARD MODEL STEPS CUTS"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def run(thimble, board, model, *arguments):
    r = subprocess.run([thimble, "board", "run", board, model, "--json", *arguments], capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit(r.stdout + r.stderr)
    return json.loads(r.stdout)


def main(thimble, board, model, steps, cuts):
    with tempfile.TemporaryDirectory() as folder:
        flash = Path(folder) / "flash"
        quiet = run(thimble, board, model, "--steps", steps)
        cut = run(thimble, board, model, "--steps", steps, "--flash", flash, "--save-every", "5",
                  "--power-cuts", str(int(cuts) + int(cuts) // 5))
        pulled = Path(folder) / "pulled.thimble"
        subprocess.run([thimble, "board", "pull", board, model, pulled, "--flash", flash], check=True)
        info = subprocess.run([thimble, "inspect", pulled, "--json"], check=True, capture_output=True, text=True)
    print(f"{cut['power_cuts']} power cuts, {cut['saves']} checkpoints; digest {cut['digest']}, undisturbed {quiet['digest']}")
    if cut["power_cuts"] < int(cuts):
        return f"only {cut['power_cuts']} cuts fell into the run, {cuts} were wanted"
    if cut["digest"] != quiet["digest"] or cut["steps"] != int(steps):
        return "the weights are others"
    if quiet["digest"] not in info.stdout:
        return f"the checkpoint in flash has other weights: {info.stdout}"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
