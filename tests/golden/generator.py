"""Numbers that are the same for ever: SplitMix64 (Steele, Lea, Flood 2014), in integers alone."""

import math

import numpy as np

MASK = (1 << 64) - 1


class Generator:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        """64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, limit):
        """An integer in [0, limit)."""
        return (self.next() >> 32) * limit >> 32

    def integers(self, shape, limit):
        """Nested lists of integers in [0, limit)."""
        return self._array(shape, lambda: self.below(limit), np.int64).tolist()

    def uniform(self, shape, radius, centre=0.0):
        """F32 numbers within `radius` of `centre`."""
        return self._array(shape, lambda: centre + radius * ((self.next() >> 40) / (1 << 23) - 1), np.float32)

    def _array(self, shape, draw, dtype):
        return np.array([draw() for _ in range(math.prod(shape))], dtype).reshape(shape)
