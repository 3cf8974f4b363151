"""A second, independent safetensors reader and writer in numpy, for the round-trip test.

Usage: safetensors_peer.py IN OUT
Reads IN, writes OUT: every tensor doubled under its own name, as F16 under NAME.f16, as BF16 under NAME.bf16.
"""
import json
import struct
import sys

import numpy as np

TYPES = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8")}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def bfloat16_bits(values):
    # Truncation is exact here: the test sends values with few bits.
    return (values.astype("<f4").view("<u4") >> 16).astype("<u2")


def write(path, tensors, metadata):
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    for name, (kind, array) in tensors.items():
        blob = array.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()  # unpadded on purpose: readers must not count on alignment
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def main():
    tensors, metadata = read(sys.argv[1])
    out = {}
    for name, array in tensors.items():
        kind = "F64" if array.dtype.itemsize == 8 else "F32"
        out[name] = (kind, array * 2)
        out[name + ".f16"] = ("F16", array.astype("<f2"))
        out[name + ".bf16"] = ("BF16", bfloat16_bits(array))
    write(sys.argv[2], out, {key: value + " seen" for key, value in metadata.items()})


if __name__ == "__main__":
    main()
