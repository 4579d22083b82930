"""What the acts of an exchange sound like (asking, proposing, settling, framing): act → weight → phrases."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXCHANGE"]

EXCHANGE: Mapping[str, Mapping[float, str]] = {
    "ask": {
        2.2: (
            "^ tell me, ^ tell us, do tell me, tell me about, ^ find me/us, can/could you find, looking for, "
            "we need transport/lodging/somewhere, some names for, ask for suggestions/ideas/options/names, "
            "^ suggest/recommend/name, kindly suggest/name/recommend/propose, "
            "we/i need a/an/some place/room/hotel/table/restaurant, 想了解, 说说, 告知, 请介绍, 请推荐, 请告诉"
        ),
        2.0: (
            "could you tell me, can you tell me, do you know, i wonder, i was wondering, i'd like to know, "
            "any idea, my question is, i'm curious, question for you, let me ask, 请问, 什么推荐, 什么建议, "
            "有推荐, 推荐一下, 我想知道, 想问一下, 能告诉我"
        ),
        1.0: (
            "^ what, ^ where, ^ when, ^ who, ^ how, ^ why, ^ which, "
            "^ is/are/was/were it/there/that/this/they/the/you, ^ do/does/did you/it/they/we/he/she/the, "
            "^ have/has you/it/they/the, ^ can/could it/they/you/the, ^ any, what about, how about the, 什么, "
            "哪里, 哪儿, 几点, 多少, 怎么, 为什么, 是否, 有没有, 能不能, 吗"
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
            "i suggest, i'd suggest, i would suggest, i recommend, i'd recommend, i would recommend, "
            "my suggestion, my recommendation, i propose, we propose, may i suggest, how about, what about trying, "
            "why don't we/you, why not, here are some/a/three/two/four/five, some options, a few options, "
            "two options, three options, options are, your best bet, consider trying, good options, "
            "you might like, you might enjoy, you might want, you may want, you could try, could we try, "
            "worth a look, worth considering, 建议, 推荐, 不如, 要不, 提议, 可以考虑, 您可以选择"
        ),
        1.5: (
            "we could, you could, you can choose, could work, might work, would suit, i would go, i'd go, "
            "i would take, i'd take, i'd aim, i would aim, alternatively, another option, another idea, "
            "one option, one idea, or else, ^ option #/a/b/one/two/three, "
            "^ two/three/four/five * that/fit/options/ideas/places, "
            "two/three/four/five ideas/options/places/choices/candidates/suggestions/outings/possibilities/routes/alternatives, "
            "several options, some ideas, a few ideas, either of, a good choice, a great choice, perfect for, "
            "ideal for, ^ consider, ^ try, would be nice/good/great/lovely to, what if we, shall we, should we, "
            "maybe we should, we might, there's also, there is also, popular choice, 或者, 也可以, 比如, 要么, "
            "试试, 我们可以"
        ),
        0.7: (
            "^ we/you should, either, instead of, highly rated, well rated, near your/the hotel, "
            "within walking distance, i have read about, i've heard of, i read about, a place called, 不错的选择"
        ),
    },
    "request": {
        2.6: (
            "in charge, is in charge, responsible, the owner, as owner, is owner, new owner, ownership, "
            "drives this, leads this, takes this, takes over, takes care of, takes it, hand over to, "
            "hands over to, in the hands of, on it with, put * on it/this/that, have * for that/this/it, "
            "we have * for that, is on it, is on this, will handle, will take, don't forget, do not forget, "
            "not to forget, remind me/us, ^ remember to, must not forget, shouldn't forget, left behind, "
            "^ pack/bring, to be packed, to pack, need to pack/bring/buy/collect, pick up, ^ collect, ^ buy, "
            "write down, note down, put on the list, on the list, to the list, to our list, to the packing, "
            "packing list, an errand, one errand, one chore, find a moment, i will need, we will need, we'll need, "
            "i'll need, we shall need, 别忘, 不要忘, 记得带, 不能忘, 别落, 不能落, 带上, 拿上, 携带, 需要带, "
            "提醒我, 写上, 负责人, 给我点时间, 取一下"
        ),
        2.0: (
            "could you please, can you please, would you please, would you mind, can you take, could you take, "
            "please take, i need you to, i'd like you to, i want you to, your task, you are responsible, "
            "is responsible for, assigned to, i'm assigning, i assign, assign * to, ^ assign, take ownership, "
            "will own, owns this, take the lead on, you take, can you own, "
            "please prepare/send/write/review/update/check/make/create/find/look/give/show/handle/fix, 请你, 请帮, "
            "帮我, 麻烦你, 负责, 交给, 你来, 安排给"
        ),
        1.6: ("^ could/can/would/will you, could/can you *"),
        1.2: (
            "^ please, ^ find, ^ show, ^ give me, ^ send, ^ write, ^ make sure, ^ remind, ^ look up, ^ create, "
            "^ generate, ^ translate, ^ fix, ^ update, ^ search, ^ list, ^ add, ^ remove, ^ draft, ^ prepare, "
            "^ review, ^ schedule, ^ explain, ^ give it, ^ give him, ^ give her, ^ tell *, ^ see if, ^ chase, "
            "^ check, ^ call, ^ ask them, ^ ask him, ^ ask her, ^ need you, i need a, i need an, i need some, "
            "给我, 麻烦"
        ),
    },
    "decide": {
        3.3: (
            "^ decision, my vote, the final one, be it, so be it, it shall be, everybody agrees, everyone agrees, "
            "all agree, i'm approving, we approve, i approve, we pick, i opt for, we opt for, we bind, i bind, "
            "our choice, my choice, we commit, i commit, on the record, should adopt, let it be, i'd like the, "
            "we'd like the, we choose, i'll have the, that's decided, take your suggestion, your suggestion, "
            "your favourite, then please reserve/book, 拍板, 大家同意, 我们用, 我要第, 选第, 请预订"
        ),
        3.0: (
            "let's go with, let's take, let's do, let's book, let's pick, let's choose, let's use, "
            "let's stick with, let's have, let's keep, we'll take, i'll take, i'll go with, we'll go with, "
            "i'd like to book, i choose, i pick, i've decided, we've decided, we decided, i decided, we agreed, "
            "it's decided, it is decided, decision is, final decision, final choice, going with, "
            "we are going with, settled on, settled then, that's settled, locked in, lock it in, lock in, "
            "pencil * in, pencil in, it is then, sold on, count us/me in, book us/it/that/the/them/me, "
            "reserve us/it/that/the/a, we have a deal, it's a deal, 就定, 就选, 决定, 定了, 选这个, 就这个, 就它, "
            "确定下来, 订这家, 预订这, 敲定"
        ),
        2.0: (
            "^ book, ^ reserve, ^ go with, ^ go for, ^ sold, ^ arranged, ^ requested, ^ ordered, ^ prepared, "
            "^ scheduled, ^ cancelled, ^ replaced, i replaced, i've set, i have set, i noted, i've noted, then we, "
            "then i'll, then let's, obviously, of course i, all in, fine so, both are in, is noted, yes please, "
            "^ changed to, ^ moved, i moved it, i have moved, i've moved, i have changed, i've changed, "
            "we'll do that, i'll do that, is fine, that's fine, persuaded, ^ done, ^ noted, ^ do it, ^ confirmed, "
            "^ booked, ^ agreed, ^ understood, ^ settled, ^ approved, ^ deal, * it is, that one please, "
            "the first one, the second one, the third one, the former, the latter, i have put, i've put, "
            "i have added, i've added, i have booked, i've booked, i have reserved, i've reserved, added to your, "
            "added to the, is booked, is reserved, is in the plan, on the plan, in the plan, is set for, "
            "is confirmed, sounds like us, that works, works for me/us, works better for, perfect then, one then, "
            "put * down, sign us up, sign me up, we will go, we'll go, approve, we will use, we'll use, "
            "we will adopt, we adopt, go ahead, let's, 好的就, 没问题就, 那就, 就去, 已记, 安排为, 都要, 也要, "
            "我会把, 已改, 改好了, 已经改, 订好, 已订, 记下了, 写进计划, 已预订, 已确认, 已安排, 已经订好, 批准, "
            "可以就"
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
        0.5: ("then, please"),
    },
    "revise": {
        3.5: (
            "change of plan, change of plans, changed my mind, changed our mind, on second thought/thoughts, "
            "want to change, like to change, we need to change, let's change, i change, we change, is no longer, "
            "no longer, not * any longer, not * anymore, not * * any longer, not * * * any longer, out of date, "
            "outdated, contrary to what, there was a change, a change in, a change of/to, change in, change the, "
            "change my/our, ^ change, ^ correction, correction on, correction of, i stand corrected, we corrected, "
            "i corrected, to correct, must correct, need to correct, need to adjust, have to adjust, must adjust, "
            "^ adjust, i must amend, amend, we revise, i revise, ^ revise, revised, revising, let's revert, "
            "revert, i take back, we take back, is the new, are the new, ^ new #, "
            "the new budget/deadline/date/time/number/estimate/owner/limit/target, "
            "^ new budget/deadline/date/time/start/number/estimate/owner/limit/target/plan, updated, an updated, "
            "we swapped, i swapped, ^ swap, swap, we now want, we now have, i now want, now want, replaces, "
            "^ replace, replace * by/with, instead of our/the/my, instead of, instead, rather than the, "
            "owner changes, steps in, not * but, switch to, switch from, switch the, let's move the, move * to, "
            "has to read, should read, must read, wasn't right, was not right, weren't right, was wrong, "
            "from # to #, from * # to * #, from # * to #, henceforth, 改主意, 改成, 换成, 改为, 换为, 改到, 变更, "
            "更改, 调整, 要调, 有变, 过时, 不再, 再想想, 代替, 替换, 修正, 重新选, 新预算, 新人数, 新的预算, "
            "新的人数, 新时间, 还是算了, 到底是"
        ),
        2.5: (
            "cancel, cancel the, instead let's, scrap, reschedule, postpone, push * back, go back to the, "
            "replace * with, can we switch, can we change, could we change, could we switch, can we redo, "
            "can we move, we've improved, we improve, make it * instead, 取消, 推迟"
        ),
        1.0: ("actually i, actually we, rather have, ^ drop the, 改, 换"),
    },
    "confirm": {
        3.0: (
            "^ noted, ^ understood, ^ got it, got that, ^ taken down, taken care of, ^ on it, ^ will do, "
            "consider it done, that's in, it's in, that's arranged, is arranged, that's noted, that's done, "
            "that's booked, that's saved, that's set, all set, fine by me, fine with me, okay by me, ok by me, "
            "ok with me, good with me, very well, of course, ^ certainly, with pleasure, ^ roger, copy that, "
            "good catch, good point, ^ agreed, ^ adjusted, ^ updated, ^ added, ^ recorded, ^ saved, ^ secured, "
            "i've secured, i've noted, i've noted it, i have noted, i noted, i note, i'll note, i will note, "
            "i have that, have it down, i've got it, keep * in mind, keep that in mind, bear * in mind, "
            "i'll remember, i will remember, won't forget, will not forget, makes sense, sounds reasonable, "
            "sounds sensible, sounds fair, no complaints, no objection, no objections, nothing to add, "
            "i can live with, live with that, count me in, i'm in, good to know, good to have, ^ clear, all clear, "
            "crystal clear, ^ right, ^ i see, ^ yes, ^ yep, ^ sure, ^ absolutely, ^ exactly, will check, "
            "i'll check, will look, will pass it on, in the tracker, on the board, i've linked, i've put, "
            "i've filed, i've logged, is in the plan/calendar/tracker/list/book/diary/minutes, ^ confirmed, "
            "happy with that, works for me, 收到, 明白, 懂了, 了解, 没问题, 没意见, 好的, 记下, 已记, 记住了, "
            "写好, 会留意, 不会忘, 不会让您忘, 锁定了, 安排妥, 处理了, 办好, 办妥, 搞定, 收录, 已列入, 已加, "
            "加好了, 放进去了, 进去了, 确认, 乐意, 知道就好, 同意"
        ),
        1.5: ("^ okay, ^ ok, ^ fine, ^ good, ^ great, ^ perfect, 好, 行吧, 嗯, 很好"),
    },
    "plan": {
        3.5: (
            "time to plan, next point, our next argument, my next argument, the next argument, first argument, "
            "second argument, third argument, our case, rough outline, an outline of/for, a draft of/for, "
            "help with day, help with the, help me plan, next on the agenda, ^ let's start, up next, ^ next is, "
            "next up is, we are starting, we're starting, starting * of, ^ starting on, ^ starting work, "
            "allow me to introduce, let me introduce, i have created, i've created, i created, i've opened, "
            "i have opened, we begin with, a new task/epic/ticket/stream/goal/project/story, next task, next goal, "
            "next epic, next ticket, our next point, 下一项, 草稿, 开始排, 规划一下, 帮我排, 您排, 新任务, 新建了"
        ),
        3.0: (
            "let's start with day, let's switch to day, switch to day, let's set the, set the current day, "
            "current day, first/second/third/fourth/fifth/last evening/afternoon/morning/night, let's do day, "
            "let's do the first/second/third/fourth/fifth/last/final day, let's plan, "
            "back to the first/second/third/fourth/fifth/last day, about day, "
            "first/second/third/fourth/fifth/last/final day now, day once more, back to planning, let's turn to, "
            "let's move on, move on to, moving on, next topic, next item, first item, on the agenda, the agenda, "
            "today's agenda, let's talk about day, let's begin, could we begin, shall we begin, let's start, "
            "start with day, begin with day, now for day, now day, on to day, onto day, back to day, "
            "going back to day, return to day, turn to day, "
            "now for the first/second/third/fourth/fifth/last/final, go back to the first/second/third day, "
            "back to our first/second/third day, welcome to, i will argue, i'll argue, we will argue, "
            "we will show, i will show, in this debate, today's debate, resolution is, motion before us, "
            "our case rests, roadmap, i'll structure, our plan is, plan for the, planning for the, planning a, "
            "i'm planning, we're planning, we are planning, sprint planning, planning day, opening statement, "
            "the topic is, ground rules, 接下来, 下一个议题, 今天讨论, 先讨论, 计划第, 安排第, 说说第, 看看最后, "
            "看看第, 再说第, 回到第, 看第, 开始规划, 我们来规划, 先来, 议程"
        ),
        1.5: (
            "day #, day one/two/three/four/five, the first/second/third/fourth/fifth/last day, first day, "
            "second day, third day, last day, we have # days, days in, week in, weekend in, i have # days, "
            "next up, to begin, begin with, start with, start by, ^ first, kick off, kickoff, coming to, 首先, "
            "头一天, 第一天, 第二天, 第三天, 第四天, 第五天, 最后一天, 打算去, 准备去, 计划"
        ),
        0.5: ("going to, plan to, planning to, next week, upcoming, schedule, timeline, 即将, 日程"),
    },
    "constrain": {
        2.5: (
            "the budget, a budget, our budget, my budget, budget is, to spend, pay more than, spend more than, "
            "no more than, at most, not more than, the limit, a limit, our limit, upper limit, must be enough, "
            "has to be enough, has to suffice, get going, when we leave, we leave at, we start at, start at #, "
            "starts at #, should start, to start at, start time, get up at, leave around, first thing is, # of us, "
            "* of us, reckon with, party of, people in all, assume, allow for, the deadline, a deadline, "
            "deadline is, is due, due on, due by, due date, done by, done on, ready by, finish by, finish in, "
            "finished by, deliver by, delivery on, expect delivery, the release, would be the release, "
            "no later than, target is, our target, the target, the estimate, an estimate, estimate is, estimation, "
            "person days, person day, story points, i would plan, we would need, will take us, days of work, "
            "weeks of work, hours of work, i come to #, at the latest, 预算, 人数, 同行, 上限, 不超过, 不想超过, "
            "可花, 必须够, 最多, 出发时间, 上路, 离开, 起头, 始于, 开头, 估计, 应该有, 截止, 期限, 工期, 人天, "
            "不能超过"
        ),
    },
    "resume": {
        2.5: (
            "let's move to, let's go to, let's return to, let's get back to, returning to, going over to, "
            "going back to, back to, return to, let me return to, could we return to, can we return to, "
            "picking up, to pick it up, pick it up again, one step back, gone back to, rewind a, let me close the, "
            "the previous topic, the previous one, as for, 回到, 跳到, 现在看, 接上文, 继续没完的, 倒回去, 说起, "
            "聊聊, 还有第"
        ),
    },
    "compare": {
        3.5: (
            "the first one/option against/or/with/versus/and/beside the second/third, "
            "the second one/option against/or/with/versus/and/beside the first/third, "
            "the first/second of them and/or/with/beside the second/third, "
            "the first/second of them against/versus the second/third, ^ compare, help me weigh, weigh * against, "
            "^ weigh, rank the, ^ rank, beat the, outdo the, set * against, balance the, "
            "the former or/against/and the latter, 第一个还是第二, 第一个还是第三, 第二个还是第三, 第一个或第二, "
            "第一个或第三, 第二个或第三, 第一个对第, 第二个对第, 第一个和第, 第二个和第, 第一个胜过, 第二个胜过, "
            "权衡, 替我比, 帮我比, 哪一个更, 谁的"
        ),
        3.0: (
            "compare, compared to, compared with, comparison, comparing, versus, vs, difference between, "
            "differences between, which is better/cheaper/closer/faster/quieter/nicer/best, which one is, "
            "which would be, which of, better than, cheaper than, closer than, more expensive than, faster than, "
            "quieter than, pros and cons, trade off, tradeoff, trade offs, side by side, on the other hand, "
            "wins on, the better of, how do * compare, outweigh, outweighs, weigh, head to head, 比较一下, 比一比, "
            "对比, 相比, 哪个更, 哪家更, 区别, 优缺点, 差别"
        ),
        1.5: (
            "whereas, better value, would be cheaper/closer/quieter/faster/easier/better, "
            "is cheaper/closer/quieter/faster/easier/better, more convenient, more central, less expensive, "
            "both are, both have, between the two, which one, on balance, by contrast, in contrast, the other one, "
            "advantage, disadvantage, only if you, 更便宜, 更近, 更快, 更好, 而另, 比起, 还是"
        ),
    },
}
"""Acts that call for an act of the other, or answer one."""
