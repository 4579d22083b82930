"""The six memory managers (MIRIX, arXiv 2507.07957, section 3): each proposes operations on its own kind of items."""
