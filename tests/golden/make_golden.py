#!/usr/bin/python3
"""Makes the golden files of this folder with torch.autograd in double precision, or checks them.

    make_golden.py            write every case
    make_golden.py --check    make every case again and compare with the files

Exit status: 0; 1 when files and cases differ; 2 when torch is not installed.

A case is a folder:
  case.json            configuration; tokens [step][B][T+1]: inputs are all but the last of a row, targets all
                       but the first, unless `targets` [step][B][T] is given, where -1 is ignored. Or
                       `documents`, one a step: bos, letters, bos. loss, loss_per_position [B][T] of the first
                       step; settings of the optimizer with loss, gradient norm and learning rate of each step
  weights.safetensors  the starting weights, F32
  grads.safetensors    F64: d(mean loss)/d(weight) at the start; `stop.<name>`: d(mean loss)/d(intermediate);
                       `influence` [i][j]: Euclidean norm over the channels of
                       d(loss of position i)/d(embed of position j), in batch row 0
  after.safetensors    F64: the weights after the last step (after_sgd.safetensors: of the SGD run)
ops.safetensors holds single ops as `<op>.<variant>.<tensor>`; ops.json holds their constants. `d<name>` is
the gradient of sum(dy * y), with dy given; for losses y, that of `mean`, over the targets that are not -1.
"""

import argparse
import json
import math
import sys
from pathlib import Path

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"make_golden.py: {missing}; on Debian: apt-get install python3-torch python3-numpy, "
          "and run with /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

import golden_ops
import safetensors_io
import torch_models as models
from generator import Generator

FOLDER = Path(__file__).resolve().parent
TOLERANCE = 1e-12  # relative to the largest entry of a tensor, or to the number
BETAS = (0.9, 0.95)
STREAM = ("embed", "in", "mid", "out", "logits")


def starting_weights(shapes, generator):
    """F32 weights: matrices uniform with deviation 0.2 (embeddings 0.1), gains near 1, biases near 0."""
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 2:
            weights[name] = generator.uniform(shape, math.sqrt(3) * (0.1 if name.startswith("w") else 0.2))
        else:
            weights[name] = generator.uniform(shape, 0.2, 1.0 if name.endswith(".weight") else 0.0)
    return weights


def to_torch(weights):
    return {name: torch.tensor(array.astype("f8"), requires_grad=True) for name, array in weights.items()}


def gradients(model, start, inputs, targets, all_stops):
    """Loss, losses of each position, and the tensors of grads.safetensors.

    Without `all_stops` only those of the residual stream and of the logits are kept, to save space.
    """
    weights, stops = to_torch(start), {}

    def keep(name, value):
        if all_stops or name.split(".")[-1] in STREAM:
            stops["stop." + name] = value
        return value

    logits = model.logits(weights, inputs, keep)
    loss, losses = models.mean_loss(logits, targets), models.position_losses(logits, targets)
    wanted = {**weights, **stops}
    grads = torch.autograd.grad(loss, list(wanted.values()), retain_graph=True)
    grads = {name: grad.numpy() for name, grad in zip(wanted, grads)}
    grads["influence"] = influence_map(losses[0], stops["stop.embed"])
    return loss.item(), losses.tolist(), grads


def influence_map(losses, embed):
    rows = [torch.autograd.grad(loss, embed, retain_graph=True)[0][0].norm(dim=-1) for loss in losses]
    return torch.stack(rows).numpy()


def warm_cosine(steps, peak, warm=5, floor=0.001):
    """Linear warm-up that reaches `peak` at step warm - 1, then half a cosine down towards `floor`."""
    return [peak * (t + 1) / warm if t < warm else
            floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * (t - warm) / (steps - warm)))
            for t in range(steps)]


def train(model, weights, optimizer, batches, rates, clip):
    """Runs one step a batch. Returns the loss before each update, and the gradient norm before clipping."""
    losses, norms = [], []
    parameters = list(weights.values())
    for (inputs, targets), rate in zip(batches, rates):
        optimizer.zero_grad()
        loss = models.mean_loss(model.logits(weights, inputs), targets)
        loss.backward()
        limit = math.inf if clip is None else clip
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, limit).item())
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


def run_adamw(model, start, batches, clip, peak=0.01, weight_decay=0.1):
    weights, rates = to_torch(start), warm_cosine(len(batches), peak)
    optimizer = torch.optim.AdamW(models.decay_groups(weights, weight_decay), betas=BETAS, eps=1e-8)
    losses, norms = train(model, weights, optimizer, batches, rates, clip)
    record = {"peak": peak, "warm": 5, "floor": 0.001, "betas": BETAS, "eps": 1e-8,
              "weight_decay": weight_decay, "clip": clip, "steps": len(batches),
              "decay": "tensors of rank 2 only", "losses": losses, "grad_norms": norms, "lrs": rates}
    return record, {name: weight.detach().numpy() for name, weight in weights.items()}


def run_sgd(model, start, batches, clip, peak=0.1, momentum=0.9):
    """v = momentum v + g; w = w - lr v."""
    weights, rates = to_torch(start), warm_cosine(len(batches), peak)
    optimizer = torch.optim.SGD(list(weights.values()), lr=peak, momentum=momentum)
    losses, norms = train(model, weights, optimizer, batches, rates, clip)
    record = {"peak": peak, "warm": 5, "floor": 0.001, "momentum": momentum, "weight_decay": 0, "clip": clip,
              "steps": len(batches), "losses": losses, "grad_norms": norms, "lrs": rates}
    return record, {name: weight.detach().numpy() for name, weight in weights.items()}


def run_adam_linear(model, start, batches, rate=0.01):
    weights, rates = to_torch(start), [rate * (1 - t / len(batches)) for t in range(len(batches))]
    optimizer = torch.optim.Adam(list(weights.values()), betas=(0.85, 0.99), eps=1e-8)
    losses, _ = train(model, weights, optimizer, batches, rates, None)
    record = {"lr": rate, "betas": (0.85, 0.99), "eps": 1e-8, "schedule": "linear to 0 over the steps",
              "weight_decay": 0, "clip": None}
    return record, losses, {name: weight.detach().numpy() for name, weight in weights.items()}


def describe(model):
    return {"model": type(model).__name__.lower(), **vars(model)}


def shifted(tokens):
    return [(torch.tensor(step)[:, :-1], torch.tensor(step)[:, 1:]) for step in tokens]


def token_case(name, model, batch, seed, steps=20, clip=1.0, all_stops=True, ignored=False,
               keep_after=True, sgd=False):
    """A case whose steps take random tokens. `ignored` sets about a third of the targets to -1."""
    generator = Generator(seed)
    start = starting_weights(model.shapes(), generator)
    tokens = [generator.integers((batch, model.context + 1), model.vocab) for _ in range(steps)]
    case = {"name": name, **describe(model), "batch": batch, "tokens": tokens}
    batches = shifted(tokens)
    if ignored:
        case["targets"] = [ignore_some(targets, generator) for _, targets in batches]
        batches = [(inputs, torch.tensor(targets)) for (inputs, _), targets in zip(batches, case["targets"])]
    case["loss"], case["loss_per_position"], grads = gradients(model, start, *batches[0], all_stops)
    files = {"weights.safetensors": start, "grads.safetensors": grads}
    case["adamw"], after = run_adamw(model, start, batches, clip)
    if keep_after:
        files["after.safetensors"] = after
    if sgd:
        case["sgd"], files["after_sgd.safetensors"] = run_sgd(model, start, batches, clip)
    return {"case.json": case, **files}


def ignore_some(targets, generator):
    """About a third of the targets becomes -1, in row 1 of every batch all of them."""
    drop = torch.tensor(generator.integers(targets.shape, 3)) == 0
    drop[1] = True
    return targets.masked_fill(drop, -1).tolist()


def document_case(name, model, seed, count):
    """One made-up name a step: bos, letters, bos. The second fills the context."""
    generator = Generator(seed)
    start = starting_weights(model.shapes(), generator)
    lengths = [model.context - 1 if i == 1 else 3 + generator.below(8) for i in range(count)]
    documents = [made_up_name(generator, length) for length in lengths]
    bos = model.vocab - 1
    tokens = [[[bos, *(ord(letter) - ord("a") for letter in document), bos]] for document in documents]
    batches = shifted(tokens)
    case = {"name": name, **describe(model), "bos": bos}
    case["adam"], losses, after = run_adam_linear(model, start, batches)
    case["documents"] = documents
    case["loss"], case["loss_per_position"], grads = gradients(model, start, *batches[0], all_stops=False)
    case["losses"] = losses
    return {"case.json": case, "weights.safetensors": start, "grads.safetensors": grads,
            "after.safetensors": after}


def made_up_name(generator, length):
    pairs = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxyz" for vowel in "aeiou"]
    return "".join(pairs[generator.below(len(pairs))] for _ in range((length + 1) // 2))[:length]


def all_cases():
    """Relative path of a folder -> file name -> content."""
    gpt = models.Gpt
    microgpt = gpt(27, 16, 16, 4, 1, norm="rms", norm_gain=False, embed_norm=True, final_norm=False,
                   bias=False, activation="relu", tied_head=False)
    cases = [
        token_case("layernorm_tanh", gpt(17, 5, 12, 3, 1), batch=3, seed=1, keep_after=False),
        token_case("layernorm_erf", gpt(27, 9, 16, 2, 2, activation="gelu_erf"), batch=1, seed=2,
                   all_stops=False, keep_after=False),
        document_case("rms_documents", microgpt, seed=3, count=100),
        token_case("rms_gain", gpt(13, 5, 6, 2, 1, norm="rms", bias=False), batch=2, seed=4),
        token_case("ignored_targets", gpt(11, 6, 4, 2, 1, activation="relu", tied_head=False), batch=3,
                   seed=5, all_stops=False, ignored=True),
        token_case("mlp", models.Mlp(19, 7, 5, 13), batch=2, seed=6, clip=0.3, sgd=True),
    ]
    cases = {case["case.json"]["name"]: case for case in cases}
    constants, tensors = golden_ops.make(Generator(7))
    cases["."] = {"ops.json": constants, "ops.safetensors": tensors}
    return cases


def to_json(content):
    """One top-level key a line, floats in their shortest exact form."""
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(cases):
    for folder, files in cases.items():
        (FOLDER / folder).mkdir(exist_ok=True)
        for name, content in files.items():
            if name.endswith(".json"):
                (FOLDER / folder / name).write_text(to_json(content))
            else:
                safetensors_io.write(FOLDER / folder / name, content)


def check(cases):
    """Prints every difference; returns how many."""
    differences = []
    for folder, files in cases.items():
        stored = (path for path in (FOLDER / folder).glob("*") if path.suffix in (".json", ".safetensors"))
        differences += [f"{path}: not made any more" for path in sorted(stored) if path.name not in files]
        for name, content in files.items():
            path = FOLDER / folder / name
            if not path.exists():
                differences.append(f"{path}: missing")
            elif name.endswith(".json"):
                made, stored = to_json(content), path.read_text()
                compare_json(str(path), json.loads(made), json.loads(stored), differences)
            else:
                compare_tensors(path, content, safetensors_io.read(path), files, differences)
    for difference in differences:
        print(difference, file=sys.stderr)
    return len(differences)


def compare_json(where, made, stored, differences):
    if isinstance(made, dict) and isinstance(stored, dict) and made.keys() == stored.keys():
        for key in made:
            compare_json(f"{where}: {key}", made[key], stored[key], differences)
    elif isinstance(made, list) and isinstance(stored, list) and len(made) == len(stored):
        for index, pair in enumerate(zip(made, stored)):
            compare_json(f"{where}[{index}]", *pair, differences)
    elif isinstance(made, float) and isinstance(stored, float):
        if not abs(made - stored) <= TOLERANCE * abs(stored):
            differences.append(f"{where}: {stored!r} stored, {made!r} made")
    elif made != stored or type(made) is not type(stored):
        differences.append(f"{where}: stored and made differ")


def compare_tensors(path, made, stored, files, differences):
    if made.keys() != stored.keys():
        differences.append(f"{path}: names differ: {sorted(made.keys() ^ stored.keys())}")
    for name in made.keys() & stored.keys():
        a, b = np.asarray(made[name]), stored[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            differences.append(f"{path}: {name}: {b.dtype}{b.shape} stored, {a.dtype}{a.shape} made")
            continue
        if path.name.startswith("after") and name.endswith("c_attn.bias"):
            a, b = without_key_bias(path, name, a, b, files["weights.safetensors"][name], differences)
        worst, limit = np.abs(a - b).max(), TOLERANCE * np.abs(b).max()
        if not worst <= (limit if a.dtype == np.float64 else 0):
            differences.append(f"{path}: {name}: differs by {worst:.3e}, allowed {limit:.3e}")


def without_key_bias(path, name, made, stored, start, differences):
    """Leaves out the key bias: its gradient is zero in theory, so Adam moves it by rounding noise alone."""
    keys = slice(len(made) // 3, 2 * len(made) // 3)
    for moved in (made[keys] - start[keys], stored[keys] - start[keys]):
        if np.abs(moved).max() > 1e-9:
            differences.append(f"{path}: {name}: the key bias moved by {np.abs(moved).max():.3e}")
    return np.delete(made, keys), np.delete(stored, keys)


def main():
    parser = argparse.ArgumentParser(description="Make or check the golden files.")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    cases = all_cases()
    files = [FOLDER / folder / name for folder, content in cases.items() for name in content]
    if not arguments.check:
        write(cases)
        print(f"{len(files)} files written, {sum(path.stat().st_size for path in files)} bytes")
        return 0
    differences = check(cases)
    print(f"{len(files)} files checked, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
