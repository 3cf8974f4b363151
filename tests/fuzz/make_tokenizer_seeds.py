#!/usr/bin/python3
"""Writes the seeds of tokenizer_fuzz from the tests' vocabulary: a few merges of it, so that a seed stays small."""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOKENIZER = HERE.parent / "tokenizer"
OUT = HERE / "seeds" / "tokenizer"
MERGES = 12


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    full = json.loads((TOKENIZER / "tokenizer.json").read_text())
    merges = full["model"]["merges"][:MERGES]
    tokens = list(full["model"]["vocab"])[:256 + MERGES] + ["<|endoftext|>"]
    vocab = {t: i for i, t in enumerate(tokens)}
    lines = [" ".join(m) for m in merges]
    full["model"] |= {"vocab": vocab, "merges": merges}
    full["added_tokens"][0]["id"] = vocab["<|endoftext|>"]
    metadata = {"type": "gpt2", "tokens": tokens, "merges": lines, "special": {"<|endoftext|>": len(tokens) - 1}}

    def text(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    seeds = {
        "metadata": b"\0" + text(metadata),
        "tokenizer_json": b"\1" + text(full),
        "vocab_and_merges": b"\2" + text(vocab) + b"\0#version: 0.2\n" + "".join(x + "\n" for x in lines).encode(),
        "text": b"\3" + "I'll encode 12 words, été 日本 👍🏽  \n<|endoftext|>".encode() + b" \xff\xe2\x82",
        "long": b"\3" + b"the" * 40,
    }
    for name, content in seeds.items():
        (OUT / name).write_bytes(content)


if __name__ == "__main__":
    main()
