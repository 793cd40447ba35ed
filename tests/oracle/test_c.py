"""The C kernels as a runtime, to the bit; tests/oracle/test_kernels.py compares `sonnx_clip.clip` by them."""

from sonnx_clip.conform.campaign import run_campaign
from sonnx_clip.conform.units import CheckOptions


def test_as_a_runtime_they_conform_to_the_bit():
    report = run_campaign(CheckOptions("sonnx-c", ["float16"], policy="strict"))
    assert {klass.verdict for found in report.types for klass in found.classes} == {"conforms"}
    assert "-O3" in report.runtime_version
