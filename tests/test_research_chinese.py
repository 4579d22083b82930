"""What Chinese questions of two people ask, without a model: their words, whose words answer them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.agents.research_rules.chinese_words import ChineseWords, given_name, is_chinese, question_words
from hexamem.agents.research_rules.integrating import NOT_HELD
from hexamem.agents.research_rules.question import Question, read_question
from hexamem.memory_types import utc_now
from hexamem.memory_types.times import read_zone

TALKS = {
    "one": [
        ("许嘉宁", "思源，好久没聊了，最近忙什么呢？"),
        ("方思源", "我上个月从税务局辞了职，跟老婆在泉州开了一家面包房。"),
        ("许嘉宁", "真没想到！店名叫什么？"),
        ("方思源", "叫“麦浪”，招牌是海盐可颂。"),
        ("许嘉宁", "我还在中学当音乐老师，今年开始带校合唱团。"),
        ("方思源", "合唱团有多少个学生？"),
        ("许嘉宁", "四十六个，下周要去福州比赛。"),
    ],
    "two": [
        ("方思源", "我爸前天摔了一跤，右腿骨折，周五动手术。"),
        ("许嘉宁", "哎呀，在哪家医院？"),
        ("方思源", "协和医院，主刀的是个年轻大夫。"),
        ("许嘉宁", "会没事的。我姐姐上周生了个女儿，小名叫栗子。"),
        ("方思源", "恭喜你当小姨了！"),
        ("许嘉宁", "我给孩子织了一条蓝色的小毯子，花了整整一个月。"),
    ],
    "three": [
        ("许嘉宁", "我们合唱团拿了二等奖！"),
        ("方思源", "太棒了！我这边烤箱坏了，修了三千二百块。"),
        ("许嘉宁", "这么贵！我最近迷上了攀岩，每个周末都去岩馆。"),
        ("方思源", "你不怕高吗？"),
        ("许嘉宁", "第一次腿都软了，教练让我别往下看。"),
    ],
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """A memory of three talks of two people."""
    with Memory.open(tmp_path_factory.mktemp("chinese"), settings=Settings(background=False)) as memory:
        user = memory.user("reader")
        for month, (thread, turns) in enumerate(TALKS.items(), 3):
            said = [
                {"role": "user", "name": who, "timestamp": f"2025-{month:02}-10T09:{at:02}:00Z", "content": text}
                for at, (who, text) in enumerate(turns)
            ]
            user.remember(said, thread_id=thread)
        user.flush()
        yield user


def read(text: str) -> Question:
    return read_question(text, ("许嘉宁", "方思源"), utc_now(), read_zone("UTC"))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("她是什么时候在哪家医院做的手术？", ("医院", "手术")),
        ("烤箱修好一共花了多少钱？", ("烤箱", "修", "花")),
        ("婚礼定在哪一天？", ("婚礼", "定")),
        ("他有什么爱好？", ("爱好",)),
        ("為什麼辭職？", ("辞职",)),
    ],
)
def test_a_chinese_question_is_divided_into_the_words_that_carry_it(question: str, words: tuple[str, ...]) -> None:
    assert question_words(question) == words


@pytest.mark.parametrize(
    ("name", "given"),
    [("许嘉宁", "嘉宁"), ("欧阳修文", "修文"), ("李娜", None), ("小雨", None), ("Nora", None)],
)
def test_people_are_called_by_their_given_name(name: str, given: str | None) -> None:
    assert given_name(name) == given


@pytest.mark.parametrize("question", ["许嘉宁的姐姐生了什么？", "嘉宁的姐姐生了什么？"])
def test_whom_a_question_asks_about_is_known_by_either_name_and_left_out_of_its_words(question: str) -> None:
    found = read(question)
    assert found.speakers == {"许嘉宁"}
    assert found.words == ("姐姐", "生")


def test_a_question_in_another_language_with_a_chinese_name_in_it_is_not_chinese() -> None:
    assert not is_chinese("How much did 苏敏 pay for the 飞度?")
    assert not is_chinese("彼女はどこで働いていますか")
    assert not is_chinese("Where does Nora live?")
    assert is_chinese("Jonas 的家乡在哪里？")
    assert not read("What did 许嘉宁 knit for her niece?").chinese


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("妻子", "我老婆是医生"),
        ("手术", "我爸周五开刀"),
        ("父亲", "我爸周五开刀"),
        ("工资", "月薪涨了"),
        ("旅游", "去云南旅行"),
        ("辞职", "上个月辞了职"),
    ],
)
def test_another_word_that_says_as_much_holds_a_word(word: str, text: str) -> None:
    assert ChineseWords().holds((word,), text) == (1.0,)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("妹妹", "我姐姐来了"),
        ("儿子", "我女儿来了"),
        ("爸爸", "我妈妈来了"),
        ("堂妹", "我表妹来了"),
        ("周一", "周二开会"),
        ("咖啡", "我喝茶"),
    ],
)
def test_a_word_of_the_same_kind_does_not(word: str, text: str) -> None:
    assert ChineseWords().holds((word,), text)[0] <= 0.5


def test_a_rare_word_says_more_than_a_common_one() -> None:
    chinese = ChineseWords()
    assert chinese.weight("马拉松") > chinese.weight("工作") > chinese.weight("来")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("方思源的面包房叫什么名字？", "麦浪"),
        ("思源跟妻子在哪里开的面包店？", "泉州"),
        ("方思源辞职以前在哪里上班？", "税务局"),
        ("许嘉宁的职业是什么？", "音乐老师"),
        ("嘉宁带的合唱团有多少学生？", "四十六"),
        ("合唱团比赛得了几等奖？", "二等奖"),
        ("方思源的父亲在哪家医院做的手术？", "协和"),
        ("嘉宁的姐姐生的孩子小名叫什么？", "栗子"),
        ("许嘉宁织的毯子是什么颜色？", "蓝色"),
        ("思源修烤箱花了多少钱？", "三千二"),
        ("许嘉宁最近有什么爱好？", "攀岩"),
    ],
)
def test_a_chinese_question_of_somebody_is_answered_in_their_words(
    told: UserMemory, question: str, answer: str
) -> None:
    found = told.research(question)
    assert found.answerable
    assert answer in found.answer


@pytest.mark.parametrize(
    "question",
    [
        "许嘉宁的面包房叫什么名字？",
        "方思源的合唱团有多少学生？",
        "许嘉宁的父亲做了什么手术？",
        "方思源的姐姐生了什么？",
        "方思源什么时候开始攀岩的？",
        "许嘉宁的丈夫在哪里工作？",
        "方思源养的狗叫什么？",
        "许嘉宁买的车是什么牌子？",
    ],
)
def test_what_was_told_of_the_other_or_of_nobody_is_refused(told: UserMemory, question: str) -> None:
    found = told.research(question)
    assert (found.answerable, found.answer, found.evidence) == (False, NOT_HELD, ())


def test_every_quote_of_a_chinese_answer_stands_in_the_step_that_it_cites(told: UserMemory) -> None:
    found = told.research("方思源的父亲在哪家医院做的手术？")
    assert found.evidence
    for one in found.evidence:
        assert one.quote in told.get(one.step_ids[0]).index_text  # type: ignore[union-attr]


def test_the_reply_is_quoted_rather_than_the_question_that_it_answers(told: UserMemory) -> None:
    found = told.research("许嘉宁的合唱团有多少个学生？")
    quotes = [one.quote for one in found.evidence]
    assert any("四十六个" in quote for quote in quotes)
