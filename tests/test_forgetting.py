"""Forgetting as a person means it: by the tool, in the prompts of an agent, and in the chat."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import MemoryMiddleware, UserMemory, memory_tools
from hexamem.forgotten_messages import as_read_now

from .scripted_chat import ScriptedChat, calls

BAND = "Arjun plays bass in a band called Slow Lantern."
CELLAR = "They rehearse in our cellar every Thursday evening, so I go swimming then."
MARK = "[forgotten]"


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody who has said nothing yet."""
    return labelled_newcomer


def tell(user: UserMemory, *said: str, thread: str = "old") -> list[str]:
    """Store what a person and an assistant say in turn, and learn from it."""
    talk = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    ids = list(user.remember(talk, thread_id=thread).step_ids)
    user.flush()
    return ids


def forget(user: UserMemory, **arguments: Any) -> dict[str, Any]:
    """What a model gets from the tool."""
    model = ScriptedChat([calls("forget", **arguments), "Done."])
    out = create_agent(model, memory_tools(user.memory, names=["forget"])).invoke(
        {"messages": [HumanMessage("Go.")]}, {"configurable": {"thread_id": "now"}}, context={"user": user.name}
    )
    message = out["messages"][2]
    assert message.status == "success", message.text
    return json.loads(message.text)


def left(user: UserMemory) -> list[str]:
    return [" ".join(step.content.split()) for step in user.steps()]


def told(done: dict[str, Any]) -> list[str]:
    return [one["text"] for one in done.get("not_sure", ())]


# -- replies ----------------------------------------------------------------------------------------------------------

REPLIES = {
    "repeats it": ([BAND, "Noted: Arjun's band is called Slow Lantern."], []),
    "repeats it in other words": ([BAND, "Slow Lantern, great name!"], []),
    "repeats all of it": (
        [
            f"{BAND} {CELLAR}",
            "Lovely: Slow Lantern rehearses at your place on Thursday evenings, and that's your swimming time. Noted.",
        ],
        [],
    ),
    "says nothing of it": ([BAND, "Noted."], ["Noted."]),
    "with words that stand elsewhere too": (
        [
            "I've two rooms to let.",
            "Good luck.",
            "Zbyszek of Slow Lantern snores, so we need two rooms.",
            "Noted: two rooms for the snoring Zbyszek. Shall I look for places with two singles?",
        ],
        ["I've two rooms to let.", "Good luck.", f"{MARK} Shall I look for places with two singles?"],
    ),
    "a request to forget it": (
        [BAND, "Noted.", "Please forget what I said about Slow Lantern.", "Which of it?"],
        ["Noted.", "Which of it?"],
    ),
    "says it and more": (
        [BAND, "Slow Lantern, nice! By the way, your parcel from Leipzig was delivered to the neighbours."],
        [f"{MARK} By the way, your parcel from Leipzig was delivered to the neighbours."],
    ),
    "an earlier one of other things": (
        ["I like figs.", "Figs are in season in August.", BAND, "Noted: Slow Lantern."],
        ["I like figs.", "Figs are in season in August."],
    ),
    "a later one": (
        [BAND, "Noted.", "What shall I do tonight?", "Slow Lantern plays bass-heavy music: hear the band of Arjun."],
        ["Noted.", "What shall I do tonight?"],
    ),
    "with the date reckoned": (
        [
            "Tomorrow I'm having lunch with the Slow Lantern people at the Corn Exchange.",
            "Noted: lunch with the Slow Lantern people at the Corn Exchange tomorrow, Wednesday 25 November.",
        ],
        [],
    ),
    "with news of its own": (
        ["Please order 200 kilos of rye flour for Slow Lantern.", "The rye flour is ordered. Delivery is on Thursday."],
        [f"{MARK} Delivery is on Thursday."],
    ),
    "of another day with the same figures": (
        [
            "Slow Lantern plays on 14 December at half past two.",
            "Nice.",
            "When does my train leave?",
            "At 14:30 on Monday 14 December, from platform 2.",
        ],
        ["Nice.", "When does my train leave?", "At 14:30 on Monday 14 December, from platform 2."],
    ),
    "一句回答": (["阿俊在慢灯笼乐队弹贝斯。", "好的，记住了：阿俊在慢灯笼乐队弹贝斯。"], []),
}


@pytest.mark.parametrize(("said", "kept"), REPLIES.values(), ids=REPLIES)
def test_a_reply_that_only_repeats_a_forgotten_message_goes_with_it_and_comes_back_with_it(
    alice: UserMemory, said: list[str], kept: list[str]
) -> None:
    steps = tell(alice, *said)
    step = steps[next(at for at, one in enumerate(said) if "Slow Lantern" in one or "慢灯笼" in one)]
    items = [one.text for one in alice.items()]
    done = forget(alice, ids=[step])
    assert left(alice) == kept
    assert len(done["undo_with"]) == 1
    assert "not_sure" not in done
    alice.undo(done["undo_with"][0])
    assert left(alice) == said
    assert [one.text for one in alice.items()] == items


def test_a_reply_that_says_it_among_other_things_in_one_breath_is_left_and_told(alice: UserMemory) -> None:
    reply = "Since Slow Lantern is loud, order earplugs from Holger's pharmacy in Leipzig, model Silento 500, by Friday noon"
    [step, *_] = tell(alice, BAND, reply)
    done = forget(alice, ids=[step])
    assert told(done) == [reply]
    assert "NOT forgotten" in done["next"]
    assert left(alice) == [reply]
    forget(alice, ids=[one["id"] for one in done["not_sure"]])
    assert left(alice) == []


def test_a_reply_that_answers_it_and_says_more_with_a_word_of_it_is_told(alice: UserMemory) -> None:
    reply = (
        "Since the oboe is loud, order earplugs from the pharmacy in the old town, model Silento, before Friday noon"
    )
    [step, *_] = tell(alice, "I play the oboe.", reply)
    assert told(forget(alice, ids=[step])) == [reply]


def test_a_later_reply_that_says_the_only_word_of_it_goes_too(alice: UserMemory) -> None:
    older = ["I live in Bristol with Paul, and on Thursdays I work.", "Noted."]
    asked = "What do I do on Thursdays?"
    tell(alice, *older, "On Thursdays I do yoga with Paul.", "Noted.", asked, "Yoga with Paul.")
    done = forget(alice, what="On Thursdays I do yoga with Paul")
    assert left(alice) == [*older, "Noted.", asked]
    assert told(done) == []


def test_a_reply_with_a_word_that_only_the_item_has_is_not_taken_for_one_that_says_it(alice: UserMemory) -> None:
    tell(alice, "I live in Bristol with Paul.", "Noted.", "On Thursdays I do yoga with Paul.", "Noted.")
    tell(alice, "Is the habit of Paul good?", "It does no harm.", thread="later")
    forget(alice, what="On Thursdays I do yoga with Paul")
    assert left(alice)[-1] == "It does no harm."


def test_a_weekday_in_the_plural_is_no_name(alice: UserMemory) -> None:
    tell(alice, "On Thursdays I do yoga.", "Noted.", "What do I do on Thursdays?", "Nothing that I know of.")
    assert told(forget(alice, what="On Thursdays I do yoga")) == []


def test_what_is_said_of_others_stays(alice: UserMemory) -> None:
    other = ["My brother Arjun is afraid of dogs.", "Noted: Arjun is afraid of dogs."]
    tell(alice, *other, thread="older")
    [step, *_] = tell(alice, BAND, "Noted: Slow Lantern.")
    done = forget(alice, ids=[step])
    assert left(alice) == other
    assert told(done) == []


def test_the_answer_to_a_question_stays_when_the_question_is_forgotten(alice: UserMemory) -> None:
    answer = "Your Spanish exam is on Wednesday 2 December."
    [step, _] = tell(alice, "When is my Spanish exam?", answer)
    forget(alice, ids=[step])
    assert left(alice) == [answer]


def test_a_later_reply_that_tells_another_day_is_left_and_told(alice: UserMemory) -> None:
    said = ["It is on Wednesday 2 December now.", "Updated: your Spanish exam is on Wednesday 2 December."]
    [step, *_] = tell(alice, "My Spanish exam is on Monday 30 November.", "Noted.", *said)
    done = forget(alice, ids=[step])
    assert left(alice) == ["Noted.", *said]
    reply, *learned = told(done)
    assert reply == said[1]
    assert all(one.startswith("My Spanish exam is on ") for one in learned)  # of the new day, from what is left
    assert len(learned) <= 1


def test_a_question_that_names_it_again_is_told(alice: UserMemory) -> None:
    [step, *_] = tell(alice, BAND, "Noted.")
    tell(alice, "When is the next gig of Slow Lantern?", "I do not know.", thread="later")
    done = forget(alice, ids=[step])
    assert told(done) == ["When is the next gig of Slow Lantern?"]


def test_an_item_goes_alone_by_its_id_and_the_message_that_still_says_it_is_told(alice: UserMemory) -> None:
    tell(alice, f"{BAND} {CELLAR}", "Noted.")
    [item] = [one for one in alice.items() if "Slow Lantern" in one.text]
    done = forget(alice, ids=[item.id])
    assert done["forgotten"] == [item.id]
    assert told(done) == [f"{BAND} {CELLAR}"]


def test_a_reply_goes_alone_by_its_id_and_the_message_that_it_answers_is_told(alice: UserMemory) -> None:
    [_, reply] = tell(alice, BAND, "Noted: Slow Lantern.")
    done = forget(alice, ids=[reply])
    assert left(alice) == [BAND]
    assert told(done) == [BAND]


def test_the_low_level_call_takes_only_what_it_is_given(alice: UserMemory) -> None:
    [step, _] = tell(alice, BAND, "Noted: Slow Lantern.")
    alice.forget([step])
    assert left(alice) == ["Noted: Slow Lantern."]


# -- words ------------------------------------------------------------------------------------------------------------

WORDS = {
    "a sentence of two": (
        ["Karen is in Lisbon. She stays at the Hotel Mundial.", "Noted: Lisbon, Hotel Mundial."],
        "stays at the Hotel Mundial",
        [f"Karen is in Lisbon. {MARK}"],
        "Mundial",
    ),
    "with the name of another sentence": (
        ["Karen is in Lisbon. She stays at the Hotel Mundial.", "Noted."],
        "Karen stays at the Hotel Mundial",
        [f"Karen is in Lisbon. {MARK}", "Noted."],
        "Mundial",
    ),
    "the words of the message": (
        [f"{BAND} {CELLAR}", "Slow Lantern rehearses in your cellar, noted."],
        "Arjun plays bass in a band called Slow Lantern",
        [f"{MARK} {CELLAR}"],
        "Slow Lantern",
    ),
    "what a person would say": (
        ["I share a house with my brother Arjun.", "Noted.", f"{BAND} {CELLAR}", "Slow Lantern, noted."],
        "what I said about my brother's band",
        ["I share a house with my brother Arjun.", "Noted.", f"{MARK} {CELLAR}"],
        "Slow Lantern",
    ),
    "the words of the item": (
        ["I share a house with my brother Arjun.", "Noted.", f"{BAND} {CELLAR}", "Slow Lantern, noted."],
        "Arjun (brother) plays bass in a band called Slow Lantern",
        ["I share a house with my brother Arjun.", "Noted.", f"{MARK} {CELLAR}"],
        "Slow Lantern",
    ),
    "exact words": (
        ["I take one tablet of iron every morning.", "Noted: one iron tablet every morning."],
        "take one tablet of iron every morning",
        [],
        "iron",
    ),
    "the name alone": (
        [f"{BAND} {CELLAR}", "Lovely: Slow Lantern rehearses at your place. Noted."],
        "Slow Lantern",
        [f"{MARK} {CELLAR}"],
        "Slow Lantern",
    ),
    "told as a secret": (
        [f"Don't tell anyone, but {BAND}", "My lips are sealed."],
        "Arjun plays bass in a band called Slow Lantern",
        ["My lips are sealed."],
        "Slow Lantern",
    ),
    "loose words": (
        ["I take one tablet of iron every morning.", "Noted: one iron tablet every morning."],
        "iron tablets",
        [],
        "iron",
    ),
    "一句话": (
        ["我住在安可酒店。我每天早上喝茶。", "好的，记住了。"],
        "我住在安可酒店",
        ["[…] 我每天早上喝茶。", "好的，记住了。"],
        "安可",
    ),
}


@pytest.mark.parametrize(("said", "what", "kept", "word"), WORDS.values(), ids=WORDS)
def test_words_take_the_item_the_sentences_that_say_it_and_the_replies(
    alice: UserMemory, said: list[str], what: str, kept: list[str], word: str
) -> None:
    tell(alice, *said)
    items = [one.text for one in alice.items()]
    done = forget(alice, what=what)
    alice.flush()
    assert left(alice) == kept
    assert [one.text for one in alice.items()] == [one for one in items if word not in one]
    assert not any(word in hit.text for hit in alice.recall(word).hits)
    assert not any(word in page.header + page.memo for page in alice.pages())
    assert not any(word in label.name + label.gist for label in alice.labels.list())
    assert [one["text"] for one in done.get("shortened", ())] == [one for one in kept if "[" in one]
    assert "not_sure" not in done
    [operation] = done["undo_with"]
    alice.undo(operation)
    assert left(alice) == said
    assert [one.text for one in alice.items()] == items


def test_a_sentence_that_says_more_is_left_and_told_while_the_item_of_it_goes(alice: UserMemory) -> None:
    said = "I'm a physiotherapist in Leeds, and I share a house with my brother Arjun. I like tea."
    tell(alice, said, "Noted.")
    assert any("brother" in one.text for one in alice.items())
    done = forget(alice, what="my brother Arjun")
    assert left(alice) == [said, "Noted."]
    assert told(done)[0] == said
    assert not any("brother" in one.text for one in alice.items())


def test_a_message_that_only_tells_who_is_meant_stays_with_its_secret(alice: UserMemory) -> None:
    secret = "My sister Karen's wifi password is Tr4mw4y-Blue."
    tell(alice, secret, "Noted.", "Karen runs a bakery.", "Noted.")
    [kept] = [one for one in alice.items() if one.kind == "vault"]
    forget(alice, what="Karen runs a bakery")
    assert "bakery" not in str(left(alice))
    assert "wifi password" in left(alice)[0]
    assert alice.items() == [kept]
    assert alice.reveal(kept.id, reason="looked") == "Tr4mw4y-Blue"


def test_of_two_sentences_that_say_it_the_one_that_says_more_is_left_and_told(alice: UserMemory) -> None:
    more = "The Mundial where Karen stays is loud, and on Monday I fly to Rome."
    tell(alice, f"Karen stays at the Mundial. {more}", "Noted.")
    done = forget(alice, what="Karen Mundial")
    assert left(alice) == [f"{MARK} {more}", "Noted."]
    assert f"{MARK} {more}" in told(done)


def test_what_is_only_asked_about_is_not_forgotten_for_it(alice: UserMemory) -> None:
    said = ["What is the name of Arjun's band?", "I do not know."]
    tell(alice, *said)
    done = forget(alice, what="Arjun's band")
    assert (left(alice), done["forgotten"], told(done)) == (said, [], said[:1])
    assert done["next"].startswith("Nothing was forgotten.")


def test_an_earlier_request_to_forget_it_goes_by_words_though_nothing_else_says_it(alice: UserMemory) -> None:
    [request, _] = tell(alice, "Please forget what I said about the job in Cardiff.", "Done.")
    done = forget(alice, what="the job in Cardiff")
    assert (left(alice), done["forgotten"], told(done)) == (["Done."], [request], [])


def test_the_answer_says_what_is_to_be_done_next(alice: UserMemory) -> None:
    tell(alice, "I like figs. I like tea.", "Noted.")
    done = forget(alice, what="figs")
    assert done["next"].startswith("Of the messages under shortened only the sentences that say it were forgotten")
    assert "nothing else that says it" in done["next"]


# -- the prompts of an agent ------------------------------------------------------------------------------------------


def talk(
    user: UserMemory, replies: Sequence[Any], *said: str, checkpointer: bool = True, thread: str = "t"
) -> tuple[ScriptedChat, list[BaseMessage]]:
    """An agent to which this is said in one thread, whose model answers so; the host keeps the conversation."""
    model = ScriptedChat(replies)
    agent: Any = create_agent(
        model, middleware=[MemoryMiddleware(user.memory)], checkpointer=InMemorySaver() if checkpointer else None
    )
    kept: list[Any] = []
    for text in said:
        given = [HumanMessage(text)] if checkpointer else [*kept, {"role": "user", "content": text}]
        out = agent.invoke({"messages": given}, {"configurable": {"thread_id": thread}}, context={"user": user.name})
        kept += [{"role": "user", "content": text}, {"role": "assistant", "content": out["messages"][-1].text}]
    return model, out["messages"]


def prompted(prompt: Sequence[BaseMessage]) -> str:
    return "\n".join(f"{one.content!r} {getattr(one, 'tool_calls', '')!r}" for one in prompt)


@pytest.mark.parametrize("checkpointer", [True, False], ids=["with a checkpointer", "with the history sent again"])
@pytest.mark.parametrize("said", [BAND, f"{BAND} {CELLAR}"], ids=["whole", "in part"])
def test_what_was_forgotten_stands_in_no_later_prompt_of_the_thread(
    alice: UserMemory, said: str, checkpointer: bool
) -> None:
    replies = [
        "Slow Lantern, great name!",
        calls("search_memory", query="Slow Lantern"),
        calls("forget", what="Arjun plays bass in a band called Slow Lantern"),
        "It is forgotten.",
        "I do not know.",
    ]
    asked = ("Please forget that about the band.", "What is the band of my brother called?")
    model, kept = talk(alice, replies, said, *asked, checkpointer=checkpointer)
    assert "Slow Lantern" in prompted(model.prompts[1])
    assert "Slow Lantern" not in prompted([one for one in model.prompts[3] if one.type == "human"])
    assert "Slow Lantern" not in prompted(model.prompts[4])
    assert ("rehearse in our cellar" in prompted(model.prompts[4])) == (CELLAR in said)
    roles = [one.type for one in model.prompts[4][1:]]
    assert roles == [one.type for one in kept[:-1]]
    if checkpointer:
        assert said in [one.text for one in kept]  # the host's own state is left alone


def test_what_was_forgotten_in_another_thread_stands_in_no_later_prompt(alice: UserMemory) -> None:
    talk(alice, ["Slow Lantern, great name!"], f"{BAND} {CELLAR}")
    talk(alice, [calls("forget", what="the band Slow Lantern"), "Done."], "Forget the band.", thread="u")
    model, _ = talk(alice, ["No idea."], "What is the band of my brother called?", thread="v")
    assert "Slow Lantern" not in prompted(model.prompts[-1])


def test_what_undo_brings_back_stands_in_the_prompt_again(alice: UserMemory) -> None:
    model = ScriptedChat(["Noted."])
    agent: Any = create_agent(model, middleware=[MemoryMiddleware(alice.memory)], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}

    def ask(text: str) -> str:
        agent.invoke({"messages": [HumanMessage(text)]}, config, context={"user": alice.name})
        return prompted(model.prompts[-1][1:])

    ask(BAND)
    done = alice.forget([alice.steps()[0].id])
    shown = ask("Hello again.")
    assert (MARK in shown, "Slow Lantern" in shown) == (True, False)
    alice.undo(done.id)
    shown = ask("And again.")
    assert (MARK in shown, "Slow Lantern" in shown) == (False, True)


def test_calls_of_tools_keep_their_results_and_lose_their_words() -> None:
    call = AIMessage("I look up Slow Lantern.", id="a", tool_calls=[{"name": "web", "args": {"q": "Slow"}, "id": "1"}])
    messages: list[Any] = [HumanMessage("Find the band.", id="h"), call, HumanMessage("Thanks.", id="i")]
    shown = as_read_now(messages, {"a": "", "i": ""})
    assert [one.content for one in shown] == ["Find the band.", MARK, "Thanks."]
    assert [(one["name"], one["args"], one["id"]) for one in shown[1].tool_calls] == [("web", {}, "1")]
    assert call.tool_calls[0]["args"] == {"q": "Slow"}


def test_of_what_the_tool_was_not_sure_of_the_ids_stay_and_of_a_call_that_forgot_nothing_all() -> None:
    told = {"forgotten": [], "undo_with": ["op_1"], "not_sure": [{"id": "step_1", "text": "Slow Lantern is loud."}]}
    call = AIMessage("", id="a", tool_calls=[{"name": "forget", "args": {"what": "Slow Lantern"}, "id": "1"}])
    messages: list[Any] = [HumanMessage("Forget the band.", id="h"), call]
    last = HumanMessage("Yes.", id="i")
    done = ToolMessage(json.dumps(told), name="forget", tool_call_id="1", id="t")
    [_, _, shown, _] = as_read_now([*messages, done, last], {})
    assert shown.content == f'{MARK} {{"not_sure": ["step_1"]}}'
    nothing = ToolMessage(json.dumps({**told, "undo_with": []}), name="forget", tool_call_id="1", id="t")
    assert as_read_now([*messages, nothing, last], {})[2] is nothing


def test_nothing_is_made_anew_where_nothing_was_forgotten() -> None:
    messages: list[Any] = [HumanMessage("Hello.", id="h"), AIMessage("Hello!", id="a")]
    assert all(after is before for after, before in zip(as_read_now(messages, {}), messages, strict=True))


def test_a_sentence_that_a_message_says_twice_goes_both_times(alice: UserMemory) -> None:
    said = "I am staying at the Anker Hotel."
    tell(alice, f"{said} My dog Rex has a cold. {said}")
    done = forget(alice, what="that I am staying at the Anker Hotel")
    assert left(alice) == [f"{MARK} My dog Rex has a cold. {MARK}"]
    assert done["undo_with"]


def test_what_says_the_opposite_is_asked_about(alice: UserMemory) -> None:
    now = "Karen does not live in Lisbon, she lives in Porto."
    tell(alice, "Karen lives in Lisbon.", "Noted.", now, "Noted.", "I do not smoke.", "Good.")
    done = forget(alice, what="that Karen lives in Lisbon")
    assert now in left(alice)
    assert now in told(done)
    assert "Karen lives in Lisbon." not in left(alice)
    assert any("Porto" in item.text for item in alice.items())
    assert forget(alice, what="that I smoke")["forgotten"] == []
