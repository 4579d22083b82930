"""What acts that state something sound like (opinions, reports, arguments, kind words): act → weight → phrases."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["STATEMENT"]

STATEMENT: Mapping[str, Mapping[float, str]] = {
    "evaluate": {
        1.5: (
            "i like, i love, i don't like, i dislike, i hate, i prefer, i'm not sure, i think it's, "
            "i think that's, in my opinion, i feel, sounds like a, looks great, looks good, impressive, amazing, "
            "awesome, wonderful, fantastic, beautiful, incredible, terrible, disappointing, too expensive, "
            "too far, too loud, too early, too late, too much, a bit pricey, overpriced, worth it, not worth, "
            "my favorite, my favourite, i enjoyed, good quality, great value, 我喜欢, 我不喜欢, 我觉得, 太贵, "
            "太远, 不错, 很棒, 真好, 太好了, 厉害, 漂亮, 我更喜欢"
        ),
        0.7: ("great, nice, cool, interesting, inspiring, pretty good, love that, so proud, proud of, 很好, 有意思"),
    },
    "agree": {
        2.5: (
            "you have a point, have a point, ^ true, quite true, true enough, ^ conceded, i admit, we admit, "
            "fair enough, quite so, on that we agree, we agree, we give you, we yield, i yield, undeniable, "
            "no quarrel, we accept, i accept, no dispute, we don't dispute, we do not dispute, i won't deny, "
            "we cannot deny, seconded, i agree, i concede, i'll concede, we concede, i grant, i'll grant, "
            "fair point, good point, you're right, you are right, that's true, that is true, i acknowledge, "
            "we acknowledge, admittedly, point taken, i accept that, i accept your, to be fair, that's fair, "
            "that is fair, granted, 我同意, 我承认, 你说得对, 说得对, 确实如此, 有道理"
        ),
    },
    "report": {
        2.5: (
            "is done, 's ready/done/fixed/live/finished/merged/up/green/here/complete, "
            "it's green/live/ready/done/fixed/merged, is over, is up, are here, is here, is fixed, goes through, "
            "works on, back from, is merged, merged on, numbers are, is out, are out, went well, went live, "
            "is finished, is complete, is completed, is ready, is live, are done, are complete, finished the, "
            "completed the, i finished, i completed, we finished, we completed, we shipped, i shipped, deployed, "
            "merged, pushed the, status update, quick update, update on, progress on, i've finished, "
            "i've completed, i've fixed, i fixed, fixed the, still working on, working on, in progress, on track, "
            "ahead of schedule, percent done, percent complete, % done, % complete, % of the, so far we, "
            "as of today, passed all, all tests, is passing, tests pass, up and running, wrapped up, rolled out, "
            "results are in, halfway through, handed over, delivered, 完成了, 已完成, 已经完成, 做完, 进度, 进展, "
            "更新一下, 已上线, 已部署, 已修复, 正在进行, 汇报"
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
            "i signed up, i found, last weekend, last week i, last week we, yesterday i, the other day, "
            "i remember, when i was, growing up, my * and i, we used to, here's a pic, here's a photo, took this, "
            "i've been working, i've been doing, 我去了, 我们去了, 昨天我, 上周我, 我刚, 我最近, 记得, 小时候, "
            "前几天, 我买了, 我参加了, 我学了"
        ),
        0.8: (
            "my * is, i was, we were, i felt, it was so, last year, a few years ago, recently, yesterday, "
            "last night, last month, my family, my friends, my kids, 上次"
        ),
    },
    "problem": {
        3.0: (
            "stops us, stops me, holds us up, holding us, nothing goes forward, can't go on, cannot go on, "
            "on hold, impediment, stalled, depends on, we depend on, depending on, ^ waiting, waiting for, "
            "still missing, held up, users complain, customers complain, complain of, complaints about, "
            "reproducible, reproduced, i can reproduce, a bug, bug in, bug report, found a bug, a crash, crash on, "
            "crashes on, memory leak, a leak, broken, duplicate, regression, tester reported, was reported, "
            "error in, exception, timeout, times out, outage, has to be solved, being solved, 缺陷, 崩溃, 泄漏, "
            "无法, 受阻, 卡在, 投诉, 复现, 挂了, 超时, 报了错"
        ),
        2.5: (
            "blocked, i can't, we can't, they won't, it won't, won't let, won't start, won't issue, "
            "doesn't support, does not support, new problem, a snag, bad news, blocked by, blocked on, blocker, "
            "i'm stuck, we're stuck, we are stuck, stuck on, can't proceed, cannot proceed, can't continue, "
            "cannot continue, waiting on, is failing, keeps failing, fails with, doesn't work, does not work, "
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
            "i argue, we argue, i contend, we contend, i maintain, we maintain, i submit, we submit, "
            "our contention, my contention, our first contention, first contention, second contention, "
            "third contention, contention one, contention two, contention is, our position, my position, "
            "my argument is, our argument is, the core argument, the case for, the case against, we believe, "
            "i believe, we stand, we affirm, we negate, i affirm, we oppose, we support the, it is essential, "
            "it is imperative, 我方认为, 我方观点, 我认为, 我方主张, 论点是, 我们主张"
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
            "estimated that, statistics show, statistics from, published in, for instance, case in point, "
            "empirical, empirically, the evidence, 研究表明, 研究显示, 数据显示, 根据, 调查显示, 报告指出, "
            "统计显示, 实验证明, 据统计"
        ),
        1.2: (
            "for example, percent, %, et al, researchers, university of, bureau of, institute, statistics, data, "
            "survey, studies, research, historically, precedent, <link>, 例如, 百分之, 学者, 案例"
        ),
    },
    "rebut": {
        2.5: (
            "no thanks, not so fast, we remain, says who, you'll have to, refused, denied, nonsense, hardly, "
            "not at all, we oppose, we object, i object, i doubt, we doubt, unconvinced, that fails, it fails, "
            "would fail, you ignore, you forget, worthless, disagrees, one reading, too simple, straw, "
            "my opponent, my opponents, opponent's, our opponents, the opposition, the other side, opposing side, "
            "you claim, you claimed, you argue, you argued, you say that, you said that, you assert, you assume, "
            "your argument, your claim, your point, your case, your evidence, your contention, your position, "
            "your assumption, your proposal ignores, fails to, is flawed, flawed, ignores, ignore the, overlooks, "
            "misrepresents, misunderstands, mischaracterizes, conflates, is mistaken, is false, is misleading, "
            "does not follow, doesn't follow, contradicts, false dichotomy, straw man, strawman, cherry picked, "
            "cherry pick, no evidence, lacks evidence, i disagree, we disagree, i reject, we reject, refute, "
            "rebut, rebuttal, i challenge, on the contrary, that's not true, that is not true, not convinced, "
            "the affirmative claims, the negative claims, pro claims, con claims, falls apart, 对方, 对方辩友, "
            "反驳, 站不住脚, 忽视了, 不成立, 我不同意, 你方, 恰恰相反, 错误地"
        ),
        1.0: (
            "however, but, that claim, that argument, this argument, this claim, even if, even though, "
            "not the case, the fallacy, nonetheless, nevertheless, wrong, unproven, speculative, overstates, "
            "understates, assumes that, assumption, rather than, simply not, 然而, 但是, 即使, 并非, 不能说明"
        ),
    },
    "correct": {
        2.5: (
            "that's wrong, that is wrong, that's incorrect, that is incorrect, that's not what, i meant, "
            "not what i, you got * wrong, it should say, you mixed up, correction is, that is not right, "
            "wrong date, wrong name, ^ no it's, ^ no i, typo, let me correct, sorry i meant, 不对, 说错, 更正, "
            "纠正, 我说的是, 弄错, 应该是"
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
        1.0: (
            "overall, ultimately, in short, finally, in the end, taken together, so far, altogether, 最后, 最终, 总之"
        ),
    },
    "social": {
        2.5: (
            "brb, be right back, someone at the door, the weather, raining outside, need a coffee, some coffee, "
            "more coffee, lunch time, my weekend, your weekend, the weekend was, nice weekend, good weekend, "
            "the cat, the kids are, what a day, long day, my camera, i was muted, you're muted, can you hear me, "
            "hear me, your microphone, window open, open a window, you are kind, can hardly wait, can't wait, "
            "hope you, take a breath, sleep well, bless you, no worries, any time, my pleasure, you too, "
            "same to you, welcome back, much obliged, are you there, get some rest, 天气, 咖啡, 门铃, 稍等, "
            "等不及, 周末, 在吗, 欢迎回来, 随时, 好好休息"
        ),
        2.0: (
            "thank you, thanks, many thanks, good morning, good afternoon, good evening, good night, how are you, "
            "how's it going, how have you been, nice to meet, nice to see, good to see, great to hear, "
            "great to see, good to hear, congratulations, congrats, happy birthday, bye, goodbye, see you, "
            "take care, talk soon, have a great, have a nice, have a good, i'm sorry to hear, sorry to hear, "
            "you're welcome, no problem, enjoy your, have fun, safe travels, good luck, best of luck, "
            "glad to hear, so happy for you, cheers, keep it up, you got this, means a lot, sounds amazing, "
            "sounds awesome, sounds fun, 谢谢, 感谢, 你好, 早上好, 晚上好, 再见, 拜拜, 恭喜, 生日快乐, 加油, "
            "不客气, 好久不见, 保重, 祝你, 辛苦了, 抱歉"
        ),
        1.0: (
            "hi, hello, hey, wow, haha, lol, aw, aww, sorry, welcome, that's great, that's awesome, "
            "that's amazing, that's wonderful, that's so, i'm glad, i'm so happy, 哈哈, 哇, 嗨"
        ),
    },
}
"""Acts that stand by themselves."""
