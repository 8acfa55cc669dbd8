"""Operators under torch's own test machinery: an `OpInfo` of each, and device-type tests that `ops` makes of it.

The generated tests hand the same `OpInfo` to every judge that torch ships (`pytest -m slow -k opinfo generated`). Here
torch itself makes the test cases of a few operators and runs them.
"""

from __future__ import annotations

import importlib
import unittest
from typing import Any

import pytest
import torch

from generated._testing import op_info

pytestmark = pytest.mark.thorough

OPERATORS = ("linear", "elu", "cross_entropy", "segment_sum", "complex_linear")


def info_of(name: str) -> Any:
    module = importlib.import_module(f"generated.{name}.test_{name}")
    return op_info(next(v for k, v in vars(module).items() if k.startswith("Test")))


def cases_of(info: Any) -> type[unittest.TestCase]:
    """What torch makes of tests of the kind that its own operators have."""
    from torch.testing._internal import composite_compliance
    from torch.testing._internal.common_device_type import OpDTypes, instantiate_device_type_tests, ops
    from torch.testing._internal.common_utils import TestGradients

    double = ops([info], dtypes=OpDTypes.supported_backward, allowed_dtypes=(torch.float64, torch.complex128))

    class TestOp(TestGradients):
        @double
        def test_fn_grad(self, device: str, dtype: torch.dtype, op: Any) -> None:
            self._grad_test_helper(device, dtype, op, op.get_op(), check_forward_ad=True)

        @double
        def test_fn_gradgrad(self, device: str, dtype: torch.dtype, op: Any) -> None:
            self._check_helper(device, dtype, op, op.get_op(), "bwgrad_bwgrad")
            self._check_helper(device, dtype, op, op.get_op(), "fwgrad_bwgrad")

        @double
        def test_backward(self, device: str, dtype: torch.dtype, op: Any) -> None:
            for sample in op.sample_inputs(device, dtype, requires_grad=True):
                args = [sample.input, *sample.args]
                composite_compliance.check_backward_formula(
                    op.get_op(), args, sample.kwargs, sample.output_process_fn_grad, assert_equal_fn=self.assertEqual
                )

        @ops([info], dtypes=OpDTypes.supported)
        def test_noncontiguous_samples(self, device: str, dtype: torch.dtype, op: Any) -> None:
            for sample in op.sample_inputs(device, dtype):
                spread = sample.noncontiguous()
                found = op(spread.input, *spread.args, **spread.kwargs)
                torch.testing.assert_close(found, op(sample.input, *sample.args, **sample.kwargs))

        @ops([info], dtypes=OpDTypes.unsupported)
        def test_dtypes(self, device: str, dtype: torch.dtype, op: Any) -> None:
            for sample in op.sample_inputs(device, dtype):
                with pytest.raises(TypeError, match=op.name):
                    op(sample.input, *sample.args, **sample.kwargs)

    scope: dict[str, Any] = {"TestOp": TestOp}
    instantiate_device_type_tests(TestOp, scope, only_for="cpu")
    made: type[unittest.TestCase] = scope["TestOpCPU"]
    return made


@pytest.mark.parametrize("name", OPERATORS)
def test_torch_makes_and_passes_its_own_tests(name: str) -> None:
    result = unittest.TestResult()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cases_of(info_of(name)))
    suite.run(result)
    assert not [text for _, text in (*result.failures, *result.errors)]
    assert result.testsRun - len(result.skipped) > 10
