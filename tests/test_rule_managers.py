"""What the managers of the rules tier propose, and what they leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.agents.contract import Batch, HeardStep, Instruction
from hexamem.agents.rule_managers import rule_managers
from hexamem.intent.phrases.abbreviations import is_abbreviation_stop
from hexamem.memory_types import ITEM_KINDS, CoreItem, EpisodicItem, MemoryItem, SemanticItem, item_from
from hexamem.memory_types.proposals import Proposal
from hexamem.memory_types.step import Media, Role, Step

TUESDAY = datetime(2025, 3, 4, 9, 15, tzinfo=UTC)
Turn = str | tuple[Role, str]


def batch(
    *turns: Turn,
    before: Sequence[Turn] = (),
    zone: str = "Europe/London",
    shown: tuple[str, ...] = (),
    media: tuple[Media, ...] = (),
) -> Batch:
    def heard(number: int, turn: Turn) -> HeardStep:
        role, text = turn if isinstance(turn, tuple) else ("user", turn)
        step = Step(
            id=f"step_{number}", user="u", thread_id="t", turn=number, seq=number, role=role, content=text,
            index_text=text, occurred_at=TUESDAY + timedelta(minutes=number), media=media,
        )  # fmt: skip
        return HeardStep(step=step, resolved_text=text)

    steps = [heard(number, turn) for number, turn in enumerate([*before, *turns])]
    cut = len(before)
    return Batch(user="u", steps=tuple(steps[cut:]), before=tuple(steps[:cut]), zone=ZoneInfo(zone), shown=shown)


def proposed(given: Batch, nearest: Sequence[MemoryItem] = ()) -> list[Proposal]:
    known = {item.id: item for item in nearest}
    managers = rule_managers()
    return [
        one for kind in ITEM_KINDS for one in managers[kind].propose(given, Instruction(kind=kind), known).proposals
    ]


def core(text: str) -> list[str]:
    return [one.values["value"] for one in proposed(batch(text)) if one.kind == "core"]


def summaries(kind: str, *turns: Turn, before: Sequence[Turn] = ()) -> list[str]:
    return [one.values["summary"] for one in proposed(batch(*turns, before=before)) if one.kind == kind]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("My name is Tomasz Kowalski and I'm a structural engineer at Brandt.",
         ["Tomasz Kowalski", "Is a structural engineer", "Works at Brandt"]),
        ("I live near Lyon these days.", ["Lives near Lyon"]),
        ("For now we still live in the flat on Mill Lane in Leeds.", ["Lives in Leeds"]),
        ("I live in a small house near Lyon.", ["Lives near Lyon"]),
        ("I'm lactose intolerant and I don't like mushrooms.", ["Is lactose intolerant", "Dislikes mushrooms"]),
        ("I'm vegetarian and allergic to walnuts.", ["Is vegetarian", "Is allergic to walnuts"]),
        ("We adopted a greyhound named Comet.", ["Has a greyhound called Comet"]),
        ("My wife's name is Ines.", ["Wife: Ines"]),
        ("Please always answer in French.", ["Please always answer in French"]),
        ("I always take a window seat.", ["Always takes a window seat"]),
        ("Call me Kit.", ["Wants to be called Kit"]),
        ("I'm Anna Miller.", ["Anna Miller"]),
        ("I'm Diego Ferrer, a structural engineer at Brandt in Lyon.",
         ["Diego Ferrer", "Is a structural engineer", "Works at Brandt"]),
        ("I'm Lead Developer at Brandt.", []),
        ("I prefer short answers without lists, and you can call me Noor, everybody does.",
         ["I prefer short answers without lists", "Wants to be called Noor"]),
        ("我叫李想，住在厦门，对花生过敏。", ["李想", "住在厦门", "对花生过敏"]),
        ("我女朋友叫苏晴。", ["女朋友：苏晴"]),
        ("我們家養了一隻金毛叫大福。", ["养了金毛，叫大福"]),
        ("以后回答都用繁体中文。", ["以后回答都用繁体中文"]),
        ("我 base 在 Berlin，对 latex 过敏。", ["住在Berlin", "对latex过敏"]),
    ],
)  # fmt: skip
def test_self_reports_become_core_items(text: str, values: list[str]) -> None:
    assert sorted(core(text)) == sorted(values)


@pytest.mark.parametrize(
    "text",
    [
        "If I won the lottery I'd live in Monaco.",
        "I might move to Berlin.",
        "Do you think I'm allergic to nuts?",
        'She said "I hate olives and I live in Bari".',
        "I'm not allergic to anything.",
        "I'm on my way.",
        "I love this song!",
        "My boss says I'm a terrible driver.",
        "My sister is vegetarian and lives in Oslo.",
        "I used to live in Rome.",
        "Just kidding, I live in a castle called Dunmore.",
        "要是我中了五百万，我就住在大理。",
        "我可能搬到上海。",
        "我爸对青霉素过敏。",
        "你觉得我该住在北京吗？",
    ],
)
def test_what_does_not_hold_of_the_user_gives_no_core_item(text: str) -> None:
    assert core(text) == []


@pytest.mark.parametrize(
    "supposed",
    [
        "If I won the lottery I would live in Monaco.",
        "If I were you I would call them.",
        "Imagine I won the lottery. I'd drive a Bentley.",
        "Can you imagine, I won the raffle!",
        "Suppose I owned a farm. My wife would keep goats.",
        "要是我中了五百万，我就住在大理。",
    ],
)
def test_what_is_supposed_silences_neither_later_messages_nor_what_holds_in_its_own(supposed: str) -> None:
    said = "I never eat pork and I hate jazz."
    for turns in ((supposed, said), (f"{supposed} {said}",)):
        values = [one.values["value"] for one in proposed(batch(*turns)) if one.kind == "core"]
        assert values == ["Does not eat pork", "Dislikes jazz"]


def test_words_of_the_assistant_the_system_and_of_tools_are_no_facts() -> None:
    turns: list[Turn] = [
        ("assistant", "I live in the cloud. Call me Max."),
        ("system", "I'm a nurse."),
        ("tool", "I live in Bonn."),
    ]
    assert proposed(batch(*turns)) == []


def test_steps_before_the_batch_are_understood_but_not_learned() -> None:
    given = batch("He drives a lorry for a dairy.", before=["My brother Declan visits on Sundays. I live in Cork."])
    assert [(one.kind, one.values["summary"]) for one in proposed(given)] == [
        ("semantic", "Declan (brother) drives a lorry for a dairy")
    ]


def test_a_move_carries_its_date_and_its_slot() -> None:
    home = next(one for one in proposed(batch("I moved to Galway last Saturday.")) if one.kind == "core")
    assert home.values["valid_from"].date().isoformat() == "2025-03-01"
    assert home.values["metadata"] == {"slot": "home_city", "value": "Galway"}


def test_a_known_value_of_the_slot_is_superseded_and_the_same_value_is_known() -> None:
    old = CoreItem(label="home", value="Lives in Cork", metadata={"slot": "home_city"})
    moved = [one for one in proposed(batch("I live in Galway."), [old]) if one.kind == "core"]
    told = [one for one in proposed(batch("I live in Cork."), [old]) if one.kind == "core"]
    assert [(one.operation, one.target) for one in moved] == [("supersede", old.id)]
    assert [(one.operation, one.target) for one in told] == [("noop", old.id)]


def test_what_is_told_of_others_is_semantic_under_their_name() -> None:
    assert summaries("semantic", "My flatmate Marta is moving to Oslo. She's coeliac.") == [
        "Marta (flatmate) is moving to Oslo",
        "Marta (flatmate) is coeliac",
    ]
    assert summaries("semantic", "公公以前是开火车的，退休了。") == ["公公以前是开火车的，退休了"]


def test_facts_about_things_need_something_concrete() -> None:
    assert summaries("semantic", "The staging DB is read-only on Fridays.") == [
        "The staging DB is read-only on Fridays"
    ]
    assert summaries("semantic", "The view is lovely.", "The tree will do.") == []


def test_events_name_the_day_instead_of_yesterday() -> None:
    assert summaries("episodic", "Yesterday I handed in my thesis!") == ["On 2025-03-03 I handed in my thesis"]
    assert summaries("episodic", "下周三下午两点要去医院复诊。") == [
        "2025-03-12下午两点要去医院复诊 (2025-03-12 14:00)"
    ]


@pytest.mark.parametrize(
    "text", ["Bit grey today, isn't it?", "I run every Monday.", "Good night, see you tomorrow!", "今天好累啊"]
)
def test_small_talk_and_recurrences_are_no_events(text: str) -> None:
    assert summaries("episodic", text) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I've signed up for the Bergen half marathon on 24 January.", "2026-01-24"),
        ("I signed up for the half marathon on 24 January.", "2026-01-24"),
        ("My sister's registered for a pottery course on 2 February.", "2026-02-02"),
        ("The release is planned for 24 January.", "2026-01-24"),
        ("We got tickets for the concert on 9 January.", "2026-01-09"),
        ("We have planned the wedding for 5 January.", "2026-01-05"),
        ("我报名了1月24号的半程马拉松。", "2026-01-24"),
        ("我抢到了1月3日的演唱会门票！", "2026-01-03"),
        ("I ran the half marathon on 24 January.", "2025-01-24"),
        ("I signed up for the gym on 3 January.", "2025-01-03"),
        ("I've just registered my car on 3 January.", "2025-01-03"),
        ("I signed up for the race on 3 January and finished last.", "2025-01-03"),
        ("I was enrolled in the course on 3 January.", "2025-01-03"),
        ("The exam was scheduled for 24 January but I missed it.", "2025-01-24"),
        ("我1月24号跑了半程马拉松。", "2025-01-24"),
        ("我参加了1月24号的半程马拉松。", "2025-01-24"),
        ("我1月3号买了一辆车。", "2025-01-03"),
    ],
)
def test_what_one_is_down_for_lies_ahead_and_what_one_did_lies_behind(text: str, day: str) -> None:
    (one,) = [each for each in proposed(batch(text)) if each.kind == "episodic"]
    assert one.values["occurred_at"].date().isoformat() == day


@pytest.mark.parametrize(
    ("text", "day", "summary"),
    [
        ("I booked the flights on 3 January.", "2025-01-03", "I booked the flights on 2025-01-03"),
        ("I booked the flights on 3 December.", "2024-12-03", "I booked the flights on 2024-12-03"),
        ("My wife booked a hotel in Rome on 3 July.", "2024-07-03", "My wife booked a hotel in Rome on 2024-07-03"),
        ("I booked the flights on Friday.", "2025-02-28", "I booked the flights on 2025-02-28"),
        ("I booked the flights for 3 July.", "2025-07-03", "I booked the flights for 2025-07-03"),
        ("I ordered a cake for 5 June.", "2025-06-05", "I ordered a cake for 2025-06-05"),
        (
            "We booked a table on 3 January for 12 April.",
            "2025-04-12",
            "We booked a table on 2025-01-03 for 2025-04-12",
        ),
        ("I booked a haircut on 3 April.", "2025-04-03", "I booked a haircut on 2025-04-03"),
        ("I have booked the vet on 3 April.", "2025-04-03", "I have booked the vet on 2025-04-03"),
        ("The flights are booked on 3 April.", "2025-04-03", "The flights are booked on 2025-04-03"),
        ("我7月3日订了机票。", "2024-07-03", "我2024-07-03订了机票"),
        ("我订了7月3日的机票。", "2025-07-03", "我订了2025-07-03的机票"),
    ],
)
def test_booking_is_done_on_the_last_such_day_and_for_the_next(text: str, day: str, summary: str) -> None:
    (one,) = [each for each in proposed(batch(text)) if each.kind == "episodic"]
    assert one.values["occurred_at"].date().isoformat() == day
    assert one.values["summary"] == summary


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Mark moved to Leeds on 3 June.", "2024-06-03"),
        ("My sister moved back to New York on 3 June.", "2024-06-03"),
        ("Mark is moving to Leeds on 3 June.", "2025-06-03"),
        ("The meeting moved to 3 June.", "2025-06-03"),
        ("The party has been moved to Saturday 7 June.", "2025-06-07"),
    ],
)
def test_who_moved_to_a_place_did_and_what_was_moved_to_a_day_will_be(text: str, day: str) -> None:
    (one,) = [each for each in proposed(batch(text)) if each.kind == "episodic"]
    assert one.values["occurred_at"].date().isoformat() == day


def test_a_slip_replaces_the_event_of_the_same_batch() -> None:
    turns: list[Turn] = [
        "I have the dentist on Monday at half three.",
        ("assistant", "Noted."),
        "Sorry, I meant Tuesday.",
    ]
    assert [one.values["occurred_at"].isoformat() for one in proposed(batch(*turns)) if one.kind == "episodic"] == [
        "2025-03-11T15:30:00+00:00"
    ]


def test_a_slip_updates_the_event_known_from_before() -> None:
    known = EpisodicItem(occurred_at=TUESDAY, summary="The dentist on 2025-03-10", metadata={"slot": "event:step_0:24"})
    given = batch("Sorry, I meant Tuesday.", before=["I have the dentist on Monday at half three."])
    (one,) = [each for each in proposed(given, [known]) if each.kind == "episodic"]
    assert (one.operation, one.target) == ("update", known.id)
    assert [quote.step_id for quote in one.evidence] == ["step_1"]


def test_a_moved_event_and_one_called_off_keep_the_slot_of_the_first() -> None:
    moved = [
        one
        for one in proposed(batch("The demo for Acme is on Friday.", "The Acme demo moved to Monday."))
        if one.kind == "episodic"
    ]
    off = [
        one
        for one in proposed(batch("We're off to Lisbon on 20 June.", "Lisbon's off, I'm afraid."))
        if one.kind == "episodic"
    ]
    for first, second in (moved, off):
        assert first.values["metadata"]["slot"] == second.values["metadata"]["slot"]
        assert first.values["metadata"]["value"] != second.values["metadata"]["value"]


def test_a_name_put_right_changes_the_fact() -> None:
    assert summaries("semantic", "我同事 Priya 对 latex 过敏。", "啊，不是 Priya，是 Bonnie 过敏。") == [
        "Bonnie（同事）对 latex 过敏"
    ]


def test_numbered_steps_are_one_procedure_in_order() -> None:
    (one,) = [
        each
        for each in proposed(
            batch("Keep my soda bread:\n1. Heat the oven.\n2. Mix flour and salt.\n3. Bake 40 minutes.")
        )
        if each.kind == "procedural"
    ]
    assert one.values["steps"] == ("Heat the oven.", "Mix flour and salt.", "Bake 40 minutes.")
    assert one.values["summary"] == "Keep my soda bread"


def test_steps_told_in_prose_and_standing_wishes_are_procedures() -> None:
    (one,) = [
        each
        for each in proposed(batch("To reset the router: unplug it, wait a minute, then plug it back in."))
        if each.kind == "procedural"
    ]
    assert one.values["steps"] == ("unplug it", "wait a minute", "plug it back in")
    assert summaries("procedural", "From now on, never push to main without running the tests.") != []
    assert summaries("procedural", "Let me know whenever you need help!", "Always here to help.") == []


def test_a_pasted_mail_is_kept_whole_and_its_writer_is_not_the_user() -> None:
    mail = "Subject: Welcome\nFrom: hr@firm.example\n\nDear Jo,\nI live in Malmö and I'm a nurse. The tour is on 20 March.\nAmanda"
    found = proposed(batch(f"Keep this please:\n\n{mail}"))
    assert [one.values["content"] for one in found if one.kind == "resource"] == [mail]
    assert [one for one in found if one.kind == "core"] == []
    assert [one.values["occurred_at"].date().isoformat() for one in found if one.kind == "episodic"] == ["2025-03-20"]


def test_attached_files_and_transcripts_are_resources() -> None:
    recording = Media(kind="audio", name="call.m4a", transcript="We agreed on blue tiles.")
    (one,) = proposed(batch("Here you go.", media=(recording,)))
    assert (one.kind, one.values["title"], one.values["content"]) == (
        "resource",
        "call.m4a",
        "We agreed on blue tiles.",
    )


GARDEN = "Minutes of the garden club\n- the beds get rows\n- the shed gets a roof\n- Bo buys the seeds"


@pytest.mark.parametrize(
    ("said", "titles"),
    [
        (f"Here is garden-notes.txt:\n\n{GARDEN}", ["Minutes of the garden club"]),
        (f"Please keep these notes:\n\n{GARDEN}\n- see the attached plan.pdf", ["Minutes of the garden club"]),
        (f"I attached plan.pdf. And here are the notes:\n\n{GARDEN}", ["plan.pdf", "Minutes of the garden club"]),
        ("I attached plan.pdf and seeds.csv.", ["plan.pdf", "seeds.csv"]),
    ],
)
def test_a_note_is_one_resource_whatever_files_it_names(said: str, titles: list[str]) -> None:
    assert [one.values["title"] for one in proposed(batch(said)) if one.kind == "resource"] == titles


def test_contacts_go_to_the_vault_with_their_owner_and_nowhere_else() -> None:
    found = proposed(batch("The plumber is Mick Dunne, mick@dunne.example. My mobile is 07700 900431."))
    vault = [one for one in found if one.kind == "vault"]
    assert [(one.secret, one.values["caption"]) for one in vault] == [
        ("mick@dunne.example", "e-mail of Mick Dunne (plumber)"),
        ("07700 900431", "the user's own mobile phone"),
    ]
    assert not any("900431" in str(one.values) or "mick@" in str(one.values) for one in found)


@pytest.mark.parametrize(
    ("said", "secrets"),
    [
        ("Ring Tom on +47 555 01 23.", {"+47 555 01 23": "phone of Tom"}),
        ("My phone number is 555 01 77.", {"555 01 77": "the user's own phone"}),
        ("我的电话是 010-6555 0123。", {"010-6555 0123": "用户自己的电话"}),
        ("I met Tom at the hotel, his number is 020 7946 0123.", {"020 7946 0123": "phone of Tom"}),
        ("For emergencies ring 020 7946 0123.", {}),
        ("The reception of the hotel can be reached at +47 22 55 01 23.", {}),
        ("客服热线是 010-65550123。", {}),
        ("医院的电话是010-65550123。", {}),
        ("The order number is 5550123, and +100 000 000 people saw it.", {}),
    ],
)
def test_phone_numbers_of_people_are_hidden_however_written_and_public_ones_are_not(
    said: str, secrets: dict[str, str]
) -> None:
    found = proposed(batch(said))
    assert {one.secret: one.values["caption"] for one in found if one.kind == "vault"} == secrets


@pytest.mark.parametrize(
    ("said", "title", "content"),
    [
        (
            'This is our leaflet, keep it for me: "After the operation. Keep your cat indoors. Emergencies: 020 7946 0123."',
            "After the operation",
            "After the operation. Keep your cat indoors. Emergencies: 020 7946 0123.",
        ),
        (
            "Here's the client's note, store it: 'Harbour bridge. Railing 1.3 m, it's for cyclists. Ms Berg, phone +47 555 01 23.'",
            "Harbour bridge",
            "Harbour bridge. Railing 1.3 m, it's for cyclists. Ms Berg, phone +47 555 01 23.",
        ),
        (
            "这是物业的通知，帮我保存：“周三停水。请提前储水。有问题请拨打张工的手机13812345678。”",
            "周三停水",
            "周三停水。请提前储水。有问题请拨打张工的手机13812345678。",
        ),
    ],
)
def test_a_quoted_text_to_be_kept_is_a_document_and_its_contacts_stay_in_words(
    said: str, title: str, content: str
) -> None:
    found = proposed(batch(said))
    [kept] = [one for one in found if one.kind == "resource"]
    assert (kept.values["title"], kept.values["content"]) == (title, content)
    assert not [one for one in found if one.kind in ("vault", "core")]


@pytest.mark.parametrize(
    "said",
    [
        'My mother always says: "Never go to bed angry. Tomorrow is another day, my dear."',
        'Save the recipe: "1. Chop the leeks finely. 2. Boil them in the broth for an hour."',
        "我妈妈常说：“早睡早起身体好。明天又是新的一天，别着急。”",
    ],
)
def test_a_quotation_that_nobody_asks_to_keep_is_no_document(said: str) -> None:
    assert not [one for one in proposed(batch(said)) if one.kind == "resource"]


def test_references_to_secrets_are_left_as_they_are() -> None:
    found = proposed(batch("Our wifi password is {{vault:abc-1|password of the wifi}}, and I live in Cork."))
    assert [(one.kind, one.secret) for one in found] == [("core", None)]


def test_every_quote_stands_in_its_step() -> None:
    given = batch(
        "Hi! I'm Dana, I live in Bonn.", "My cousin Ben is a pilot; he flies to Oslo on 3 May.", "1. Boil\n2. Serve"
    )
    texts = {heard.step.id: heard.step.content for heard in given.steps}
    quotes = [quote for one in proposed(given) for quote in one.evidence]
    assert len(quotes) > 4
    assert all(quote.quote in texts[quote.step_id] for quote in quotes)


def test_what_recall_has_just_shown_is_not_learned_again() -> None:
    assert proposed(batch("I live in Galway with my cat.", shown=("user: I live in Galway with my cat.",))) == []


def test_a_fact_about_another_is_no_duplicate_of_one_known_in_the_same_words() -> None:
    known = SemanticItem(name="Omar", summary="Omar (friend) is a pilot")
    found = [one for one in proposed(batch("My friend Omar is a pilot."), [known]) if one.kind == "semantic"]
    assert [(one.operation, one.target) for one in found] == [("noop", known.id)]


HOSTILE = st.text(alphabet="我叫是在了，。？ I'mAlexmy sister \n\0\u202e\ud800\"“”{}|`1.@-0792345号月:", max_size=200)


@settings(max_examples=150, deadline=None)
@given(st.lists(HOSTILE.filter(lambda text: text != ""), min_size=1, max_size=3))
def test_no_text_makes_a_manager_fail_and_every_item_can_be_built(texts: list[str]) -> None:
    for one in proposed(batch(*texts)):
        if one.operation == "add":
            item_from({"kind": one.kind, **one.values})


@pytest.mark.parametrize("piece", ["I'm a ", "\n", "```\n", "我叫", "1 ", "my my sister ", "“", "on 1 March ", "\0"])
def test_a_text_of_megabytes_is_read_in_part_and_kept_whole(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    for one in proposed(batch(text)):
        assert one.kind != "resource" or len(one.values["content"]) > 900_000


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Team lead is Shalini.", "Shalini"),
        ("The spare key is under the blue pot.", "under the blue pot"),
        ("rent is 1,150 excluding bills", "1,150"),
        ("The settlement service, code name Heron, keeps its ledger in MySQL.", "MySQL"),
        ("Hafiz doesn't eat pork, Joanne is vegan.", "Hafiz doesn't eat pork"),
        ("My therapist moved. Her name's Dr Marchetti.", "Marchetti"),
        ("Nana lives in Porthcawl.", "Porthcawl"),
        ("Never on time, my boss Camila.", "Camila"),
        ("另外对方采购负责人是周总监，周启航。", "周启航"),
        ("QA 那边现在是 Yolanda 负责", "Yolanda"),
        ("我们的日志用的是 Loki，不是 ELK", "Loki"),
    ],
)
def test_plain_statements_about_definite_things_are_kept(text: str, held: str) -> None:
    assert any(held in each for each in summaries("semantic", text))


@pytest.mark.parametrize(
    "text",
    [
        "The weather is 20 degrees today",
        "The bus is late again",
        "TIMESTAMP: 2025-05-02T20:04",
        "Let's start with Day 2",
        "The food was so good at Nando's",
        "What is the rent in Leeds?",
        "If the rent is 900 I'd take it",
        "今天天气三十度",
        "老师群里发的",
    ],
)
def test_news_of_the_day_opinions_and_questions_are_no_statements(text: str) -> None:
    assert summaries("semantic", text) == []


@pytest.mark.parametrize(
    ("turns", "held"),
    [
        (("If the boiler shows E133, turn the knob left and wait a minute.",), "turn the knob"),
        (("and never release on a friday, my boss will kill me",), "friday"),
        (
            ("my supervisor only reads PDFs with line numbers, so remind me of that whenever I send him something",),
            "line",
        ),
        (
            (
                "I want to save how my gran made the bread",
                "so you put a tablespoon of molasses in, bake it for 45 minutes",
            ),
            "molasses",
        ),
        (("我背单词的办法：早上看三十个，晚上默写，错的抄到红本子上",), "红本子"),
        (("我这个红烧肉的做法你记一下", "五花肉切块先焯水，冰糖小火炒到枣红色，放一罐黄酒"), "黄酒"),
    ],
)
def test_how_to_is_kept_in_whatever_form_it_is_told(turns: tuple[str, ...], held: str) -> None:
    found = [one.values for one in proposed(batch(*turns)) if one.kind == "procedural"]
    assert any(held in f"{each['summary']} {each['steps']}" for each in found)
    assert not any("kill" in f"{each['summary']} {each['steps']}" for each in found)


def test_what_stands_in_a_quote_or_is_looked_up_is_no_event() -> None:
    assert summaries("episodic", '那 "我下周一要去火星开会" 英文咋说', "帮我看看明天 calendar 有什么") == []


def test_notes_without_a_subject_are_about_the_user() -> None:
    assert core("note: based in Leeds.") == ["Lives in Leeds"]


def test_the_last_fact_is_put_right_after_a_slip() -> None:
    found = proposed(batch("I'm allergic to walnuts", "oh wait no, its hazelnuts"))
    assert [one.values["value"] for one in found if one.kind == "core"] == ["Is allergic to hazelnuts"]


def test_codes_are_taken_to_the_vault_and_out_of_all_else() -> None:
    found = proposed(batch("the wifi is Brindle-Otter-58 and the key safe outside is 4471"))
    assert {one.secret for one in found if one.kind == "vault"} == {"Brindle-Otter-58", "4471"}
    assert not any("4471" in str(one.values) or "Brindle" in str(one.values) for one in found)


OTHER_WORDS = {"I've been in Leeds for nine years.": "Leeds", "Everyone calls me Fen.": "Fen"}


@pytest.mark.parametrize(("text", "held"), OTHER_WORDS.items())
def test_what_people_say_of_themselves_in_other_words_is_kept(text: str, held: str) -> None:
    assert any(held in value for value in core(text))


def test_a_no_to_a_question_does_not_correct_another_day() -> None:
    assert (
        len(summaries("episodic", "The surveyor came last Friday.", "No, not yet. The roofers visit on Thursday.")) == 2
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I work as a nurse at St. Olave's hospital and I live in Leeds.",
         ["Lives in Leeds", "Works as a nurse", "Works at St. Olave's hospital"]),
        ("I live in Mt. Vernon. I hate jazz.", ["Dislikes jazz", "Lives in Mt. Vernon"]),
        ("I like fruit, e.g. pears, and I live in St. Albans.", ["Likes fruit", "Lives in St. Albans"]),
        ("I grew up on Baker St. I live in York.", ["Lives in York"]),
    ],
)  # fmt: skip
def test_an_abbreviation_ends_no_sentence(text: str, values: list[str]) -> None:
    assert sorted(value for value in core(text) if "grew" not in value.lower()) == values


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("He saw Dr. Smith. She left.", 2), ("Room No. 5 is free. No. We left.", 3), ("At 3 p.m. on Friday.", 1),
        ("It ends at 3 p.m. We left.", 2), ("Pears, e.g. Conference.", 1), ("On Elm Rd. in Leeds.", 1),
        ("Cats vs. dogs etc. and so on.", 1), ("On Baker St. We left.", 2), ("I go to the St. James shop.", 1),
        ("At St. Olave's we met.", 1),
    ],
)  # fmt: skip
def test_full_stops_of_abbreviations_are_told_from_those_of_sentences(text: str, ends: int) -> None:
    stops = [at for at, sign in enumerate(text) if sign == "." and text[at + 1 : at + 2] in ("", " ")]
    assert sum(not is_abbreviation_stop(text, at) for at in stops) == ends


@pytest.mark.parametrize(
    ("first", "correction", "expected"),
    [
        ("I start at York District Hospital on Thursday.", "Sorry, I meant Wednesday, not Thursday.",
         {"Works at York District Hospital (since 2025-03-05)", "I start at York District Hospital on 2025-03-05"}),
        ("My birthday is 4 May 1990.", "Sorry, I meant 5 May 1990.",
         {"Birthday: 5 May 1990", "My birthday is on 1990-05-05"}),
        ("My dog is called Rex.", "Actually, my dog is called Max, not Rex.",
         {"Has a dog called Max", "My dog is called Max"}),
    ],
)  # fmt: skip
def test_a_correction_takes_a_value_back_wherever_it_was_learned(
    first: str, correction: str, expected: set[str]
) -> None:
    for turns in ((first, correction), (f"{first} {correction}",)):
        values = [one.values for one in proposed(batch(*turns))]
        assert {value.get("value") or value["summary"] for value in values} == expected


def test_a_weekday_put_right_is_the_one_that_would_have_been_said_in_its_place() -> None:
    # Said on a Tuesday: Monday is six days ahead, and so Wednesday is tomorrow.
    told = summaries("episodic", "The plumber is coming to us on Monday.", "Sorry, I meant Wednesday.")
    assert told == ["The plumber is coming to us on 2025-03-05"]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "Can you remind me to call Dr. Patel on Friday at 3pm?",
            "Call Dr. Patel on 2025-03-07 at 3pm (2025-03-07 15:00)",
        ),
        ("Please remind me to book the ferry tomorrow.", "Book the ferry on 2025-03-05"),
        ("Could you set a reminder to water the plants on Sunday?", "Water the plants on 2025-03-09"),
    ],
)
def test_a_reminder_says_what_is_to_be_done(text: str, summary: str) -> None:
    [event] = [one for one in proposed(batch(text)) if one.kind == "episodic"]
    assert (event.values["summary"], event.values["event_type"]) == (summary, "reminder")


def test_what_is_never_eaten_is_told_once() -> None:
    assert core("I never eat meat.") == ["Does not eat meat"]


@pytest.mark.parametrize(
    "text",
    [
        "The seafood restaurants are only for Petra.",
        "The van is booked with Declan.",
        "The cat is ill, Declan is minding her.",
    ],
)
def test_what_is_true_for_the_moment_of_something_unnamed_is_no_fact(text: str) -> None:
    assert summaries("semantic", text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("我住在杭州,在阿里巴巴工作。", ["住在杭州", "在阿里巴巴工作"]),
        ("我叫李雷,我住在杭州. 我对花生过敏!", ["李雷", "住在杭州", "对花生过敏"]),
        ("我住在Berlin,对latex过敏;我叫李雷", ["住在Berlin", "对latex过敏", "李雷"]),
    ],
)
def test_marks_of_ascii_between_chinese_words_are_read_as_chinese_ones(text: str, values: list[str]) -> None:
    assert sorted(core(text)) == sorted(values)


@pytest.mark.parametrize(
    "text",
    [
        "下周五要去北京出差三天,住在国贸附近的酒店。", "下周去北京出差,住在希尔顿酒店。", "周末我住在如家宾馆。",
        "去三亚旅游五天,住在亚龙湾。",
        "这次在上海住在朋友家,待两天。", "我暂时住在上海。", "我在成都待三天,住在春熙路。", "经常去上海出差,住在浦东。",
        "I'm living in Rome for three days.", "We live at the Hilton Hotel.",
        "I'm living in Rome at a hotel near Termini.",
        "While I'm in Rome, I'm living near Termini.", "I'm in Rome now for three days.", "I live in Leeds at a friend's place.",
        "I'm going to Berlin on business next week, I'll be living in Mitte.", "We're based in Lisbon until Friday.",
        "I'm living in Porto in an Airbnb.", "I lived in Rome for three days last year.",
    ],
)  # fmt: skip
def test_where_one_stays_for_a_while_is_no_home(text: str) -> None:
    assert [one for one in proposed(batch(text)) if one.kind == "core"] == []


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("我住在杭州。", "住在杭州"), ("我现在住在国贸附近的公寓。", "住在国贸附近"), ("我住在杭州,下周去北京出差。", "住在杭州"),
        ("我经常出差,住在上海。", "住在上海"), ("我住在希尔顿酒店旁边。", "住在希尔顿酒店旁边"), ("我住在北京三年了。", "住在北京"),
        ("我上班五天,休息两天,住在杭州。", "住在杭州"), ("我今年三十二岁,住在上海。", "住在上海"),
        ("我们上周搬了家,住在西湖区。", "住在西湖区（自2025-02-24前后）"),
        ("I live in Zurich, and I'm going to Rome for three days.", "Lives in Zurich"),
        ("I live in Rome and work at a hotel.", "Lives in Rome"), ("I live near the Hilton Hotel.", "Lives near Hilton Hotel"),
        ("I'm living in Rome for three years.", "Lives in Rome"), ("I've been living in Rome for two weeks.", "Lives in Rome"),
        ("I travel on business a lot, I live in Oslo.", "Lives in Oslo"), ("I'm in Rome now.", "Lives in Rome"),
        ("I live in Oslo and work from home for three days a week.", "Lives in Oslo"),
    ],
)  # fmt: skip
def test_a_home_is_learned_beside_talk_of_trips_and_hotels(text: str, home: str) -> None:
    assert [value for value in core(text) if value.startswith(("住在", "Lives "))] == [home]


@pytest.mark.parametrize(
    ("text", "home", "event"),
    [
        ("We moved to Hangzhou last weekend.", "Lives in Hangzhou (since about 2025-03-01)", "2025-03-01 to 2025-03-02"),
        ("我们上周末搬到了杭州。", "住在杭州（自2025-03-01前后）", "我们2025-03-01至2025-03-02搬到了杭州"),
    ],
)  # fmt: skip
def test_a_beginning_within_several_days_is_told_in_the_language_of_the_text(text: str, home: str, event: str) -> None:
    told = proposed(batch(text, zone="UTC"))
    assert [one.values["value"] for one in told if one.kind == "core"] == [home]
    assert [one.values["valid_from"] for one in told if one.kind == "core"] == [datetime(2025, 3, 1, tzinfo=UTC)]
    assert all(event in one.values["summary"] for one in told if one.kind == "episodic")


def test_a_year_in_a_chinese_text_is_told_in_chinese() -> None:
    assert core("我2019年搬到了杭州。") == ["住在杭州（自2019年）"]
    assert core("I moved to Oslo in 2019.") == ["Lives in Oslo (since 2019)"]


def test_shifts_that_are_worked_move_nothing() -> None:
    assert summaries("episodic", "My wife Ines works night shifts until March.") == []


def test_a_trip_that_shifts_by_a_day_takes_the_place_of_the_one_that_lies_so_far_away() -> None:
    told = "I'm flying to Oslo on 8 June to inspect a bridge, back on the 11th."
    shift = "Oslo has shifted by a day: I fly on the 9th of June and come back on the 12th."
    known = [item_from({**one.values, "kind": one.kind, "user": "u"}) for one in proposed(batch(told))]
    assert len(known) == 2
    [moved] = [one for one in proposed(batch(shift), list(reversed(known))) if one.kind != "core"]
    flight = next(item for item in known if "flying" in item.text)
    assert (moved.kind, moved.operation, moved.target) == ("episodic", "supersede", flight.id)


def test_a_fact_put_right_by_another_day_of_the_week_is_told_once() -> None:
    turns = (
        "Mia's cello lesson is on Wednesdays.",
        "Small correction: Mia's cello lesson is on Fridays, not on Wednesdays.",
    )
    assert summaries("semantic", *turns) == ["Mia's cello lesson is on Fridays"]


def test_what_a_question_names_is_told_with_the_day_that_follows_it() -> None:
    [told] = summaries(
        "episodic", "What could I bake for Mia's birthday party? It's on 12 June and eight children come."
    )
    assert told.startswith("It's on 2025-06-12")
    assert "birthday party" in told


def test_steps_are_told_without_the_words_that_lead_to_them() -> None:
    text = (
        "This is how we close the clinic at night: first count the animals, then lock the cabinet, then set the alarm, "
        "and last hang the key in the box."
    )
    [told] = [one for one in proposed(batch(text)) if one.kind == "procedural"]
    assert told.values["steps"] == ("count the animals", "lock the cabinet", "set the alarm", "hang the key in the box")


def test_a_bare_title_is_nobody() -> None:
    said = ("user", "We named her Pickle. Pickle has been to the vet, Dr Osei; she has a heart murmur.")
    assert not any(text.startswith("Dr ") for text in summaries("semantic", said))
