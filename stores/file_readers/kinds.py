"""The kind of a file, by its bytes, or by its name where the bytes do not show it."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePath
from typing import NamedTuple

from hexamem.errors import InvalidInputError

__all__ = ["OTHER", "READABLE", "FileKind", "holds_controls", "kind_of"]

READABLE = "txt, md, html, csv, tsv, pdf and docx, pictures and recordings"


class FileKind(NamedTuple):
    """``resource_type`` as in the item, the MIME type, and what the file is if its content is not read."""

    resource_type: str
    mime_type: str
    unread: str = ""


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
    (b"II*\0", FileKind("image", "image/tiff")),
    (b"MM\0*", FileKind("image", "image/tiff")),
    (b"\x1aE\xdf\xa3", FileKind("video", "video/x-matroska", "a video")),
    (b"\x1f\x8b", FileKind("archive", "application/gzip", "an archive")),
    (b"BZh", FileKind("archive", "application/x-bzip2", "an archive")),
    (b"\xfd7zXZ\0", FileKind("archive", "application/x-xz", "an archive")),
    (b"7z\xbc\xaf\x27\x1c", FileKind("archive", "application/x-7z-compressed", "an archive")),
    (b"Rar!\x1a\x07", FileKind("archive", "application/vnd.rar", "an archive")),
    (b"\x28\xb5\x2f\xfd", FileKind("archive", "application/zstd", "an archive")),
    (b"SQLite format 3\0", FileKind("file", "application/vnd.sqlite3", "a database")),
    (b"\x7fELF", FileKind("file", "application/x-executable", "a program")),
    (b"\xca\xfe\xba\xbe", FileKind("file", "application/x-executable", "a program")),
)
_SHORT_STARTS = (  # text may begin with these too
    (b"BM", FileKind("image", "image/bmp")),
    (b"MZ", FileKind("file", "application/x-executable", "a program")),
)
_ZIP = FileKind("archive", "application/zip", "an archive or a document of another kind")
_VIDEO = FileKind("video", "video/mp4", "a video")
_RIFF = {
    b"WEBP": FileKind("image", "image/webp"),
    b"WAVE": FileKind("audio", "audio/wav"),
    b"AVI ": FileKind("video", "video/x-msvideo", "a video"),
}
_BRANDS = {
    b"M4A ": FileKind("audio", "audio/mp4"),
    b"avif": FileKind("image", "image/avif"),
    b"heic": FileKind("image", "image/heic"),
    b"mif1": FileKind("image", "image/heif"),
}
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
_NEVER_TEXT = (
    ".png .jpg .jpeg .gif .webp .bmp .tif .tiff .heic .avif .ico .mp3 .wav .ogg .opus .flac .m4a .aac .mp4 .mov .mkv "
    ".webm .avi .zip .gz .bz2 .xz .7z .rar .zst .exe .dll .so .sqlite .woff .woff2 .ttf .otf .parquet .npy"
)
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r\x1b"))
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x00\x00\xfe\xff")
_SAMPLE = 64 * 1024
OTHER = "application/octet-stream"


def kind_of(data: bytes, name: str) -> FileKind:
    """The kind of a file. A file without a known form counts as text, which its reader checks.

    Raises:
        InvalidInputError: the file is an old or encrypted Word document.
    """
    for start, kind in _BY_START:
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] in _RIFF:
        return _RIFF[data[8:12]]
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], _VIDEO)
    for start, kind in _SHORT_STARTS:
        if data.startswith(start) and b"\0" in data[:_SAMPLE]:
            return kind
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
        return _ZIP
    if ending in _NEVER_TEXT.split() and not _is_utf8(data):
        return FileKind("file", OTHER, f"no {ending[1:]} file by its bytes, and no text either: it may be damaged")
    kind = _BY_NAME.get(ending, _TEXT)
    return FileKind("file", OTHER, "no text") if kind.resource_type == "html" and holds_controls(data) else kind


def holds_controls(data: bytes) -> bool:
    """Whether bytes without a byte order mark contain more control characters than a text would."""
    if data.startswith(_MARKS):
        return False
    sample = data[:_SAMPLE]
    return 100 * (len(sample) - len(sample.translate(None, _CONTROLS))) > len(sample)


def _is_utf8(data: bytes) -> bool:
    """Whether the bytes are text in UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not holds_controls(data)


def _holds_word(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
