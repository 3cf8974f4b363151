"""A minimal safetensors reader and writer: an 8-byte little-endian header length, a JSON header, raw data."""

import json
import struct
from pathlib import Path

import numpy as np

DTYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}


def encode(tensors):
    """Returns the bytes of a file that holds `tensors` (name -> array), in the order given."""
    header, chunks, offset = {}, [], 0
    for name, array in tensors.items():
        array = np.asarray(array, order="C")
        if array.dtype not in NAMES:
            raise ValueError(f"{name}: element type {array.dtype} is not one of {', '.join(DTYPES)}")
        data = array.tobytes()
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(chunks)


def write(path, tensors):
    """Writes `tensors` (name -> array) to `path`."""
    Path(path).write_bytes(encode(tensors))


def read(path):
    """Returns name -> array. Raises ValueError, naming the file, where it is cut or inconsistent."""
    raw = Path(path).read_bytes()
    if len(raw) < 8:
        raise ValueError(f"{path}: {len(raw)} bytes, shorter than the header length")
    (length,) = struct.unpack_from("<Q", raw)
    if 8 + length > len(raw):
        raise ValueError(f"{path}: the header claims {length} bytes, the file has {len(raw) - 8}")
    header = json.loads(raw[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = np.dtype(DTYPES[entry["dtype"]])
        if end > len(raw) or end - begin != dtype.itemsize * int(np.prod(entry["shape"])):
            raise ValueError(f"{path}: {name} does not fit its shape or the file")
        tensors[name] = np.frombuffer(raw[begin:end], dtype).reshape(entry["shape"])
    return tensors
