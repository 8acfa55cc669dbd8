"""The version of opgen: that of the package, and what keys of builds begin with; the version of the spec language."""

from __future__ import annotations

__version__ = "0.1.0"
LANGUAGE = 1  # what a spec means by `opgen: 1`; a later opgen reads it the same way
