#!/usr/bin/python3
"""Weights in other programs' formats, read by other programs. Usage: exchange_test.py BUILD/thimble"""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

THIMBLE = None
TEXT = "".join(f"line {i}: the quick brown fox jumps over the lazy dog {i * i}\n" for i in range(400))


def run(*arguments):
    return subprocess.run([THIMBLE, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def read_safetensors(path):
    raw = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    dtypes = {"F32": "<f4", "F64": "<f8", "F16": "<f2"}
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(raw[8 + size + begin : 8 + size + end], dtypes[entry["dtype"]])
        arrays[name] = array.reshape(entry["shape"])
    return arrays, metadata


def write_safetensors(path, arrays):
    names = {"float32": "F32", "float16": "F16", "float64": "F64", "uint16": "BF16"}
    header, data = {}, b""
    for name, array in arrays.items():
        raw = array.tobytes()
        header[name] = {"dtype": names[array.dtype.name], "shape": array.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def gpt2_logits(w, tokens, config):
    """GPT-2's forward pass in double precision from weights in Hugging Face's layout."""
    w = {name: array.astype(np.float64) for name, array in w.items()}
    heads, epsilon = config["n_head"], config["layer_norm_epsilon"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
        return scaled * w[name + ".weight"] + w[name + ".bias"]

    def dense(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    def gelu(x):
        if config["activation_function"] == "gelu":
            return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    length, width = len(tokens), w["wte.weight"].shape[1]
    x = w["wte.weight"][tokens] + w["wpe.weight"][:length]
    mask = np.triu(np.full((length, length), -np.inf), 1)
    for i in range(config["n_layer"]):
        h = f"h.{i}."
        q, k, v = np.split(dense(norm(x, h + "ln_1"), h + "attn.c_attn"), 3, axis=-1)
        split = lambda a: a.reshape(length, heads, width // heads).transpose(1, 0, 2)
        scores = split(q) @ split(k).transpose(0, 2, 1) / math.sqrt(width // heads) + mask
        p = np.exp(scores - scores.max(-1, keepdims=True))
        attention = (p / p.sum(-1, keepdims=True)) @ split(v)
        x = x + dense(attention.transpose(1, 0, 2).reshape(length, width), h + "attn.c_proj")
        x = x + dense(gelu(dense(norm(x, h + "ln_2"), h + "mlp.c_fc")), h + "mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


def losses(logits, targets):
    shifted = logits - logits.max(-1, keepdims=True)
    return np.log(np.exp(shifted).sum(-1)) - shifted[np.arange(len(targets)), targets]


class Gguf:
    """The format as https://github.com/ggml-org/ggml/blob/master/docs/gguf.md describes it."""

    SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def __init__(self, path):
        self.data, self.at = Path(path).read_bytes(), 0
        assert self.take("4s") == b"GGUF" and self.take("I") == 3
        tensor_count, metadata_count = self.take("Q"), self.take("Q")
        self.metadata = {}
        for _ in range(metadata_count):
            key = self.text()
            self.metadata[key] = self.value(self.take("I"))
        entries = []
        for _ in range(tensor_count):
            name = self.text()
            shape = [self.take("Q") for _ in range(self.take("I"))]
            entries.append((name, shape[::-1], self.take("I"), self.take("Q")))
        begin = (self.at + 31) // 32 * 32
        self.tensors = {}
        for name, shape, kind, offset in entries:
            assert kind == 0 and offset % 32 == 0, name
            count = int(np.prod(shape))
            self.tensors[name] = np.frombuffer(self.data, "<f4", count, begin + offset).reshape(shape)

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        return self.take(f"{self.take('Q')}s").decode()

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            kind, count = self.take("I"), self.take("Q")
            return [self.value(kind) for _ in range(count)]
        return self.take(self.SCALARS[kind])


class Exchange(unittest.TestCase):
    MODEL = "char"

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "text.txt").write_text(TEXT)
        cls.weights = cls.folder / "w.safetensors"
        cls.check(run("train", cls.MODEL, "--text", cls.folder / "text.txt", "--steps", 12, "--batch", 4, "--context", 32,
                      "--save", cls.weights, "--checkpoint", cls.folder / "run"))
        cls.checkpoint = cls.folder / "run" / "checkpoint-000001.thimble"
        cls.arrays, cls.metadata = read_safetensors(cls.weights)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def check(result):
        assert result.returncode == 0, result.stderr
        return result

    def export(self, form, name, source=None):
        out = self.folder / name
        self.check(run("export", source or self.checkpoint, out, "--to", form))
        return out

    def assert_same(self, arrays):
        self.assertEqual(set(arrays), set(self.arrays))
        for name, array in arrays.items():
            self.assertEqual(array.tobytes(), self.arrays[name].tobytes(), name)

    def test_safetensors(self):
        self.assert_same(read_safetensors(self.export("safetensors", "e.safetensors"))[0])

    def test_npz_opens_in_numpy(self):
        with np.load(self.export("npz", "e.npz")) as arrays:
            self.assert_same({name: arrays[name] for name in arrays.files})

    def test_every_format_comes_back_as_it_went(self):
        for form, name in (("safetensors", "r.safetensors"), ("npz", "r.npz"), ("llmc", "r.bin"), ("thimble", "r.thimble"),
                           ("hf", "r_hf")):
            with self.subTest(form):
                out = self.export(form, name)
                back = self.folder / f"back_{form}.safetensors"
                self.check(run("import", out, back, "--model", self.MODEL))
                self.assert_same(read_safetensors(back)[0])
                self.check(run("diff", out, self.weights))

    def test_the_logits_of_the_export_are_ours(self):
        out = self.export("hf", "hf")
        config = json.loads((out / "config.json").read_text())
        arrays, _ = read_safetensors(out / "model.safetensors")
        self.assertNotIn("lm_head.weight", arrays)
        tokens = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2]
        # A row for each token of the vocabulary as the last target: their losses are all logits of the last position.
        rows = [tokens[:-1] + [last] for last in range(config["vocab_size"])]
        (self.folder / "tokens.json").write_text(json.dumps({"tokens": [rows]}))
        ours = json.loads(self.check(run("grad", self.MODEL, "--weights", self.checkpoint, "--tokens",
                                         self.folder / "tokens.json", "--json")).stdout)
        logits = gpt2_logits(arrays, tokens[:-1], config)
        found = np.reshape(ours["loss_per_position"], (len(rows), -1))
        for k, row in enumerate(rows):
            np.testing.assert_allclose(found[k], losses(logits, row[1:]), atol=1e-5, rtol=0)
        np.testing.assert_allclose(-found[:, -1] - np.mean(-found[:, -1]), logits[-1] - logits[-1].mean(), atol=1e-5)

    def test_gguf_has_llama_cpps_names_and_layout(self):
        g = Gguf(self.export("gguf", "e.gguf"))
        m, t, w = g.metadata, g.tensors, self.arrays
        self.assertEqual(m["general.architecture"], "gpt2")
        vocabulary, width = w["wte.weight"].shape
        self.assertEqual(m["gpt2.embedding_length"], width)
        self.assertEqual(m["gpt2.feed_forward_length"], 4 * width)
        self.assertEqual(m["gpt2.context_length"], len(w["wpe.weight"]))
        self.assertAlmostEqual(m["gpt2.attention.layer_norm_epsilon"], 1e-5, places=12)
        self.assertEqual(len(m["tokenizer.ggml.tokens"]), vocabulary)
        self.assertEqual(len(m["tokenizer.ggml.token_type"]), vocabulary)
        self.assertEqual(len(set(m["tokenizer.ggml.tokens"])), vocabulary)
        pairs = {"token_embd.weight": "wte.weight", "position_embd.weight": "wpe.weight", "output_norm.weight": "ln_f.weight",
                 "output_norm.bias": "ln_f.bias"}
        parts = {"attn_norm": "ln_1", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj", "ffn_norm": "ln_2",
                 "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}
        for i in range(m["gpt2.block_count"]):
            for theirs, ours in parts.items():
                for kind in ("weight", "bias"):
                    pairs[f"blk.{i}.{theirs}.{kind}"] = f"h.{i}.{ours}.{kind}"
        self.assertEqual(set(pairs), set(t))
        for theirs, ours in pairs.items():
            expected = w[ours].T if theirs.startswith("blk.") and w[ours].ndim == 2 else w[ours]
            np.testing.assert_array_equal(t[theirs], expected, theirs)

    def test_llmc_has_its_header_and_padding(self):
        raw = self.export("llmc", "e.bin").read_bytes()
        header = np.frombuffer(raw, "<i4", 256)
        vocabulary, width = self.arrays["wte.weight"].shape
        self.assertEqual(list(header[:2]), [20240326, 3])
        self.assertEqual(list(header[2:8]), [len(self.arrays["wpe.weight"]), vocabulary, 3, 6, width, (vocabulary + 127) // 128 * 128])
        table = np.frombuffer(raw, "<f4", vocabulary * width, 1024).reshape(vocabulary, width)
        np.testing.assert_array_equal(table, self.arrays["wte.weight"])

    def test_hugging_face_files_of_other_makes(self):
        """fp16 and bf16, with and without the prefix, with masks and a second copy of the head."""
        w = {name: array.copy() for name, array in self.arrays.items()}
        half = {name: array.astype(np.float16) for name, array in w.items()}
        brain = {name: (array.view(np.uint32) >> 16).astype(np.uint16) for name, array in w.items()}
        as_float = lambda a: (a.astype(np.uint32) << 16).view(np.float32)
        mask = np.tril(np.ones((1, 1, 64, 64), np.float32))
        cases = {
            "prefix": ({"transformer." + n: a for n, a in w.items()} | {"lm_head.weight": w["wte.weight"]}, w),
            "masks": (w | {f"h.{i}.attn.bias": mask for i in range(3)} | {"h.0.attn.masked_bias": np.float32(-1e4).reshape(())}, w),
            "half": (half, {n: a.astype(np.float32) for n, a in half.items()}),
            "bfloat": (brain, {n: as_float(a) for n, a in brain.items()}),
        }
        for name, (stored, expected) in cases.items():
            with self.subTest(name):
                path, out = self.folder / f"{name}.safetensors", self.folder / f"{name}_in.safetensors"
                write_safetensors(path, stored)
                self.check(run("import", path, out, "--model", self.MODEL))
                for tensor, array in read_safetensors(out)[0].items():
                    self.assertEqual(array.tobytes(), expected[tensor].tobytes(), tensor)

    def test_what_does_not_fit_is_refused(self):
        w = dict(self.arrays)
        bad = {
            "missing": ({n: a for n, a in w.items() if n != "ln_f.bias"}, "ln_f.bias"),
            "shape": (w | {"ln_f.bias": np.zeros(5, np.float32)}, "[5]"),
            "extra": (w | {"other": np.zeros(5, np.float32)}, "no such weight"),
            "head": (w | {"lm_head.weight": w["wte.weight"] + 1}, "differs from wte.weight"),
            "nan": (w | {"ln_f.bias": np.full_like(w["ln_f.bias"], np.nan)}, "not a finite number"),
            "large": ({n: a.astype(np.float64) for n, a in w.items()} | {"ln_f.bias": np.full(96, 1e300)}, "too large"),
        }
        for name, (stored, words) in bad.items():
            with self.subTest(name):
                path, out = self.folder / f"bad_{name}.safetensors", self.folder / f"bad_{name}.thimble"
                write_safetensors(path, stored)
                result = run("import", path, out, "--model", self.MODEL)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)
                self.assertFalse(out.exists())

    def test_a_source_and_a_run_are_never_overwritten(self):
        for arguments in (("convert", self.weights, self.weights), ("convert", self.weights, self.checkpoint),
                          ("export", self.checkpoint, self.checkpoint, "--to", "thimble")):
            before = self.checkpoint.read_bytes(), self.weights.read_bytes()
            self.assertEqual(run(*arguments).returncode, 1)
            self.assertEqual((self.checkpoint.read_bytes(), self.weights.read_bytes()), before)

    def test_weights_built_in_another_way_are_refused(self):
        out = self.export("hf", "other")
        config = json.loads((out / "config.json").read_text())
        for key, value, words in (("n_head", 3, "heads"), ("activation_function", "gelu", "activation"),
                                  ("activation_function", "silu", "silu"), ("layer_norm_epsilon", 0.1, "epsilon")):
            (out / "config.json").write_text(json.dumps(config | {key: value}))
            result = run("import", out, self.folder / "never.thimble", "--model", self.MODEL)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)
        arrays = {name: array for name, array in self.arrays.items() if name != "h.1.ln_2.bias"}
        path = self.folder / "part.npz"
        np.savez(path, **arrays)
        self.assertEqual(run("export", path, self.folder / "never_hf", "--to", "hf").returncode, 1)
        self.assertFalse((self.folder / "never_hf").exists())

    def test_formats_say_what_they_cannot_hold(self):
        for model, words in (("microgpt", "RMS norm"), ("decoder", "erf")):
            path = self.folder / f"{model}.safetensors"
            (self.folder / "names.txt").write_text("emma\nolivia\nava\n")
            self.check(run("train", model, "--documents", self.folder / "names.txt", "--steps", 1, "--save", path))
            result = run("export", path, self.folder / "no.gguf", "--to", "gguf")
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)
            self.assertFalse((self.folder / "no.gguf").exists())
            self.check(run("export", path, self.folder / f"{model}.npz", "--to", "npz"))

    def test_inspect_and_diff(self):
        j = json.loads(self.check(run("inspect", self.checkpoint, "--verify", "--json")).stdout)
        self.assertEqual(j["run"]["step"], 12)
        self.assertEqual(len(j["tensors"]), 3 * len(self.arrays))
        for entry in j["tensors"][: len(self.arrays)]:
            array = self.arrays[entry["name"]].astype(np.float64)
            self.assertEqual(entry["shape"], list(array.shape))
            self.assertAlmostEqual(entry["norm"], np.sqrt((array**2).sum()), delta=1e-9 * entry["norm"] + 1e-12)
            self.assertEqual((entry["min"], entry["max"], entry["nans"]), (array.min(), array.max(), 0))
        changed = dict(self.arrays)
        changed["wpe.weight"] = changed["wpe.weight"].copy()
        changed["wpe.weight"][3, 5] += np.float32(0.25)
        changed["h.0.ln_1.bias"] = np.full_like(changed["h.0.ln_1.bias"], np.nan)
        path = self.folder / "changed.safetensors"
        write_safetensors(path, changed)
        result = run("diff", self.weights, path, "--json")
        self.assertEqual(result.returncode, 1)
        first = json.loads(result.stdout)["differences"][0]
        self.assertEqual((first["name"], first["at"], first["count"]), ("wpe.weight", "[3, 5]", 1))
        last = json.loads(result.stdout)["differences"][-1]
        self.assertEqual((last["name"], last["largest"], last["at"]), ("h.0.ln_1.bias", None, "[0]"))
        result = run("inspect", path, "--verify")
        self.assertEqual(result.returncode, 1)
        self.assertIn("h.0.ln_1.bias", result.stderr)
        self.assertEqual(json.loads(run("inspect", path, "--json").stdout)["tensors"][3]["nans"], 96)


if __name__ == "__main__":
    THIMBLE = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
