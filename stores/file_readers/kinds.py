"""What a file is, told by its bytes, and by its name where these do not tell."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePath
from typing import NamedTuple

from ...errors import InvalidInputError

__all__ = ["READABLE", "FileKind", "kind_of"]

READABLE = "txt, md, html, csv, tsv, pdf and docx, pictures and recordings"


class FileKind(NamedTuple):
    """``resource_type`` as it stands in the item, and the MIME type."""

    resource_type: str
    mime_type: str


_BY_START = (
    (b"\x89PNG\r\n\x1a\n", FileKind("image", "image/png")),
    (b"\xff\xd8\xff", FileKind("image", "image/jpeg")),
    (b"GIF87a", FileKind("image", "image/gif")),
    (b"GIF89a", FileKind("image", "image/gif")),
    (b"ID3", FileKind("audio", "audio/mpeg")),
    (b"\xff\xfb", FileKind("audio", "audio/mpeg")),
    (b"\xff\xf3", FileKind("audio", "audio/mpeg")),
    (b"OggS", FileKind("audio", "audio/ogg")),
    (b"fLaC", FileKind("audio", "audio/flac")),
)
_RIFF = {b"WEBP": FileKind("image", "image/webp"), b"WAVE": FileKind("audio", "audio/wav")}
_BRANDS = {b"M4A ": FileKind("audio", "audio/mp4"), b"avif": FileKind("image", "image/avif")}
_DOCX = FileKind("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
_BY_NAME = {
    ".md": FileKind("markdown", "text/markdown"),
    ".markdown": FileKind("markdown", "text/markdown"),
    ".html": FileKind("html", "text/html"),
    ".htm": FileKind("html", "text/html"),
    ".xhtml": FileKind("html", "text/html"),
    ".csv": FileKind("csv", "text/csv"),
    ".tsv": FileKind("csv", "text/tab-separated-values"),
}
_TEXT = FileKind("text", "text/plain")


def kind_of(data: bytes, name: str) -> FileKind:
    """What the file is. What nothing tells is taken for text: its reader says whether it is.

    Raises:
        InvalidInputError: for what is known and cannot be read: an archive, an old or encrypted Word document.
    """
    for start, kind in _BY_START:
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] in _RIFF:
        return _RIFF[data[8:12]]
    if data[4:8] == b"ftyp" and data[8:12] in _BRANDS:
        return _BRANDS[data[8:12]]
    ending = PurePath(name).suffix.lower()
    if b"%PDF-" in data[:1024] or ending == ".pdf":
        return FileKind("pdf", "application/pdf")
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise InvalidInputError(
            f"{name} is an encrypted or an old Office document: open it and save it as docx without a password"
        )
    if data[:4] == b"PK\x03\x04" or ending == ".docx":
        if ending == ".docx" or _holds_word(data):
            return _DOCX
        raise InvalidInputError(f"{name} is an archive or a document of another kind; what can be read: {READABLE}")
    return _BY_NAME.get(ending, _TEXT)


def _holds_word(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
