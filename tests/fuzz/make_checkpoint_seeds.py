#!/usr/bin/python3
"""Makes the seeds of checkpoint_fuzz, store_fuzz and safetensors_fuzz."""

import json
import struct
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def put(target, name, data):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def safetensors(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def main():
    data = (SEEDS.parent.parent / "checkpoint" / "frozen" / "format_1.thimble").read_bytes()
    put("checkpoint", "whole", b"\0" + data)
    put("checkpoint", "mended", b"\1" + data)
    put("checkpoint", "cut", b"\1" + data[:700])
    put("store", "saves", bytes([0, 7, 1]) + bytes([0, 1] * 20))
    put("store", "cuts", bytes([1, 7, 2]) + bytes([1, 9, 1, 30, 1, 2, 0, 1, 60] * 6))
    put("store", "foreign", bytes([0, 0, 1, 0, 0]) + data)
    f32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    put("safetensors", "two", safetensors({"__metadata__": {"a": "b"}, "w": f32,
                                           "v": {"dtype": "F16", "shape": [1, 2], "data_offsets": [8, 12]}},
                                          struct.pack("<2f2H", 1.5, -2, 0x3C00, 0x7C00)))
    put("safetensors", "scalar", safetensors({"s": {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}}, bytes(8)))
    put("safetensors", "empty", safetensors({}))


if __name__ == "__main__":
    main()
