"""What speech acts sound like: phrases with weights, English and Chinese, and how acts group into coarse event types.

The coarse types follow ISO 24617-2 (Bunt et al., LREC 2012): information seeking and giving, directives, commissives,
feedback, discourse structuring and social obligations; what argumentation and project work need is added (claim,
evidence, rebuttal; report, problem). An *act* is what a cue speaks for; several acts may be one coarse type.
The grammar of phrases is that of :class:`~hexamem.intent.phrases.PhraseTable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .phrases import PhraseTable

__all__ = ["COARSE", "CUES", "coarse_synonyms"]

COARSE: Mapping[str, str] = {
    "ask": "Ask",
    "inform": "Inform",
    "propose": "Propose",
    "request": "Request",
    "decide": "Decide",
    "revise": "Decide",
    "plan": "Plan",
    "compare": "Compare",
    "evaluate": "Evaluate",
    "agree": "Evaluate",
    "report": "Report",
    "share": "Report",
    "problem": "Raise problem",
    "claim": "Claim",
    "evidence": "Cite evidence",
    "rebut": "Rebut",
    "correct": "Rebut",
    "summarize": "Summarize",
    "social": "Socialize",
}
"""Act → its coarse event type; 15 types."""

_CUES: Mapping[str, Mapping[float, str]] = {
    "ask": {
        2.0: (
            "could you tell me, can you tell me, do you know, i wonder, i was wondering, i'd like to know, any idea, "
            "my question is, i'm curious, question for you, let me ask, 请问, 什么推荐, 什么建议, 有推荐, 推荐一下, "
            "我想知道, 想问一下, 能告诉我"
        ),
        1.0: (
            "^ what, ^ where, ^ when, ^ who, ^ how, ^ why, ^ which, "
            "^ is/are/was/were it/there/that/this/they/the/you, ^ do/does/did you/it/they/we/he/she/the, "
            "^ have/has you/it/they/the, ^ can/could it/they/you/the, ^ any, what about, how about the, 什么, 哪里, "
            "哪儿, 几点, 多少, 怎么, 为什么, 是否, 有没有, 能不能, 吗"
        ),
    },
    "inform": {
        1.5: (
            "the answer is, that means, it means, to clarify, let me clarify, let me explain, by that i mean, "
            "by this i mean, in other words, to be clear, for your information, fyi, here are the details, "
            "here's how, 意思是, 没有问题, 没问题, 也就是说, 澄清一下, 解释一下, 说明一下"
        ),
        0.7: (
            "^ it is/was/has/takes/costs/opens/runs/serves, ^ they are/have/open/serve/offer, ^ there is/are, "
            "^ the * is/are/has/costs/opens/takes, ^ it's, ^ they're, ^ there's, ^ its, it depends, located, "
            "is called, consists of, 位于, 它是, 这里是"
        ),
    },
    "propose": {
        2.5: (
            "i suggest, i'd suggest, i would suggest, i recommend, i'd recommend, i would recommend, my suggestion, "
            "my recommendation, i propose, we propose, may i suggest, how about, what about trying, "
            "why don't we/you, why not, here are some/a/three/two/four/five, some options, a few options, "
            "two options, three options, options are, your best bet, consider trying, good options, you might like, "
            "you might enjoy, you might want, you may want, you could try, could we try, worth a look, "
            "worth considering, 建议, 推荐, 不如, 要不, 提议, 可以考虑, 您可以选择"
        ),
        1.5: (
            "we could, you could, you can choose, could work, might work, would suit, i would go, i'd go, "
            "i would take, i'd take, i'd aim, i would aim, alternatively, another option, another idea, one option, "
            "one idea, or else, ^ option #/a/b/one/two/three, ^ two/three/four/five * that/fit/options/ideas/places, "
            "two/three/four/five ideas/options/places/choices/candidates/suggestions/outings/possibilities/routes/alternatives, "
            "several options, some ideas, a few ideas, either of, a good choice, a great choice, perfect for, "
            "ideal for, ^ consider, ^ try, would be nice/good/great/lovely to, what if we, shall we, should we, "
            "maybe we should, we might, there's also, there is also, popular choice, 或者, 也可以, 比如, 要么, 试试, "
            "我们可以"
        ),
        0.7: (
            "^ we/you should, either, instead of, highly rated, well rated, near your/the hotel, "
            "within walking distance, i have read about, i've heard of, i read about, a place called, 不错的选择"
        ),
    },
    "request": {
        2.0: (
            "could you please, can you please, would you please, would you mind, can you take, could you take, "
            "please take, i need you to, i'd like you to, i want you to, your task, you are responsible, "
            "is responsible for, assigned to, i'm assigning, i assign, assign * to, ^ assign, take ownership, "
            "will own, owns this, take the lead on, you take, can you own, "
            "please prepare/send/write/review/update/check/make/create/find/look/give/show/handle/fix, 请你, 请帮, "
            "帮我, 麻烦你, 负责, 交给, 你来, 安排给"
        ),
        1.6: "^ could/can/would/will you, could/can you *",
        1.2: (
            "^ please, ^ find, ^ show, ^ give me, ^ tell me, ^ send, ^ write, ^ make sure, ^ remind, ^ look up, "
            "^ create, ^ generate, ^ translate, ^ help me, ^ fix, ^ update, ^ search, ^ list, ^ add, ^ remove, "
            "^ draft, ^ prepare, ^ review, ^ schedule, ^ explain, ^ give it, ^ give him, ^ give her, ^ tell *, "
            "^ see if, ^ chase, ^ check, ^ call, ^ ask them, ^ ask him, ^ ask her, ^ need you, i need a, i need an, "
            "i need some, looking for, 给我, 麻烦"
        ),
    },
    "decide": {
        3.0: (
            "let's go with, let's take, let's do, let's book, let's pick, let's choose, let's use, let's stick with, "
            "let's have, let's keep, we'll take, i'll take, i'll go with, we'll go with, i'd like to book, i choose, "
            "we choose, i pick, i've decided, we've decided, we decided, i decided, we agreed, it's decided, "
            "it is decided, decision is, final decision, final choice, going with, we are going with, settled on, "
            "settled then, that's settled, locked in, lock it in, lock in, pencil * in, pencil in, it is then, "
            "sold on, count us/me in, book us/it/that/the/them/me, reserve us/it/that/the/a, we have a deal, "
            "it's a deal, 就定, 就选, 决定, 定了, 选这个, 就这个, 就它, 确定下来, 订这家, 预订这, 敲定"
        ),
        2.0: (
            "^ book, ^ reserve, ^ go with, ^ go for, ^ sold, ^ arranged, ^ requested, ^ ordered, ^ prepared, "
            "^ scheduled, ^ cancelled, ^ replaced, i replaced, i've set, i have set, i noted, i've noted, then we, "
            "then i'll, then let's, obviously, of course i, all in, fine so, both are in, is noted, yes please, "
            "^ swapped, ^ updated, ^ changed to, ^ moved, i moved it, i have moved, i've moved, i have changed, "
            "i've changed, i've updated, ^ added, * is in, we'll do that, i'll do that, is fine, that's fine, "
            "persuaded, ^ done, ^ noted, ^ do it, ^ confirmed, ^ booked, ^ agreed, ^ understood, ^ settled, "
            "^ approved, ^ deal, * it is, that one please, the first one, the second one, the third one, the former, "
            "the latter, i have put, i've put, i have added, i've added, i have booked, i've booked, "
            "i have reserved, i've reserved, added to your, added to the, is booked, is reserved, is in the plan, "
            "on the plan, in the plan, is set for, is confirmed, sounds like us, that works, works for me/us, "
            "works better for, perfect then, one then, put * down, sign us up, sign me up, we will go, we'll go, "
            "approve, we will use, we'll use, we will adopt, we adopt, go ahead, let's, then we, 好的就, 没问题就, "
            "那就, 就去, 已记, 安排为, 都要, 也要, 我会把, 已改, 改好了, 已经改, 订好, 已订, 记下了, 写进计划, "
            "已预订, 已确认, 已安排, 已经订好, 同意, 批准, 可以就"
        ),
        1.3: (
            "^ drop, ^ skip, ^ leave, ^ take, ^ keep, ^ raise, ^ move, ^ put, ^ switch, ^ use, ^ order, ^ choose, "
            "^ pick"
        ),
        1.0: (
            "i'll have, we'll have, i want, we want, i'd rather, we'd rather, perfect, sounds good, sounds great, "
            "sounds perfect, sounds lovely, ^ we'll, ^ i'll, ^ ok, ^ okay, ^ great, ^ great choice, "
            "excellent choice, good choice, lovely choice, 好的, 好啊, 行吧"
        ),
        0.5: "then, please",
    },
    "revise": {
        2.5: (
            "change of plan, changed my mind, changed our mind, on second thought, switch to, switch the, swap, "
            "let's change, let's move the, move * to, cancel, cancel the, instead let's, scrap, rather than the, "
            "we need to change, reschedule, postpone, push * back, go back to the, replace * with, can we have, "
            "can we switch, can we change, could we change, could we switch, can we redo, can we move, 改成, 换成, "
            "取消, 改主意, 还是算了, 改到, 推迟"
        ),
        1.0: "instead, actually i, actually we, rather have, ^ drop the, 改, 换",
    },
    "plan": {
        3.0: (
            "let's start with day, let's switch to day, switch to day, let's set the, set the current day, "
            "current day, first/second/third/fourth/fifth/last evening/afternoon/morning/night, let's do day, "
            "let's do the first/second/third/fourth/fifth/last/final day, let's plan, "
            "back to the first/second/third/fourth/fifth/last day, about day, "
            "first/second/third/fourth/fifth/last/final day now, day once more, back to planning, let's turn to, "
            "let's move on, move on to, moving on, next topic, next item, first item, on the agenda, the agenda, "
            "today's agenda, let's talk about day, let's begin, could we begin, shall we begin, let's start, "
            "start with day, begin with day, now for day, now day, on to day, onto day, back to day, "
            "going back to day, return to day, turn to day, now for the first/second/third/fourth/fifth/last/final, "
            "go back to the first/second/third day, back to our first/second/third day, welcome to, i will argue, "
            "i'll argue, we will argue, we will show, i will show, in this debate, today's debate, resolution is, "
            "motion before us, our case rests, roadmap, i'll structure, our plan is, plan for the, planning for the, "
            "planning a, i'm planning, we're planning, we are planning, sprint planning, planning day, "
            "opening statement, the topic is, ground rules, 接下来, 下一个议题, 今天讨论, 先讨论, 计划第, 安排第, "
            "说说第, 看看最后, 看看第, 再说第, 回到第, 看第, 开始规划, 我们来规划, 先来, 议程"
        ),
        1.5: (
            "day #, day one/two/three/four/five, the first/second/third/fourth/fifth/last day, first day, "
            "second day, third day, last day, we have # days, days in, week in, weekend in, i have # days, next up, "
            "to begin, begin with, start with, start by, ^ first, kick off, kickoff, coming to, 首先, 头一天, "
            "第一天, 第二天, 第三天, 第四天, 第五天, 最后一天, 打算去, 准备去, 计划"
        ),
        0.7: "going to, plan to, planning to, next week, upcoming, schedule, timeline, 即将, 日程",
    },
    "compare": {
        3.0: (
            "compare, compared to, compared with, comparison, comparing, versus, vs, difference between, "
            "differences between, which is better/cheaper/closer/faster/quieter/nicer/best, which one is, "
            "which would be, which of, better than, cheaper than, closer than, more expensive than, faster than, "
            "quieter than, pros and cons, trade off, tradeoff, trade offs, side by side, on the other hand, wins on, "
            "the better of, how do * compare, outweigh, outweighs, weigh, head to head, 比较一下, 比一比, 对比, "
            "相比, 哪个更, 哪家更, 区别, 优缺点, 差别"
        ),
        1.5: (
            "whereas, better value, would be cheaper/closer/quieter/faster/easier/better, "
            "is cheaper/closer/quieter/faster/easier/better, more convenient, more central, less expensive, "
            "both are, both have, between the two, which one, on balance, by contrast, in contrast, the other one, "
            "advantage, disadvantage, only if you, 更便宜, 更近, 更快, 更好, 而另, 比起, 还是"
        ),
    },
    "evaluate": {
        1.5: (
            "i like, i love, i don't like, i dislike, i hate, i prefer, i'm not sure, i think it's, i think that's, "
            "in my opinion, i feel, sounds like a, looks great, looks good, impressive, amazing, awesome, wonderful, "
            "fantastic, beautiful, incredible, terrible, disappointing, too expensive, too far, too loud, too early, "
            "too late, too much, a bit pricey, overpriced, worth it, not worth, my favorite, my favourite, "
            "i enjoyed, good quality, great value, 我喜欢, 我不喜欢, 我觉得, 太贵, 太远, 不错, 很棒, 真好, 太好了, "
            "厉害, 漂亮, 我更喜欢"
        ),
        0.7: "great, nice, cool, interesting, inspiring, pretty good, love that, so proud, proud of, 很好, 有意思",
    },
    "agree": {
        2.5: (
            "i agree, i concede, i'll concede, we concede, i grant, i'll grant, fair point, good point, "
            "you're right, you are right, that's true, that is true, i acknowledge, we acknowledge, admittedly, "
            "point taken, i accept that, i accept your, to be fair, that's fair, that is fair, granted, 我同意, "
            "我承认, 你说得对, 说得对, 确实如此, 有道理"
        ),
    },
    "report": {
        2.5: (
            "is done, 's ready/done/fixed/live/finished/merged/up/green/here/complete, "
            "it's green/live/ready/done/fixed/merged, is over, is up, are here, is here, is fixed, goes through, "
            "works on, back from, is merged, merged on, numbers are, is out, are out, went well, went live, "
            "is finished, is complete, is completed, is ready, is live, are done, are complete, finished the, "
            "completed the, i finished, i completed, we finished, we completed, we shipped, i shipped, deployed, "
            "merged, pushed the, status update, quick update, update on, progress on, i've finished, i've completed, "
            "i've fixed, i fixed, fixed the, still working on, working on, in progress, on track, ahead of schedule, "
            "percent done, percent complete, % done, % complete, % of the, so far we, as of today, passed all, "
            "all tests, is passing, tests pass, up and running, wrapped up, rolled out, results are in, "
            "halfway through, handed over, delivered, 完成了, 已完成, 已经完成, 做完, 进度, 进展, 更新一下, 已上线, "
            "已部署, 已修复, 正在进行, 汇报"
        ),
        1.0: (
            "i've started, i started, we started, i have started, made progress, tested, implemented, reviewed, "
            "uploaded, submitted, wrote the, ran the, set up the, 开始了, 测试了, 提交了"
        ),
    },
    "share": {
        2.0: (
            "i went, we went, i've been, i just got, i just, i visited, we visited, i had a, we had a, i got a, "
            "i took, we took, i met, i saw, i tried, i started, i joined, i bought, i made, i learned, i attended, "
            "i signed up, i found, last weekend, last week i, last week we, yesterday i, the other day, i remember, "
            "when i was, growing up, my * and i, we used to, here's a pic, here's a photo, took this, "
            "i've been working, i've been doing, 我去了, 我们去了, 昨天我, 上周我, 我刚, 我最近, 记得, 小时候, "
            "前几天, 我买了, 我参加了, 我学了"
        ),
        0.8: (
            "my * is, i was, we were, i felt, it was so, last year, a few years ago, recently, yesterday, "
            "last night, last month, my family, my friends, my kids, 上次"
        ),
    },
    "problem": {
        2.5: (
            "blocked, i can't, we can't, they won't, it won't, won't let, won't start, won't issue, doesn't support, "
            "does not support, new problem, a snag, bad news, blocked by, blocked on, blocker, i'm stuck, "
            "we're stuck, we are stuck, stuck on, can't proceed, cannot proceed, can't continue, cannot continue, "
            "waiting on, waiting for, is failing, keeps failing, fails with, doesn't work, does not work, "
            "isn't working, is not working, is broken, is down, crashed, crashes, ran into, we have a problem, "
            "there's a problem, there is a problem, a problem with, an issue with, we have an issue, running late, "
            "behind schedule, is delayed, delayed by, missing the, don't have access, no access, need access, "
            "at risk, bottleneck, holding us up, out of budget, over budget, 卡住, 被阻塞, 阻塞, 有问题, 出问题, "
            "出了问题, 报错, 失败了, 无法继续, 等待, 延期, 延误, 没有权限, 坏了"
        ),
        1.0: (
            "problem, issue, error, unfortunately, bug, trouble, i'm worried, concerned about, my concern, "
            "concern is, sold out, fully booked, fully-booked, closed on, unavailable, not available, struggling, "
            "问题是, 遗憾, 不幸, 担心, 困难, 麻烦的是"
        ),
    },
    "claim": {
        2.5: (
            "i argue, we argue, i contend, we contend, i maintain, we maintain, i submit, we submit, our contention, "
            "my contention, our first contention, first contention, second contention, third contention, "
            "contention one, contention two, contention is, our position, my position, my argument is, "
            "our argument is, the core argument, the case for, the case against, we believe, i believe, we stand, "
            "we affirm, we negate, i affirm, we oppose, we support the, it is essential, it is imperative, 我方认为, "
            "我方观点, 我认为, 我方主张, 论点是, 我们主张"
        ),
        1.0: (
            "must, should, ought to, therefore, thus, hence, because, moral obligation, clearly, undermines, "
            "benefits, harms, justice, in principle, the reason is, this means that, consequently, leads to, "
            "results in, essential, necessary, 因此, 所以, 因为, 必须, 应该, 应当, 从而, 导致"
        ),
    },
    "evidence": {
        2.5: (
            "according to, studies show, study shows, study found, research shows, research suggests, "
            "research found, research indicates, evidence shows, data show, data shows, data from, a study, "
            "one study, studies from, study by, study in, a report, report by, report from, report found, "
            "survey found, survey of, meta analysis, peer reviewed, as documented, found that, estimates that, "
            "estimated that, statistics show, statistics from, published in, for instance, case in point, empirical, "
            "empirically, the evidence, 研究表明, 研究显示, 数据显示, 根据, 调查显示, 报告指出, 统计显示, 实验证明, "
            "据统计"
        ),
        1.2: (
            "for example, percent, %, et al, researchers, university of, bureau of, institute, statistics, data, "
            "survey, studies, research, historically, precedent, <link>, 例如, 百分之, 学者, 案例"
        ),
    },
    "rebut": {
        2.5: (
            "my opponent, my opponents, opponent's, our opponents, the opposition, the other side, opposing side, "
            "you claim, you claimed, you argue, you argued, you say that, you said that, you assert, you assume, "
            "your argument, your claim, your point, your case, your evidence, your contention, your position, "
            "your assumption, your proposal ignores, fails to, is flawed, flawed, ignores, ignore the, overlooks, "
            "misrepresents, misunderstands, mischaracterizes, conflates, is mistaken, is false, is misleading, "
            "does not follow, doesn't follow, contradicts, false dichotomy, straw man, strawman, cherry picked, "
            "cherry pick, no evidence, lacks evidence, i disagree, we disagree, i reject, we reject, refute, rebut, "
            "rebuttal, i challenge, on the contrary, that's not true, that is not true, not convinced, "
            "the affirmative claims, the negative claims, pro claims, con claims, falls apart, 对方, 对方辩友, 反驳, "
            "站不住脚, 忽视了, 不成立, 我不同意, 你方, 恰恰相反, 错误地"
        ),
        1.0: (
            "however, but, that claim, that argument, this argument, this claim, even if, even though, not the case, "
            "the fallacy, nonetheless, nevertheless, wrong, unproven, speculative, overstates, understates, "
            "assumes that, assumption, rather than, simply not, 然而, 但是, 即使, 并非, 不能说明"
        ),
    },
    "correct": {
        2.5: (
            "that's wrong, that is wrong, that's incorrect, that is incorrect, that's not what, i meant, not what i, "
            "you got * wrong, it should say, you mixed up, correction is, that is not right, wrong date, wrong name, "
            "^ no it's, ^ no i, typo, let me correct, sorry i meant, 不对, 说错, 更正, 纠正, 我说的是, 弄错, 应该是"
        ),
    },
    "summarize": {
        3.0: (
            "in conclusion, to conclude, in closing, closing statement, to sum up, to summarize, to summarise, "
            "in summary, summing up, in sum, to recap, recap, quick recap, here's a summary, here is a summary, "
            "here's the full, here is the full, here's your full, final plan, final itinerary, full plan, "
            "full itinerary, overview of, all in all, the bottom line, key takeaway, key takeaways, "
            "at the end of the day, voting issue, i urge you to vote, minutes of the, summary of, 总结, 综上所述, "
            "总而言之, 总的来说, 概括, 回顾一下, 归纳"
        ),
        1.0: "overall, ultimately, in short, finally, in the end, taken together, so far, altogether, 最后, 最终, 总之",
    },
    "social": {
        2.0: (
            "thank you, thanks, many thanks, good morning, good afternoon, good evening, good night, how are you, "
            "how's it going, how have you been, nice to meet, nice to see, good to see, great to hear, great to see, "
            "good to hear, congratulations, congrats, happy birthday, bye, goodbye, see you, take care, talk soon, "
            "have a great, have a nice, have a good, i'm sorry to hear, sorry to hear, you're welcome, no problem, "
            "enjoy your, have fun, safe travels, good luck, best of luck, glad to hear, so happy for you, cheers, "
            "keep it up, you got this, means a lot, sounds amazing, sounds awesome, sounds fun, 谢谢, 感谢, 你好, "
            "早上好, 晚上好, 再见, 拜拜, 恭喜, 生日快乐, 加油, 不客气, 好久不见, 保重, 祝你, 辛苦了, 抱歉"
        ),
        1.0: (
            "hi, hello, hey, wow, haha, lol, aw, aww, sorry, welcome, that's great, that's awesome, that's amazing, "
            "that's wonderful, that's so, i'm glad, i'm so happy, 哈哈, 哇, 嗨"
        ),
    },
}

_SYNONYMS = {
    "Ask": "question inquire inquiry enquire query clarify clarification",
    "Inform": "answer explain state describe observe observation provide respond",
    "Propose": "suggest suggestion proposal recommend recommendation offer",
    "Request": "assign assignment instruct command order delegate",
    "Decide": "decision choose choice select selection confirm confirmation accept commit book approve revise change cancel",
    "Plan": "agenda schedule organize structure opening",
    "Compare": "comparison contrast weigh",
    "Evaluate": "evaluation assess assessment opinion preference rate agree concede",
    "Report": "update progress share narrate experience",
    "Raise problem": "block blocker problem issue complain complaint",
    "Claim": "argue argument assert contention",
    "Cite evidence": "evidence cite citation support",
    "Rebut": "rebuttal refute counter challenge dispute object correct correction disagree",
    "Summarize": "summary recap conclude conclusion closing",
    "Socialize": "greet greeting thank thanks apologize congratulate chitchat smalltalk",
}


def _entries() -> list[tuple[str, tuple[str, float]]]:
    return [
        (phrase.strip(), (act, weight))
        for act, groups in _CUES.items()
        for weight, phrases in groups.items()
        for phrase in phrases.split(", ")
    ]


def coarse_synonyms() -> dict[str, str]:
    """Folded words → the coarse type they mean, for names that a model proposes ("suggest" → "Propose")."""
    return {word: name for name, words in _SYNONYMS.items() for word in words.split()}


def _grouped(entries: Iterable[tuple[str, tuple[str, float]]]) -> list[tuple[str, tuple[tuple[str, float], ...]]]:
    """One entry a phrase: a phrase may speak for several acts."""
    groups: dict[str, dict[str, float]] = {}
    for phrase, (act, weight) in entries:
        acts = groups.setdefault(phrase, {})
        acts[act] = max(weight, acts.get(act, 0.0))
    return [(phrase, tuple(acts.items())) for phrase, acts in groups.items()]


CUES: PhraseTable[tuple[tuple[str, float], ...]] = PhraseTable(_grouped(_entries()))
"""Phrases → the acts they speak for, with weights."""
