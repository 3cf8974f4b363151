"""CRC-32C (Castagnoli) of large arrays in NumPy: many lanes side by side, joined by the CRC's linearity."""

import numpy as np

_POLYNOMIAL = 0x82F63B78
_LANES = 1 << 14


def _make_table():
    crc = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        crc = np.where(crc & 1, crc >> np.uint32(1) ^ np.uint32(_POLYNOMIAL), crc >> np.uint32(1))
    return crc


_TABLE = _make_table()
_TABLE_LIST = [int(x) for x in _TABLE]


def _serial(state, data):
    for byte in bytes(data):
        state = state >> 8 ^ _TABLE_LIST[(state ^ byte) & 0xFF]
    return state


def _advance_tables(length):
    """Four tables of 256 entries that move a state over `length` zero bytes (a linear map of its bits)."""

    def multiply(matrix, vector):
        total = 0
        for bit in range(32):
            if vector >> bit & 1:
                total ^= matrix[bit]
        return total

    one = [_TABLE_LIST[1 << b] if b < 8 else 1 << (b - 8) for b in range(32)]  # one zero byte
    power, result = one, [1 << b for b in range(32)]
    while length:
        if length & 1:
            result = [multiply(power, column) for column in result]
        power = [multiply(power, column) for column in power]
        length >>= 1
    return [[multiply(result, value << 8 * k) for value in range(256)] for k in range(4)]


class Crc32c:
    """update(data) any number of times; value() at any time."""

    def __init__(self):
        self._state = 0xFFFFFFFF

    def update(self, data):
        data = np.frombuffer(data, dtype=np.uint8)
        steps = len(data) // _LANES
        if steps >= 16:
            lanes = data[: steps * _LANES].reshape(_LANES, steps)
            state = np.zeros(_LANES, dtype=np.uint32)
            for column in np.ascontiguousarray(lanes.T):
                state = state >> np.uint32(8) ^ _TABLE[(state ^ column) & np.uint32(0xFF)]
            t0, t1, t2, t3 = _advance_tables(steps)
            total = self._state
            for lane in state.tolist():
                total = t0[total & 0xFF] ^ t1[total >> 8 & 0xFF] ^ t2[total >> 16 & 0xFF] ^ t3[total >> 24] ^ lane
            self._state = total
            data = data[steps * _LANES :]
        self._state = _serial(self._state, data)
        return self

    def value(self):
        return self._state ^ 0xFFFFFFFF
