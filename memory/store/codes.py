"""Vectors as short codes: two bits a dimension, and an estimate of the cosine from them by counting bits.

The method is RaBitQ's (Gao and Long, SIGMOD 2024). What the vectors have in common, their centre, is taken off; the
rest is turned by a fixed random rotation, so that every dimension carries about as much as any other, and each value is
cut to `BITS` bits. With the code go two numbers a vector, its product with the centre and the factor that makes the
estimate exact on average:

    cosine(query, vector) ≈ offset + scale × ⟨levels of the rotated query, levels of the rotated vector⟩ + constant

The rotation is a Hadamard transform behind random signs, twice: it needs no matrix, and is the same on every machine.
Codes of one and two bits are nested: the first plane of bits, the signs, is a code of its own.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float32, int64, uint64
    from numpy.typing import NDArray

    from memory.provider.base import Vectors

    Planes = NDArray[uint64]

BITS = 2
"""Bits a dimension."""
_STEP = 0.9957
"""Width of a level, in standard deviations: the best for values with a normal distribution cut to two bits."""
_LEAST_DIMENSIONS = 128
_ENCODED_AT_ONCE = 256
"""Rows that are rotated together: they stay in the processor's cache."""
_COMPARED_AT_ONCE = 8192
"""Codes that are compared together, for the same reason."""


@dataclass(frozen=True, slots=True)
class QueryCode:
    """A query cut to `bits` bits a dimension, ready to be compared with codes."""

    bits: int
    planes: "Planes"
    """Shape (bits, words), the plane of the highest bit first."""
    factor: "float32"
    """What the product of levels is multiplied with, beside the vector's own scale."""
    spread: "float32"
    """Standard deviation of an estimate, beside the vector's own scale."""


class Coder:
    """Makes codes of vectors around one centre, of shape (width,)."""

    def __init__(self, centre: "Vectors") -> None:
        self.centre = centre
        self.dimensions = max(_LEAST_DIMENSIONS, 1 << (len(centre) - 1).bit_length())
        """Of the rotated vectors: the next power of two."""

    @property
    def words(self) -> int:
        """64-bit words of a plane."""
        return self.dimensions // 64

    @property
    def size(self) -> int:
        """Bytes of a code: offset and scale as float32, then the planes, the highest bit's first."""
        return 8 + BITS * self.dimensions // 8

    def encode(self, vectors: "Vectors") -> list[bytes]:
        """The codes of vectors of shape (count, width) and length 1."""
        import numpy as np

        codes: list[bytes] = []
        for start in range(0, len(vectors), _ENCODED_AT_ONCE):
            rows = vectors[start : start + _ENCODED_AT_ONCE]
            rotated = self._rotated(rows - self.centre)
            power = np.vecdot(rotated, rotated)
            levels = self._levels(rotated, power, BITS)
            match = np.vecdot(rotated, levels - np.float32((2**BITS - 1) / 2))
            scale = np.divide(power, match, out=np.zeros_like(power), where=match > 0)
            numbers = np.stack([np.vecdot(rows, self.centre), scale], axis=1).astype("<f4")
            planes = _planes(levels, BITS)
            codes += [numbers[at].tobytes() + planes[:, at].tobytes() for at in range(len(rows))]
        return codes

    def decode(self, codes: list[bytes]) -> "tuple[Vectors, Vectors, Planes]":
        """Offsets and scales, each of shape (count,), and planes of shape (`BITS`, words, count)."""
        import numpy as np

        table = np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(codes), self.size)
        numbers = table[:, :8].copy().view("<f4").astype(np.float32)
        planes = table[:, 8:].copy().view(np.uint64).reshape(len(codes), BITS, self.words)
        return numbers[:, 0], numbers[:, 1], planes.transpose(1, 2, 0)

    def no_planes(self, count: int) -> "Planes":
        """Room for the planes of `count` codes."""
        import numpy as np

        return np.empty((BITS, self.words, count), dtype=np.uint64)

    def query(self, vector: "Vectors", bits: int) -> QueryCode:
        """A query of shape (width,), cut to `bits` bits (at most `BITS`) to be compared with as many of each code."""
        import numpy as np

        rotated = self._rotated((vector - self.centre)[None])
        power = np.vecdot(rotated, rotated)
        levels = self._levels(rotated, power, bits)
        match = np.vecdot(rotated, levels - np.float32((2**bits - 1) / 2))
        own_factor = power[0] / match[0] if match[0] > 0 else np.float32(0)
        gain, quality = _statistics(bits)
        full_gain, _ = _statistics(BITS)
        noise = full_gain * math.sqrt((1 / quality**2 - 1) * power[0])
        return QueryCode(
            bits, _planes(levels, bits)[:, 0], np.float32(own_factor * full_gain / gain), np.float32(noise)
        )

    def products(self, query: QueryCode, planes: "Planes", places: "NDArray[int64] | None" = None) -> "Vectors":
        """⟨levels of the query, levels of each vector⟩ for planes of shape (≥ bits, words, count).

        Only for the codes at `places`, if these are given.
        """
        import numpy as np

        planes = planes[: query.bits]
        count = planes.shape[2] if places is None else len(places)
        found = np.empty(count, dtype=np.float32)
        differing = np.empty((self.words, _COMPARED_AT_ONCE), dtype=np.uint64)
        bits = np.empty((self.words, _COMPARED_AT_ONCE), dtype=np.uint8)
        whole = np.float32(self.dimensions * (2**query.bits - 1) ** 2 / 4)
        for start in range(0, count, _COMPARED_AT_ONCE):
            block = slice(start, min(start + _COMPARED_AT_ONCE, count))
            size = block.stop - start
            chosen = planes[:, :, block] if places is None else planes.take(places[block], axis=2)
            found[block] = whole
            for i in range(query.bits):
                for j in range(query.bits):
                    np.bitwise_xor(chosen[j], query.planes[i][:, None], out=differing[:, :size])
                    np.bitwise_count(differing[:, :size], out=bits[:, :size])
                    weight = np.float32(2 ** (2 * query.bits - 3 - i - j))
                    found[block] -= weight * np.add.reduce(bits[:, :size], axis=0, dtype=np.uint16)
        return found

    def _rotated(self, rows: "Vectors") -> "Vectors":
        import numpy as np

        turned = np.zeros((len(rows), self.dimensions), dtype=np.float32)
        turned[:, : rows.shape[1]] = rows
        for signs in _signs(self.dimensions):
            turned = _hadamard(turned * signs)
        return turned

    def _levels(self, rotated: "Vectors", power: "Vectors", bits: int) -> "NDArray[float32]":
        """Values as whole numbers from 0 to 2^bits - 1; the middle lies at zero."""
        import numpy as np

        deviation = np.sqrt(np.maximum(power, np.float32(1e-30)) / self.dimensions)
        levels = np.floor(rotated / (np.float32(_STEP) * deviation[:, None])) + np.float32(2 ** (bits - 1))
        clipped: NDArray[float32] = np.clip(levels, 0, 2**bits - 1)
        return clipped


def measure_centre(vectors: "Vectors") -> "Vectors":
    """What vectors of shape (count, width) have in common: their mean."""
    import numpy as np

    centre: Vectors = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    return centre


def _planes(levels: "NDArray[float32]", bits: int) -> "Planes":
    """Bits of the levels, of shape (bits, count, words), the highest first."""
    import numpy as np

    whole = levels.astype(np.uint8)
    planes = [np.packbits((whole >> place) & 1, axis=1).view(np.uint64) for place in reversed(range(bits))]
    return np.stack(planes)


def _hadamard(rows: "Vectors") -> "Vectors":
    """Rows of shape (count, 2^n), transformed: two small transforms, along the rows and columns of a square."""
    import numpy as np

    power = rows.shape[1].bit_length() - 1
    left, right = _hadamard_matrix(power // 2), _hadamard_matrix(power - power // 2)
    square = rows.reshape(len(rows), len(left), len(right))
    turned: Vectors = np.matmul(np.matmul(left, square), right).reshape(rows.shape)
    return turned


@lru_cache
def _hadamard_matrix(power: int) -> "Vectors":
    """The orthonormal Hadamard matrix with 2^power rows."""
    import numpy as np

    matrix = np.ones((1, 1))
    for _ in range(power):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    scaled: Vectors = (matrix / math.sqrt(len(matrix))).astype(np.float32)
    return scaled


@lru_cache
def _signs(dimensions: int) -> "Vectors":
    """Two rows of random signs, which are the same everywhere and for ever: stored codes depend on them."""
    import numpy as np

    bits = np.unpackbits(np.frombuffer(hashlib.shake_128(b"orca").digest(2 * dimensions // 8), dtype=np.uint8))
    signs: Vectors = (1 - 2 * bits.reshape(2, dimensions).astype(np.float32)).astype(np.float32)
    return signs


@lru_cache
def _statistics(bits: int) -> tuple[float, float]:
    """Of normal values cut to one or two bits: E[value × level], and the squared correlation of value and level."""
    at = _STEP
    density, above = math.exp(-at * at / 2) / math.sqrt(2 * math.pi), math.erfc(at / math.sqrt(2)) / 2
    gain, power = 1 / math.sqrt(2 * math.pi), 0.25
    if bits > 1:
        gain, power = gain + 2 * density, 0.25 + 2 * above * (1.5**2 - 0.5**2)
    return gain, gain * gain / power
