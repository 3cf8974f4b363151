#!/usr/bin/python3
"""Checkpoints between the core and google.protobuf. Usage: python_test.py BUILD/thimble BUILD/python"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

THIMBLE = None
TEXT = "".join(f"line {i}: the quick brown fox jumps over the lazy dog {i * i}\n" for i in range(400))


def train(folder, *arguments, steps=8, model="pocket"):
    run = subprocess.run(
        [THIMBLE, "train", model, "--text", str(folder / "text.txt"), "--steps", str(steps), "--checkpoint",
         str(folder / "run"), "--json", *map(str, arguments)],
        capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


class PythonModule(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        (self.folder / "text.txt").write_text(TEXT)

    def tearDown(self):
        self.temporary.cleanup()

    def newest(self):
        return sorted((self.folder / "run").iterdir())[-1]

    def test_reads_what_the_core_writes(self):
        for real, dtype in (("f32", "<f4"), ("f64", "<f8")):
            with self.subTest(real):
                self.temporary.cleanup()
                self.setUp()
                result = train(self.folder, "--real", real, "--save", self.folder / "w.safetensors")
                c = thimble.load(self.newest(), verify_digests=True)
                self.assertEqual(f"{c.digest:016x}", result["digest"])
                self.assertEqual(c.header.model, "pocket")
                self.assertEqual(c.header.progress.step, 8)
                self.assertEqual(c.header.gpt.width, 16)
                self.assertEqual(c.weights["wte.weight"].shape, (96, 16))
                self.assertEqual(list(c.weights), list(c.first_moments))
                self.assertEqual(json.loads(c.metadata["tokenizer"])["type"], "bytes")
                raw = (self.folder / "w.safetensors").read_bytes()
                size = int.from_bytes(raw[:8], "little")
                for name, entry in json.loads(raw[8 : 8 + size]).items():
                    if name == "__metadata__":
                        continue
                    begin, end = entry["data_offsets"]
                    array = c.weights[name]
                    self.assertEqual(array.dtype, np.dtype(dtype))
                    self.assertEqual(array.tobytes(), raw[8 + size + begin : 8 + size + end])

    def test_the_core_reads_what_python_writes(self):
        whole = train(self.folder, steps=8)
        path = self.newest()
        checkpoint = thimble.load(path)
        original = path.read_bytes()
        thimble.save(path, checkpoint)
        self.assertEqual(thimble.load(path, verify_digests=True).digest, checkpoint.digest)
        self.assertEqual(train(self.folder, "--resume")["digest"], whole["digest"])
        # The same messages: the same bytes but for fields that hold a zero, which protobuf leaves out.
        self.assertAlmostEqual(len(path.read_bytes()), len(original), delta=64)

    def test_a_change_made_in_python_reaches_the_core(self):
        before = train(self.folder)
        checkpoint = thimble.load(self.newest())
        checkpoint.weights["ln_f.bias"] = checkpoint.weights["ln_f.bias"] + np.float32(0.5)
        thimble.save(self.newest(), checkpoint)
        after = train(self.folder, "--resume")
        self.assertNotEqual(after["digest"], before["digest"])
        expected = checkpoint_module.digest_of(checkpoint.weights.values())
        self.assertEqual(after["digest"], f"{expected:016x}")

    def test_unknown_fields_and_records_are_skipped(self):
        whole = train(self.folder)
        path = self.newest()
        data = path.read_bytes()
        chain, out, offset, count = crc32c.Crc32c(), bytearray(), 0, 0

        def put(body):
            nonlocal count
            prefix = checkpoint_module._varint(len(body) + 5)
            crc = crc32c.Crc32c().update(prefix + body).value().to_bytes(4, "little")
            out.extend(prefix + body + bytes([15 << 3 | 5]) + crc)
            chain.update(crc)
            count += 1

        for _, _, record in checkpoint_module._Records(memoryview(data), path):
            kind = record.WhichOneof("content")
            if kind == "commit":
                put(bytes([9 << 3 | 2, 3]) + b"new")  # a kind of record from a later version
                record.commit.record_count = count + 1
                record.commit.byte_count = len(out)
                record.commit.chain_crc32c = chain.value()
            record.ClearField("crc32c")
            body = record.SerializeToString()
            if kind == "header":  # a field from a later version, inside the message
                inner = record.header.SerializeToString() + bytes([0xF8, 0x07, 0x2A])  # number 127, varint 42
                body = bytes([1 << 3 | 2]) + checkpoint_module._varint(len(inner)) + inner
            put(body)
        path.write_bytes(bytes(out))
        thimble.load(path, verify_digests=True)
        self.assertEqual(train(self.folder, "--resume")["digest"], whole["digest"])

    def test_every_kind_of_damage_is_an_error(self):
        train(self.folder, steps=1)
        path = self.newest()
        data = path.read_bytes()
        for n in list(range(0, 400)) + list(range(400, len(data), 997)):
            for damaged in (data[:n], data[:n] + bytes([data[n] ^ 0x20]) + data[n + 1 :]):
                path.write_bytes(damaged)
                with self.assertRaisesRegex(thimble.CheckpointError, r"record \d+, byte \d+"):
                    thimble.load(path)

    def test_crc_of_long_data_is_that_of_its_pieces(self):
        data = np.random.default_rng(1).integers(0, 256, 1_000_003, dtype=np.uint8).tobytes()
        whole = crc32c.Crc32c().update(data).value()
        pieces = crc32c.Crc32c()
        for i in range(0, len(data), 9973):
            pieces.update(data[i : i + 9973])
        self.assertEqual(whole, pieces.value())
        self.assertEqual(crc32c.Crc32c().update(b"123456789").value(), 0xE3069283)

    def test_torch_takes_the_state_dict(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        train(self.folder)
        c = thimble.load(self.newest())
        state = c.state_dict()
        self.assertEqual(list(state), list(c.weights))
        self.assertEqual(state["h.1.mlp.c_fc.weight"].shape, torch.Size([16, 64]))


if __name__ == "__main__":
    THIMBLE = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.abspath(sys.argv[2]))
    import thimble
    from thimble import checkpoint as checkpoint_module
    from thimble import crc32c

    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
