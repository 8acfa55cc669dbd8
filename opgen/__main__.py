"""`python -m opgen`."""

from opgen.cli import main

main()
