"""`python -m kqd`: the program, as the command `kqd` runs it."""

import sys

from _kqd_program import main

if __name__ == "__main__":
    sys.exit(main())
