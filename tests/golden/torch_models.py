"""The model families in torch, for values (goldens, in double) and for speed (benchmarks, in float) alike.

Names and layouts are Hugging Face GPT-2's: weights of linear layers are [in, out], the untied head is [V, C].
`keep(name, value)` sees every named intermediate ("stop") in forward order and returns the value to use.
"""

import dataclasses
import math

import torch
import torch.nn.functional as F


@dataclasses.dataclass(frozen=True)
class Gpt:
    """A pre-norm GPT with learned positions. B, T, C, H, D, V, L as everywhere in thimble."""
    vocab: int
    context: int
    width: int
    heads: int
    layers: int
    norm: str = "layernorm"  # or "rms"
    norm_gain: bool = True
    norm_eps: float = 1e-5
    embed_norm: bool = False
    final_norm: bool = True
    bias: bool = True
    activation: str = "gelu_tanh"  # or "gelu_erf", "relu"
    tied_head: bool = True

    def shapes(self):
        """Parameter name -> shape, in forward order."""
        c, shapes = self.width, {}

        def linear(name, inputs, outputs):
            shapes[name + ".weight"] = (inputs, outputs)
            if self.bias:
                shapes[name + ".bias"] = (outputs,)

        def norm(name):
            if self.norm_gain:
                shapes[name + ".weight"] = (c,)
                if self.norm == "layernorm" and self.bias:
                    shapes[name + ".bias"] = (c,)

        shapes["wte.weight"] = (self.vocab, c)
        shapes["wpe.weight"] = (self.context, c)
        for layer in range(self.layers):
            block = f"h.{layer}."
            norm(block + "ln_1")
            linear(block + "attn.c_attn", c, 3 * c)
            linear(block + "attn.c_proj", c, c)
            norm(block + "ln_2")
            linear(block + "mlp.c_fc", c, 4 * c)
            linear(block + "mlp.c_proj", 4 * c, c)
        if self.final_norm:
            norm("ln_f")
        if not self.tied_head:
            shapes["lm_head.weight"] = (self.vocab, c)
        return shapes

    def logits(self, weights, tokens, keep=lambda name, value: value):
        """Logits [B, T, V] of `tokens` [B, T]."""
        x = keep("embed", weights["wte.weight"][tokens] + weights["wpe.weight"][:tokens.shape[1]])
        if self.embed_norm:
            x = rms_norm(x, None, self.norm_eps)
        x = keep("h.0.in", x.view_as(x))
        mask = causal_mask(tokens.shape[1], x.dtype)
        for layer in range(self.layers):
            x = self._block(weights, f"h.{layer}.", x, mask, keep)
        if self.final_norm:
            x = keep("ln_f", self._norm(weights, "ln_f", x))
        head = weights["wte.weight"] if self.tied_head else weights["lm_head.weight"]
        return keep("logits", F.linear(x, head))

    def _norm(self, weights, name, x):
        gain, bias = weights.get(name + ".weight"), weights.get(name + ".bias")
        if self.norm == "layernorm":
            return F.layer_norm(x, x.shape[-1:], gain, bias, self.norm_eps)
        return rms_norm(x, gain, self.norm_eps)

    def _block(self, weights, block, x, mask, keep):
        a = keep(block + "ln_1", self._norm(weights, block + "ln_1", x))
        qkv = keep(block + "qkv", linear(weights, block + "attn.c_attn", a))
        a = keep(block + "attn", attention(qkv, self.heads, mask, block, keep))
        x = keep(block + "mid", x + linear(weights, block + "attn.c_proj", a))
        a = keep(block + "ln_2", self._norm(weights, block + "ln_2", x))
        a = keep(block + "pre", linear(weights, block + "mlp.c_fc", a))
        a = keep(block + "act", ACTIVATIONS[self.activation](a))
        return keep(block + "out", x + linear(weights, block + "mlp.c_proj", a))


@dataclasses.dataclass(frozen=True)
class Mlp:
    """A character model: the last `history` embeddings, side by side, through one tanh layer."""
    vocab: int
    context: int
    embed: int
    hidden: int
    history: int = 4

    def shapes(self):
        """Parameter name -> shape, in forward order."""
        return {"wte.weight": (self.vocab, self.embed),
                "fc.weight": (self.history * self.embed, self.hidden), "fc.bias": (self.hidden,),
                "lm_head.weight": (self.vocab, self.hidden)}

    def logits(self, weights, tokens, keep=lambda name, value: value):
        """Logits [B, T, V] of `tokens` [B, T]."""
        x = keep("embed", weights["wte.weight"][tokens])
        x = keep("history", history(x, self.history))
        x = keep("pre", linear(weights, "fc", x))
        x = keep("act", torch.tanh(x))
        return keep("logits", F.linear(x, weights["lm_head.weight"]))


ACTIVATIONS = {
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_erf": lambda x: F.gelu(x),
    "relu": lambda x: F.relu(x),
    "tanh": lambda x: torch.tanh(x),
}


def rms_norm(x, gain, eps):
    """x / sqrt(mean(x^2) + eps), times `gain` where there is one."""
    x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return x if gain is None else x * gain


def linear(weights, name, x):
    """x [..., in] times weight [in, out], plus the bias where there is one."""
    weight, bias = weights[name + ".weight"], weights.get(name + ".bias")
    flat = x.reshape(-1, x.shape[-1])
    flat = flat @ weight if bias is None else torch.addmm(bias, flat, weight)
    return flat.view(*x.shape[:-1], weight.shape[1])


def causal_mask(steps, dtype):
    """[1, T, T]: 0 where the key is not later than the query, else minus infinity."""
    return torch.full((1, steps, steps), -math.inf, dtype=dtype).triu_(1)


def attention(qkv, heads, mask, block="", keep=lambda name, value: value):
    """Causal attention of qkv [B, T, 3C] = q | k | v, each with its heads side by side; gives [B, T, C].

    Stops: `scores` [B, H, T, T] after the scale by 1/sqrt(D); `probs` [B, H, T, T], whose gradient is that of
    the product with v and so is not zero where the mask is.
    """
    batch, steps, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    size = width // heads
    by_head = qkv.view(batch, steps, 3, heads, size).permute(2, 0, 3, 1, 4)
    q, k, v = by_head.reshape(3, -1, steps, size).unbind(0)
    scores = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(size))
    scores = keep(block + "scores", scores.view(batch, heads, steps, steps))
    probs = keep(block + "probs", torch.softmax(scores, -1))
    out = torch.bmm(probs.view(-1, steps, steps), v).view(batch, heads, steps, size)
    return out.transpose(1, 2).reshape(batch, steps, width)


def history(x, count):
    """x [B, T, E] -> [B, T, count * E]: position t holds x[t - count + 1] .. x[t], zeros before the row."""
    steps = x.shape[1]
    return torch.cat([F.pad(x, (0, 0, back, 0))[:, :steps] for back in range(count - 1, -1, -1)], -1)


def position_losses(logits, targets):
    """Cross-entropy [B, T] of each position; 0 where the target is -1 (ignored)."""
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1, reduction="none")
    return losses.view(targets.shape)


def mean_loss(logits, targets):
    """The mean cross-entropy over the positions whose target is not -1."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


def decay_groups(weights, weight_decay):
    """AdamW's parameter groups: weight decay on matrices only, none on biases and norms."""
    return [{"params": [w for w in weights.values() if w.dim() == 2], "weight_decay": weight_decay},
            {"params": [w for w in weights.values() if w.dim() != 2], "weight_decay": 0.0}]
