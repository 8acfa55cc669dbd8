"""Values of which there is only one of each: what is equal is the same object.

Expressions are made, compared and looked up far more often than anything else is done with them. Where equal ones are
one object, all three take a single step, however large they are, and what two of them share is stored once.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, ClassVar, TypeVar
from weakref import ref

T = TypeVar("T", bound="Unique")

_Key = tuple[type, tuple[object, ...], object]
_SWEEP = 4096  # so many that are gone may still have a place in the table


class _Held(ref[object]):
    """A weak reference that knows its place in the table."""

    __slots__ = ("key",)
    key: _Key


_table: dict[_Key, _Held] = {}
_gone: list[ref[object]] = []
_changing = Lock()


class Unique:
    """A frozen dataclass without `__init__` and `__eq__`, whose `__new__` is `unique` of its fields.

    `operands`: the values of the same sort in its fields, in order. Passes ask for them all the time.
    """

    __slots__ = ("__weakref__", "operands")
    __match_args__: ClassVar[tuple[str, ...]]
    operands: tuple[Any, ...]

    def _operands(self) -> tuple[object, ...]:
        return ()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)


def unique(cls: type[T], values: tuple[object, ...], sort: object = None) -> T:
    """The object of a class whose fields have these values; `sort` tells apart values that Python takes for equal."""
    key = (cls, values, sort)
    held = _table.get(key)
    found = None if held is None else held()
    return _made(cls, key) if found is None else found  # type: ignore[return-value]


def _made(cls: type[T], key: _Key) -> T:
    with _changing:
        held = _table.get(key)
        found = None if held is None else held()
        if found is not None:
            return found  # type: ignore[return-value]
        if len(_gone) > _SWEEP:
            _sweep()
        made = object.__new__(cls)
        for name, value in zip(cls.__match_args__, key[1], strict=True):
            object.__setattr__(made, name, value)
        object.__setattr__(made, "operands", made._operands())
        _table[key] = held = _Held(made, _gone.append)
        held.key = key
        return made


def _sweep() -> None:
    """Take what is gone out of the table, one after the other: that of a deep tree follows from its root."""
    while _gone:
        held = _gone.pop()
        assert isinstance(held, _Held)
        if _table.get(held.key) is held:
            del _table[held.key]
