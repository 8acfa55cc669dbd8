"""The table of checks at the end of `opgen test`."""

from __future__ import annotations

from pathlib import Path

from opgen.verify.matrix import Outcome, Verdict, outcomes, table

REPORT = """<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="generated.silu.test_silu.TestSilu" name="test_values[a]"/>
<testcase classname="generated.silu.test_silu.TestSilu" name="test_values[b]"><failure message="off"/></testcase>
<testcase classname="generated.silu.test_silu.TestSilu" name="test_wrong_rank[a]"><skipped message="no GPU"/></testcase>
<testcase classname="generated.elu.test_elu.TestElu" name="test_values[a]"/>
<testcase classname="generated.elu.test_elu.TestElu" name="test_values[b]">
  <skipped message="not applicable: no sample"/></testcase>
<testcase classname="generated.elu.test_elu.TestElu" name="test_module">
  <skipped message="not applicable: none"/></testcase>
<testcase classname="" name="generated.broken.test_broken"><error message="cannot be imported"/></testcase>
</testsuite></testsuites>"""


TABLE = """
        a b c d
broken  F
elu       - +
silu        F ?
        a b c d

+ passed  - not applicable  ? skipped  F failed

  a  import       c  values
  b  module       d  wrong rank

failed:
  import (broken)
  values (silu)

skipped:
  wrong rank: no GPU (silu)

not applicable:
  module: none (elu)
  values: no sample (elu)

3 operators, 5 checks: 1 passed, 1 not applicable, 1 skipped, 2 failed
"""


def test_a_table_of_operators_and_checks(tmp_path: Path) -> None:
    """One failing case fails a check; one that does not apply leaves it to the others."""
    report = tmp_path / "report.xml"
    report.write_text(REPORT, encoding="utf-8")
    assert [line.rstrip() for line in table(outcomes(report)).splitlines()] == TABLE.strip("\n").splitlines()


def test_no_cases() -> None:
    assert table(()).endswith("0 operators, 0 checks: 0 passed, 0 not applicable, 0 skipped, 0 failed")


def test_one_of_a_kind_is_no_plural() -> None:
    assert table([Outcome("elu", "values", Verdict.PASSED)]).endswith(
        "1 operator, 1 check: 1 passed, 0 not applicable, 0 skipped, 0 failed"
    )
