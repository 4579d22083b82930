"""What is asked of the assistant, wished or ordered, and so tells no event: "I need a recipe for Sunday", "read me …"."""

from __future__ import annotations

from .... import lazy_re as re

__all__ = ["asks_of_assistant"]

_LEAD = r"^\W*(?:(?:and|but|so|also|ok|okay|hi|hey|hello|well|oh|right|now|then|first|next|anyway|yes|yeah|no|sorry|thanks|just)[\s,]+)*"
_PRODUCT = (
    r"(?:ideas?|suggestions?|recommendations?|tips?|advice|inspiration|help|recipes?|menus?|lists?|checklists?|plans?|outlines?"
    r"|summar(?:y|ies)|overviews?|drafts?|texts?|slogans?|captions?|poems?|verses?|toasts?|speech(?:es)?|letters?|emails?|e-mails?|mails?|messages?"
    r"|cards?|quotes?|jokes?|riddles?|quiz(?:zes)?|questions?|answers?|examples?|templates?|titles?|names?|translations?|explanations?"
    r"|information|info|details|facts|figures|numbers|routes?|directions|itinerar(?:y|ies)|schedules?|timetables?|playlists?|songs?|stor(?:y|ies)"
    r"|posts?|tweets?|invitations?|announcements?|descriptions?|instructions|steps|ways?|options|alternatives|reminder text|second opinion"
    r"|word|words|sentences?|paragraphs?|script|code|formula|calculation|comparison|estimate|forecast)"
)
_ASKS = re.compile(
    _LEAD + r"(?:please\s)?(?:"
    r"(?:I|we)(?:'d|\swould|\scould|'ll)?\s(?:really\s|just\s|also\s|urgently\s|still\s)*"
    r"(?:need|want|like|love|use|do with|appreciate|be glad of|be looking for|am looking for|'m looking for)\s"
    rf"(?:(?!to\b|you\b|for\b|from\b|with\b)[\w'-]+\s){{0,4}}?{_PRODUCT}\b"
    rf"|(?:I'm|I\sam|we're|we\sare)\slooking\sfor\s(?:(?!to\b|you\b)[\w'-]+\s){{0,4}}?{_PRODUCT}\b"
    r"|(?:I|we)(?:'d|\swould)\s(?:really\s|so\s)*(?:like|love|prefer|appreciate|be (?:happy|glad|delighted|grateful))\b"
    r"|(?:I|we)\s(?:wish|want you|need you|would want)\b"
    r"|(?:can|could|would|will)\syou\b"
    rf"|any\s(?:{_PRODUCT}|chance)\b"
    r"|(?:help|read|show|tell|give|find|fetch|send|write|draft|suggest|recommend|explain|summari[sz]e|translate|list|check|look up"
    r"|search|google"
    r"|pull up|play|open|print|count|calculate|compare|describe|name|propose|plan|think of|come up with|remember to)\s"
    r"(?:(?:to|for)\s)?(?:me|us|my|our|the|a|an|some|all|what|which|how|whether|when|who|where|it|this|that|these|those|any|two|three|four|five|ten|\d+)\b"
    r")",
    re.IGNORECASE,
)
_PLEASE = re.compile(_LEAD + r"(?:please\s(?!note\b|remember\b|be aware\b)[a-z]+\b(?!,))|,?\splease\W*$", re.IGNORECASE)
_IMPERATIVE = re.compile(
    _LEAD + r"(?!(?:I|we|he|she|they|it|my|our|the|his|her|their|there|a|an|this|that|[A-Z]\w+)\b)[a-z]+\b",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    r"\b(?:remind|reminder|alarm|calendar|diary|schedule (?:a|an|the|it|my|our|in)|book (?:me|us|a|an|the|my|our|it|in)|reserve"
    r"|remember that|note that"
    r"|note down|save|keep|record|put .{1,40} (?:in|on) (?:my|the|our)|cancel|move|postpone|reschedule|order (?:me|us|a|an|the|some|my|our)"
    r"|saying|to say|telling)\b",
    re.IGNORECASE,
)
_ASKS_ZH = re.compile(
    r"^(?:那|好的?|嗯|哦|对了|另外|还有|然后|先|再|，|\s)*(?:"
    r"(?:请|麻烦|拜托)?你?(?:先|再|也)?(?:帮我|给我|替我|为我|帮忙)(?:先|再|也)?"
    r"(?:想|写|读|念|找|查|看|推荐|列|翻译|总结|概括|解释|算|画|起|出|设计|介绍|讲|说|做一?[个份张篇]|来一?[个份张篇点些]|一?[个份张篇点些])"
    r"|我(?:想|需|还)?要(?:一些|几个|一个|几条|一份|一点|点|些|个|份)?[^，。]{0,14}(?:点子|主意|建议|食谱|菜谱|灵感|方案|推荐|文案|帮助|清单|计划|信息|资料)"
    r"|(?:请|麻烦你?|拜托)(?!注意|记|提醒|帮我[记订定约买提]|假|客|了|到|来|吃|他|她)[\u4e00-\u9fff]"
    r"|有没有[^，。]{0,14}(?:点子|主意|建议|食谱|菜谱|灵感|推荐))"
)
_KEEPS_ZH = re.compile(r"提醒|记[一住下着得好]|存[一下好着]|日历|日程|预?[订定约](?!制)|安排|取消|改到|推迟|买|通知")


def asks_of_assistant(text: str) -> bool:
    """Whether a clause asks the assistant for something, wishes or orders it: a day in it is no event's.

    What asks for a reminder, a booking or an entry in a calendar, or to keep what is told, is not meant.
    """
    if _KEEPS.search(text) or _KEEPS_ZH.search(text):
        return False
    if _ASKS.match(text) or _ASKS_ZH.match(text):
        return True
    return bool(_PLEASE.search(text)) and bool(_IMPERATIVE.match(text))
