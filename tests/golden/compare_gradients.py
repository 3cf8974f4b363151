#!/usr/bin/python3
"""Compares every gradient of a GPT in the thimble binary with torch.autograd, from the same random weights.

    compare_gradients.py --thimble build/thimble gpt2_small --batch 1 --context 64

torch works in the precision of --torch (double by default), thimble in that of --real. Differences are
relative to the largest entry of a tensor.
Exit status: 0 when all are within --tolerance; 1 when not; 2 when something is missing or fails.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"compare_gradients.py: {missing}; on Debian: apt-get install python3-torch python3-numpy, "
          "and run with /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

import safetensors_io
import torch_models as models


def give_up(message):
    print(f"compare_gradients.py: {message}", file=sys.stderr)
    sys.exit(2)


def call(binary, *arguments):
    """The JSON answer of the binary."""
    command = [binary, *map(str, arguments), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        give_up(f"{binary}: {error.strerror}; build it first, or give --thimble")
    if done.returncode != 0:
        give_up(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def configuration(binary, name, overrides):
    """The model's shape as the binary states it; what it does not state is GPT-2's, or given by --config."""
    entries = {entry["name"]: entry for entry in call(binary, "models")["models"] if "heads" in entry}
    if name not in entries:
        give_up(f"{name} is not among the GPTs of {binary}: {', '.join(entries)}")
    entry = entries[name]
    model = models.Gpt(entry["vocabulary"], entry["context_limit"], entry["width"], entry["heads"],
                       entry["layers"], **overrides)
    expected = sum(int(np.prod(shape)) for shape in model.shapes().values())
    if expected != entry["parameters"]:
        give_up(f"{name} has {entry['parameters']} parameters, the configuration gives {expected}; "
                "describe it with --config")
    return model


def random_weights(model, seed):
    """GPT-2's deviation of 0.02 for matrices, gains around 1, biases around 0."""
    draw = np.random.default_rng(seed)
    return {name: (draw.standard_normal(shape, np.float32) * (0.02 if len(shape) == 2 else 0.1)
                   + (len(shape) == 1 and name.endswith(".weight"))).astype(np.float32)
            for name, shape in model.shapes().items()}


def torch_gradients(model, start, tokens, dtype):
    torch.set_default_dtype(dtype)
    weights = {name: torch.tensor(array, dtype=dtype, requires_grad=True) for name, array in start.items()}
    loss = models.mean_loss(model.logits(weights, tokens[:, :-1]), tokens[:, 1:])
    grads = torch.autograd.grad(loss, list(weights.values()))
    return loss.item(), dict(zip(weights, (grad.numpy() for grad in grads)))


def thimble_gradients(options, start, tokens, folder):
    safetensors_io.write(folder / "weights.safetensors", start)
    (folder / "tokens.json").write_text(json.dumps([tokens.tolist()]))
    answer = call(options.thimble, "grad", options.model, "--weights", folder / "weights.safetensors",
                  "--tokens", folder / "tokens.json", "--out", folder / "grads.safetensors",
                  "--real", options.real, "--threads", options.threads, "--influence-limit", 0)
    return answer["loss"], safetensors_io.read(folder / "grads.safetensors")


def worst_difference(made, expected):
    """The largest difference relative to the largest entry; infinite where an entry is not finite."""
    difference = np.abs(made.reshape(expected.shape) - expected).max() / np.abs(expected).max()
    return difference if np.isfinite(difference) else np.inf


def parse():
    parser = argparse.ArgumentParser(description="Compare the gradients of a GPT with torch.autograd.")
    parser.add_argument("model")
    parser.add_argument("--thimble", default="build/thimble", help="the binary (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", choices=("f32", "f64"), default="f32", help="thimble's precision")
    parser.add_argument("--torch", choices=("f32", "f64"), default="f64", help="torch's precision")
    parser.add_argument("--tolerance", type=float, help="default: 2e-5, or 1e-12 where both sides are f64")
    parser.add_argument("--config", type=json.loads, default={}, metavar="JSON",
                        help='what differs from GPT-2, for example {"activation": "gelu_erf"}')
    return parser.parse_args()


def main():
    options = parse()
    tolerance = options.tolerance or (1e-12 if options.real == options.torch == "f64" else 2e-5)
    model = configuration(options.thimble, options.model, options.config)
    start = random_weights(model, options.seed)
    tokens = torch.from_numpy(np.random.default_rng(options.seed).integers(
        model.vocab, size=(options.batch, options.context + 1)))
    with tempfile.TemporaryDirectory() as folder:
        loss, made = thimble_gradients(options, start, tokens, Path(folder))
    dtype = torch.float32 if options.torch == "f32" else torch.float64
    expected_loss, expected = torch_gradients(model, start, tokens, dtype)
    rows = sorted(((worst_difference(made[name], expected[name]), name) for name in expected), reverse=True)
    print(f"loss: thimble {loss:.9f}, torch {expected_loss:.9f}, difference {abs(loss - expected_loss):.2e}")
    for difference, name in rows[:5]:
        print(f"  {name:28} {difference:.2e}")
    failed = [name for difference, name in rows if difference > tolerance]
    print(f"{len(rows)} gradients, worst {rows[0][0]:.2e}, tolerance {tolerance:.0e}: {len(failed)} outside")
    return 1 if failed or abs(loss - expected_loss) > tolerance * expected_loss else 0


if __name__ == "__main__":
    sys.exit(main())
