"""Rows of the catalogue of diagnostic codes, one module per group of stages."""
