#!/usr/bin/python3
"""Compares a training step of thimble (forward, backward, AdamW) with the same step in python3-torch.

    tools/bench/compare_torch.py --thimble build/thimble --threads 2 --pairs 5

Runs alternate, thimble first, each in a process of its own, and the two halves of a pair make one ratio. Both
sides use float32 and the same number of threads. torch runs at its best: before a row is measured its
settings are tried in turn, the fastest is kept, and what was chosen is printed.
Exit status: 0; 1 when --at-least is given and a median ratio is below it; 2 when something is missing.
"""

import argparse
import datetime
import glob
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).resolve().parent / "torch_worker.py"
WARM_UP = 2


def row(model, batch, steps, shape):
    return {"model": model, "batch": batch, "context": steps, "shape": shape}


def shape(vocab, context, layers, heads, width):
    return {"vocab": vocab, "context": context, "layers": layers, "heads": heads, "width": width}


ROWS = {
    "v96": row("bench_v96", 1, 32, shape(96, 32, 2, 2, 32)),
    "v65": row("bench_v65", 8, 64, shape(65, 64, 4, 4, 64)),
    "v256": row("bench_v256", 8, 128, shape(256, 128, 6, 6, 384)),
    "char": row("char", 16, 64, shape(128, 64, 3, 6, 96)),
    "gpt2_64": row("gpt2_small", 4, 64, shape(50257, 1024, 12, 12, 768)),
    "gpt2_256": row("gpt2_small", 4, 256, shape(50257, 1024, 12, 12, 768)),
}


class Missing(Exception):
    """Something that the comparison needs is not there."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


def cpu():
    """Model name, and whether it has AVX-512."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor(), False
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return (names or [platform.machine()])[0], "avx512f" in text


class Torch:
    """The peer: runs torch_worker.py with an environment and an optimizer that tuning has chosen."""

    def __init__(self, python, threads, clip):
        self.python, self.threads, self.clip = python, threads, clip
        wide = cpu()[1]
        self.libraries = sorted(glob.glob("/usr/lib/*/openblas-*/libblas.so.3"))
        self.knobs = {
            "optimizer": ["foreach", "loop", "flat"],
            "ATEN_CPU_CAPABILITY": ["avx512", "avx2"] if wide else ["default"],
            "LD_LIBRARY_PATH": [str(Path(path).parent) for path in self.libraries] or [""],
            "GLIBC_TUNABLES": ["", "glibc.malloc.hugetlb=1"],
            # OpenBLAS 0.3.21 does not know later processors by name, and takes slow kernels for some.
            "OPENBLAS_CORETYPE": ["SKYLAKEX", ""],
        }
        if not wide:
            del self.knobs["ATEN_CPU_CAPABILITY"], self.knobs["OPENBLAS_CORETYPE"]
        # glibc would return large buffers each step.
        self.fixed = dict(OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                          OMP_PROC_BIND="true", OMP_PLACES="cores", MALLOC_TOP_PAD_=str(256 << 20),
                          MALLOC_MMAP_THRESHOLD_=str(32 << 30), MALLOC_TRIM_THRESHOLD_=str(1 << 40))
        self.settings = {name: values[0] for name, values in self.knobs.items()}

    def probe(self):
        """torch's version and BLAS. Raises Missing without torch, or with the slow reference BLAS only."""
        found = self._start({"probe": True}, self.settings)
        library = found["blas"] or ""
        if library and "openblas" not in os.path.realpath(library):
            raise Missing(f"torch would use {library}, which is not OpenBLAS and slow: apt-get install "
                          "libopenblas0-openmp")
        return found

    def run(self, row, steps, settings=None):
        settings = settings or self.settings
        return self._start({"model": row["shape"], "batch": row["batch"], "context": row["context"],
                            "steps": steps, "warm_up": WARM_UP, "threads": self.threads, "clip": self.clip,
                            "optimizer": settings["optimizer"]}, settings)

    def tune(self, row, seconds):
        """Tries the values of each knob in turn and keeps the fastest. Returns the milliseconds of a step."""
        steps = steps_in(seconds, min(self.run(row, 3)["step_ms"]))
        best = min(self.run(row, steps)["step_ms"])
        for name, values in self.knobs.items():
            for trial in [{**self.settings, name: value} for value in values if value != self.settings[name]]:
                time = min(self.run(row, steps, trial)["step_ms"])
                if time < best:
                    best, self.settings = time, trial
        return best

    def _start(self, order, settings):
        chosen = {name: value for name, value in settings.items() if name != "optimizer" and value}
        ours = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
        environment = {**ours, **self.fixed, **chosen}
        done = subprocess.run([self.python, str(WORKER), json.dumps(order)], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return json.loads(done.stdout)
        if "No module named 'torch'" in done.stderr:
            raise Missing(f"{self.python} has no torch: apt-get install python3-torch libopenblas0-openmp, "
                          "then --python /usr/bin/python3")
        raise Missing(f"torch failed: {last_line(done.stderr)}")


class Thimble:
    """The binary under test."""

    def __init__(self, binary, threads, clip):
        self.binary, self.threads, self.clip = binary, threads, clip
        if not os.access(binary, os.X_OK):
            raise Missing(f"{binary} is not there or cannot run: build it first (cmake --preset release && "
                          "cmake --build --preset release), or give --thimble")

    def models(self):
        """Name -> shape of the GPTs in the binary."""
        entries = self._start(["models", "--json"])["models"]
        return {entry["name"]: shape(entry["vocabulary"], entry["context_limit"], entry["layers"],
                                     entry["heads"], entry["width"]) for entry in entries if "heads" in entry}

    def run(self, row, steps):
        return self._start(["bench", row["model"], "--batch", row["batch"], "--context", row["context"],
                            "--steps", steps, "--warmup", WARM_UP, "--threads", self.threads,
                            "--clip", self.clip or 0, "--json"])

    def _start(self, arguments):
        command = [self.binary, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"{' '.join(command)}: exit status {done.returncode}: {last_line(done.stderr)}")
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            raise Missing(f"{' '.join(command)}: not JSON: {error}") from error


def steps_in(seconds, step_ms):
    return max(3, min(1000, round(1e3 * seconds / step_ms)))


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def compare(thimble, peer, row, options):
    """Tunes the peer for a row, then measures the pairs."""
    steps = steps_in(options.seconds, peer.tune(row, options.seconds))
    result = {"model": row["model"], "batch": row["batch"], "context": row["context"], "steps": steps,
              "torch_settings": dict(peer.settings), "torch_ms": []}
    if thimble is not None:
        result["thimble_ms"] = []
    for _ in range(options.pairs):
        if thimble is not None:
            ours = thimble.run(row, steps)
            result["thimble_ms"].append(statistics.median(ours["step_ms"]))
        theirs = peer.run(row, steps)
        result["torch_ms"].append(statistics.median(theirs["step_ms"]))
        result["parameters"] = theirs["parameters"]
        if thimble is not None and ours["parameters"] != theirs["parameters"]:
            raise Missing(f"{row['model']} has {ours['parameters']} parameters in thimble, but "
                          f"{theirs['parameters']} in torch: not the same model")
    if thimble is not None:
        pairs = zip(result["torch_ms"], result["thimble_ms"])
        result["ratio"] = spread([theirs / ours for theirs, ours in pairs])
    return result


def print_row(name, result):
    torch_ms = statistics.median(result["torch_ms"])
    ours = ratio = "-"
    if "ratio" in result:
        ours = f"{statistics.median(result['thimble_ms']):.3f}"
        ratio = "{median:.2f} ({min:.2f} .. {max:.2f})".format(**result["ratio"])
    settings = " ".join(f"{key}={value}" for key, value in result["torch_settings"].items() if value)
    print(f"{name:9} {result['batch']:>2} x {result['context']:<4} {result['parameters']:>10} {ours:>11} "
          f"{torch_ms:>11.3f}  {ratio:22} {settings}", flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="Rows: " + ", ".join(ROWS))
    parser.add_argument("--thimble", default="build/thimble", help="the binary (default: %(default)s)")
    parser.add_argument("--torch-only", action="store_true", help="measure torch alone; no binary is needed")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), metavar="ROW",
                        help="which rows (default: all)")
    parser.add_argument("--threads", type=int, default=1, help="of both sides (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=5, help="paired runs of a row (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3,
                        help="about how long a run is (default: %(default)s)")
    parser.add_argument("--clip", type=float,
                        help="clip gradients to this global norm on both sides (default: no clipping)")
    parser.add_argument("--at-least", type=float, metavar="RATIO",
                        help="exit with status 1 where a median ratio is lower")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has torch")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args(arguments)
    for name in ("threads", "pairs", "seconds", "clip"):
        if getattr(options, name) is not None and getattr(options, name) <= 0:
            parser.error(f"--{name} must be positive")
    return options


def measure(options):
    thimble = None if options.torch_only else Thimble(options.thimble, options.threads, options.clip)
    known = None if thimble is None else thimble.models()
    found = Torch(options.python, options.threads, options.clip).probe()
    report = {"date": datetime.date.today().isoformat(), "machine": cpu()[0], "cores": os.cpu_count(),
              "load_at_start": os.getloadavg()[0], "torch": found["torch"], "threads": options.threads,
              "clip": options.clip, "pairs": options.pairs, "rows": {}, "skipped": []}
    if report["load_at_start"] > 0.5:
        print(f"compare_torch.py: other work is running (load {report['load_at_start']:.1f}): expect "
              "unsteady ratios", file=sys.stderr)
    if not options.json:
        print(f"{report['machine']}, {report['cores']} cores, load {report['load_at_start']:.1f}; torch "
              f"{report['torch']}; {options.threads} thread(s); {options.pairs} pairs; {report['date']}")
        print(f"{'row':9} {'B x T':9} {'parameters':>10} {'thimble ms':>11} {'torch ms':>11}  "
              f"{'torch / thimble':22} torch's settings")
    for name in options.rows:
        if known is not None and ROWS[name]["model"] not in known:
            report["skipped"].append(name)
            if not options.json:
                print(f"{name:9} skipped: {options.thimble} has no model {ROWS[name]['model']}")
            continue
        chosen = dict(ROWS[name])
        if known is not None:
            chosen["shape"] = known[chosen["model"]]
        peer = Torch(options.python, options.threads, options.clip)
        report["torch_environment"] = peer.fixed
        report["rows"][name] = compare(thimble, peer, chosen, options)
        if not options.json:
            print_row(name, report["rows"][name])
    return report


def main():
    options = parse(sys.argv[1:])
    try:
        report = measure(options)
    except Missing as missing:
        print(f"compare_torch.py: {missing}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report))
    ratios = [result["ratio"]["median"] for result in report["rows"].values() if "ratio" in result]
    return 1 if options.at_least is not None and any(ratio < options.at_least for ratio in ratios) else 0


if __name__ == "__main__":
    sys.exit(main())
