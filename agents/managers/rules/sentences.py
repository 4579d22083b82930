"""A step's text as the rules read it: sentences and clauses, and which of them tell something that holds.

Questions, hypotheticals, quotes, code and vault references are no reports: the first two mark their sentence, the
others are masked by a sign that no rule matches. Masking and simplifying keep every offset, so that what is quoted or
stored is cut from the step itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .... import lazy_re as re
from ....intent.dates.words_chinese import simplified
from ....intent.phrases.abbreviations import is_abbreviation_stop
from ....intent.phrases.tokens import word_set
from .forget_requests import forget_request
from .reported_speech import covered, is_taken_back, may_report, reported
from .sentence_parts import MASK, Clause, Sentence

__all__ = ["LONGEST", "MASK", "Clause", "Reading", "Sentence", "read_text", "words_of"]

LONGEST = 6_000
"""Characters of a text that are analysed; all of a document is kept."""
_MOST_SENTENCES = 120
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_MASKED = re.compile(
    r"```.*?(?:```|\Z)|\{\{vault:[^{}\r\n]{0,300}\}\}|`[^`\n]{1,200}`|https?://\S+"
    r"|\"[^\"\n]{1,400}\"|[“][^”\n]{1,400}[”]|[「『][^」』\n]{1,400}[」』]|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){12,300}'(?!\w)|^>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_END = re.compile(r"\.+(?=\s|$)|[!?]+(?!\w)|[。！？…]+|\n+")
_ASCII_MARK = re.compile(
    r"(?<=[\u3400-\u4dbf\u4e00-\u9fff])[,.;:!?](?=\s*(?:[^\W\d_]|\d|\ue000|$))"
    r"|(?<=[\w)\ue000])[,;!?](?=[\u3400-\u4dbf\u4e00-\u9fff])|(?<=[a-z]{2})\.(?=[\u3400-\u4dbf\u4e00-\u9fff])"
)
"""A mark of ASCII where the words beside it are Chinese: it is read as the Chinese one."""
_CHINESE_MARKS = {",": "，", ".": "。", ";": "；", ":": "：", "!": "！", "?": "？"}
_CLAUSE = re.compile(
    r"\s*(?:[,:;](?=\s)|[，：；])\s*(?:(?:and|but|so|because|then|who|which)\s+)?|\s+[–—-]{1,2}\s+|\s*——\s*"
    r"|\s+(?:and|but|so|because|while|whereas|although|since(?=\s(?:I|we|she|he|they|it|the|my"
    r"|our)\b)|as(?=\s(?:I|we)\b))\s+"
    r"(?=(?:(?:on|in|at|this|next|last|then|now|also|since)\s(?:\S+\s){1,2}?)?"
    r"(?:I|I'\w+|we|we'\w+|my|our|she|he|they|she's|he's|it|it's|they're|there|the|please|don't"
    r"|never|always|[A-Z]\w+(?:'s)?\s(?:is|has|was|will|runs|takes))\b)"
)
_QUESTION = re.compile(
    r"^\W*(?:(?:and|but|so|or|ok|hi|hey)[\s,]+)*(?:(?:what|where|when|who|whom|whose|why|how|which)(?:'s\s|\s(?:do|does|did|is|are|was|were"
    r"|can|could|would|will|shall|should|have|has|about|many|much|long|often|far|old|else)\b|(?:(?<=what)|(?<=which))\s\w+\s(?:is|are|do|does|did|was|were|can|should"
    r"|would|will)\b)"
    r"|(?:do|does|did|is|are|was|were|can|could|would|will|shall|should|have|has|may)\s(?:i|you|we|they|he|she|it|the|a|an|my|your|there"
    r"|this|that|people)\b|any\s(?:tips|ideas|chance)\b)",
    re.IGNORECASE,
)
_KEEP_THIS = re.compile(
    r"^\W*(?:(?:and|also|so|ok|hi|hey|hello)[\s,]+)*(?:can|could|would|will)\syou\s(?:please\s|also\s|just\s)*(?:remember|save|note|keep|store"
    r"|write|jot|record|make a note|add|put)\b(?!\s(?:me|it|this|that|them)?\s*\W*$).{16,}",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_ZH = re.compile(
    r"[吗]\W*$|怎么(?:办|样|说|做|弄|走)|(?:什么时候|哪里|哪儿|多少钱"
    r"|是不是|能不能|可不可以|有没有|要不要)[^，。]*$|^(?:请问|为什么|谁)"
)
_SUPPOSED = re.compile(
    r"\b(?:if|suppose|supposing|imagine|hypothetically|pretend|wish|dreamt|dreamed|what if"
    r"|in another life|as though|as if"
    r"|unless|in case|otherwise|would have|could have|let's say|lottery)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"\bif (?:you (?:would|could|can|don't mind|like|want|need|ask|wonder|remember)|possible|that'?s (?:ok|okay"
    r"|all right|alright|fine)|i (?:remember|recall)"
    r"|it (?:matters|helps)|anyone asks|anything|at all)\b|\bin case (?:you|i|it|anyone|that)\b|\b(?:wonder|see|know|ask|check|sure) if\b",
    re.IGNORECASE,
)
_SUPPOSED_ZH = re.compile(
    r"如果|要是|假如|假设|假若|倘若|万一|若是|想象|梦见|做梦|幻想|上辈子|下辈子|的话|比如说|恨不得|巴不得|但愿|要不是"
)
_DOUBTED = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|could|thinking (?:of|about)|considering|wonder|wondering"
    r"|not sure|no idea|tempted|would"
    r"|should probably|toying|almost|nearly|may (?:be|have|go|move|get|try)|hope to|hoping to"
    r"|someday|one day|used to)\b",
    re.IGNORECASE,
)
_SUPPOSED_WORDS = word_set(
    "if suppose supposing imagine hypothetically pretend wish dreamt dreamed another though unless case otherwise"
    " would could lets lottery"
)
_DOUBTED_WORDS = word_set(
    "might maybe perhaps possibly could thinking considering wonder wondering sure no tempted would probably toying"
    " almost nearly may hope hoping someday one used"
)
_ASIDE_WORDS = word_set(
    "kidding joking jk not scratch seriously anyway actually real fact jokes instead reality meanwhile"
)
_WORDS = re.compile(r"[a-z]+")
_DOUBTED_ZH = re.compile(r"可能|也许|或许|大概|说不定|考虑|希望|好像|差点|本来|以为|想过|犹豫|恐怕|应该会|似乎|估计")
_KIDDING = re.compile(
    r"\b(?:just kidding|only joking|just joking|i'm joking|i'm kidding|kidding!|jk\b|not really!"
    r"|scratch that)|开玩笑|逗你|骗你|瞎说的",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:\b(?:would|could|might)\b|\b(?:i|you|he|she|it|we|they|there|that)'d\b)(?!\s(?:you|like|love|prefer|rather|better)\b)"
    r"|^(?:然后|再|还|那)?[我咱]们?(?:就|肯定|一定|还要|会)(?!说|做)",
    re.IGNORECASE,
)
"""After what was supposed, a sentence that goes on supposing."""
_CAN_YOU_BELIEVE = re.compile(
    r"^\W*(?:\w+[\s,]+)?(?:can|could|would) you (?:believe|imagine)\b[\s,:]*(?:it\b[\s,:]*)?(?=\S)", re.IGNORECASE
)
"""Wonder at something true: "Can you imagine, I won the raffle!"."""


_AND_THAT = re.compile(r"(?:(?:and|or|nor)\s)?(?:that|what|about|everything)\b", re.IGNORECASE)
_TELLING = re.compile(r"\b(?:said|told|claimed|wrote|say|tell)\b|说|告诉|讲", re.IGNORECASE)

_MORE_SIMPLIFIED = str.maketrans(
    "當鳥貓過對話職業師產經員醫護開關門號碼電簡體繁練習語養雞魚園醬薑蔥鹽鄰車樓層兒媽爸歲讀寫聽說賣買錢飯麵湯飲鍋燉煙藥針費課業賽籃遊戲廣場點鐘鎖"
    "鑰鄉鎮縣區號棟單幫記週後會議擔屬負責換轉離辭歡愛討厭煩習慣運動劃畫設計編輯編雜誌導護執務國際學雙親戚結訂婚孫舊壞紅綠藍黃頭腦腸蟹蝦參險貸",
    "当鸟猫过对话职业师产经员医护开关门号码电简体繁练习语养鸡鱼园酱姜葱盐邻车楼层儿妈爸岁读写听说卖买钱饭面汤饮锅炖烟药针费课业赛篮游戏广场点钟锁"
    "钥乡镇县区号栋单帮记周后会议担属负责换转离辞欢爱讨厌烦习惯运动划画设计编辑编杂志导护执务国际学双亲戚结订婚孙旧坏红绿蓝黄头脑肠蟹虾参险贷",
)
"""Characters that the words of the rules are written in, beyond those of dates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A step's own words, less what it pastes.

    Attributes:
        step_id: of the step. raw: the text analysed.
        kidding: whether it takes back what it says.
        words: all its Latin words, as :func:`words_of` gives them.
    """

    step_id: str
    raw: str
    sentences: tuple[Sentence, ...]
    has_han: bool
    has_latin: bool
    kidding: bool = False
    skipped: tuple[tuple[int, int], ...] = field(default=())
    words: frozenset[str] = frozenset()

    def clauses(self) -> list[Clause]:
        """All clauses that hold, in order."""
        return [clause for sentence in self.sentences for clause in sentence.clauses if clause.holds]


def words_of(text: str) -> frozenset[str]:
    """The Latin words of a text in small letters, apostrophes left out."""
    return frozenset(_WORDS.findall(text.lower().replace("'", "")))


def _mask(match: re.Match[str]) -> str:
    return "".join("\n" if c == "\n" else MASK for c in match[0])


def read_text(step_id: str, text: str, skipped: tuple[tuple[int, int], ...] = ()) -> Reading:
    """Read the first 6,000 characters of a step's text.

    Args:
        step_id: of the step.
        text: its content.
        skipped: spans that are no words of the speaker (a pasted document), masked as a whole.
    """
    raw = text[:LONGEST]
    plain = raw.replace("’", "'")
    for start, end in skipped:
        if start < len(plain):
            covered = plain[start:end]
            plain = plain[:start] + "".join("\n" if c == "\n" else MASK for c in covered) + plain[end:]
    plain = _MASKED.sub(_mask, plain)
    has_han = bool(_HAN.search(plain))
    if has_han:
        plain = simplified(plain).translate(_MORE_SIMPLIFIED)
        plain = _ASCII_MARK.sub(lambda mark: _CHINESE_MARKS[mark[0]], plain)
    words = words_of(plain)
    may = (
        has_han,
        not words.isdisjoint(_SUPPOSED_WORDS),
        not words.isdisjoint(_DOUBTED_WORDS),
        may_report(words, plain, has_han),
    )
    aside = has_han or not words.isdisjoint(_ASIDE_WORDS)
    sentences: list[Sentence] = []
    start = 0
    for match in _END.finditer(plain):
        if match[0] == "." and is_abbreviation_stop(plain, match.start()):
            continue
        _add(sentences, raw, plain, start, match.start(), match[0], *may)
        start = match.end()
        if len(sentences) >= _MOST_SENTENCES:
            break
    else:
        _add(sentences, raw, plain, start, len(plain), "", *may)
    return Reading(
        step_id=step_id,
        raw=raw,
        sentences=tuple(sentences),
        has_han=has_han,
        words=words,
        has_latin=any("a" <= c <= "z" for c in plain),
        kidding=aside and bool(_KIDDING.search(plain)),
        skipped=skipped,
    )


def _add(
    sentences: list[Sentence],
    raw: str,
    plain: str,
    start: int,
    end: int,
    closing: str,
    has_han: bool,
    may_suppose: bool,
    may_doubt: bool,
    may_quote: bool,
) -> None:
    while start < end and (plain[start].isspace() or plain[start] in "-*•·"):
        start += 1
    text = plain[start:end].rstrip()
    if not text.strip(MASK + " \t"):
        return
    end = start + len(text)
    wonder = _CAN_YOU_BELIEVE.match(text) if closing[:1] in "!." else None
    asked = "?" in closing or "？" in closing or (wonder is None and bool(_QUESTION.match(text)))
    if asked and _KEEP_THIS.match(text):
        asked = False
    supposed = may_suppose and bool(_SUPPOSED.search(_POLITE.sub("", text[wonder.end() :] if wonder else text)))
    if has_han:
        asked = asked or bool(_QUESTION_ZH.search(text))
        supposed = supposed or bool(_SUPPOSED_ZH.search(text))
    if not supposed and sentences and sentences[-1].supposed:
        supposed = bool(_GOES_ON.search(text))
    number = len(sentences)
    under = reported(text, has_han) if may_quote else []
    denied = [one for one in under if one.denied]
    text = covered(text, denied)
    if may_quote and sentences and is_taken_back(text):
        _take_back(sentences)
    clauses: list[Clause] = []
    begin = 0
    for match in [*_CLAUSE.finditer(text), None]:
        stop = match.start() if match else len(text)
        part = text[begin:stop].strip()
        if part:
            at = start + text.index(part, begin)
            doubted = (may_doubt and bool(_DOUBTED.search(part))) or (has_han and bool(_DOUBTED_ZH.search(part)))
            doubted = doubted or any(one.start < at + len(part) - start and one.end > at - start for one in denied)
            clauses.append(
                Clause(
                    start=at,
                    end=at + len(part),
                    text=part,
                    raw=raw[at : at + len(part)],
                    holds=not (asked or supposed or doubted),
                    sentence=number,
                )
            )
        if match:
            begin = match.end()
    told = clauses
    clauses = _less_forgotten(clauses, sentences)
    supposed = supposed or (
        clauses is not told and not any(clause.holds and len(clause.text) > 4 for clause in clauses)
    )
    sentences.append(
        Sentence(
            start=start,
            end=end,
            text=text,
            raw=raw[start:end],
            asked=asked,
            supposed=supposed,
            clauses=tuple(clauses),
            of_others=tuple((one.start, one.end) for one in under if not one.denied),
        )
    )


def _less_forgotten(clauses: list[Clause], before: list[Sentence]) -> list[Clause]:
    """The clauses of a sentence of which none holds that asks to forget something, nor what it asks to forget."""
    asks = forget_request([clause.text for clause in clauses])
    if asks is None:
        return clauses
    first = 0 if asks.points else asks.number
    last = asks.number + 1
    while last < len(clauses) and _AND_THAT.match(clauses[last].text):
        last += 1
    if asks.points and asks.asked and asks.number == 0 and before:
        told = before[-1]
        before[-1] = replace(told, clauses=tuple(replace(clause, holds=False) for clause in told.clauses))
    return [replace(clause, holds=clause.holds and not first <= at < last) for at, clause in enumerate(clauses)]


def _take_back(sentences: list[Sentence]) -> None:
    """Nothing holds of a sentence that tells what was told, where the next one says that it was a lie."""
    last = sentences[-1]
    if _TELLING.search(last.text):
        clauses = tuple(replace(clause, holds=False) for clause in last.clauses)
        sentences[-1] = replace(last, clauses=clauses)
