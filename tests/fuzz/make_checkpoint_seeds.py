#!/usr/bin/python3
"""Makes the seeds of checkpoint_fuzz, store_fuzz and formats_fuzz."""

import io
import json
import struct
from pathlib import Path

import numpy as np

SEEDS = Path(__file__).parent / "seeds"


def put(target, name, data):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def safetensors(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def npz(arrays):
    out = io.BytesIO()
    np.savez_compressed(out, w=np.float32(arrays["w"]), v=np.float64(arrays["v"]))
    return out.getvalue()


def gguf():
    def text(s):
        return struct.pack("<Q", len(s)) + s

    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 2)
    head += text(b"general.architecture") + struct.pack("<I", 8) + text(b"gpt2")
    head += text(b"tokens") + struct.pack("<IIQ", 9, 8, 2) + text(b"a") + text(b"b")
    head += text(b"w") + struct.pack("<IQIQ", 1, 2, 0, 0)
    return head + bytes(-len(head) % 32) + struct.pack("<2f", 1.5, -2) + bytes(24)


def llmc():
    sizes = [20240326, 3, 2, 3, 1, 1, 4, 128]  # context 2, vocabulary 3, one layer, one head, width 4
    width, count = 4, 128 * 4 + 2 * 4
    count += 2 * width + 3 * width * width + 3 * width + width * width + width
    count += 2 * width + 4 * width * width + 4 * width + 4 * width * width + width + 2 * width
    return np.int32(sizes + [0] * 248).tobytes() + np.zeros(count, "<f4").tobytes()


def main():
    data = (SEEDS.parent.parent / "checkpoint" / "frozen" / "format_1.thimble").read_bytes()
    put("checkpoint", "whole", b"\0" + data)
    put("checkpoint", "mended", b"\1" + data)
    put("checkpoint", "cut", b"\1" + data[:700])
    put("store", "saves", bytes([0, 7, 1]) + bytes([0, 1] * 20))
    put("store", "cuts", bytes([1, 7, 2]) + bytes([1, 9, 1, 30, 1, 2, 0, 1, 60] * 6))
    put("store", "foreign", bytes([0, 0, 1, 0, 0]) + data)
    f32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    put("formats", "two", b"\3" + safetensors({"__metadata__": {"a": "b"}, "w": f32,
                                           "v": {"dtype": "F16", "shape": [1, 2], "data_offsets": [8, 12]}},
                                          struct.pack("<2f2H", 1.5, -2, 0x3C00, 0x7C00)))
    put("formats", "scalar", b"\3" + safetensors({"s": {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}}, bytes(8)))
    put("formats", "empty", b"\3" + safetensors({}))
    put("formats", "npz", b"\0" + npz({"w": [1.5, -2.0], "v": [[0.25]]}))
    put("formats", "gguf", b"\1" + gguf())
    put("formats", "llmc", b"\2" + llmc())


if __name__ == "__main__":
    main()
