#!/usr/bin/python3
"""One run of the peer: training steps of a GPT in torch. Takes a JSON object on the command line, prints one.

compare_torch.py starts it, since the settings that matter most are read from the environment when it starts.
"""

import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "golden"))
import torch_models as models  # noqa: E402

BATCHES = 8


def initial(shapes):
    """GPT-2's initialisation: deviation 0.02, gains 1, biases 0."""
    torch.manual_seed(1)
    return {name: torch.randn(shape) * 0.02 if len(shape) == 2 else torch.full(shape, float("weight" in name))
            for name, shape in shapes.items()}


class PerTensor:
    """Weights as in any torch program. `foreach` joins the optimizer's calls over the tensors."""

    def __init__(self, shapes, foreach, **adamw):
        self.weights = {name: value.requires_grad_() for name, value in initial(shapes).items()}
        self.parameters = list(self.weights.values())
        self.optimizer = torch.optim.AdamW(models.decay_groups(self.weights, 0.1), foreach=foreach, **adamw)

    def zero_grad(self):
        self.optimizer.zero_grad(set_to_none=True)


class Flat:
    """Weights and gradients as views of two long vectors, so that AdamW runs once over each."""

    def __init__(self, shapes, **adamw):
        values = initial(shapes)
        views, groups = {}, []
        for decay in (True, False):
            names = [name for name, shape in shapes.items() if (len(shape) == 2) == decay]
            if not names:
                continue
            flat = torch.cat([values[name].flatten() for name in names]).requires_grad_()
            flat.grad = torch.zeros_like(flat)
            groups.append({"params": [flat], "weight_decay": 0.1 if decay else 0.0})
            sizes = [values[name].numel() for name in names]
            for name, value, grad in zip(names, flat.detach().split(sizes), flat.grad.split(sizes)):
                views[name] = value.view(shapes[name]).requires_grad_()
                views[name].grad = grad.view(shapes[name])
        self.weights = {name: views[name] for name in shapes}
        self.parameters = [group["params"][0] for group in groups]
        self.optimizer = torch.optim.AdamW(groups, **adamw)

    def zero_grad(self):
        for flat in self.parameters:
            flat.grad.zero_()


def make_state(optimizer, shapes):
    adamw = {"lr": 1e-3, "betas": (0.9, 0.95)}
    if optimizer == "flat":
        return Flat(shapes, **adamw)
    return PerTensor(shapes, optimizer == "foreach", **adamw)


def run(order):
    """Returns the milliseconds of each step after the warm-up."""
    torch.set_num_threads(order["threads"])
    model = models.Gpt(**order["model"])
    state = make_state(order["optimizer"], model.shapes())
    tokens = torch.randint(model.vocab, (BATCHES, order["batch"], order["context"] + 1))
    batches = [(step[:, :-1].contiguous(), step[:, 1:].contiguous()) for step in tokens]
    times = []
    for step in range(order["warm_up"] + order["steps"]):
        inputs, targets = batches[step % BATCHES]
        begin = time.perf_counter()
        state.zero_grad()
        models.mean_loss(model.logits(state.weights, inputs), targets).backward()
        if order["clip"] is not None:
            torch.nn.utils.clip_grad_norm_(state.parameters, order["clip"])
        state.optimizer.step()
        times.append(1e3 * (time.perf_counter() - begin))
    return {"step_ms": times[order["warm_up"]:],
            "parameters": sum(weight.numel() for weight in state.weights.values())}


def blas_library():
    """The file of the BLAS in use, or None where torch carries its own."""
    torch.ones(2, 2) @ torch.ones(2, 2)
    files = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    return next((file for file in sorted(files, reverse=True) if "blas" in Path(file).name), None)


def main():
    order = json.loads(sys.argv[1])
    result = {"torch": torch.__version__, "blas": blas_library()} if order.get("probe") else run(order)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
