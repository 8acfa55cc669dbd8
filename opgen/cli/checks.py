"""A plug-in of pytest for generated tests that `opgen test` loads: their marker, torch's own warnings, `--quick`.

It adds to the settings of the project in which the tests run, and takes none away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

QUICK = "--opgen-quick"
_LEFT: list[str] = []  # the checks that were collected and not chosen
_NO_TESTS = 5  # pytest's exit code where none is left
_LONG = (  # what the names of checks begin with that take most of the time
    "compile", "composite_compliance", "export", "gradgradcheck", "opcheck", "opinfo", "sharding",
)  # fmt: skip
_TORCH_OF_ITSELF = (  # no line of an operator brings these about
    "ignore:.*torch.jit.*:DeprecationWarning",
    "ignore:.*torch.jit.*:FutureWarning",
    "ignore::DeprecationWarning:torch.*",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `opgen test --quick` asks for."""
    parser.addoption(QUICK, action="store_true", help="leave out the checks of generated operators that take long")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and keep warnings of torch about itself out of the report."""
    config.addinivalue_line("markers", "slow: takes long")
    for line in _TORCH_OF_ITSELF:
        config.addinivalue_line("filterwarnings", line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, if asked."""
    if config.getoption(QUICK):
        left = [item for item in items if _takes_long(item)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Keep the names of what `-k` leaves out."""
    _LEFT.extend(map(_check, items))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Say which checks there are, where `-k` matches none of them."""
    keyword = config.getoption("keyword")
    if exitstatus != _NO_TESTS or not keyword or not _LEFT:
        return
    from opgen.diagnostics.suggest import closest

    names = sorted({*_LEFT})
    near = closest(keyword, names)
    told = f"did you mean {near}?" if near else "there are:"
    terminalreporter.write_line(f"no check matches {keyword!r}; {told}")
    if near is None:
        terminalreporter.write_line("  " + ", ".join(names))


def _check(item: pytest.Item) -> str:
    return str(getattr(item, "originalname", item.name)).removeprefix("test_")


def _takes_long(item: pytest.Item) -> bool:
    name = _check(item)
    return name.startswith(_LONG) or item.get_closest_marker("slow") is not None
