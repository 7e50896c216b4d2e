"""``python -m recalltree`` is the command ``recalltree``."""

import sys

from recalltree.cli import main

if __name__ == "__main__":
    sys.exit(main())
