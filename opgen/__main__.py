"""`python -m opgen`."""

from opgen.cli import main

if __name__ == "__main__":
    main()
