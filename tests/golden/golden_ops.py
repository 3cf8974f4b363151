"""The single-op goldens: inputs in F32, results and gradients in F64."""

import numpy as np
import torch
import torch.nn.functional as F

import torch_models as models


class Recorder:
    """Collects `<op>.<variant>.<tensor>` and the constants of each variant."""

    def __init__(self, generator):
        self.generator, self.tensors, self.constants = generator, {}, {}

    def run(self, name, inputs, function, loss=False, fixed=None, **constants):
        """Records `function(**inputs, **fixed)`; `inputs` (F32) get gradients, `fixed` (I32) do not.

        With `loss` the result is the loss per row, and gradients are those of `mean`, its mean over the rows
        that count. Otherwise they are those of sum(dy * y).
        """
        fixed = fixed or {}
        leaves = {key: torch.tensor(value.astype("f8"), requires_grad=True) for key, value in inputs.items()}
        y = function(**leaves, **{key: torch.tensor(value.astype("i8")) for key, value in fixed.items()})
        record = {**inputs, **fixed, "y": y.detach().numpy()}
        if loss:
            total = y.sum() / int((fixed["targets"] >= 0).sum())
            record["mean"] = np.array(total.item())
        else:
            record["dy"] = self.generator.uniform(tuple(y.shape), 1.0)
            total = (y * torch.tensor(record["dy"].astype("f8"))).sum()
        total.backward()
        record.update({"d" + key: leaf.grad.numpy() for key, leaf in leaves.items()})
        self.tensors.update({f"{name}.{key}": value for key, value in record.items()})
        self.constants[name] = constants


def norms(recorder):
    draw = recorder.generator.uniform

    def layernorm(x, gain, bias):
        return F.layer_norm(x, x.shape[-1:], gain, bias, 1e-5)

    def rmsnorm(x, gain=None):
        return models.rms_norm(x, gain, 1e-5)

    for variant, rows, width, centre in (("c7", 3, 7, 0), ("c35", 2, 35, 0), ("offset", 2, 18, 1000)):
        inputs = {"x": draw((rows, width), 2.0, centre), "gain": draw((width,), 0.5, 1.0)}
        recorder.run("rmsnorm." + variant, inputs, rmsnorm, eps=1e-5)
        inputs["bias"] = draw((width,), 0.5)
        recorder.run("layernorm." + variant, inputs, layernorm, eps=1e-5)
    recorder.run("rmsnorm.no_gain", {"x": draw((3, 10), 2.0)}, rmsnorm, eps=1e-5)


def activations(recorder):
    x = np.concatenate([recorder.generator.uniform((24,), 4.0),
                        np.array([0, -0.0, 1e-20, -1e-4, 1, -1, 5.5, -5.5, 9, -9, 30, -30, 200], np.float32)])
    for name in ("gelu_tanh", "gelu_erf", "relu", "tanh"):
        recorder.run(name + ".n37", {"x": x}, models.ACTIVATIONS[name])


def products(recorder):
    draw = recorder.generator.uniform

    def linear(x, weight, bias=0):
        return x @ weight + bias

    for rows, width, outputs in ((1, 1, 1), (5, 7, 9), (2, 17, 12)):
        inputs = {"x": draw((rows, width), 1.0), "weight": draw((width, outputs), 0.5),
                  "bias": draw((outputs,), 0.5)}
        recorder.run(f"linear.r{rows}_i{width}_o{outputs}", inputs, linear)
    recorder.run("linear.no_bias", {"x": draw((4, 6), 1.0), "weight": draw((6, 5), 0.5)}, linear)
    recorder.run("head.r4_c6_v11", {"x": draw((4, 6), 1.0), "weight": draw((11, 6), 0.5)}, F.linear)


def attentions(recorder):
    for variant, batch, steps, width, heads in (("t1", 1, 1, 4, 2), ("t5_h3", 2, 5, 12, 3),
                                                ("t18_h1", 1, 18, 3, 1)):
        mask = models.causal_mask(steps, torch.float64)
        qkv = recorder.generator.uniform((batch, steps, 3 * width), 2.0)
        recorder.run("attention." + variant, {"qkv": qkv}, lambda qkv: models.attention(qkv, heads, mask),
                     heads=heads)


def tokens_and_losses(recorder):
    generator = recorder.generator
    draw = generator.uniform

    def tokens(shape, limit):
        return np.array(generator.integers(shape, limit), np.int32)

    def embedding(wte, wpe, tokens):
        return wte[tokens] + wpe[:tokens.shape[1]]

    recorder.run("embedding.b2_t5", {"wte": draw((7, 6), 1.0), "wpe": draw((8, 6), 1.0)}, embedding,
                 fixed={"tokens": tokens((2, 5), 7)})
    for count in (1, 4):
        recorder.run(f"history.n{count}", {"x": draw((2, 5, 3), 1.0)}, lambda x: models.history(x, count),
                     count=count)

    def losses(logits, targets):
        return F.cross_entropy(logits, targets, ignore_index=-1, reduction="none")

    def head_losses(x, weight, targets):
        return losses(F.linear(x, weight), targets)

    full = {"targets": tokens((6,), 17)}
    ignored = {"targets": np.where(np.arange(6) % 3 == 1, np.int32(-1), full["targets"])}
    large = {"targets": tokens((3,), 5)}
    recorder.run("cross_entropy.v17", {"logits": draw((6, 17), 3.0)}, losses, loss=True, fixed=full)
    recorder.run("cross_entropy.ignored", {"logits": draw((6, 17), 3.0)}, losses, loss=True, fixed=ignored)
    recorder.run("cross_entropy.large", {"logits": draw((3, 5), 90.0, 200.0)}, losses, loss=True, fixed=large)
    recorder.run("head_loss.ignored", {"x": draw((6, 8), 1.0), "weight": draw((17, 8), 0.5)}, head_losses,
                 loss=True, fixed=ignored)


def make(generator):
    """Returns the constants (name -> dictionary) and the tensors of all single ops."""
    recorder = Recorder(generator)
    for part in (norms, activations, products, attentions, tokens_and_losses):
        part(recorder)
    return recorder.constants, recorder.tensors
