"""Files in memory: read, found by any page, one item a file, redacted, superseded, erased; and media put into words."""

from __future__ import annotations

import base64
import io
import itertools
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.doctor import examine
from hexamem.errors import ConfigError, HexamemError, InvalidInputError, NotFoundError
from hexamem.memory_types import ResourceItem, Source
from hexamem.stores.chunking import chunk_spans, passage_at
from hexamem.stores.file_readers import read_data, read_file

PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 20
MP3 = b"ID3" + b"sound" * 20
QUIET = Settings(background=False)
Traces = Callable[..., list[str]]


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody new of one memory."""
    return labelled_newcomer


def filler(words: int, seed: int = 0) -> str:
    """Words that say nothing."""
    chosen = random.Random(seed)
    vocabulary = [
        "the",
        "council",
        "collects",
        "bins",
        "and",
        "keeps",
        "hallways",
        "clean",
        "while",
        "gardens",
        "grow",
        "after",
        "rain",
        "in",
        "quiet",
        "streets",
    ]
    return " ".join(chosen.choice(vocabulary) for _ in range(words))


def pdf(pages: list[str], title: str = "", password: str | None = None) -> bytes:
    canvas = pytest.importorskip("reportlab.pdfgen.canvas")
    out = io.BytesIO()
    drawn = canvas.Canvas(out, encrypt=password)
    drawn.setTitle(title)
    for page in pages:
        words = page.split()
        for number, start in enumerate(range(0, len(words), 12)):
            drawn.drawString(50, 800 - 14 * number, " ".join(words[start : start + 12]))
        drawn.showPage()
    drawn.save()
    return out.getvalue()


def docx(parts: list[tuple[str, str]]) -> bytes:
    document = pytest.importorskip("docx").Document()
    for heading, text in parts:
        document.add_heading(heading, 1)
        document.add_paragraph(text)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Deposit", "1,850 euros"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ------------------------------------------------------------------------------------------------------------- reading


def test_a_pdf_is_read_page_by_page_with_its_title() -> None:
    read = read_data(pdf(["First page", "Second page"], "Lease"), "lease.pdf")
    assert (read.title, read.mime_type) == ("Lease", "application/pdf")
    assert [(one.page, one.text) for one in read.sections] == [(1, "First page"), (2, "Second page")]


def test_a_word_document_is_read_by_headings_with_its_tables() -> None:
    read = read_data(docx([("Rent", "Due on the first."), ("Money", "Kept in trust.")]), "lease.docx")
    assert [one.heading for one in read.sections] == ["Rent", "Money"]
    assert "Kept in trust." in read.sections[1].text
    assert "Deposit | 1,850 euros" in read.sections[1].text


def test_html_is_read_without_scripts_styles_and_comments() -> None:
    page = (
        "<html><head><title>Trip &amp; more</title><style>p{color:red}</style></head><body><script>evil()</script>"
        "<!-- hidden --><h1>Porto</h1><p>Two\n lines <b>joined</b></p><ul><li>tram<li>boat</ul>"
        "<table><tr><td>Line</td><td>18</td></tr></table></body></html>"
    )
    pytest.importorskip("bs4")
    read = read_data(page.encode(), "trip.html")
    assert read.title == "Trip & more"
    assert "Two lines joined" in read.content
    assert "- tram\n" in read.content
    assert "Line | 18" in read.content
    assert not any(word in read.content for word in ("evil", "color", "hidden"))


def test_a_table_has_one_line_a_row_even_where_a_cell_has_line_breaks() -> None:
    read = read_data(b'name;note\r\nMia;"first\r\nsecond"\r\n\r\nBo;x\r\n', "notes.csv")
    assert read.content.split("\n") == ["name;note", "Mia;first second", "Bo;x"]
    assert read.sections[0].rows == (1, 2)


def test_markdown_headings_in_code_are_no_headings() -> None:
    read = read_data(b"# Setup\n\n```\n# a comment\n```\n\n## Use\n\nRun it.\n", "readme.md")
    assert [one.heading for one in read.sections] == ["Setup", "Use"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_the_encoding_of_a_text_is_found(encoding: str) -> None:
    text = "Größe und Übermut tun selten gut, sagte der ältere Bürgermeister von Köln über die Brücke."
    assert read_data(text.encode(encoding), "note.txt").content == text


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        ("Le café de Zoé est à côté du marché. Élodie préfère le thé.", "latin-1", "a.txt"),
        ("José García", "latin-1", "a.md"),
        ("name;city\nJosé;Málaga", "cp1252", "a.csv"),
        ("Привет, это обычный текст про кошку и собаку.", "cp1251", "a.txt"),
        ("我们在杭州买了一些茶叶，明天去西湖。", "gb18030", "a.txt"),
        ("<p>José García</p>", "latin-1", "a.html"),
    ],
)
def test_an_encoding_that_is_guessed_is_told(text: str, encoding: str, name: str) -> None:
    read = read_data(text.encode(encoding), name)
    assert read.content == text.removeprefix("<p>").removesuffix("</p>")
    assert "is not in UTF-8: read as" in read.degraded[0]
    assert read_data(text.encode("utf-8"), name).degraded == ()


def test_a_text_whose_encoding_may_be_several_is_not_guessed() -> None:
    read = read_data("茶叶".encode("gb18030"), "a.txt")
    assert read.content == ""
    assert "save it as UTF-8" in read.degraded[0]


def test_a_file_is_told_by_its_bytes_not_by_its_name() -> None:
    assert read_data(pdf(["Hello"]), "hello.txt").resource_type == "pdf"
    assert read_data(docx([("A", "b")]), "hello").resource_type == "docx"
    assert read_data(PNG, "hello.pdf").resource_type == "image"


def zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b" " * 3_000_000)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.txt", lambda: b"", "is empty"),
        ("blank.txt", lambda: b" \n\t\n", "is empty"),
        ("locked.pdf", lambda: pdf(["Hello"], password="open sesame"), "encrypted"),
        ("broken.pdf", lambda: b"%PDF-1.7\n" + b"x" * 200, "cannot be read as PDF"),
        ("scanned.pdf", lambda: pdf(["", ""]), "OCR"),
        ("broken.docx", lambda: docx([("A", "b")])[:900], "cannot be read as docx"),
        ("other.docx", lambda: b"PK\x05\x06" + b"\0" * 18, "cannot be read as docx"),
        ("locked.docx", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, "encrypted"),
        ("bomb.docx", zip_bomb, "unpacks to"),
        ("only.html", lambda: b"<html><script>x()</script></html>", "holds no text"),
        ("large.txt", lambda: b"x" * 2_000_001, "the limit is 2,000,000"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_and_nothing_is_stored(
    name: str, content: Callable[[], bytes], said: str, tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, max_file_bytes=2_000_000)) as memory:
        alice = memory.user("alice")
        with pytest.raises(InvalidInputError) as refused:
            alice.add_file(written(tmp_path, name, content()))
        assert said in str(refused.value)
        assert "\n" not in str(refused.value)
        assert memory.users() == []
        assert not list((tmp_path / "home" / "media").rglob("*"))


NOT_TEXT = {
    "a picture whose first byte is lost": ("cut.png", b"PNG\r\n\x1a\n" + bytes(range(256)) * 8, "file"),
    "a picture that is half of one": ("half.jpg", "Größe".encode("latin-1") + bytes(range(128, 256)) * 20, "file"),
    "bytes of every kind": ("data.bin", bytes(range(256)) * 40, "file"),
    "bytes under the name of a text": ("notes.txt", bytes(range(256)) * 40, "file"),
    "bytes under the name of a page": ("page.html", b"<html>" + bytes(range(32)) * 40, "file"),
    "control characters in ASCII": ("log.txt", b"ab\x01\x02\x03\x04" * 100, "file"),
    "a damaged text in UTF-16": ("wide.txt", b"\xff\xfea\0b", "file"),
    "an archive": ("photos.zip", b"PK\x03\x04" + b"x" * 100, "archive"),
    "a compressed text": ("notes.txt", b"\x1f\x8b\x08" + b"x" * 100, "archive"),
    "a database": ("notes.md", b"SQLite format 3\0" + b"x" * 100, "file"),
    "a film": ("film.mp4", b"\0\0\0\x18ftypisom" + b"x" * 100, "video"),
}


@pytest.mark.parametrize("which", NOT_TEXT)
def test_what_is_no_text_is_kept_by_its_bytes_and_said_to_be_unread(
    alice: UserMemory, tmp_path: Path, which: str
) -> None:
    name, data, kind = NOT_TEXT[which]
    added = alice.add_file(written(tmp_path, name, data))
    assert (added.item.resource_type, added.item.content, added.item.title) == (kind, "", name)
    assert alice.media(added.item.metadata["file"]["sha256"]) == data
    assert len(added.degraded) == 1
    assert added.degraded[0].startswith(f"{name} ")
    assert "kept as it is" in added.degraded[0]
    assert added.item.id in {hit.id for hit in alice.recall(name).hits}


def test_what_is_no_text_is_refused_where_its_bytes_are_not_to_be_kept(alice: UserMemory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="without its bytes nothing is kept"):
        alice.add_file(written(tmp_path, "data.bin", bytes(range(256)) * 40), keep_bytes=False)


def test_bytes_that_nobody_reads_are_not_kept_with_a_secret_in_them(alice: UserMemory, tmp_path: Path) -> None:
    data = b"SQLite format 3\0" + b"\0password: hunter2-Grun7!\0\1" + bytes(range(32))
    added = alice.add_file(written(tmp_path, "app.sqlite", data))
    assert added.item.metadata["file"]["sha256"] is None
    assert any("holds secrets" in line for line in added.degraded)


@pytest.mark.parametrize("name", ["plain.png", "plain.zip", "plain"])
def test_a_text_is_text_whatever_its_name(name: str) -> None:
    read = read_data("Grüße aus Köln.\n".encode(), name)
    assert (read.resource_type, read.content.strip(), read.degraded) == ("text", "Grüße aus Köln.", ())


def test_what_is_no_file_is_refused(alice: UserMemory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such file"):
        alice.add_file(tmp_path / "missing.txt")
    with pytest.raises(InvalidInputError, match="is a folder"):
        alice.add_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="no regular file"):
        alice.add_file(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="path"):
        alice.add_file(3)  # type: ignore[arg-type]


def test_a_file_of_200_mb_is_refused_before_it_is_read(alice: UserMemory, tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as out:
        out.truncate(200_000_000)
    with pytest.raises(InvalidInputError, match="200,000,000 bytes; the limit is 67,108,864"):
        alice.add_file(path)


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pypdf", "docx", "bs4"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    for name, data in (("a.pdf", b"%PDF-1.4"), ("a.docx", b"PK\x03\x04"), ("a.html", b"<p>x</p>")):
        with pytest.raises(InvalidInputError, match=r"hexamem\[files\]"):
            read_data(data, name)


def test_a_deeply_nested_page_is_read() -> None:
    pytest.importorskip("bs4")
    assert "deep" in read_data(b"<div>" * 3_000 + b"deep", "deep.html").content


# ------------------------------------------------------------------------------------------------------------ passages


@given(st.text(alphabet=st.sampled_from("ab \n\f.!#你é"), max_size=3_000), st.sampled_from(["text", "markdown", "csv"]))
def test_passages_are_in_order_apart_and_leave_no_word_out(text: str, kind: str) -> None:
    item = ResourceItem(title="t", content=text, resource_type=kind)
    spans = chunk_spans(item)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    if spans:
        outside = "".join(
            text[end:start]
            for end, start in zip([0, *(s[1] for s in spans)], [*(s[0] for s in spans), len(text)], strict=True)
        )
        header = text.partition("\n")[0] if kind == "csv" else ""
        assert outside.replace(header, "", 1).strip("\f\n \t") == ""


def test_a_text_without_any_break_is_still_parted() -> None:
    assert len(chunk_spans(ResourceItem(title="t", content="x" * 20_000))) > 10


def test_a_passage_never_cuts_a_reference_in_two() -> None:
    text = " ".join("{{vault:vault_1|the long caption of a secret}}" for _ in range(300))
    item = ResourceItem(title="t", content=text)
    shown = [passage_at(item, span).text for span in chunk_spans(item)]
    assert len(shown) > 3
    assert all(one.startswith("{{vault:") and one.endswith("}}") for one in shown)


def test_what_stands_on_page_40_is_found_with_its_page(alice: UserMemory, tmp_path: Path) -> None:
    pages = [filler(120, number) for number in range(50)]
    pages[39] += " The deposit of 1,850 euros is paid back within thirty days."
    added = alice.add_file(written(tmp_path, "lease.pdf", pdf(pages, "Lease of Rua Nova")))
    assert added.passages > 40
    for strategy in ("rrf_neighbours", "bm25"):
        best = alice.recall("When is the deposit paid back?", strategy=strategy).hits[0]
        assert (best.id, best.kind, best.place) == (added.item.id, "resource", "page 40")
        assert best.text.startswith("Lease of Rua Nova, page 40\n")
        assert "thirty days" in best.text
        assert len(best.text) < 2_000


def test_a_document_takes_one_place_among_the_hits(alice: UserMemory, tmp_path: Path) -> None:
    alice.remember([f"The tram to district {number} is late." for number in range(5)])
    text = "\n\n".join(f"The tram number {number} runs late. {filler(60, number)}" for number in range(400))
    added = alice.add_file(written(tmp_path, "trams.txt", text))
    found = alice.recall("tram late", k=6)
    assert len({hit.id for hit in found.hits}) == 6
    assert added.item.id in {hit.id for hit in found.hits}


def test_a_section_and_a_row_are_told(alice: UserMemory, tmp_path: Path) -> None:
    guide = "# Porto\n\n" + "".join(f"## Part {n}\n\n{filler(120, n)}\n\n" for n in range(8))
    guide += "## Trams\n\nLine 18 leaves from Massarelos every half hour.\n"
    alice.add_file(written(tmp_path, "guide.md", guide))
    rows = [f"{number},{filler(2, number)},{number * 3}" for number in range(1, 900)] + ["900,Zelda Quist,12"]
    alice.add_file(written(tmp_path, "customers.csv", "id,name,amount\n" + "\n".join(rows)))
    assert alice.recall("from Massarelos", k=1).hits[0].place == "section Porto › Trams"
    hit = alice.recall("Zelda Quist", k=1).hits[0]
    assert hit.place is not None
    assert hit.place.endswith("–900")
    assert "id,name,amount\n" in hit.text


@pytest.mark.parametrize("where", [{"metadata": {"client": "Quist"}}, {"labels": ["law"]}])
def test_a_filter_costs_no_passage(where: dict[str, Any], alice: UserMemory, tmp_path: Path) -> None:
    for number in range(6):
        text = f"{filler(900, number)} The deposit is paid back late. {filler(900, number)}"
        alice.add_file(written(tmp_path, f"other{number}.txt", text), title=f"Other {number}")
    text = f"{filler(900)} Some words on the deposit. {filler(900)}"
    wanted = alice.add_file(written(tmp_path, "lease.txt", text), metadata={"client": "Quist"}, labels=["law"])
    found = alice.recall("deposit", k=3, where=where)
    assert [hit.id for hit in found.hits] == [wanted.item.id]
    assert "on the deposit" in found.hits[0].text


def test_an_item_added_by_hand_is_searched_by_passages_too(alice: UserMemory) -> None:
    content = f"{filler(2_000)} The kiln is fired at 1,240 degrees. {filler(2_000)}"
    item = alice.add({"kind": "resource", "title": "Pottery", "content": content})
    hit = alice.recall("At how many degrees is the kiln fired?", k=1).hits[0]
    assert hit.id == item.id
    assert "1,240" in hit.text
    assert len(hit.text) < 2_000


# ------------------------------------------------------------------------------------------------ one file, one item


def test_the_document_is_kept_whole_with_its_bytes(alice: UserMemory, tmp_path: Path) -> None:
    data = docx([("Rent", "Due on the first of the month.")])
    path = written(tmp_path, "lease.docx", data)
    added = alice.add_file(path, title="The lease", metadata={"client": "Quist"}, reason="asked for")
    stored = alice.get(added.item.id)
    assert isinstance(stored, ResourceItem)
    assert (stored.title, stored.resource_type) == ("The lease", "docx")
    assert stored.content.startswith("# Rent\n\nDue on the first of the month.")
    assert stored.summary == "Due on the first of the month."
    assert stored.metadata["client"] == "Quist"
    assert stored.metadata["file"]["name"] == "lease.docx"
    assert alice.media(stored.metadata["file"]["sha256"]) == data
    assert alice.history(stored.id)[0].reason == "asked for"


def test_bytes_are_left_out_on_demand(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    added = alice.add_file(written(tmp_path, "a.txt", "Some words."), keep_bytes=False)
    assert added.item.metadata["file"]["sha256"] is None
    assert not list((memory.home / "media").rglob("*"))


def test_folders_become_the_tree_path(alice: UserMemory, tmp_path: Path) -> None:
    (tmp_path / "law" / "2024").mkdir(parents=True)
    path = written(tmp_path / "law" / "2024", "a.txt", "Some words.")
    assert alice.add_file(path, root=tmp_path).item.tree_path == ("law", "2024")
    with pytest.raises(InvalidInputError, match="no folder above"):
        alice.add_file(path, root=tmp_path / "elsewhere")


def test_the_same_bytes_are_one_item(alice: UserMemory, tmp_path: Path) -> None:
    first = alice.add_file(written(tmp_path, "a.txt", "The kiln is in the shed."))
    again = alice.add_file(written(tmp_path, "b.txt", "The kiln is in the shed."))
    assert again.repeated
    assert again.item == first.item
    assert len(alice.items("resource")) == 1


def test_a_changed_file_supersedes_the_former(alice: UserMemory, tmp_path: Path) -> None:
    first = alice.add_file(written(tmp_path, "a.txt", f"{filler(3_000)} The kiln is in the shed."))
    alice.flush()
    second = alice.add_file(written(tmp_path, "a.txt", "The kiln is in the cellar."))
    assert second.superseded == first.item.id
    assert [item.id for item in alice.items("resource")] == [second.item.id]
    hits = alice.recall("Where is the kiln?").hits
    assert [(hit.id, hit.superseded) for hit in hits] == [(second.item.id, False), (first.item.id, True)]
    alice.undo(alice.history(second.item.id)[-1].id)
    assert [item.id for item in alice.items("resource")] == [first.item.id]
    assert "in the shed" in alice.recall("Where is the kiln?").hits[0].text


def test_an_item_that_becomes_shorter_leaves_no_passage_behind(memory: Memory) -> None:
    alice = memory.user("alice")
    item = alice.add({"kind": "resource", "title": "Notes", "content": f"{filler(3_000)} zanzibar"})
    alice.flush()
    assert memory.vectors.count(alice.key, "items") > 10
    alice.edit(item.id, content="Nothing here.")
    alice.flush()
    assert memory.vectors.ids(alice.key, "items") == memory.lexical.ids(alice.key) == {item.id}
    alice.remove(item.id)
    alice.flush()
    assert memory.vectors.count(alice.key, "items") == memory.lexical.count(alice.key) == 0


def test_indexes_with_passages_are_found_whole_when_opened_again(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        alice.add_file(written(tmp_path, "a.txt", f"{filler(3_000)} The kiln is in the shed."))
        alice.flush()
        alice.add_file(written(tmp_path, "b.txt", f"{filler(2_000)} The boat is in the barn."))
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        assert "in the barn" in memory.user("alice").recall("Where is the boat?", k=1).hits[0].text
        assert memory.notices == []
        assert all(finding.status != "wrong" for finding in examine(memory))


# ------------------------------------------------------------------------------------------------------------- privacy


def test_secrets_in_a_text_file_are_written_nowhere(tmp_path: Path, traces: Traces) -> None:
    text = f"{filler(800)}\nThe alarm password is kestrel-Harbour-92.\n{filler(800)}"
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        added = alice.add_file(written(tmp_path, "house.txt", text))
        assert len(added.secrets) == 1
        assert added.secrets[0] in added.item.content
        kept = alice.media(added.item.metadata["file"]["sha256"]).decode()
        assert added.secrets[0] in kept
        hit = alice.recall("password of the alarm", kinds=["resource"], k=1).hits[0]
        assert added.secrets[0] in hit.text
        assert alice.reveal(added.secrets[0], reason="test") == "kestrel-Harbour-92"
        assert alice.items("vault")
    assert traces(tmp_path / "home", "kestrel-Harbour-92") == []


def test_a_pdf_with_a_secret_is_kept_as_text_alone(tmp_path: Path, traces: Traces) -> None:
    data = pdf(["The alarm password is kestrel-Harbour-92."])
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        added = alice.add_file(written(tmp_path, "house.pdf", data))
        assert added.item.metadata["file"]["sha256"] is None
        assert "its bytes are not" in added.degraded[0]
        assert not list((memory.home / "media").rglob("*"))
    assert traces(tmp_path / "home", "kestrel-Harbour-92") == []


def test_a_secret_of_the_vault_is_found_in_a_file_without_a_cue(alice: UserMemory, tmp_path: Path) -> None:
    alice.remember("The alarm password is kestrel-Harbour-92.")
    added = alice.add_file(written(tmp_path, "a.txt", "They wrote kestrel-Harbour-92 on the wall."))
    assert "kestrel" not in added.item.content
    assert len(alice.items("vault")) == 1


def test_redacting_reaches_passages_and_bytes(tmp_path: Path, traces: Traces) -> None:
    words = "Ozymandias Quist"
    pages = [filler(60, number) for number in range(12)]
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        data = pdf([*pages, f"The tenant is {words} of Porto."])
        of_pdf = alice.add_file(written(tmp_path, "lease.pdf", data)).item
        of_text = alice.add_file(written(tmp_path, "a.txt", f"{filler(900)} The owner is {words}. {filler(900)}")).item
        alice.flush()
        receipt = alice.redact(words, caption="a customer")
        assert set(receipt.item_ids) == {of_pdf.id, of_text.id}
        assert alice.recall("Ozymandias", strategy="bm25", kinds=["resource"]).hits == ()
        assert receipt.reference in alice.recall("The tenant of Porto", kinds=["resource"], k=1).hits[0].text
        with pytest.raises(NotFoundError):
            alice.media(of_pdf.metadata["file"]["sha256"])
        now = alice.get(of_text.id)
        assert isinstance(now, ResourceItem)
        assert receipt.reference in alice.media(now.metadata["file"]["sha256"]).decode()
        assert memory.vectors.ids(alice.key, "items") == memory.lexical.ids(alice.key)
    assert traces(tmp_path / "home", words) == []


def test_erasing_leaves_nothing_of_a_file(tmp_path: Path, traces: Traces) -> None:
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        alice.add_file(written(tmp_path, "ozymandias.txt", f"{filler(900)} Ozymandias came. {filler(900)}"))
        alice.flush()
        receipt = alice.erase()
        assert receipt.files == 1
        assert receipt.vectors > 3
    assert traces(tmp_path / "home", "Ozymandias", "ozymandias") == []


def test_an_export_takes_files_along(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    data = pdf([*(filler(80, number) for number in range(6)), "The kiln is in the shed."])
    item = alice.add_file(written(tmp_path, "a.pdf", data)).item
    alice.export(tmp_path / "alice.jsonl")
    bob = memory.user("bob")
    bob.import_(tmp_path / "alice.jsonl")
    assert bob.media(item.metadata["file"]["sha256"]) == data
    assert bob.recall("Where is the kiln?", k=1).hits[0].place == "page 7"


def test_users_do_not_share_files(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    path = written(tmp_path, "a.txt", "The kiln is in the shed.")
    sha256 = alice.add_file(path).item.metadata["file"]["sha256"]
    bob = memory.user("bob")
    with pytest.raises(NotFoundError):
        bob.media(sha256)
    assert not bob.add_file(path).repeated


# --------------------------------------------------------------------------------------------------------------- media


def picture(words: str = "") -> dict[str, Any]:
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    blocks: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": url}}]
    return {"role": "user", "content": [*([{"type": "text", "text": words}] if words else []), *blocks]}


def test_a_picture_in_a_message_is_described_by_a_job(tmp_path: Path) -> None:
    seen: list[tuple[bytes, str]] = []

    def describe(data: bytes, mime_type: str) -> str:
        seen.append((data, mime_type))
        return "A red canoe on a frozen lake."

    with Memory.open(tmp_path / "home", settings=QUIET, describe=describe) as memory:
        alice = memory.user("alice")
        [step_id] = alice.remember(picture("Look at this"), thread_id="trip").step_ids
        assert alice.flush()
        assert seen == [(PNG, "image/png")]
        hits = {hit.kind: hit for hit in alice.recall("canoe").hits}
        assert hits["step"].id == step_id
        assert "Look at this" in hits["step"].text
        assert hits["resource"].sources == (Source(step_id=step_id),)
        [operation] = [one for one in alice.history(step_id) if one.actor == "describe"]
        assert {change.target for change in operation.changes} == {"item", "step"}
        assert alice.jobs() == []
        alice.undo(operation.id)
        assert alice.items("resource") == []


def test_without_a_model_media_wait_without_noise_until_there_is_one(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        alice.remember(picture())
        item = alice.add_file(written(tmp_path, "call.mp3", MP3)).item
        assert item.content == ""
        assert alice.flush()
        found = {finding.name: finding for finding in examine(memory)}
        assert found["media"].status == "ok"
        told = [finding.detail for finding in examine(memory) if finding.name == "media"]
        assert [detail.split(" without")[0] for detail in told] == ["1 pictures", "1 recordings"]
    readers = {"describe": lambda *_: "A canoe.", "transcribe": lambda *_: "Meet me at the harbour."}
    with Memory.open(tmp_path / "home", settings=QUIET, **readers) as memory:  # type: ignore[arg-type]
        alice = memory.user("alice")
        assert alice.flush()
        assert alice.recall("harbour", k=1).hits[0].id == item.id
        assert "canoe" in alice.recall("canoe", k=1).hits[0].text
        assert alice.history(item.id)[-1].actor == "transcribe"
        assert alice.media(item.metadata["file"]["sha256"]) == MP3


def test_a_picture_that_is_kept_by_its_name_gets_its_words_later_and_stays_one_resource(tmp_path: Path) -> None:
    message = picture("Here is canoe.png")
    message["content"][-1]["name"] = "canoe.png"
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        [step_id] = alice.remember(message).step_ids
        sources = [{"step_id": step_id}]
        named = alice.add({"kind": "resource", "title": "canoe.png", "content": "canoe.png", "sources": sources})
    with Memory.open(tmp_path / "home", settings=QUIET, describe=lambda *_: "A red canoe.") as memory:
        alice = memory.user("alice")
        assert alice.flush()
        [item] = alice.items("resource")
        assert isinstance(item, ResourceItem)
        assert (item.id, item.title, item.content) == (named.id, "canoe.png", "A red canoe.")
        assert alice.recall("red canoe", kinds="resource").hits[0].id == item.id
        operation = alice.history(item.id)[-1]
        assert (operation.kind, operation.actor) == ("update", "describe")
        assert operation.id in {one.id for one in alice.history(step_id)}
        alice.undo(operation.id)
        assert [one.id for one in alice.items("resource")] == [named.id]


def test_a_description_is_redacted(tmp_path: Path, traces: Traces) -> None:
    said = "A note: the alarm password is kestrel-Harbour-92."
    with Memory.open(tmp_path / "home", settings=QUIET, describe=lambda *_: said) as memory:
        alice = memory.user("alice")
        alice.remember(picture())
        assert alice.flush()
        assert "{{vault:" in alice.recall("alarm", kinds=["step"], k=1).hits[0].text
    assert traces(tmp_path / "home", "kestrel-Harbour-92") == []


def test_a_describer_that_fails_is_tried_again_and_loses_nothing(tmp_path: Path) -> None:
    def broken(data: bytes, mime_type: str) -> str:
        raise RuntimeError("out of order")

    settings = Settings(background=False, max_job_attempts=1)
    with Memory.open(tmp_path / "home", settings=settings, describe=broken) as memory:
        alice = memory.user("alice")
        alice.remember(picture("Look"))
        assert not alice.flush()
        [job] = alice.jobs()
        assert (job.kind, job.status) == ("describe", "parked")
    with Memory.open(tmp_path / "home", settings=settings, describe=lambda *_: "A canoe.") as memory:
        memory.retry_job(job.id, user="alice")
        assert memory.user("alice").flush()
        assert "canoe" in memory.user("alice").recall("canoe", k=1).hits[0].text


def test_a_picture_with_a_caption_and_a_forgotten_one_ask_nobody(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def describe(data: bytes, mime_type: str) -> str:
        asked.append(data)
        return "A canoe."

    with Memory.open(tmp_path / "home", settings=QUIET, describe=describe) as memory:
        alice = memory.user("alice")
        message = picture()
        message["content"][0]["caption"] = "A barn."
        alice.remember(message)
        alice.forget(alice.remember(picture()).step_ids)
        assert alice.flush()
        assert asked == []


def test_a_call_may_bring_its_own_describer(alice: UserMemory, tmp_path: Path) -> None:
    path = written(tmp_path, "lake.png", PNG)
    added = alice.add_file(path, describe=lambda data, mime_type: f"A canoe, {mime_type}.")
    assert added.item.content == "A canoe, image/png."
    assert alice.jobs() == []
    with pytest.raises(InvalidInputError, match="returned no text"):
        alice.add_file(written(tmp_path, "b.png", PNG + b"2"), describe=lambda *_: " ")
    with pytest.raises(InvalidInputError, match="cannot be called"):
        alice.add_file(path, describe="gpt")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="cannot be called"):
        Memory.open(tmp_path / "other", describe=3)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- command line


def test_the_command_line_adds_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hexamem.cli.app import run

    home = ["--home", str(tmp_path / "home")]
    notes = written(tmp_path, "notes.md", "# Kiln\n\nIt is in the shed.\n")
    assert run(["add", str(notes), "-u", "alice", *home, "--json"]) == 0
    [added] = json.loads(capsys.readouterr().out)
    assert added["item"]["title"] == "Kiln"
    assert run(["add", str(notes), str(tmp_path / "no.pdf"), "-u", "alice", *home]) == 2
    shown = capsys.readouterr()
    assert "there already" in shown.out
    assert shown.err.strip().endswith("there is no such file")
    assert run(["recall", "kiln", "-u", "alice", *home]) == 0
    assert "in the shed" in capsys.readouterr().out
    assert run(["add", str(notes), "-u", "alice", "--kind", "semantic", *home]) == 2
    assert "--kind" in capsys.readouterr().err


def test_adding_an_item_by_options_is_as_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hexamem.cli.app import run

    given = ["--kind", "resource", "--title", "Kiln", "--content", "In the shed.", "--home", str(tmp_path / "home")]
    assert run(["add", "-u", "alice", *given]) == 0
    assert "Kiln" in capsys.readouterr().out


async def test_the_async_twin_adds_a_file(alice: UserMemory, tmp_path: Path) -> None:
    added = await alice.aadd_file(written(tmp_path, "a.txt", "The kiln is in the shed."))
    assert added.item.content == "The kiln is in the shed."


def test_read_file_reads_without_a_memory(tmp_path: Path) -> None:
    assert read_file(written(tmp_path, "a.txt", "Some words.")).content == "Some words."
    with pytest.raises(HexamemError):
        read_file(tmp_path / "no.txt")
