"""Files in memory: read, found by any page, one item a file, redacted, superseded, erased; and media put into words."""

from __future__ import annotations

import base64
import io
import itertools
import json
import os
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.cli.app import run
from hexamem.doctor import examine
from hexamem.errors import ConfigError, HexamemError, InvalidInputError, NotFoundError
from hexamem.memory_types import ResourceItem, Source
from hexamem.stores.chunking import chunk_spans, passage_at
from hexamem.stores.file_readers import read_data, read_file

PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 20
MP3 = b"ID3" + b"sound" * 20
FILLER = "the council collects bins and keeps hallways clean while gardens grow after rain in quiet streets"
SECRET = "kestrel-Harbour-92"
Traces = Callable[..., list[str]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory whose tests take users of their own."""
    with opened(tmp_path_factory.mktemp("shared") / "home", max_file_bytes=2_000_000) as memory:
        yield memory


@pytest.fixture
def alice(shared: Memory, request: pytest.FixtureRequest) -> UserMemory:
    return shared.user(request.node.name)


def opened(home: Path, readers: dict[str, Any] | None = None, **values: Any) -> Memory:
    chosen = Settings(background=False, mode="off", labels="off", **values)
    return Memory.open(home, embedder="static", settings=chosen, **(readers or {}))


def filler(words: int, seed: int = 0) -> str:
    """Words that say nothing."""
    return " ".join(random.Random(seed).choices(FILLER.split(), k=words))


def pdf(pages: list[str], title: str = "", password: str | None = None) -> bytes:
    out = io.BytesIO()
    drawn = pytest.importorskip("reportlab.pdfgen.canvas").Canvas(out, encrypt=password)
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


def zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b" " * 3_000_000)
    return out.getvalue()


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- reading ---------------------------------------------------------------------------------------------------------


def test_each_kind_of_document_is_read_by_its_pages_headings_or_rows_and_told_by_its_bytes() -> None:
    read = read_data(pdf(["First page", "Second page"], "Lease"), "lease.txt")
    assert (read.title, read.mime_type, read.resource_type) == ("Lease", "application/pdf", "pdf")
    assert [(section.page, section.text) for section in read.sections] == [(1, "First page"), (2, "Second page")]
    read = read_data(docx([("Rent", "Due on the first."), ("Money", "Kept in trust.")]), "lease")
    assert (read.resource_type, [section.heading for section in read.sections]) == ("docx", ["Rent", "Money"])
    assert "Kept in trust." in read.sections[1].text
    assert "Deposit | 1,850 euros" in read.sections[1].text
    read = read_data(b'name;note\r\nMia;"first\r\nsecond"\r\n\r\nBo;x\r\n', "notes.csv")
    assert read.content.split("\n") == ["name;note", "Mia;first second", "Bo;x"]
    assert read.sections[0].rows == (1, 2)
    read = read_data(b"# Setup\n\n```\n# a comment\n```\n\n## Use\n\nRun it.\n", "readme.md")
    assert [section.heading for section in read.sections] == ["Setup", "Use"]
    assert read_data(PNG, "hello.pdf").resource_type == "image"


def test_html_is_read_without_scripts_styles_and_comments_however_deep() -> None:
    pytest.importorskip("bs4")
    page = (
        "<html><head><title>Trip &amp; more</title><style>p{color:red}</style></head><body><script>evil()</script>"
        "<!-- hidden --><h1>Porto</h1><p>Two\n lines <b>joined</b></p><ul><li>tram<li>boat</ul>"
        "<table><tr><td>Line</td><td>18</td></tr></table></body></html>"
    )
    read = read_data(page.encode(), "trip.html")
    assert read.title == "Trip & more"
    assert [text for text in ("Two lines joined", "- tram\n", "Line | 18") if text not in read.content] == []
    assert [text for text in ("evil", "color", "hidden") if text in read.content] == []
    assert "deep" in read_data(b"<div>" * 3_000 + b"deep", "deep.html").content


def test_the_encoding_of_a_text_of_any_name_is_found_or_guessed_and_reported_unless_it_may_be_several() -> None:
    texts = {
        "utf-8": ("a", "Größe und Übermut tun selten gut."),
        "utf-8-sig": ("a", "Größe und Übermut tun selten gut."),
        "utf-16": ("a", "Größe und Übermut tun selten gut."),
        "utf-32": ("a", "Größe und Übermut tun selten gut."),
        "latin-1": ("a.html", "José García"),
        "cp1252": ("a.csv", "name;city\nJosé;Málaga"),
        "cp1251": ("a.txt", "Привет, это обычный текст про кошку и собаку."),
        "gb18030": ("a.md", "我们在杭州买了一些茶叶，明天去西湖。"),
    }
    for encoding, (name, text) in texts.items():
        read = read_data(text.encode(encoding), name)
        assert read.content == text
        reported = ["is not in UTF-8: read as" in line for line in read.degraded]
        assert reported == [True] * (not encoding.startswith("utf")), encoding
    read = read_data("茶叶".encode("gb18030"), "a.txt")
    assert read.content == ""
    assert "save it as UTF-8" in read.degraded[0]


WIDE_TABLE = """
    <w:tbl><w:tblGrid/><w:tr><w:tc><w:tcPr><w:gridSpan w:val="900000000"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>
"""


def docx_of(body: str) -> bytes:
    """A document with this in the place of its body."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx([]))) as whole, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as changed:
        for name in whole.namelist():
            data = whole.read(name)
            if name == "word/document.xml":
                data = re.sub(rb"(<w:body>).*(</w:body>)", rb"\g<1>" + body.encode() + rb"\g<2>", data, flags=re.DOTALL)
            changed.writestr(name, data)
    return out.getvalue()


def test_a_small_document_of_very_many_parts_is_refused_before_they_are_read() -> None:
    with pytest.raises(InvalidInputError, match="has 250,000 paragraphs, rows and runs; the limit is 200,000"):
        read_data(docx_of("<w:p/>" * 250_000), "empty.docx")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.txt", lambda: b"", "is empty"),
        ("locked.pdf", lambda: pdf(["Hello"], password="open sesame"), "encrypted"),
        ("broken.pdf", lambda: b"%PDF-1.7\n" + b"x" * 200, "cannot be read as PDF"),
        ("scanned.pdf", lambda: pdf(["", ""]), "OCR"),
        ("broken.docx", lambda: docx([("A", "b")])[:900], "cannot be read as docx"),
        ("other.docx", lambda: b"PK\x05\x06" + b"\0" * 18, "cannot be read as docx"),
        ("locked.docx", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 600, "encrypted"),
        ("bomb.docx", zip_bomb, "unpacks to"),
        ("wide.docx", lambda: docx_of(WIDE_TABLE), "table of 900,000,000 columns"),
        ("malformed.html", lambda: b"<p>Port<![CDA}A[o</", "cannot be read as HTML"),
        ("only.html", lambda: b"<html><script>x()</script></html>", "contains no text"),
        ("large.txt", lambda: b"x" * 2_000_001, "the limit is 2,000,000"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_and_nothing_is_stored(
    alice: UserMemory, name: str, content: Callable[[], bytes], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match=message) as refused:
        alice.add_file(written(tmp_path, name, content()))
    assert "\n" not in str(refused.value)
    assert alice.name not in alice.memory.users()
    assert not (alice.memory.home / "media" / alice.key).exists()


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("cut.png", b"PNG\r\n\x1a\n" + bytes(range(256)) * 8, "file"),
        ("notes.txt", bytes(range(256)) * 40, "file"),
        ("log.txt", b"ab\x01\x02\x03\x04" * 100, "file"),
        ("wide.txt", b"\xff\xfea\0b", "file"),
        ("photos.zip", b"PK\x03\x04" + b"x" * 100, "archive"),
        ("notes.md", b"SQLite format 3\0" + b"x" * 100, "file"),
        ("film.mp4", b"\0\0\0\x18ftypisom" + b"x" * 100, "video"),
    ],
)
def test_a_file_that_is_no_text_is_stored_by_its_bytes_and_reported_as_unread(
    alice: UserMemory, tmp_path: Path, name: str, data: bytes, kind: str
) -> None:
    added = alice.add_file(written(tmp_path, name, data))
    assert (added.item.resource_type, added.item.content, added.item.title) == (kind, "", name)
    assert alice.media(added.item.metadata["file"]["sha256"]) == data
    (line,) = added.degraded
    assert line.startswith(f"{name} ")
    assert "stored unread" in line
    assert added.item.id in {hit.id for hit in alice.recall(name).hits}


def test_what_is_no_file_is_refused_and_a_missing_library_names_the_extra(
    alice: UserMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge.txt").open("wb") as out:
        out.truncate(200_000_000)
    paths: dict[str, Any] = {
        "no such file": tmp_path / "missing.txt", "is a folder": tmp_path, "no regular file": tmp_path / "pipe",
        "path": 3, "200,000,000 bytes; the limit is": tmp_path / "huge.txt",
    }  # fmt: skip
    for message, path in paths.items():
        with pytest.raises(InvalidInputError, match=message):
            alice.add_file(path)
    with pytest.raises(InvalidInputError, match="without its bytes there is nothing to store"):
        alice.add_file(written(tmp_path, "data.bin", bytes(range(256)) * 40), keep_bytes=False)
    for module in ("pypdf", "docx", "bs4"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    packages = {
        "a.pdf": ("pypdf", b"%PDF-1.4"),
        "a.docx": ("python-docx", b"PK\x03\x04"),
        "a.html": ("beautifulsoup4", b"<p>"),
    }
    for name, (package, data) in packages.items():
        with pytest.raises(InvalidInputError, match=f"pip install {package}"):
            read_data(data, name)


# -- passages --------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.text(alphabet=st.sampled_from("ab \n\f.!#你é"), max_size=3_000), st.sampled_from(["text", "markdown", "csv"]))
def test_passages_are_in_order_apart_and_leave_no_word_out(text: str, kind: str) -> None:
    spans = chunk_spans(ResourceItem(title="t", content=text, resource_type=kind))
    assert all(start < end for start, end in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    if spans:
        bounds = zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True)
        header = text.partition("\n")[0] if kind == "csv" else ""
        assert "".join(text[end:start] for end, start in bounds).replace(header, "", 1).strip("\f\n \t") == ""


def test_a_text_without_any_break_is_parted_and_a_reference_is_never_cut_in_two() -> None:
    assert len(chunk_spans(ResourceItem(title="t", content="x" * 20_000))) > 10
    item = ResourceItem(
        title="t", content=" ".join(f"{{{{vault:vault_{n}|a {'very ' * (n % 7)}long caption}}}}" for n in range(300))
    )
    passages = [passage_at(item, span).text for span in chunk_spans(item)]
    assert len(passages) > 3
    assert all(text.startswith("{{vault:") and text.endswith("}}") for text in passages)


def test_a_page_a_section_and_a_row_are_found_with_their_place(alice: UserMemory, tmp_path: Path) -> None:
    pages = [filler(60, number) for number in range(42)]
    pages[39] += " The deposit of 1,850 euros is paid back within thirty days."
    lease = alice.add_file(written(tmp_path, "lease.pdf", pdf(pages, "Lease of Rua Nova")))
    assert lease.passages > 40
    guide = "# Porto\n\n" + "".join(f"## Part {n}\n\n{filler(120, n)}\n\n" for n in range(8))
    guide += "## Trams\n\nLine 18 leaves from Massarelos every half hour.\n"
    alice.add_file(written(tmp_path, "guide.md", guide))
    rows = [f"{number},{filler(2, number)},{number * 3}" for number in range(1, 300)] + ["300,Zelda Quist,12"]
    alice.add_file(written(tmp_path, "customers.csv", "id,name,amount\n" + "\n".join(rows)))
    for strategy in ("rrf_neighbours", "bm25"):
        hit = alice.recall("When is the deposit paid back?", strategy=strategy).hits[0]
        assert (hit.id, hit.kind, hit.place) == (lease.item.id, "resource", "page 40")
        assert hit.text.startswith("Lease of Rua Nova, page 40\n")
        assert "thirty days" in hit.text
        assert len(hit.text) < 2_000
    assert alice.recall("from Massarelos", k=1).hits[0].place == "section Porto › Trams"
    hit = alice.recall("Zelda Quist", k=1).hits[0]
    assert (hit.place or "").endswith("–300")
    assert "id,name,amount\n" in hit.text


def test_a_document_is_one_hit_among_others_and_a_filter_costs_no_passage(alice: UserMemory, tmp_path: Path) -> None:
    alice.remember([f"The tram to district {number} is late." for number in range(5)])
    text = "\n\n".join(f"The tram number {number} runs late. {filler(60, number)}" for number in range(50))
    trams = alice.add_file(written(tmp_path, "trams.txt", text))
    hits = [hit.id for hit in alice.recall("tram late", k=6).hits]
    assert (len(set(hits)), trams.item.id in hits) == (6, True)
    for number in range(6):
        text = f"{filler(900, number)} The deposit is paid back late. {filler(900, number)}"
        alice.add_file(written(tmp_path, f"other{number}.txt", text))
    text = f"{filler(900)} Some words on the deposit. {filler(900)}"
    lease = alice.add_file(written(tmp_path, "lease.txt", text), metadata={"client": "Quist"}, labels=["law"])
    conditions: list[dict[str, Any]] = [{"metadata": {"client": "Quist"}}, {"labels": ["law"]}]
    for where in conditions:
        (hit,) = alice.recall("deposit", k=3, where=where).hits
        assert (hit.id, "on the deposit" in hit.text) == (lease.item.id, True)


# -- one file, one item ----------------------------------------------------------------------------------------------


async def test_a_document_is_stored_whole_with_its_bytes_once_and_under_its_folders(
    alice: UserMemory, tmp_path: Path
) -> None:
    data, folder = docx([("Rent", "Due on the first of the month.")]), tmp_path / "law" / "2024"
    folder.mkdir(parents=True)
    path = written(folder, "lease.docx", data)
    given_ = {"title": "The lease", "metadata": {"client": "Quist"}, "reason": "asked for", "root": tmp_path}
    added = await alice.aadd_file(path, **given_)
    stored = alice.get(added.item.id)
    assert isinstance(stored, ResourceItem)
    assert (stored.title, stored.resource_type, stored.tree_path) == ("The lease", "docx", ("law", "2024"))
    assert stored.content.startswith("# Rent\n\nDue on the first of the month.")
    assert (stored.summary, stored.metadata["client"]) == ("Due on the first of the month.", "Quist")
    file = stored.metadata["file"]
    assert (file["name"], alice.media(file["sha256"]), alice.history(stored.id)[0].reason) == (
        "lease.docx", data, "asked for",
    )  # fmt: skip
    again = alice.add_file(written(tmp_path, "other.docx", data))
    assert (again.repeated, again.item) == (True, added.item)
    with pytest.raises(InvalidInputError, match="not a folder above"):
        alice.add_file(path, root=tmp_path / "elsewhere")
    without = alice.add_file(written(tmp_path, "b.txt", "Some words."), keep_bytes=False)
    assert without.item.metadata["file"]["sha256"] is None
    bob = alice.memory.user("bob of files")
    with pytest.raises(NotFoundError):
        bob.media(file["sha256"])
    assert not bob.add_file(path).repeated
    assert read_file(path).content == stored.content
    with pytest.raises(HexamemError):
        read_file(tmp_path / "no.txt")


def test_a_changed_file_supersedes_the_former_until_that_is_undone(alice: UserMemory, tmp_path: Path) -> None:
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


def test_an_item_added_by_hand_is_searched_by_passages_which_leave_with_its_words(alice: UserMemory) -> None:
    content = f"{filler(1_500)} The kiln is fired at 1,240 degrees. {filler(1_500)}"
    item = alice.add({"kind": "resource", "title": "Pottery", "content": content})
    hit = alice.recall("At how many degrees is the kiln fired?", k=1).hits[0]
    assert (hit.id, "1,240" in hit.text, len(hit.text) < 2_000) == (item.id, True, True)
    vectors, lexical = alice.memory.vectors, alice.memory.lexical
    assert vectors.count(alice.key, "items") > 10
    alice.edit(item.id, content="Nothing here.")
    alice.flush()
    assert vectors.ids(alice.key, "items") == lexical.ids(alice.key) == {item.id}
    alice.remove(item.id)
    alice.flush()
    assert vectors.count(alice.key, "items") == lexical.count(alice.key) == 0


def test_indexes_with_passages_are_whole_when_opened_again_and_files_travel_with_an_export(tmp_path: Path) -> None:
    data = pdf([*(filler(80, number) for number in range(6)), "The kiln is in the shed."])
    with opened(tmp_path / "home") as memory:
        alice = memory.user("alice")
        lease = alice.add_file(written(tmp_path, "a.pdf", data)).item
        alice.flush()
        alice.add_file(written(tmp_path, "b.txt", f"{filler(2_000)} The boat is in the barn."))
    with opened(tmp_path / "home") as memory:
        alice, bob = memory.user("alice"), memory.user("bob")
        assert "in the barn" in alice.recall("Where is the boat?", k=1).hits[0].text
        assert memory.notices == []
        assert all(finding.status != "wrong" for finding in examine(memory))
        alice.export(tmp_path / "alice.jsonl")
        bob.import_(tmp_path / "alice.jsonl")
        assert bob.media(lease.metadata["file"]["sha256"]) == data
        assert bob.recall("Where is the kiln?", k=1).hits[0].place == "page 7"


# -- privacy ---------------------------------------------------------------------------------------------------------


def test_secrets_in_files_are_written_nowhere(tmp_path: Path, traces: Traces) -> None:
    with opened(tmp_path / "home") as memory:
        alice = memory.user("alice")
        text = f"{filler(800)}\nThe alarm password is {SECRET}.\n{filler(800)}"
        added = alice.add_file(written(tmp_path, "house.txt", text))
        (reference,) = added.secrets
        assert reference in added.item.content
        assert reference in alice.media(added.item.metadata["file"]["sha256"]).decode()
        assert reference in alice.recall("password of the alarm", kinds=["resource"], k=1).hits[0].text
        assert alice.reveal(reference, reason="test") == SECRET
        without_cue = alice.add_file(written(tmp_path, "a.txt", f"They wrote {SECRET} on the wall."))
        assert "kestrel" not in without_cue.item.content
        assert len(alice.items("vault")) == 1
        of_pdf = alice.add_file(written(tmp_path, "house.pdf", pdf([f"The alarm password is {SECRET}."])))
        database = b"SQLite format 3\0" + f"\0password: {SECRET}\0\1".encode() + bytes(range(32))
        unread = alice.add_file(written(tmp_path, "app.sqlite", database))
        assert [file.item.metadata["file"]["sha256"] for file in (of_pdf, unread)] == [None, None]
        assert "its bytes are not" in of_pdf.degraded[0]
        assert any("contains secrets" in line for line in unread.degraded)
    assert traces(tmp_path / "home", SECRET) == []


def test_redacting_reaches_passages_and_bytes_and_erasing_leaves_nothing(tmp_path: Path, traces: Traces) -> None:
    words, home = "Ozymandias Quist", tmp_path / "home"
    with opened(home) as memory:
        alice = memory.user("alice")
        data = pdf([*(filler(60, number) for number in range(5)), f"The tenant is {words} of Porto."])
        of_pdf = alice.add_file(written(tmp_path, "lease.pdf", data)).item
        of_text = alice.add_file(written(tmp_path, "a.txt", f"{filler(900)} The owner is {words}. {filler(900)}")).item
        alice.flush()
        receipt = alice.redact(words, caption="a customer")
        assert set(receipt.item_ids) == {of_pdf.id, of_text.id}
        assert alice.recall("Ozymandias", strategy="bm25", kinds=["resource"]).hits == ()
        assert receipt.reference in alice.recall("The tenant of Porto", kinds=["resource"], k=1).hits[0].text
        with pytest.raises(NotFoundError):
            alice.media(of_pdf.metadata["file"]["sha256"])
        redacted = alice.get(of_text.id)
        assert isinstance(redacted, ResourceItem)
        assert receipt.reference in alice.media(redacted.metadata["file"]["sha256"]).decode()
        assert memory.vectors.ids(alice.key, "items") == memory.lexical.ids(alice.key)
        assert traces(home, words) == []
        alice.add_file(written(tmp_path, "zanzibar.txt", f"{filler(900)} Zanzibar came. {filler(900)}"))
        alice.flush()
        erased = alice.erase()
        assert (erased.files, erased.vectors > 3) == (2, True)
    assert traces(home, "Zanzibar", "zanzibar", "lease") == []


# -- media -----------------------------------------------------------------------------------------------------------


def picture(words: str = "", **block: str) -> dict[str, Any]:
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    shown = {"type": "image_url", "image_url": {"url": url}, **block}
    return {"role": "user", "content": [*([{"type": "text", "text": words}] if words else []), shown]}


def test_a_picture_in_a_message_is_described_by_a_job_and_its_secrets_are_hidden(
    tmp_path: Path, traces: Traces
) -> None:
    seen: list[tuple[bytes, str]] = []

    def describe(data: bytes, mime_type: str) -> str:
        seen.append((data, mime_type))
        return f"A red canoe. The alarm password is {SECRET}."

    with opened(tmp_path / "home", {"describe": describe}) as memory:
        alice = memory.user("alice")
        alice.remember(picture(caption="A barn."))
        alice.forget(alice.remember(picture()).step_ids)
        assert alice.flush()
        assert seen == []
        [step_id] = alice.remember(picture("Look at this"), thread_id="trip").step_ids
        assert alice.flush()
        assert seen == [(PNG, "image/png")]
        hits = {hit.kind: hit for hit in reversed(alice.recall("canoe").hits)}
        assert hits["step"].id == step_id
        assert "Look at this" in hits["step"].text
        assert "{{vault:" in hits["step"].text
        assert hits["resource"].sources == (Source(step_id=step_id),)
        [operation] = [done for done in alice.history(step_id) if done.actor == "describe"]
        assert {change.target for change in operation.changes} == {"item", "step"}
        assert alice.jobs() == []
        alice.undo(operation.id)
        assert alice.items("resource") == []
    assert traces(tmp_path / "home", SECRET) == []


def test_media_without_a_model_wait_without_noise_until_there_is_one_that_does_not_fail(tmp_path: Path) -> None:
    def broken(data: bytes, mime_type: str) -> str:
        raise RuntimeError("out of order")

    with opened(tmp_path / "home") as memory:
        alice = memory.user("alice")
        [step_id] = alice.remember(picture("Here is canoe.png", name="canoe.png")).step_ids
        sources = [{"step_id": step_id}]
        named = alice.add({"kind": "resource", "title": "canoe.png", "content": "canoe.png", "sources": sources})
        recording = alice.add_file(written(tmp_path, "call.mp3", MP3)).item
        assert recording.content == ""
        assert alice.flush()
        assert {"describe", "transcribe"} <= {finding.name for finding in examine(memory)}
    readers = {"describe": broken, "transcribe": lambda *_: "Meet me at the harbour."}
    with opened(tmp_path / "home", readers, max_job_attempts=1) as memory:
        assert not memory.user("alice").flush()
        [job] = memory.jobs()
        assert (job.kind, job.status) == ("describe", "parked")
    readers["describe"] = lambda *_: "A red canoe."
    with opened(tmp_path / "home", readers) as memory:
        alice = memory.user("alice")
        memory.retry_job(job.id, user="alice")
        assert alice.flush()
        assert alice.recall("harbour", k=1).hits[0].id == recording.id
        assert alice.history(recording.id)[-1].actor == "transcribe"
        assert alice.media(recording.metadata["file"]["sha256"]) == MP3
        item = alice.get(named.id)  # the picture stays one resource
        assert isinstance(item, ResourceItem)
        assert (len(alice.items("resource")), item.title, item.content) == (2, "canoe.png", "A red canoe.")
        operation = alice.history(named.id)[-1]
        assert (operation.kind, operation.actor) == ("update", "describe")
        assert operation.id in {done.id for done in alice.history(step_id)}


def test_a_call_may_bring_its_own_describer(alice: UserMemory, tmp_path: Path) -> None:
    path = written(tmp_path, "lake.png", PNG)
    added = alice.add_file(path, describe=lambda data, mime_type: f"A canoe, {mime_type}.")
    assert (added.item.content, alice.jobs()) == ("A canoe, image/png.", [])
    with pytest.raises(InvalidInputError, match="returned no text"):
        alice.add_file(written(tmp_path, "b.png", PNG + b"2"), describe=lambda *_: " ")
    with pytest.raises(InvalidInputError, match="cannot be called"):
        alice.add_file(path, describe="gpt")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="cannot be called"):
        Memory.open(tmp_path / "other", describe=3)  # type: ignore[arg-type]


# -- command line ----------------------------------------------------------------------------------------------------


@pytest.mark.embedded
def test_the_command_line_adds_files_and_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["-u", "alice", "--home", str(tmp_path / "home")]
    notes = str(written(tmp_path, "notes.md", "# Kiln\n\nIt is in the shed.\n"))
    assert run(["add", notes, *home, "--json"]) == 0
    [added] = json.loads(capsys.readouterr().out)
    assert added["item"]["title"] == "Kiln"
    assert run(["add", notes, str(tmp_path / "no.pdf"), *home]) == 2
    shown = capsys.readouterr()
    assert "there already" in shown.out
    assert shown.err.strip().endswith("there is no such file")
    assert run(["recall", "kiln", *home]) == 0
    assert "in the shed" in capsys.readouterr().out
    assert run(["add", "--kind", "resource", "title=Oven", "content=In the cellar.", *home]) == 0
    assert "Oven" in capsys.readouterr().out
