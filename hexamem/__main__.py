"""The command line: ``python -m hexamem``."""

import sys

from hexamem.cli import main

sys.exit(main())
