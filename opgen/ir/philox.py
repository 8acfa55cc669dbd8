"""Random numbers as functions of where they are drawn: Philox-4x32-10 in whole numbers.

In go a seed, which call of the spec draws, and the row-major place of the point in the loops of its statement; out come
63 bits, and what they stand for as a number of a distribution. This is the oracle: the runtime in torch and the headers
of kernels compute the same in their own words.
"""

from __future__ import annotations

import math

_ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_WORD = 0xFFFFFFFF


def words(key: tuple[int, int], counter: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The four words of 32 bits that Philox-4x32-10 gives for a counter under a key."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(_ROUNDS):
        low, high = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (high >> 32) ^ c1 ^ k0, high & _WORD, (low >> 32) ^ c3 ^ k1, low & _WORD
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return c0, c1, c2, c3


def bits(seed: float, call: float, place: float) -> int:
    """The first two words without their last bit: a number from 0 to 2**63 - 1."""
    key, at = int(seed), int(place)
    first, second, _, _ = words((key & _WORD, key >> 32 & _WORD), (at & _WORD, at >> 32 & _WORD, int(call), 0))
    return (first << 32 | second) >> 1


def uniform(drawn: float) -> float:
    """The first 24 bits as a number in [0, 1), exact in every dtype that is computed in."""
    return (int(drawn) >> 39) / 2**24


def normal(drawn: float) -> float:
    """Box-Muller: the radius of the first 32 bits, the angle of the other 31."""
    radius = math.sqrt(-2.0 * math.log(((int(drawn) >> 31) + 1) / 2**32))
    return radius * math.cos(2.0 * math.pi * ((int(drawn) & 0x7FFFFFFF) / 2**31))
