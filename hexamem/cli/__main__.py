"""``python -m hexamem.cli``."""

import sys

from . import main

sys.exit(main())
