#!/usr/bin/python3
"""Training on an emulated board: every step's digest is the host's, the loss falls, the stack holds.
Usage: run_test.py BUILD/thimble BOARD MODEL STEPS [TEXT]

Without TEXT the image carries the generated names, a document a step.
"""

import json
import subprocess
import sys


def main(thimble, board, model, steps, *text):
    data = ["--text", text[0]] if text else []
    r = subprocess.run([thimble, "board", "run", board, model, "--steps", steps, "--verify", "--json", *data],
                       capture_output=True, text=True)
    if r.returncode != 0:
        return r.stdout + r.stderr
    run = json.loads(r.stdout)
    losses, quarter = run["losses"], max(1, len(run["losses"]) // 4)
    first, last = sum(losses[:quarter]) / quarter, sum(losses[-quarter:]) / quarter
    print(f"{board} {model}: {run['steps_verified']} steps verified, loss {first:.3f} .. {last:.3f}, "
          f"{run['ticks_per_step']} {run['ticks_are']} a step, arena {run['arena_bytes']} bytes, "
          f"stack {run['stack_high_water']} of {run['stack_bytes']}, digest {run['digest']}")
    if run["steps_verified"] != int(steps) or run["activity"] != "finished":
        return f"{run['steps_verified']} of {steps} steps were compared; the run is {run['activity']}"
    if int(steps) >= 40 and not last < first:
        return "the loss did not fall"
    if not 0 < run["stack_high_water"] <= run["stack_bytes"] * 7 // 8:
        return "an eighth of the stack must stay free"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
