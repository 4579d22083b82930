"""Plain questions in memories of a few messages: what was said stands above what was asked back, and noted facts first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.agents.asked_facts import AskedFact, read_asked
from hexamem.agents.asked_overview import asks_for_overview
from hexamem.memory_types import Hit
from hexamem.retrieval.asking_replies import only_asks_back

TALKS = {
    "nurse": ["I moved to Porto last week, I work as a nurse", "Nice, how is Porto?"],
    "office": [
        "I just started at Siemens as a data engineer",
        "Congratulations! What is Siemens like?",
        "Good so far. My boss is called Greta.",
        "Is Greta nice?",
    ],
    "moved": [
        "I live in Madrid",
        "Madrid is great! What do you do there?",
        "I teach maths at a high school. We moved to Bilbao in April actually.",
        "How do you find Bilbao compared with Madrid?",
    ],
    "parents": [
        "My mum lives in Cork",
        "How often do you get to see your mum in Cork?",
        "Twice a year. My dad lives in Perth.",
        "Perth is far away! Where does he live there?",
    ],
    "sister": ["My sister Ana works as a nurse", "Lovely! What does she do there?"],
    "friend": ["Ana moved to Porto last week", "Where does she live now then? Nice, how is Porto?"],
    "wife": ["My wife Carla is a dentist.", "Does Carla enjoy being a dentist?"],
    "hangzhou": ["我上周搬到了杭州，在医院当护士", "杭州怎么样？你现在住哪里？"],
    "flat": ["Paul bought a flat in Ghent", "Great, how big is the flat in Ghent? Where does he live now?"],
}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, UserMemory]]:
    """A user for each talk; user and assistant take turns."""
    with Memory.open(tmp_path_factory.mktemp("plain"), settings=Settings(background=False)) as memory:
        found = {}
        for name, said in TALKS.items():
            found[name] = memory.user(name)
            found[name].remember(
                [
                    {"role": ("user", "assistant")[at % 2], "content": text, "timestamp": f"2025-05-12T09:{at:02}:00Z"}
                    for at, text in enumerate(said)
                ]
            )
            found[name].flush()
        yield found


@pytest.mark.parametrize(
    ("who", "question", "first"),
    [
        ("nurse", "Where do I live?", "home\nLives in Porto"),
        ("nurse", "What do I do for a living?", "job\nWorks as a nurse"),
        ("nurse", "What's my job?", "job\nWorks as a nurse"),
        ("nurse", "Where does she live now?", "home\nLives in Porto"),
        ("office", "Where do I work?", "employer\nWorks at Siemens"),
        ("office", "What is my job title?", "job\nWorks as a data engineer"),
        ("moved", "Where do I live?", "home\nLives in Bilbao"),
        ("parents", "Where does my mother live?", "mum\nThe user's mum lives in Cork"),
        ("parents", "Where does my dad live?", "dad\nThe user's dad lives in Perth"),
        ("parents", "Where does he live?", "dad\nThe user's dad lives in Perth"),
        ("parents", "Where does she live?", "mum\nThe user's mum lives in Cork"),
        ("sister", "What does my sister do?", "Ana\nAna (sister) works as a nurse"),
        ("sister", "What does Ana do for work?", "Ana\nAna (sister) works as a nurse"),
        ("sister", "What is her job?", "Ana\nAna (sister) works as a nurse"),
        ("wife", "What is my wife called?", "partner\nWife: Carla"),
        ("wife", "What's my wife's job?", "Carla\nCarla (wife) is a dentist"),
        ("hangzhou", "我住在哪里？", "home\n住在杭州"),
    ],
)
def test_the_noted_fact_that_a_question_plainly_asks_for_stands_first(
    users: dict[str, UserMemory], who: str, question: str, first: str
) -> None:
    found = users[who].recall(question)
    assert found.hits[0].text.startswith(first)
    assert "stated" in {one.name for one in found.hits[0].why}
    assert [one.score for one in found.hits] == sorted((one.score for one in found.hits), reverse=True)


@pytest.mark.parametrize("who", TALKS)
@pytest.mark.parametrize(
    "question", ["Where does she live now?", "Where does he live?", "Where do I live?", "What's new?"]
)
def test_a_reply_that_only_asks_stands_behind_what_it_replies_to(
    users: dict[str, UserMemory], who: str, question: str
) -> None:
    texts = [one.text for one in users[who].recall(question, k=20).hits]
    for said, reply in zip(TALKS[who][::2], TALKS[who][1::2], strict=True):
        if only_asks_back(reply):
            assert texts.index(said) < texts.index(reply)


def test_of_two_women_a_pronoun_tells_nothing(users: dict[str, UserMemory]) -> None:
    both = users["sister"].memory.user("both")
    both.remember(["My mum lives in Cork", "My sister lives in Perth"])
    both.flush()
    assert not any(_stated(one) for one in both.recall("Where does she live?").hits)
    assert _stated(both.recall("Where does my sister live?").hits[0])


@pytest.mark.parametrize(
    "question", ["Where did I live before?", "Who lives in Porto?", "Where will I live next year?"]
)
def test_a_question_of_another_time_or_thing_is_ranked_as_ever(users: dict[str, UserMemory], question: str) -> None:
    assert not any(_stated(one) for one in users["nurse"].recall(question).hits)


def test_filters_and_times_hold_for_facts_that_stand_first(users: dict[str, UserMemory]) -> None:
    moved = users["moved"]
    assert {one.kind for one in moved.recall("Where do I live?", kinds="step").hits} == {"step"}
    assert not any(_stated(one) for one in moved.recall("Where do I live?", as_of="2025-05-12T09:01:00Z").hits)
    assert not any(_stated(one) for one in moved.recall("Where do I live?", kinds="episodic").hits)


def test_other_strategies_are_left_as_they_are(users: dict[str, UserMemory]) -> None:
    for strategy in ("rrf", "dense", "bm25", "label_density"):
        assert not any(_stated(one) for one in users["office"].recall("Where do I work?", strategy=strategy).hits)


def _stated(hit: Hit) -> bool:
    return any(one.name == "stated" for one in hit.why)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Where does my sister live?", AskedFact(("home_city", "address", "country"), "my sister")),
        ("where does Ana work now?", AskedFact(("employer",), "Ana")),
        ("How old is Leo?", AskedFact(("age",), "Leo")),
        ("When is her birthday?", AskedFact(("birthday",), "her")),
        ("What is Carla's job?", AskedFact(("job_title", "employer"), "Carla")),
        ("Where do we live?", AskedFact(("home_city", "address", "country"))),
        ("Where does Ana usually go on holiday?", None),
        ("What did my sister do yesterday?", None),
        ("Where does my sister want to live?", None),
        ("Is Ana a nurse?", None),
    ],
)
def test_what_is_asked_for_is_read_from_plain_questions_alone(question: str, asked: AskedFact | None) -> None:
    assert read_asked(question) == asked


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Nice, how is Porto?", True),
        ("That's lovely! How is Porto?", True),
        ("好的。杭州怎么样？", True),
        ("Porto is in Portugal. How is it?", False),
        ("Rex is a great name!", False),
        ("Got it: 4 pm! Anything else?", False),
        ("Thanks!", False),
        ("", False),
    ],
)
def test_a_message_only_asks_where_nothing_in_it_says_anything(text: str, asks: bool) -> None:
    assert only_asks_back(text) is asks


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?", "what do you remember about me so far", "So, what have you learned about me?",
        "Tell me everything you know about me.", "Tell me what you remember about me, please.", "Who am I?",
        "Can you tell me who I am?", "What do you know about me and my family?", "Summarize what you know about me",
        "Do you remember anything about me?", "What have I told you so far?", "Describe me.", "Tell me about myself",
        "What do you know about my family?", "Tell me about my family.",
        "What do you remember about my friends and family?", "你知道我家人什么？", "关于我的朋友你知道什么？",
        "你知道我什么？", "你了解我哪些事情？", "关于我你知道什么？", "你记得我什么", "我是谁？", "我都告诉过你什么？", "我跟你说过什么",
        "说说你记得的关于我的所有事情",
    ],
)  # fmt: skip
def test_a_question_for_all_that_is_known_of_the_user_is_read_as_such(question: str) -> None:
    assert asks_for_overview(question)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me and my flight to Rome?",
        "What do you know about merlins?", "What do you know about my car?", "Who am I meeting on Friday?", "Who is Ann?",
        "What do you remember about the trip to Rome?", "What have I told you about my landlord?", "Who am I to judge?",
        "Tell me about Porto.", "What did you tell me about me being late?", "Describe the flat.", "Who do you know?",
        "你知道什么？", "你知道我的车在哪里吗？", "关于杭州你知道什么？", "我是谁的邻居？",
    ],
)  # fmt: skip
def test_a_question_for_something_of_its_own_is_not(question: str) -> None:
    assert not asks_for_overview(question)


NOTED = [
    "Hi, I'm Ann and I work as a nurse in Leeds.", "My sister Karen runs a bakery.", "I'm allergic to peanuts.",
    "What's a good recipe for carrot soup?", "The heating has been broken since Monday.", "Thanks, that was great.",
    "What is the capital of Australia?",
]  # fmt: skip


@pytest.fixture(scope="module")
def ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """One who told some things and asked others, each in a thread of its own."""
    with Memory.open(tmp_path_factory.mktemp("overview"), settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        for number, text in enumerate(NOTED):
            reply = {"role": "assistant", "content": "Sure, noted."}
            user.remember([{"role": "user", "content": text}, reply], thread_id=f"{number}")
        user.flush()
        yield user


@pytest.mark.parametrize("question", ["What do you know about me?", "你知道我什么？", "Who am I?"])
def test_all_that_is_known_of_the_user_is_what_was_noted(ann: UserMemory, question: str) -> None:
    hits = ann.recall(question, k=6).hits
    assert [hit.kind for hit in hits] == ["core", "semantic", "core", "semantic", "core", "step"]
    told = " ".join(hit.text for hit in hits[:5])
    assert all(word in told for word in ("Ann", "nurse", "peanuts", "Karen (sister) runs a bakery", "heating"))


def test_where_the_family_is_asked_for_people_stand_first(ann: UserMemory) -> None:
    hits = ann.recall("What do you know about me and my family?", k=6).hits
    assert next(hit.text for hit in hits if hit.kind == "semantic").endswith("Karen (sister) runs a bakery")


def test_what_holds_no_more_is_not_among_what_is_known(ann: UserMemory) -> None:
    ann.remember("I quit my job as a nurse last month.", thread_id="later")
    ann.flush()
    believed = {item.id for item in ann.items()}
    noted = [hit for hit in ann.recall("What do you know about me?", k=6).hits if hit.kind == "core"]
    assert {hit.id for hit in noted} <= believed
    assert not any("nurse" in hit.text for hit in noted)


@pytest.mark.parametrize(
    "question", ["What do you know about my family?", "Tell me about my family.", "你知道我家人什么？"]
)
def test_of_ones_people_alone_nothing_else_is_told_first(ann: UserMemory, question: str) -> None:
    first, second = ann.recall(question, k=2).hits
    assert first.text.endswith("Karen (sister) runs a bakery")
    assert second.kind == "step"
