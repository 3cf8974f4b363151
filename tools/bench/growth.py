#!/usr/bin/python3
"""How a training step's time and memory grow with context, batch, width and depth.

    tools/bench/growth.py --thimble build/thimble --svg growth.svg

Each point is one run of `thimble bench`. Beside the measured times stands the line that the floating-point
operations draw if the largest point's rate held everywhere; beside the arena what four numbers a parameter take,
and a rest that grows in proportion from the largest point's. Context and batch grow on --model. Width and depth
need models of their own: --models writes their headers to a folder, for cmake -DTHIMBLE_MODELS=FOLDER, and a
binary that has them is measured along all four axes.
Exit status: 0; 2 when something is missing.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

CONTEXTS = (64, 128, 256, 512, 1024)
BATCHES = (1, 2, 4, 8, 16)
WIDTHS = (64, 128, 256, 512)
DEPTHS = (1, 2, 4, 8)
PARAMETER_BYTES = 16  # weight, gradient and two moments, float
HEADER = """#pragma once
#include "models/gpt.hpp"

namespace thimble {{

struct {type} {{
  static constexpr const char* kDescription = "growth: width {width}, {layers} layers";
  static constexpr GptConfig kConfig{{
      .vocabulary = 256, .context = 128, .width = {width}, .heads = {heads}, .layers = {layers}}};
  static constexpr Extent kExtent{{.batch = 4, .context = 128}};
  static constexpr TrainOptions kTraining{{}};
  static constexpr void build(TapeBuilder& t) {{ build_gpt(t, kConfig); }}
}};

}}  // namespace thimble
"""


class Missing(Exception):
    """Something that the measurement needs is not there."""


def write_models(folder):
    """One header for each width at four layers, and for each depth at width 128."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, layers in [(f"width{w}", w, 4) for w in WIDTHS] + [(f"depth{d}", 128, d) for d in DEPTHS]:
        text = HEADER.format(type=name.capitalize(), width=width, heads=width // 32, layers=layers)
        (folder / f"{name}.hpp").write_text(text)


def run(binary, *arguments):
    command = [binary, *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure(options, model, *arguments):
    result = run(options.thimble, "bench", model, "--steps", options.steps, "--threads", options.threads, *arguments)
    return {"ms": min(result["step_ms"]), "flops": result["flops_per_step"], "bytes": result["arena_bytes"],
            "parameters": result["parameters"]}


def axes(options):
    """Name -> points, each with x, ms, flops, bytes and parameters."""
    known = {model["name"]: model for model in run(options.thimble, "models")["models"]}
    if options.model not in known:
        raise Missing(f"{options.thimble} has no model {options.model}")
    limit = known[options.model]["context_limit"]
    context = min(64, limit)
    plan = {
        "context": [(t, options.model, "--batch", 1, "--context", t) for t in CONTEXTS if t <= limit],
        "batch": [(b, options.model, "--batch", b, "--context", context) for b in BATCHES],
        "width": [(w, f"width{w}") for w in WIDTHS if f"width{w}" in known],
        "depth": [(d, f"depth{d}") for d in DEPTHS if f"depth{d}" in known],
    }
    for name, points in plan.items():
        if points:
            yield name, [{"x": x, **measure(options, *arguments)} for x, *arguments in points]


def expect(points):
    """Adds the time that the operations of a point would take at the largest point's rate, and the bytes of its
    parameters, with gradient and moments, and of as much else as is proportional to the largest point's."""
    last = points[-1]
    for point in points:
        point["expected_ms"] = last["ms"] * point["flops"] / last["flops"]
        rest = (last["bytes"] - PARAMETER_BYTES * last["parameters"]) * point["x"] / last["x"]
        point["expected_bytes"] = PARAMETER_BYTES * point["parameters"] + rest


def print_axis(name, points):
    print(f"{name:>8} {'ms':>10} {'by flops':>10} {'ratio':>6} {'MiB':>9} {'by size':>9} {'ratio':>6}")
    for p in points:
        print(f"{p['x']:>8} {p['ms']:>10.3f} {p['expected_ms']:>10.3f} {p['ms'] / p['expected_ms']:>6.2f} "
              f"{p['bytes'] / 2**20:>9.1f} {p['expected_bytes'] / 2**20:>9.1f} "
              f"{p['bytes'] / p['expected_bytes']:>6.2f}", flush=True)


def draw(report, path):
    try:
        import matplotlib
    except ImportError as error:
        raise Missing("the figure needs matplotlib: apt-get install python3-matplotlib") from error
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    figure, rows = pyplot.subplots(2, len(report["axes"]), figsize=(3.2 * len(report["axes"]), 6), squeeze=False)
    for column, (name, points) in enumerate(report["axes"].items()):
        x = [p["x"] for p in points]
        time, memory = rows[0][column], rows[1][column]
        time.plot(x, [p["ms"] for p in points], "o-", label="measured")
        time.plot(x, [p["expected_ms"] for p in points], "--", label="by operations")
        memory.plot(x, [p["bytes"] / 2**20 for p in points], "s-", color="tab:green", label="arena")
        memory.plot(x, [p["expected_bytes"] / 2**20 for p in points], "--", color="tab:olive", label="in proportion")
        for axis, unit in ((time, "ms a step"), (memory, "MiB")):
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.set_xticks(x, [str(value) for value in x])
            axis.set_xlabel(name)
            axis.set_ylabel(unit)
            axis.legend()
            axis.grid(True, alpha=0.3)
    figure.suptitle(f"A training step with {report['threads']} thread(s): context and batch of {report['model']}; "
                    "width and depth of models of 256 tokens, 4 x 128")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--thimble", default="build/thimble", help="the binary (default: %(default)s)")
    parser.add_argument("--model", default="gpt2_small", help="for context and batch (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a point (default: %(default)s)")
    parser.add_argument("--svg", help="also draw a figure (SVG, PNG or PDF by its ending)")
    parser.add_argument("--models", type=Path, help="only write the models for width and depth to this folder")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    if options.models:
        return write_models(options.models)
    report = {"model": options.model, "threads": options.threads, "axes": {}}
    try:
        for name, points in axes(options):
            expect(points)
            report["axes"][name] = points
            if not options.json:
                print_axis(name, points)
        if options.svg:
            draw(report, options.svg)
    except (Missing, OSError) as missing:
        print(f"growth.py: {missing}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
