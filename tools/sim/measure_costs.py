#!/usr/bin/python3
"""Measures what a multiply-add of each op costs on the emulated boards and writes costs.json beside this file.
Usage: measure_costs.py BUILD/thimble [BOARD...]; without boards: all that have their compiler and emulator."""

import json
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parent / "costs.json"
SOURCE = Path(__file__).resolve().parents[2]


def output(*command):
    return json.loads(subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout)


def costs(thimble, board, fits):
    """pocket is the GPT of today, microgpt brings the ops of its own."""
    found = {}
    for model, data in (("pocket", ["--text", SOURCE / "README.md"]), ("microgpt", [])):
        if model not in fits:
            continue
        for op in output(thimble, "board", "run", board, model, "--steps", 3, "--profile", "--json", *data)["ops"]:
            pair = [op[kind] / op[f"{kind}_multiply_adds"] if op.get(f"{kind}_multiply_adds") else 0
                    for kind in ("forward", "backward")]
            if any(pair):
                found.setdefault(op["op"], [round(x, 2) for x in pair])
    return found


def main(thimble, *boards):
    table = json.loads(FILE.read_text()) if FILE.exists() else {}
    for board in output(thimble, "board", "list", "--json")["boards"]:
        if board["ready"] and board["fits"] and (not boards or board["name"] in boards):
            measured = costs(thimble, board["name"], board["fits"])
            if measured:
                table[board["name"]] = measured
                print(board["name"], measured)
    FILE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
