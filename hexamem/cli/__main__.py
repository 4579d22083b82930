"""``python -m hexamem.cli``."""

import sys

from hexamem.cli import main

sys.exit(main())
