#!/usr/bin/python3
"""Instructions per multiply-add of a training step on an emulated board, by op, and beside plain loop nests that are
compiled with the same flags; bytes of code. All are exact, and keep to instructions.json.
Usage: instructions_test.py BUILD/thimble BOARD MODEL

Multiply-adds are half the floating-point operations that core/ops counts. MODEL_costs.elf counts ticks, each of a few
instructions, over contexts of full length.
"""

import json
import subprocess
import sys
from pathlib import Path

BUDGETS = json.loads((Path(__file__).parent / "instructions.json").read_text())


def output(*command, timeout=300):
    r = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=timeout)
    if r.returncode != 0:
        raise RuntimeError(f"{command[0]}: {r.stdout}{r.stderr}")
    return r.stdout


def parse(lines):
    """What the image printed: {op: [[instructions, multiply-adds] forward, backward]}, steps, products."""
    ops, steps, products, ended = {}, {}, [], False
    for line in lines:
        words = line.split()
        numbers = [int(w) for w in words[2:]] if words and words[0] in ("op", "step", "product") else []
        if words[:1] == ["op"]:
            ops[words[1]] = [numbers[0:2], numbers[2:4]]
        elif words[:1] == ["step"]:
            steps[words[1]] = numbers
        elif words[:1] == ["product"]:
            products.append((words[1], *numbers))
        elif words[:1] == ["differs"]:
            raise RuntimeError("a kernel and its loop nest differ")
        ended = ended or words[:1] == ["end"]
    if not ended:
        raise RuntimeError("the image did not come to its end")
    return ops, steps, products


def ratios(ops, steps):
    """Instructions per multiply-add of each op that has a fair number of them, and of the whole step."""
    whole, multiply_adds = steps["whole"]
    found = {"whole step": whole / multiply_adds}
    for op, (forward, backward) in ops.items():
        if 50 * (forward[1] + backward[1]) > multiply_adds:
            found[op] = (forward[0] + backward[0]) / (forward[1] + backward[1])
    return found


def table(ops, steps, products):
    def row(name, instructions, multiply_adds):
        return f"{name:32}{instructions:12}{multiply_adds:12}" + (
            f"{instructions / multiply_adds:9.2f}" if multiply_adds else "")

    lines = [f"{'':32}{'instructions':>12}{'multiply-adds':>14}{'each':>7}"]
    for op, passes in ops.items():
        lines += [row(f"{op}, {name}", *of) for name, of in zip(("forward", "backward"), passes) if of[0]]
    lines += [row("update", steps["update"][0], 0), row("whole step", *steps["whole"]), ""]
    lines += [f"{'product':8}{'m':>5}{'n':>5}{'k':>5}{'kernel':>9}{'loop nest':>11}   instructions per multiply-add"]
    for kind, m, n, k, kernel, nest in products:
        lines.append(f"{kind:8}{m:5}{n:5}{k:5}{kernel / (m * n * k):9.2f}{nest / (m * n * k):11.2f}")
    return "\n".join(lines)


def check_arithmetic():
    ops, steps, products = parse(["op linear 30 20 90 40", "op add 7 0 0 1", "step update 5", "step whole 180 60",
                                  "product nn 2 3 4 36 144", "end"])
    assert ratios(ops, steps) == {"whole step": 3.0, "linear": 2.0}, ratios(ops, steps)
    assert "linear, backward                          90          40     2.25" in table(ops, steps, products)
    assert "nn          2    3    4     1.50       6.00" in table(ops, steps, products)


def main(thimble, board, model):
    check_arithmetic()
    budget = BUDGETS[model][board]
    image = Path(json.loads(output(thimble, "board", "build", board, model, "--json", timeout=900))["image"])
    output("cmake", "--build", image.parent, "--target", f"{model}_costs", timeout=900)
    facts = json.loads((image.parent / "board.json").read_text())
    printed = output(*facts["qemu"].split(), "-icount", "shift=0", "-display", "none", "-monitor", "none",
                     "-serial", "stdio", "-semihosting-config", "enable=on,target=native",
                     "-kernel", image.parent / f"{model}_costs.elf")
    found = parse(printed.splitlines())
    print(f"{board} {model}\n{table(*found)}")
    size = output("arm-none-eabi-size", "-A", "-d", image)
    text = next(int(line.split()[1]) for line in size.splitlines() if line.startswith(".text "))
    print(f"{text} bytes of code, at most {budget['text_bytes']}")
    over = {k: v for k, v in ratios(*found[:2]).items() if v > budget["instructions_per_multiply_add"].get(k, 1e9)}
    missing = set(budget["instructions_per_multiply_add"]) - set(ratios(*found[:2]))
    if over or missing or text > budget["text_bytes"]:
        return f"over budget: {over}; not measured: {missing}; code {text}"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
