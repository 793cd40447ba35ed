"""Planted runtimes whose mistake a report names by its cause; and what a report says of refused calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest

from sonnx_clip.conform.checked_operator import machine_types
from sonnx_clip.conform.plan import chosen
from sonnx_clip.conform.report_text import notes
from sonnx_clip.conform.units import CheckOptions, run_campaign
from tests.meta.judged import few_calls, judged, printed, require_repeated

PLANTED = "planted_causes"
TYPES = [etype.id for etype in machine_types()]
_PURPOSES = "bounds in use", "special values"
