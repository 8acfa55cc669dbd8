"""The text of kernels: every node has its line, and a kernel that is written down is the one that is printed."""

from __future__ import annotations

import pytest

from opgen.kernel import parse, text
from opgen.kernel.model import Atomic, For, If, Join, Kernel, Role
from opgen.kernel.verify import verify
from opgen.plan.model import Storage

EVERY_NODE = """\
# what it is for
kernel made(param s, param scale, x[..., N]: scalar, at[N]: int64, one[]: compute) -> y[..., N]: scalar, t[s[0]]: bool
  for ... parallel
    acc place: int = argmax
    tile row[N//2, 4]: float
    for n < N//2
      let a: float = x[..., n]*scale + one
      join place at n with a
      for k < 4 down
        row[n, k] = a - -k
        if not a < 0 and k + -1 > 0
          t[at[n]] sum= row[n, k] == 0
          row[n, k%s[0]] = 1
        else
          if n == 0
            tile near[2]: wide float
          row[n, 0] = 2
    for n < N lanes
      y[..., n] = where(place == n, inf, cast(pad(x[..., n + 1], 0), x)/size(...))
"""


def test_every_node_is_read_and_printed() -> None:
    made = parse.kernel(EVERY_NODE)
    assert text.kernel(made) == EVERY_NODE
    assert parse.kernel(text.kernel(made)) == made
    assert not verify(made)


def test_what_is_read_is_what_is_written() -> None:
    made = parse.kernel(EVERY_NODE)
    assert (made.name, made.reason) == ("made", "what it is for")
    assert [(s.name, s.storage, s.written) for s in made.slots][-2:] == [
        ("y", Storage.SCALAR, True),
        ("t", Storage.BOOL, True),
    ]
    (batch,) = made.body
    assert isinstance(batch, For)
    assert batch.role is Role.PARALLEL
    inner = batch.body[2]
    assert isinstance(inner, For)
    assert isinstance(inner.body[1], Join)
    down = inner.body[2]
    assert isinstance(down, For)
    assert (down.role, down.reverse) == (Role.SERIAL, True)
    assert isinstance(down.body[1], If)
    assert isinstance(down.body[1].body[0], Atomic)


def test_a_slot_may_have_the_name_of_a_node() -> None:
    written = "kernel k(let[N]: scalar) -> acc[N]: scalar\n  for n < N\n    acc[n] = let[n]\n"
    assert text.kernel(parse.kernel(written)) == written


def test_nothing_to_do_is_a_kernel() -> None:
    assert parse.kernel("kernel k() -> y[]: scalar\n").body == ()


@pytest.mark.parametrize(
    "line",
    ["for n N", "for n < N sideways", "join a", "let a = 1", "y[..., 0]", "y[..., 0] = 1 2", "acc a: text = sum", "?"],
)
def test_a_line_that_is_none_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"line|stands|name|Kind|Role|belongs"):
        parse.kernel(f"kernel k(x[..., N]: scalar) -> y[..., N]: scalar\n  {line}\n")


def test_two_kernels_are_two_texts() -> None:
    """`a - b` is no sum of a negative, whatever a reader would say."""
    one, other = (
        parse.kernel(f"kernel k(a[]: scalar, b[]: scalar) -> y[]: scalar\n  y[] = {e}\n") for e in ("a - b", "a + -b")
    )
    assert isinstance(one, Kernel)
    assert one != other
    assert text.kernel(one) != text.kernel(other)
