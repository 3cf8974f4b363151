"""Checkpoints: length-delimited records of checkpoint.proto. Everything is checked when a file is opened."""

import os
import struct
import tempfile

import numpy as np
from google.protobuf.message import DecodeError

from . import checkpoint_pb2 as pb
from .crc32c import Crc32c

FORMAT_VERSION = 1
_DTYPES = {pb.NUMBER_TYPE_F32: np.dtype("<f4"), pb.NUMBER_TYPE_F64: np.dtype("<f8")}
_ROLES = {
    pb.ROLE_WEIGHT: "weights",
    pb.ROLE_FIRST_MOMENT: "first_moments",
    pb.ROLE_SECOND_MOMENT: "second_moments",
    pb.ROLE_GRADIENT: "gradients",
}
_CRC_FIELD = bytes([15 << 3 | 5])  # the tag of Record.crc32c
_FNV_BASIS, _FNV_PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


class CheckpointError(ValueError):
    """What is wrong with a checkpoint, in which record and at which byte."""


class Checkpoint:
    """header: the message. metadata: dict of bytes. weights, first_moments, second_moments, gradients: dicts of
    arrays by name, in the file's order. digest: of all weights, as `thimble train` prints it."""

    def __init__(self, header):
        self.header = header
        self.metadata = {}
        self.weights = {}
        self.first_moments = {}
        self.second_moments = {}
        self.gradients = {}
        self.digest = None

    def state_dict(self):
        """The weights as torch tensors (copies)."""
        import torch

        return {name: torch.from_numpy(array.copy()) for name, array in self.weights.items()}

    def tensors(self):
        """(role, name, array) in the order of the file."""
        for role, attribute in _ROLES.items():
            for name, array in getattr(self, attribute).items():
                yield role, name, array


def digest_of(arrays, start=_FNV_BASIS):
    """FNV-1a over the 32-bit words of arrays, in order. One word at a time: some 10 million a second."""
    state = start
    for array in arrays:
        for word in np.ascontiguousarray(array).reshape(-1).view("<u4").tolist():
            state = (state ^ word) * _FNV_PRIME & _MASK
    return state


def _varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class _Records:
    """The records of a file, each with its CRC checked."""

    def __init__(self, data, path):
        self.data, self.path = data, path
        self.offset = self.index = 0
        self.chain = Crc32c()

    def fail(self, problem):
        raise CheckpointError(f"{self.path}, record {self.index}, byte {self.offset}: {problem}")

    def __iter__(self):
        while self.offset < len(self.data):
            yield self._read()

    def _read(self):
        begin, length, shift = self.offset, 0, 0
        while True:
            if self.offset >= len(self.data) or shift > 63:
                self.fail("the record's length is cut")
            byte = self.data[self.offset]
            self.offset += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        end = self.offset + length
        if end > len(self.data):
            self.fail(f"the record ends at byte {end}, the file at {len(self.data)}")
        if length < 5 or self.data[end - 5 : end - 4] != _CRC_FIELD:
            self.fail("the record does not end in its crc32c")
        (stored,) = struct.unpack("<I", self.data[end - 4 : end])
        found = Crc32c().update(self.data[begin : end - 5]).value()
        if stored != found:
            self.fail(f"damaged bytes: CRC-32C is {found:#010x}, the record says {stored:#010x}")
        try:
            record = pb.Record.FromString(bytes(self.data[self.offset : end]))
        except DecodeError as error:
            self.fail(f"not a message of the schema: {error}")
        chain = self.chain.value()
        self.chain.update(self.data[end - 4 : end])
        self.offset = end
        self.index += 1
        return begin, chain, record


def load(path, verify_digests=False):
    """Opens a checkpoint. CRC-32C, order and sizes are always checked; the digests too, where asked for (slow for
    large models: the CRCs cover the same bytes)."""
    with open(path, "rb") as file:
        records = _Records(memoryview(file.read()), path)
    checkpoint = commit = None
    for begin, chain, record in records:
        kind = record.WhichOneof("content")
        if commit is not None:
            records.fail("a record follows the commit")
        if (checkpoint is None) != (kind == "header"):
            records.fail(f"the first record and no other is the header, not {kind}")
        if kind == "header":
            if not 1 <= record.header.format_version <= FORMAT_VERSION:
                records.fail(f"format {record.header.format_version}; this module reads up to {FORMAT_VERSION}")
            checkpoint = Checkpoint(record.header)
        elif kind == "metadata":
            checkpoint.metadata[record.metadata.key] = record.metadata.value
        elif kind == "tensor":
            _take_tensor(records, checkpoint, record.tensor, verify_digests)
        elif kind == "commit":
            commit = record.commit
            expected = (records.index, begin, chain)
            if (commit.record_count, commit.byte_count, commit.chain_crc32c) != expected:
                records.fail("the commit is of another checkpoint")
    if commit is None:
        records.fail("no commit: the file ends too early")
    count = sum(1 for _ in checkpoint.tensors())
    if count != checkpoint.header.tensor_count:
        records.fail(f"{count} tensors, the header says {checkpoint.header.tensor_count}")
    checkpoint.digest = commit.weights_digest
    if verify_digests and digest_of(checkpoint.weights.values()) != commit.weights_digest:
        records.fail("the weights are not those that the commit's digest was made of")
    return checkpoint


def _take_tensor(records, checkpoint, tensor, verify_digest):
    dtype, role = _DTYPES.get(tensor.number_type), _ROLES.get(tensor.role)
    if dtype is None or role is None:
        records.fail(f"tensor {tensor.name!r} has an unknown number type or role")
    count = int(np.prod(tensor.shape, dtype=object)) if tensor.shape else 1
    if len(tensor.data) != count * dtype.itemsize:
        records.fail(f"tensor {tensor.name!r}: {len(tensor.data)} bytes for the shape {list(tensor.shape)}")
    array = np.frombuffer(tensor.data, dtype=dtype).reshape(tuple(tensor.shape))
    if verify_digest and digest_of([array]) != tensor.digest:
        records.fail(f"tensor {tensor.name!r}: the numbers are not those that its digest was made of")
    getattr(checkpoint, role)[tensor.name] = array


def save(path, checkpoint):
    """Writes a checkpoint whole or not at all. The header's tensor_count and the digests are made from the arrays."""
    folder = os.path.dirname(os.path.abspath(path))
    descriptor, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".tmp-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _write(file, checkpoint)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _stored_form(name, array):
    """The array as a file holds it: little-endian, in rows."""
    array = np.asarray(array)
    little = array.dtype.newbyteorder("<")
    if little not in _DTYPES.values() or array.ndim > 2 or not 1 <= len(name.encode()) <= 31:
        raise CheckpointError(
            f"tensor {name!r}: a checkpoint holds float32 and float64, at most two dimensions, names of 1 to 31 bytes;"
            f" this is {array.dtype} of shape {list(array.shape)}"
        )
    return np.asarray(array, dtype=little, order="C")


def _write(file, checkpoint):
    chain, count = Crc32c(), 0

    def put(**content):
        nonlocal count
        body = pb.Record(**content).SerializeToString()
        prefix = _varint(len(body) + 5)
        crc = struct.pack("<I", Crc32c().update(prefix + body).value())
        file.write(prefix + body + _CRC_FIELD + crc)
        chain.update(crc)
        count += 1

    header = pb.Header()
    header.CopyFrom(checkpoint.header)
    tensors = list(checkpoint.tensors())
    header.tensor_count = len(tensors)
    put(header=header)
    for key, value in checkpoint.metadata.items():
        put(metadata=pb.Metadata(key=key, value=value))
    number_types = {dtype: number_type for number_type, dtype in _DTYPES.items()}
    for role, name, array in tensors:
        array = _stored_form(name, array)
        put(
            tensor=pb.Tensor(
                name=name,
                role=role,
                number_type=number_types[array.dtype],
                shape=array.shape,
                data=array.tobytes(),
                digest=digest_of([array]),
            )
        )
    commit = pb.Commit(record_count=count + 1, byte_count=file.tell(), chain_crc32c=chain.value())
    commit.weights_digest = digest_of(checkpoint.weights.values())
    put(commit=commit)
