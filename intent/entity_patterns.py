"""What names an entity type in a text: head nouns, units, signs and forms, English and Chinese.

Types are schema words, never instances: "the Hilton, $120 a night" has Hotel and Price. ``THINGS`` are what people talk
about; ``ATTRIBUTES`` are what is said of them. A phrase stands for one type; its plural is found as well. The grammar
of phrases is that of :class:`~hexamem.intent.phrases.tokens.PhraseTable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from .. import lazy_re as re
from .phrases.tokens import PhraseTable, word_set

__all__ = ["ATTRIBUTES", "EMAIL", "GAZETTEER", "THINGS", "entity_synonyms", "number_type"]

THINGS: Mapping[str, str] = {
    "Hotel": (
        "hotel, hostel, inn, guesthouse, guest house, lodging, accommodation, resort, airbnb, b&b, "
        "bed and breakfast, ryokan, motel, homestay, place to stay, where to stay, where do/can/should we/i stay, "
        "check in/out, 酒店, 宾馆, 旅馆, 民宿, 客栈, 住宿, 旅店, 饭店住宿"
    ),
    "Restaurant": (
        "restaurant, bistro, eatery, diner, trattoria, osteria, brasserie, steakhouse, pizzeria, izakaya, tavern, "
        "food stall, dinner, lunch, place to eat, where to eat, where do/can/should we/i eat, "
        "table for #/two/three/four/six, tasting menu, 餐厅, 饭店, 餐馆, 饭馆, 晚餐, 午餐, 晚饭, 午饭, 小吃店, 火锅店"
    ),
    "Café": (
        "cafe, café, coffee shop, coffee house, tea house, tearoom, tea room, bakery, patisserie, breakfast, brunch, "
        "coffee, espresso, pastry, 咖啡, 咖啡馆, 咖啡厅, 茶馆, 面包店, 早餐, 早饭"
    ),
    "Bar": "bar, pub, cocktail bar, wine bar, nightclub, cocktail, brewery, beer garden, 酒吧",
    "Dish": (
        "dish, dessert, starter, main course, soup, salad, sushi, ramen, pizza, pasta, curry, noodle, sandwich, "
        "burger, cake, #/two/three/four/five/six/seven course/courses, recipe, ingredient, cuisine, snack, "
        "ice cream, cookie, cupcake, seafood, 甜点, 美食, 面条, 食谱, 蛋糕, 饺子, 海鲜"
    ),
    "Museum": "museum, gallery, art gallery, exhibition, exhibit, 博物馆, 美术馆, 展览, 画廊",
    "Attraction": (
        "attraction, sight, landmark, monument, castle, palace, cathedral, church, temple, shrine, tower, viewpoint, "
        "garden, botanical garden, zoo, aquarium, ruin, basilica, mosque, abbey, old town, theme park, 景点, 寺庙, "
        "城堡, 教堂, 动物园, 古城, 名胜"
    ),
    "Tour": (
        "tour, guided tour, walking tour, boat trip, day trip, excursion, cruise, boat tour, hike, workshop, "
        "cooking class, safari, outing, 一日游, 游船, 导览, 徒步, 跟团"
    ),
    "Nature": (
        "beach, lake, mountain, waterfall, forest, river, national park, trail, island, sunset, sunrise, ocean, sea, "
        "canyon, 海滩, 瀑布, 森林, 海边, 日落"
    ),
    "Flight": "flight, plane, airline, layover, boarding pass, plane ticket, airfare, stopover, 航班, 飞机, 机票, 航空",
    "Train": "train, railway, tgv, shinkansen, rail pass, platform, 火车, 高铁, 动车, 车次",
    "Transport": (
        "transport, transportation, transit, bus, tram, metro, subway, underground, taxi, cab, uber, ferry, shuttle, "
        "rental car, car rental, transfer, bicycle, bike rental, scooter, coach, cable car, funicular, parking, "
        "how do/can/should we/i get to/there/from, how to get, get around, getting around, day pass, 地铁, 公交, "
        "出租车, 打车, 交通, 轮渡, 租车, 大巴, 接送, 怎么去"
    ),
    "Airport": "airport, terminal, 机场, 航站楼",
    "Itinerary": (
        "itinerary, day #/one/two/three/four/five/six/seven, first/second/third/fourth/fifth/last/next/final day, "
        "day plan, free/full/whole/middle/rainy/travel day, day trip plan, schedule for the day, trip plan, 行程, "
        "头一天, 第一天, 第二天, 第三天, 第四天, 第五天, 最后一天, 日程"
    ),
    "Trip": "trip, vacation, holiday, journey, getaway, road trip, travel, honeymoon, 旅行, 旅游, 度假, 出差, 之旅",
    "Show": (
        "a/the/evening/live show, concert, theatre, theater, musical, opera, performance, gig, festival, "
        "play tickets, 演出, 音乐会, 演唱会, 话剧, 音乐节"
    ),
    "Ticket": "ticket, admission, entry fee, entrance fee, entry, voucher, 门票, 入场券",
    "Shop": (
        "shop, store, market, mall, supermarket, boutique, souvenir, shopping, bookshop, bookstore, 商店, 商场, "
        "市场, 超市, 购物, 纪念品"
    ),
    "Booking": (
        "booking, reservation, ^ book, book us/it/a/an/the/me/them, "
        "to/you/i/we/and/can/could/please book, deposit, cancellation, cancellation policy, 预订, 预约, 订单, 定金"
    ),
    "Luggage": "luggage, suitcase, baggage, backpack, packing list, carry on, 行李, 箱子, 背包",
    "Document": (
        "document, passport, visa, contract, invoice, spreadsheet, slide, deck, memo, spec, specification, draft, "
        "proposal document, readme, documentation, pdf, 文档, 护照, 签证, 合同, 发票, 文件, 表格, 幻灯片"
    ),
    "Task": (
        "task, action item, to do, todo, ticket #, user story, subtask, backlog, assignment, deliverable, 任务, "
        "待办, 工作项, 交付物"
    ),
    "Milestone": "milestone, sprint, iteration, phase, roadmap, launch, kickoff, 里程碑, 冲刺, 阶段, 路线图, 上线",
    "Project": "project, programme, initiative, campaign, workstream, 项目, 工程",
    "Bug": (
        "bug, defect, regression, crash, outage, incident, stack trace, exception, error message, failing test, "
        "故障, 缺陷, 报错, 漏洞"
    ),
    "Release": "release, deployment, rollout, hotfix, rollback, build, release candidate, 发布, 部署, 回滚, 版本发布",
    "Code": (
        "code, repository, repo, pull request, merge request, branch, commit, function, endpoint, api, database, "
        "schema, server, library, pipeline, script, frontend, backend, codebase, migration, module, 代码, 数据库, "
        "接口, 服务器, 分支, 仓库, 脚本"
    ),
    "Test": "test, test suite, unit test, test case, coverage, qa, benchmark, 测试, 测试用例, 基准",
    "Feature": (
        "feature, requirement, functionality, use case, prototype, mockup, wireframe, design, 功能, 需求, 原型, 设计稿"
    ),
    "Meeting": (
        "meeting, standup, stand up, retro, retrospective, agenda, appointment, interview, demo, conference call, "
        "a/the call, 会议, 例会, 站会, 面试, 议程, 评审会"
    ),
    "Client": "client, customer, stakeholder, vendor, supplier, user feedback, 客户, 供应商, 用户反馈, 甲方",
    "Team": (
        "team, colleague, coworker, teammate, manager, boss, staff, contractor, department, crew, 团队, 同事, 经理, "
        "老板, 部门"
    ),
    "Risk": "risk, blocker, dependency, bottleneck, 风险, 瓶颈, 依赖",
    "Job": "job, career, promotion, salary, employer, resume, internship, profession, 工作, 职业, 升职, 工资, 简历, 实习",
    "Company": (
        "company, organization, organisation, startup, agency, firm, business, ngo, charity, nonprofit, 公司, 机构, "
        "组织, 企业"
    ),
    "Policy": (
        "policy, law, regulation, legislation, bill, act of congress, ban, tax, mandate, reform, subsidy, treaty, "
        "constitution, restriction, statute, 政策, 法律, 法规, 法案, 税收, 禁令, 改革, 补贴"
    ),
    "Source": (
        "study, report by, survey, paper, journal, meta analysis, citation, source, literature, researcher, article, "
        "white paper, findings, 研究, 论文, 调查, 报告显示, 来源, 文献, 报道"
    ),
    "Statistic": "statistic, data, average, median, rates of, figures, correlation, sample size, 统计, 数据, 平均, 比例",
    "Argument": (
        "argument, claim, contention, premise, assumption, conclusion, fallacy, counterargument, reasoning, motion, "
        "resolution, burden of proof, rebuttal, 论点, 论据, 观点, 论证, 前提, 辩题, 反驳"
    ),
    "Government": (
        "government, congress, parliament, senate, supreme court, high court, president, minister, federal, city council, election, "
        "vote, 政府, 国会, 法院, 总统, 部长, 选举"
    ),
    "Economy": (
        "economy, labor, labour, wage, inflation, gdp, market share, productivity, employment, unemployment, economic growth, "
        "investment, industry, 经济, 劳动力, 通胀, 就业, 失业, 增长, 投资"
    ),
    "Environment": (
        "climate, climate change, emission, pollution, environment, carbon, renewable, energy, recycling, 气候, "
        "排放, 污染, 环境, 能源"
    ),
    "Society": (
        "society, community, equality, rights, discrimination, culture, inequality, immigration, immigrant, "
        "religion, 社会, 社区, 权利, 文化, 移民"
    ),
    "Technology": (
        "technology, software, app, ai, algorithm, device, platform, website, laptop, phone, camera, tablet, 技术, "
        "软件, 应用, 人工智能, 算法, 设备, 网站, 电脑, 手机, 相机"
    ),
    "Family": (
        "family, mother, father, mom, mum, dad, parent, sister, brother, son, daughter, kid, child, children, "
        "husband, wife, grandma, grandmother, grandpa, grandfather, aunt, uncle, cousin, niece, nephew, baby, 家人, "
        "妈妈, 爸爸, 父母, 姐姐, 妹妹, 哥哥, 弟弟, 孩子, 儿子, 女儿, 丈夫, 妻子, 奶奶, 爷爷"
    ),
    "Friend": (
        "friend, roommate, neighbor, neighbour, buddy, girlfriend, boyfriend, partner, mentor, classmate, 朋友, "
        "室友, 邻居, 男朋友, 女朋友, 同学"
    ),
    "Pet": "pet, dog, cat, puppy, kitten, vet, hamster, rabbit, turtle, 宠物, 狗, 猫, 小狗, 小猫",
    "Health": (
        "health, doctor, hospital, therapy, therapist, allergy, medication, medicine, injury, illness, symptom, "
        "pain, sleep, diet, checkup, surgery, anxiety, stress, allergic, vegetarian, vegan, clinic, 健康, 医生, "
        "医院, 过敏, 吃药, 受伤, 生病, 睡眠, 饮食, 手术, 素食"
    ),
    "Sport": (
        "sport, the/a match, gym, workout, yoga, running, marathon, basketball, football, soccer, tennis, swimming, "
        "hiking, cycling, tournament, training, coach session, race, surfing, 运动, 比赛, 健身, 瑜伽, 跑步, 篮球, "
        "足球, 游泳, 马拉松"
    ),
    "Hobby": (
        "hobby, painting, pottery, photography, gardening, knitting, crafts, video game, board game, drawing, "
        "woodworking, camping, fishing, dancing, dance, 爱好, 画画, 摄影, 园艺, 陶艺, 露营, 钓鱼, 跳舞, 游戏"
    ),
    "Book": "book, novel, author, poem, poetry, 小说, 作者, 阅读",
    "Film": "movie, film, tv, tv show, series, episode, documentary, actor, screenplay, 电影, 电视剧, 纪录片, 剧集, 剧本",
    "Music": "music, song, album, band, guitar, piano, violin, singer, playlist, 音乐, 歌曲, 吉他, 钢琴, 乐队, 专辑",
    "School": (
        "school, university, college, class, course, exam, teacher, student, degree, homework, lecture, thesis, "
        "grade, 学校, 大学, 课程, 考试, 老师, 学生, 作业, 学位"
    ),
    "Home": (
        "my/our/new/his/her home, house, apartment, flat, rent, kitchen, garden shed, furniture, landlord, "
        "moving house, mortgage, 房子, 公寓, 房租, 厨房, 家具, 房东"
    ),
    "Celebration": (
        "birthday, wedding, anniversary, party, christmas, thanksgiving, graduation, new year, gift, 生日, 婚礼, "
        "纪念日, 聚会, 圣诞, 毕业, 礼物, 春节"
    ),
    "Car": "car, vehicle, car engine, tire, garage, mechanic, 汽车, 车子, 发动机, 轮胎",
    "Clothing": "clothes, clothing, shirt, dress, shoe, jacket, outfit, necklace, 衣服, 裙子, 鞋子, 外套",
    "Product": "product, brand, model number, warranty, gadget, 产品, 品牌, 保修",
}

ATTRIBUTES: Mapping[str, str] = {
    "Price": (
        "$/€/£/¥/￥/₹/₩ #, # $/€/£/¥, # dollar/dollars/euro/euros/pounds/yen/yuan/usd/eur/gbp, price, cost, fee, "
        "fare, rate per night, how much is/does/are/would/did/do, how much will/for, per person, per night, a night, "
        "a head, each way, return ticket, cheap, cheaper, cheapest, expensive, affordable, discount, costly, charge, "
        "surcharge, free of charge, refund, refundable, 价格, 多少钱, 费用, 便宜, 贵, 票价, 折扣, 免费, 每晚, 人均, "
        "退款, 美元, 欧元, 日元, 块钱"
    ),
    "Budget": "budget, spending limit, can't afford, can afford, spend under, 预算, 花费, 开销",
    "Rating": (
        "rating, rated, star, stars, # / 5/10, score of, review score, reviews, out of five/ten, well reviewed, "
        "best rated, 评分, 评价, 星级, 好评, 口碑"
    ),
    "Deadline": (
        "deadline, due date, due, due on/by, "
        "by friday/monday/tuesday/wednesday/thursday/saturday/sunday/tomorrow/tonight, end of day, eod, "
        "by the end of, cutoff, overdue, no later than, expires, time limit, 截止, 期限, 最晚, 到期, 之前完成"
    ),
    "Date": (
        "january, february, march #, april, may #, june, july, august, september, october, november, december, "
        "# january, # march, # may, monday, tuesday, wednesday, thursday, friday, saturday, sunday, tomorrow, "
        "yesterday, what date, which date, which day, weekend, next week, last week, next month, last month, "
        "last year, next year, 周一, 周二, 周三, 周四, 周五, 周六, 周日, 星期, 明天, 昨天, 日期, 哪天, 下周, 上周, "
        "周末, 月份"
    ),
    "Time": (
        "# am, # pm, # a, o'clock, noon, midnight, what time, at what time, which hour, departure time, "
        "arrival time, 几点, 点钟, 中午, 半夜, 时间"
    ),
    "Duration": (
        "duration, how long, # minute/minutes/min/mins, # hour/hours/hrs/h, # day/days, # week/weeks, "
        "# month/months, # year/years, # night/nights, an hour, half an hour, "
        "two/three/four/five/six hours/days/weeks/months/years/nights, 多久, 多长时间, 小时, 分钟, 天时间, 个月"
    ),
    "Opening hours": (
        "opening hour, opening time, closing time, open until, opens at, closes at, opens, closes, open on, "
        "closed on, is it open, are they open, when does * open/close, what time does * open/close, last entry, "
        "last admission, open from, 开放时间, 营业时间, 几点开门, 几点关门, 开门, 关门, 营业"
    ),
    "Distance": (
        "distance, how far, # km/kilometre/kilometres/kilometers/mile/miles/metre/metres/meters/m, walking distance, "
        "minute walk, minutes' walk, walk from, nearby, close to, far from, nearest, 距离, 多远, 公里, 附近, 步行"
    ),
    "Person": "mr/mrs/ms/dr/prof/professor *, who is/was/did/will/should/has/are, whose, 谁",
    "Address": (
        "address, street, avenue, which neighbourhood/neighborhood, located, location, where is it, postcode, "
        "zip code, district, 地址, 位置, 在哪里, 在哪儿, 街道"
    ),
    "Place": (
        "city, town, country, village, neighbourhood, neighborhood, region, downtown, centre, center, 城市, 国家, "
        "村, 地区, 市中心, 地方"
    ),
    "Room": "room, double room, twin room, suite, bed, balcony, breakfast included, 房间, 双人间, 单人间, 套房, 床",
    "Quantity": (
        "how many, number of, # people/guests/items/pieces/copies/units, headcount, party of, 多少个, 多少人, 几个, "
        "几位, 数量"
    ),
    "Percentage": "# %, # percent, percent, percentage, per cent, share of, 百分之, 百分比",
    "Weather": (
        "weather, forecast, rain, sunny, rainy, snow, temperature, cloudy, storm, # degrees, umbrella, 天气, 下雨, "
        "晴天, 温度, 下雪, 预报"
    ),
    "Email": "email, e mail, mail address, inbox, 邮箱, 邮件, 电子邮件",
    "Phone": "phone number, telephone, mobile number, 电话, 手机号, 联系电话",
    "URL": "<link>, url, link, web page, homepage, 链接, 网址",
    "Version": "version, v #, release number, 版本",
    "Status": "status, progress, percent done, completion, 进度, 状态, 进展",
    "Priority": "priority, urgent, top priority, high priority, p0, 优先级, 紧急",
    "Preference": "favorite, favourite, prefer, preference, i love, i hate, allergic to, 喜欢, 最喜欢, 偏好, 讨厌",
    "Feeling": (
        "happy, excited, proud, sad, nervous, worried, scared, grateful, lonely, overwhelmed, 开心, 难过, 紧张, "
        "担心, 骄傲, 激动"
    ),
    "Goal": "goal, dream, ambition, objective, aim, aspiration, 目标, 梦想, 愿望",
    "Access": "wheelchair, lift, elevator, step free, accessible, stairs, accessibility, 无障碍, 电梯, 轮椅",
    "Money": (
        "$/€/£/¥/₹ # million/billion/trillion/k/bn, million, billion, trillion, fund, funding, money, savings, loan, "
        "debt, 万元, 亿元, 钱, 人民币"
    ),
}

# Words that look like a type and name none.
_IGNORED = (
    "due to, of course, course of action, book value, at home, go/come/get/going/coming/way home, show me/us/you, "
    "in the book, star trek, in any case, first class, on the other hand, in terms of, as a matter of course, "
    "sea level, ice breaker, street smart, test the water, business day, family name, friend or foe, "
    "school of thought, bar none, bar chart, bar graph, in the long run, in light of, game changer, at play"
)


def _phrases(types: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(phrase.strip(), name) for name, phrases in types.items() for phrase in phrases.split(", ")]


GAZETTEER: PhraseTable[str] = PhraseTable(
    [*_phrases({"": _IGNORED}), *_phrases(THINGS), *_phrases(ATTRIBUTES)], plurals=True
)
"""Every phrase of every type; at each word the longest counts. Phrases that name no type stand for an empty name."""

NUMBER_FORMS = re.compile(
    r"(?P<Date>\d{4}[-/]\d{1,2}[-/]\d{1,2}\b|\d{1,2}/\d{1,2}/\d{2,4}\b|\d{1,2}月\d{1,2}[日号])"
    r"|(?P<Rating>\d{1,2}(?:\.\d)?[ ]?/[ ]?(?:5|10)\b(?!/)|\d(?:\.\d)?[ ]?[星★])"
    r"|(?P<Time>(?:[01]?\d|2[0-4]):[0-5]\d\b|\d{1,2}点)"
    r"|(?P<Version>\d{1,4}\.\d{1,6}\.\d{1,6}\b)"
    r"|(?P<Phone>\d{2,4}[ .-]\d{3,4}[ .-]\d{3,4}\b)"
    r"|(?P<Price>\d{1,7}[元块])"
    r"|(?P<Distance>\d{1,5}公里)"
)
"""Types by the form of an instance, from its first digit on."""
EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,20}){1,4}")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_CURRENCIES = word_set(
    "AED ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KES KRW MAD MXN MYR NOK NZD PEN PHP"
    " PLN RMB RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
)
_TICKET = re.compile(r"(?<![A-Z])(?!COVID|SARS)[A-Z]{2,10}-\Z")


def number_type(text: str, start: int, end: int) -> tuple[int, int, str] | None:
    """The type that a number has by its form and what stands around it.

    Returns:
        Start, end and type; None where it has none of its own.
    """
    match = NUMBER_FORMS.match(text, start)
    if match is not None:
        return start, match.end(), match.lastgroup or ""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == " " and text[start - 4 : start - 1] in _CURRENCIES:
        return start - 4, end, "Price"
    if before == "v" and not text[start - 2 : start - 1].isalnum():
        return start - 1, end, "Version"
    if before == "#" and not text[start - 2 : start - 1].isalnum():
        return start - 1, end, "Task"
    if before == "-" and (ticket := _TICKET.search(text, max(0, start - 12), start)):
        return ticket.start(), end, "Task"
    if before == "[" and after == "]" and end - start <= 3:
        return start - 1, end + 1, "Source"
    if after in (")", ";") and _YEAR.match(text, start, end):
        opening = text.rfind("(", max(0, start - 80), start)
        if opening >= 0 and text[opening + 1 : opening + 2].isupper() and ")" not in text[opening:start]:
            return opening, end + 1, "Source"
    return None


@cache
def entity_synonyms() -> Mapping[str, str]:
    """Plain phrases → the type they name, for names that a model proposes ("accommodation" → "Hotel")."""
    found: dict[str, str] = {}
    for phrase, name in (*_phrases(THINGS), *_phrases(ATTRIBUTES)):
        if not set(phrase) & set("/#*()^<"):
            found.setdefault(phrase, name)
    return found
