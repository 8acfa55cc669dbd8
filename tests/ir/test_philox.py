"""Philox-4x32-10 gives the numbers that its authors give, and the torch form gives those."""

from __future__ import annotations

import pytest
import torch

from generated._runtime.draws import normal_of, philox, uniform_of
from opgen.ir import philox as oracle

KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 2, (2**32 - 1,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN)
def test_the_words_of_the_paper(
    key: tuple[int, int], counter: tuple[int, int, int, int], words: tuple[int, int, int, int]
) -> None:
    assert oracle.words(key, counter) == words


@pytest.mark.parametrize("seed", [0, 1, -1, 2**62 + 12345, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("call", [0, 1, 7])
def test_torch_computes_the_same(seed: int, call: int) -> None:
    places = torch.tensor([0, 1, 2**31, 2**32 - 1, 2**32, 2**40 + 3])
    bits = philox(torch.tensor(seed), call, places)
    assert bits.tolist() == [oracle.bits(seed, call, p) for p in places.tolist()]
    assert uniform_of(bits, torch.float64).tolist() == [oracle.uniform(b) for b in bits.tolist()]
    torch.testing.assert_close(
        normal_of(bits, torch.float64).tolist(), [oracle.normal(b) for b in bits.tolist()], rtol=1e-14, atol=1e-15
    )


def test_the_ends_of_the_range() -> None:
    largest = 2**63 - 1
    assert oracle.uniform(0) == 0
    assert oracle.uniform(largest) == 1 - 2**-24
    assert uniform_of(torch.tensor([0, largest]), torch.float32).tolist() == [0, 1 - 2**-24]
    assert abs(oracle.normal(largest)) == 0
    assert 6.66 < oracle.normal(0) < 6.67
    assert 6.66 < normal_of(torch.tensor(0), torch.float64) < 6.67
