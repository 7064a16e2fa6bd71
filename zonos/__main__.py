"""``python -m zonos``; see :mod:`zonos.cli`."""

from __future__ import annotations

import sys

from zonos.cli import main

if __name__ == "__main__":
    sys.exit(main())
