"""What asks, and what does not: thanks and greetings are no questions, and a question asked before is no answer.

What a person asked is stored like anything else they said. It holds the words of the next question about the same, and so
stands near it; but it tells nothing of what is asked.
"""

from __future__ import annotations

from ... import lazy_re as re
from ...intent.page_sentences import size_of, weigh
from .question import CODE, Question, Stems, content_words, holds, stems

__all__ = ["asks", "is_courtesy", "only_asks"]

_MARK = re.compile(r"[?？]")
_LEAD = r"^\W*(?:(?:and|so|but|then|ok(?:ay)?|hey|hi|well|please|sorry|actually|also|by the way|btw)\b[\s,]*){0,3}"
_QUESTION_WORDS = re.compile(
    _LEAD + r"(?:(?:what|which|who|whom|whose|where|why|how)(?:['’](?:s|re|d|ll))?\b"
    r"(?!\s+(?:an?|i|we|my|our|nice|lovely|great|cool|sad|awful|funny|good|kind|reminds?|if|ever)\b)"
    r"|(?:when|since when|how long)(?:['’]s|\s+(?:is|are|am|was|were|do|does|did|will|can|could|should|would|has|have|had))\b"
    r"|(?:what|which)\s+(?:is|are|was|were)\b"
    r"|(?:is|are|was|were|am|do|does|did|can|could|will|would|should|have|has|had)\s+"
    r"(?:i|you|we|he|she|it|they|my|our|your|his|her|their|the|there|this|that|these|those|any|anybody|anyone)\b"
    r"|(?:wer|wem|wen|wann|wo|wohin|woher|warum|wieso|wie|welche[rnsm]?|wessen)\b"
    r"|(?:qué|quién(?:es)?|cuándo|dónde|cuál(?:es)?|cómo|cuánt[oa]s?|qui|quand|où|pourquoi|combien|quels?|quelles?)\b)",
    re.IGNORECASE,
)
_REQUESTS = re.compile(
    _LEAD + r"(?:(?:can|could|would) you\s+)?(?:(?:tell|show|give)\s+(?:me|us)\b(?!\s+(?:a break|time))"
    r"|remind\s+(?:me|us)\s+(?:what|when|where|who|whose|which|why|how|of|about)\b"
    r"|(?:list|show|find|look up|search(?:\s+for)?|recall|summari[sz]e)\s+(?:all|every|everything|my|our|the|what|who)\b"
    r"|i\s+(?:wonder|forgot|forget|don['’]t (?:know|remember)|can['’]t remember)\s+"
    r"(?:what|when|where|who|whose|which|why|how|if|whether)\b)",
    re.IGNORECASE,
)
_ASKING_HAN = re.compile(
    r"什么|啥|哪[里儿个些位天年家座所]|谁|怎么|为何|多少|几[个点号岁月时次天年]|吗\W*$|呢\W*$|是不是|有没有|是否|能不能|可不可以"
    r"|告诉我|提醒我一下|列出|查一下|找一下"
)
_NOT_ASKING_HAN = re.compile(r"没什么|没啥|什么都|什么也|谁都|谁也|怎么都|哪里哪里|哪里都|多少有[点些]")
_COURTESY = re.compile(  # no text can be read in two ways, or a long one would take for ever
    r"[\W_]*+(?:(?:(?:ok(?:ay|ey)?|k++|okie|(?:many )?thanks(?: (?:a lot|so much|very much|again|for (?:that|this|everything)))?"
    r"|thank (?:you|u)(?: (?:so|very) much| again)?|thx|ty|cheers|cool|great|nice(?: one)?|perfect|good|fine|super"
    r"|alright|all right|right|sure(?: thing)?|yes|yep|yeah|yup|no|nope|got it|i see|understood|noted|exactly"
    r"|indeed|true|wow|oh|ah|aha|hm++|lol|ha(?:ha)++|sounds (?:good|great)|well done|good (?:job|to know|day)"
    r"|good (?:morning|evening|afternoon|night)|(?:hi|hello|hey)(?: there)?|bye|goodbye|take care"
    r"|see you(?: later| soon| tomorrow)?|you['’]re welcome|no (?:problem|worries)|never ?mind|awesome|amazing|excellent"
    r"|wonderful|brilliant|lovely|sweet|please|sorry|really|what|why|huh|danke(?: schön| sehr)?|vielen dank|gut|alles klar"
    r"|ja|nein|hallo|tschüss|(?:muchas )?gracias|vale|sí|hola|adiós|merci(?: beaucoup)?|d['’]accord|oui|non|bonjour|salut)\b"
    r"|好[的吧啊呀了嘞]?|嗯++|哦++|噢|行|可以|没问题|没事|对的?|是的?|不是|谢谢(?:你|您|啦|了)?|多谢|感谢|知道了|明白了?|收到"
    r"|了解了?|太好了|太棒了|不错|哈哈++|呵呵|你好|您好|早(?:上好|安)?|晚安|晚上好|下午好|再见|拜拜|不用谢|不客气|辛苦了)[\W_]*+)*",
    re.IGNORECASE,
)
_SAME_WANT = {
    "time": re.compile(r"^\W*(?:and |so )?(?:when\b|what (?:date|day|year|month|time)\b|since when|how long)", re.I),
    "person": re.compile(r"^\W*(?:and |so )?(?:with )?who(?:m|se)?\b", re.I),
    "place": re.compile(r"^\W*(?:and |so )?(?:from |to |in )?where\b", re.I),
    "reason": re.compile(r"^\W*(?:and |so )?why\b", re.I),
    "number": re.compile(r"^\W*(?:and |so )?how (?:many|much|old|far|tall|often)\b", re.I),
}


def asks(text: str) -> bool:
    """Whether a message asks for something: a question with or without its mark, or "tell me …", "remind me when …"."""
    if _MARK.search(text):
        return True
    if _ASKING_HAN.search(_NOT_ASKING_HAN.sub(" ", text)):
        return True
    return any(_QUESTION_WORDS.search(one) or _REQUESTS.search(one) for one in re.split(r"(?<=[.!])\s+|\n", text))


def is_courtesy(text: str) -> bool:
    """Whether a message is nothing but thanks, assent or a greeting ("Ok, thanks!", "好的"), or has no words at all."""
    return _COURTESY.fullmatch(text) is not None


def only_asks(question: Question, sentence: str, read: Stems = stems) -> bool:
    """Whether a sentence asks what the question asks, or less, and so tells nothing of it.

    It does where all the words that carry it stand in the question, or where it asks for the same kind of thing (when,
    where, who …) with a few words more, but no day, number or code. Other questions stay evidence: "What can I cook for
    Mia, who is allergic to nuts?" says something.

    Args:
        read: gives the stems of a text, as :func:`~.question.stems`.
    """
    if not asks(sentence):
        return False
    asked = read(question.text)
    words = content_words(sentence)
    if all(read(word) <= asked or holds(question, asked, word, read) for word in words):
        return True
    same = _SAME_WANT.get(question.wants)
    if same is None or not (_MARK.search(sentence) and same.search(sentence)) or len(words) > len(question.words) + 2:
        return False
    return not (
        weigh(sentence, size_of(sentence)).has_day or any(read(code) - asked for code in CODE.findall(sentence))
    )
