"""The version of opgen: that of the package, and what keys of builds begin with."""

from __future__ import annotations

__version__ = "0.1.0"
