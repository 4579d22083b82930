"""What a question about the past says of the act it asks about: "What did she suggest", "Which hotels did we compare"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..phrases.tokens import PhraseTable

__all__ = ["QUERY_CUES"]

_QUERY_CUES: Mapping[str, str] = {
    "ask": (
        "did * ask, * asked about, asked about, have * asked, was asked, inquire about, inquired, was the question, "
        "were the questions, questions did, questions were, questions have, enquired, 问过, 询问过, 提问, 问了"
    ),
    "propose": (
        "did * suggest/propose/recommend/offer, suggested, proposed, recommended, were the options, options did, "
        "were offered, suggestions did, suggestions were, recommendations, have * suggested/recommended/proposed, "
        "your suggestion, your suggestions, 建议了, 推荐了, 提议, 推荐过, 建议过"
    ),
    "request": (
        "did * assign/request/order, assigned to, was assigned, were assigned, is responsible for, "
        "was responsible for, asked * to, requested, who owns, 分配, 负责, 要求了"
    ),
    "decide": (
        "did * decide/choose/pick/book/reserve/select/settle/agree/confirm, decided, chosen, chose, picked, "
        "settled on, selected, booked, final choice, final decision, decision, decisions, finally choose, end up, "
        "ended up, agreed on, agreed to, reserved, confirmed, have * booked/chosen/decided/picked, 决定, 选了, "
        "选择了, 订了, 最终选, 定下, 确定了, 选定, 预订了, 敲定"
    ),
    "revise": (
        "did * change/cancel/switch/swap/revise/replace/postpone/reschedule, changed, cancelled, canceled, switched, "
        "swapped, revised, replaced, postponed, rescheduled, changed * mind, 改成, 换成, 取消了, 改了, 变更, 修改"
    ),
    "plan": (
        "did * plan/schedule, was planned, were planned, agenda, is the plan, was the plan, planned for, itinerary, "
        "scheduled, 计划了, 安排了, 行程是, 议程"
    ),
    "compare": (
        "compare, compared, comparison, comparing, comparisons, difference between, differences between, versus, vs, "
        "pros and cons, trade offs, tradeoffs, weighed, 比较, 对比, 区别, 相比"
    ),
    "evaluate": (
        "did * think of/about, did * like/prefer/enjoy/dislike, does * like/prefer/enjoy/think, opinion, opinions, "
        "liked, disliked, preferred, preferences, feel about, felt about, favorite, favourite, 喜欢, 觉得, 评价, "
        "看法, 偏好"
    ),
    "agree": "did * concede/admit/acknowledge/grant, conceded, concession, concessions, admitted, acknowledged, 承认, 让步",
    "report": (
        "did * report/finish/complete/deliver/ship, reported, status of, progress on, progress of, progress did, "
        "finished, completed, delivered, shipped, deployed, 进度, 完成了, 进展, 汇报"
    ),
    "share": "did * go/visit/attend/meet/buy/make/learn/start/join, has * been, experience with, 去了, 参加了, 做了",
    "problem": (
        "blocked, blocker, blockers, problem, problems, issue, issues, went wrong, stuck, prevented, delayed, "
        "obstacle, obstacles, concerns did, worried about, 问题, 阻塞, 困难, 卡住, 延期"
    ),
    "claim": (
        "did * argue/claim/contend/assert, argued, claimed, contention, contentions, argument for, arguments for, "
        "argument against, arguments against, main argument, main arguments, position on, thesis, 主张, 论点, 观点, "
        "认为"
    ),
    "evidence": (
        "evidence, cited, cite, cites, studies were, statistics, source did, sources did, data did, data was, "
        "support * claim, supported by, example was, examples were, examples did, 证据, 引用, 数据支持, 依据, 例证"
    ),
    "rebut": (
        "did * rebut/refute/counter/challenge/respond/object/dispute/criticize/attack, rebutted, rebuttal, "
        "rebuttals, refuted, countered, challenged, objection, objections, counterargument, counterarguments, "
        "criticized, criticism, disputed, disagree, disagreed, responded to, response to, 反驳, 质疑, 反对, 驳斥, "
        "回应"
    ),
    "correct": "did * correct, corrected, mistake, mistakes, 更正, 纠正",
    "summarize": "summary, summarize, summarise, recap, conclude, concluded, conclusion, closing statement, 总结, 结论, 回顾",
    "social": "congratulate, congratulated, thank, thanked, apologize, apologized, greet, 感谢, 道歉, 祝贺",
}


def _entries() -> Iterator[tuple[str, str]]:
    for act, phrases in _QUERY_CUES.items():
        for phrase in phrases.split(", "):
            yield phrase, act
            if phrase.startswith("did * "):  # "did the other side …", "did our two guides …"
                rest = phrase.removeprefix("did * ")
                yield f"did * * {rest}", act
                yield f"did * * * {rest}", act


QUERY_CUES: PhraseTable[str] = PhraseTable(_entries())
"""Phrases of a question about the past → the act it asks about."""
