"""Numbers that are the same under every version of NumPy."""

import numpy as np


class Stream:
    """Numbers of a linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return (self.state >> 8) * n >> 24

    def tensor(self, *shape, bound=0.5):
        """Odd multiples of bound/32 between -bound and bound, a power of two."""
        return np.array([(2 * self.below(32) - 31) * bound / 32 for _ in range(np.prod(shape))]).reshape(shape)


def rounded(v):
    """v as float32, in float64."""
    return np.asarray(v, dtype=np.float32).astype(np.float64)


def letters(rows):
    """Whole numbers as a word for each row, P for 0; a space is a value that was not heard."""
    return ["".join(" " if v != v else chr(80 + int(v)) for v in row) for row in rows]
