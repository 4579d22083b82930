"""Readers of files: text, Markdown, HTML, CSV, PDF and Word documents, each in a file of its own."""

from hexamem.stores.file_readers.kinds import FileKind, kind_of
from hexamem.stores.file_readers.reading import LONGEST_TEXT, load_file, read_data, read_file

__all__ = ["LONGEST_TEXT", "FileKind", "kind_of", "load_file", "read_data", "read_file"]
