"""Documents in a conversation: pasted e-mails, notes, code and long texts, attached files, captions and transcripts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .... import lazy_re as re
from ....memory_types.step import Step

__all__ = ["Document", "attached_documents", "pasted_document"]

_FENCE = re.compile(r"```(?P<lang>[\w+#.-]{0,20})[^\n]*\n(?P<code>.*?)(?:```|\Z)", re.DOTALL)
_HEADER = re.compile(
    r"^(?:From|To|Subject|Date|Cc|Sent|发件人|收件人|主题|日期|主旨|寄件者)\s?[:：]", re.MULTILINE | re.IGNORECASE
)
_SUBJECT = re.compile(r"^(?:Subject|主题|主旨)\s?[:：]\s*(?P<title>[^\n]{1,160})", re.MULTILINE | re.IGNORECASE)
_GREETING = re.compile(
    r"^(?:Dear|Hi|Hello|To whom)\s[^\n]{1,60},?\s*$|^(?:尊敬的|亲爱的)[^\n]{1,20}[:：]?$", re.MULTILINE
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•·–]\s|\d{1,2}[.)、]\s?|[一二三四五六七八九十]{1,3}、|\([a-z\d]\)\s)", re.MULTILINE)
_TRIGGER = re.compile(
    r"\b(?:keep|save|store|file|archive|hold on to|here(?:'s| is| are)|paste|pasting|pasted"
    r"|attached|note this|notes?|minutes|transcript|article|e-?mail|letter|document|script|snippet|code"
    r"|agenda|report|text|poem|lyrics|post|message from|this came|excerpt|contract|draft|cv)\b|存"
    r"|保存|归档|歸檔|收好|记下|留着|备份|贴|纪要|紀要|会议记录|邮件|文章|文档|合同|通知|稿|代码|mail",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"[:：,，]\s?(?:\"(?P<a>[^\"]{40,})\"|“(?P<b>[^”]{20,})”|‘(?P<c>.{40,})’|'(?P<d>.{40,})'(?=\W*\Z)"
    r"|[「『](?P<e>[^」』]{20,})[」』])",
    re.DOTALL,
)
_SENTENCE_END = re.compile(r"[.!?;。！？；](?:\s+(?=\S)|(?<=[。！？；])(?=\S))")
_NUMBER_MARK = re.compile(r"(?:^|\s)\d{1,2}[.)、]\s?\D|第[一二三四五六七八九]步|[①-⑨]")
_KEEPS = re.compile(
    r"\b(?:keep|save|store|file|archive|hold on to|note (?:this|it|that|down)|paste|pasting|pasted)\b"
    r"|\b(?:here(?:'s| is)|this is)\b.{0,30}\b(?:notes?|leaflet|letter|e-?mail|text|post|notice|message|minutes|memo|poster"
    r"|flyer|brief|brochure)\b|保存|存一下|存下|归档|歸檔|收好|记下|記下|留着|备份"
    r"|(?:这是|這是|以下是).{0,15}(?:通知|传单|说明|邮件|信|纪要|文章|公告|便条|短信|全文|原文)",
    re.IGNORECASE | re.DOTALL,
)
_FILE = re.compile(
    r"(?<![\w/@.])(?P<file>[\w\u4e00-\u9fff][\w\u4e00-\u9fff.+-]{0,80}\.(?:pdf|docx?|xlsx?|pptx?"
    r"|csv|tsv|txt|md|png|jpe?g|gif|heic|svg|webp|mp3|m4a|wav|mp4|mov|zip|tar\.gz|ipynb|json|ya?ml"
    r"|xml|html?|key|pages|numbers|odt|epub))\b",
    re.IGNORECASE,
)
_SHARES = re.compile(
    r"attach|upload|shar(?:e|ed|ing)|sen[dt]|here(?:'s| is| are)|enclosed|see the|save|keep|scan"
    r"|photo|picture|附件|附上|上传|发你|发给|传给|这是|见|存|扫描|照片|文件|放在",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^[ \t]*(?:def|class|function|import|from\s\S+\simport|const|let|var|public|private|#include"
    r"|package|SELECT|CREATE TABLE|<\?|<html|fn|func|impl|type|interface)\b",
    re.MULTILINE,
)
_DEFINED = re.compile(r"^[ \t]*(?:async\s+)?(?:def|class|function|fn|func)\s+(?P<name>\w+)", re.MULTILINE)
_HEADED = re.compile(r"^\s*(?:【[^】]{2,40}】|[《〈][^》〉]{2,40}[》〉]|#+\s.{3,60}|[A-Z][A-Z '&,-]{7,80})\s*$")
"""A first line that titles what follows, as in a notice."""
_LONG = 900
_DESCRIBED = 160  # characters from which a caption is a description to keep
_LOOKED_AT = 20_000  # characters of a document in which its form is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Something to keep whole.

    Attributes:
        start, end: its span in the step's content; ``-1`` where it is none of it (an attachment).
        content: all of it.
        prose: whether its dated lines may be read as events.
    """

    start: int
    end: int
    title: str
    summary: str
    resource_type: str
    content: str
    prose: bool = True


def pasted_document(text: str) -> Document | None:
    """The document that a message brings, or None: its own words around it are not part of it.

    A message is taken for one by its form (code in fences, e-mail headers, a heading with bullets, a letter) or by
    its length. A list of numbered steps alone is none: it is a procedure.
    """
    fence = _FENCE.search(text)
    if fence and (fence["code"].count("\n") >= 2 or len(fence["code"]) > 120):
        return _document(text, fence.start(), fence.end(), "code", fence["code"])
    if quoted := _quoted_document(text):
        return quoted
    if "\n" not in text and len(text) < _LONG:
        return None
    headers = list(_HEADER.finditer(text[:20_000]))
    if len(headers) >= 2 or (headers and _SUBJECT.search(text[:_LOOKED_AT]) and text.count("\n") >= 3):
        return _document(text, headers[0].start(), len(text), "email", text[headers[0].start() :])
    intro_end = _intro(text)
    body = text[intro_end:]
    lines = [line for line in body.split("\n", 400)[:400] if line.strip()]
    if not lines:
        return None
    bullets = sum(1 for line in lines if _BULLET.match(line))
    triggered = bool(_TRIGGER.search(text[:intro_end])) if intro_end else False
    numbered = sum(1 for line in lines if re.match(r"\s*(?:\d{1,2}[.)、]|step\s\d)", line, re.IGNORECASE))
    if numbered >= 2 and _HEADED.match(lines[0]) and len(lines) >= 3:
        return _document(text, intro_end, len(text), "notice", body)
    if numbered >= 2 and numbered >= 0.6 * len(lines) and len(text) < 4_000:
        return None  # a procedure
    if len(lines) >= 4 and len(_CODE.findall(body[:_LOOKED_AT])) >= 2:
        return _document(text, intro_end, len(text), "code", body)
    if bullets >= 3 and not _BULLET.match(lines[0]) and len(lines) >= 4:
        return _document(text, intro_end, len(text), "notes", body)
    if _GREETING.search(body[:2_000]) and len(lines) >= 4:
        return _document(text, intro_end, len(text), "letter", body)
    if (
        (triggered and (len(lines) >= 3 or len(body) > 200))
        or (len(body) >= _LONG and len(lines) >= 4)
        or len(text) >= 2_500
    ):
        return _document(text, intro_end, len(text), "text", body)
    return None


def _quoted_document(text: str) -> Document | None:
    """The text in quotation marks that a message asks to keep: somebody else's words, of two sentences or more."""
    for match in _QUOTED.finditer(text):
        group = match.lastgroup or ""
        start, end = match.span(group)
        content = match[group]
        lead = text[max(0, match.start() - 300) : match.start()]
        own_words = len(text) - (end - start)
        if not _KEEPS.search(lead) and not (own_words < 300 and _KEEPS.match(text[end + 1 :].lstrip(" ,，。.;；"))):
            continue
        if not _SENTENCE_END.search(content) or len(_NUMBER_MARK.findall(content)) >= 2:
            continue  # a name or a wish, or a procedure
        made = _document(text, start, end, "text", content)
        first = _SENTENCE_END.split(content, maxsplit=1)[0].strip(" .!?;。！？；")
        return made if "\n" in content or len(first) > 100 else replace(made, title=first)
    return None


def _intro(text: str) -> int:
    """Where the speaker's own words end and the pasted text begins: after a colon or a first paragraph that announces it."""
    head = text[:400]
    blank = head.find("\n\n")
    if blank >= 0 and (_TRIGGER.search(head[:blank]) or head[:blank].rstrip().endswith((":", "："))):
        return blank + 2
    line = head.find("\n")
    if line >= 0 and _HEADED.match(head[line + 1 :].split("\n")[0]):
        return line + 1
    if line >= 0 and head[:line].rstrip().endswith((":", "：")) and _TRIGGER.search(head[:line]):
        return line + 1
    return 0


def _document(text: str, start: int, end: int, kind: str, content: str) -> Document:
    content = content.strip("\n")
    intro = " ".join(text[:start].split()).rstrip(" :：,，\"“‘'「『") if start else ""
    subject = _SUBJECT.search(content[:_LOOKED_AT])
    defined = _DEFINED.search(content[:_LOOKED_AT]) if kind == "code" else None
    first = next((line.strip(" \t#*=-") for line in content.split("\n", 50) if line.strip(" \t#*=-")), "")
    title = subject["title"].strip() if subject else defined["name"] if defined else first
    title = (title if len(title) <= 100 else title[:97].rstrip() + "…") or intro[:100] or kind
    lines = [line.strip() for line in content.split("\n", 200) if len(line.strip()) > 15 and not _HEADER.match(line)]
    gist = next((line for line in lines if line[:80] != title[:80]), "")
    summary = f"{intro[:160]} — {gist[:160]}".strip(" —") if intro else gist[:200]
    return Document(
        start=start, end=end, title=title, summary=summary, resource_type=kind, content=content, prose=kind != "code"
    )


def attached_documents(step: Step, pasted: Document | None = None) -> list[Document]:
    """The files, described pictures and recordings that a step carries, and files that its text names as shared.

    Args:
        pasted: the document that the step brings in its text. A file that announces it (``Here is notes.txt:``) is that
            document, and one that is named in it was shared with whoever wrote it, not here.
    """
    found: list[Document] = []
    for media in step.media[:16]:
        if not (media.name or media.transcript) and len(media.caption or media.url or "") < _DESCRIBED:
            continue  # a picture shown in passing: the step itself is found by its caption
        words = "\n".join(part for part in (media.caption, media.transcript) if part)
        title = media.name or (media.caption or "").split("\n")[0][:100] or media.kind
        found.append(
            Document(
                start=-1,
                end=-1,
                title=title,
                summary=(media.caption or media.transcript or step.content)[:200].replace("\n", " "),
                resource_type="transcript" if media.transcript else media.kind,
                content=words or media.url or media.name or title,
                prose=False,
            )
        )
    named = {document.title for document in found}
    text = step.content[:4_000]
    if "." in text and "```" not in text:
        for match in list(_FILE.finditer(text))[:4]:
            line = text[
                max(0, text.rfind("\n", 0, match.start()) + 1) : (text.find("\n", match.end()) + 1 or len(text) + 1) - 1
            ]
            if match["file"] not in named and _SHARES.search(line) and not _names_or_in(pasted, match, text):
                named.add(match["file"])
                kind = {
                    "png": "image",
                    "jpg": "image",
                    "jpeg": "image",
                    "heic": "image",
                    "mp3": "audio",
                    "m4a": "audio",
                    "wav": "audio",
                    "mp4": "video",
                    "mov": "video",
                }
                found.append(
                    Document(
                        start=-1,
                        end=-1,
                        title=match["file"],
                        summary=line.strip()[:200],
                        resource_type=kind.get(match["file"].rsplit(".", 1)[-1].lower(), "file"),
                        content=line.strip() or match["file"],
                        prose=False,
                    )
                )
    return found


def _names_or_in(pasted: Document | None, match: re.Match[str], text: str) -> bool:
    """Whether a file name stands in a pasted document, or is the last word before it."""
    if pasted is None or pasted.start < 0:
        return False
    between = text[match.end() : pasted.start]
    return match.start() < pasted.end and not re.search(r"\w", between)
