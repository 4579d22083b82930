"""Secrets told in one breath, numbers of papers, plain keys, and marks that belong to a password; and what only sounds so."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.stores.secrets import find_secrets


def found_in(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_secrets(text)]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("The PIN of my Visa is 3391 and of my Amex 8820.", ["3391", "8820"]),
        ("The code for the garage is 5521 and for the front door 9034.", ["5521", "9034"]),
        ("The alarm code is 4417 and the gate's is 9082.", ["4417", "9082"]),
        ("My PIN is 7718 for the Visa and 2046 for the Amex.", ["7718", "2046"]),
        ("The wifi password is hunter2! and the guest one is guest77!", ["hunter2!", "guest77!"]),
        ("Her passport number: YB4482119, mine is PA8830127.", ["YB4482119", "PA8830127"]),
        ("My password was hunter2x. The new one is hunter3x.", ["hunter2x", "hunter3x"]),
        ("银行卡密码是339112，支付宝的是882077。", ["339112", "882077"]),
        ("门禁密码是4471，车库的是8802。", ["4471", "8802"]),
        ("My passport number is C01X00T47.", ["C01X00T47"]),
        ("passport: L8981234C, valid until 2031", ["L8981234C"]),
        ("My ID card number is T22000129.", ["T22000129"]),
        ("The number of my identity card is 592003341278.", ["592003341278"]),
        ("My driving licence number is MORGA657054SM9IJ.", ["MORGA657054SM9IJ"]),
        ("驾照号是A1234567890。", ["A1234567890"]),
        ("For the storage unit the key is apfel99, please keep it.", ["apfel99"]),
        ("the key for the guest wifi is kirsche2024", ["kirsche2024"]),
        ("wifi key: sonnenblume7", ["sonnenblume7"]),
        ("Router key: Blau-Wal77", ["Blau-Wal77"]),
        ("password: Xy7!", ["Xy7!"]),
        ("My password is Sonne#88!, keep it safe.", ["Sonne#88!"]),
        ('The password is "open Sesame!"', ["open Sesame!"]),
    ],
)
def test_every_secret_of_a_sentence_is_found_whole(text: str, secrets: list[str]) -> None:
    assert found_in(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "The key is patience.",
        "My password is too long!",
        "My password is terrible!",
        "The PIN is on the back.",
        "The key is under the mat.",
        "The key is in locker 1044.",
        "The key is Am7 and then C major.",
        "The redis key is user42data in the cache.",
        "wifi key: ask Bob at the desk",
        "My passport number is in the drawer.",
        "My passport expires in 2031 and my driving licence in 2029.",
        "My ID card was issued on 12 May 2019.",
        "The PIN of my Visa is safe and of my Amex too.",
        "The secret of my Visa card is 3 percent cashback and of my Amex 2 percent.",
        "The code is 300 lines and of the tests 900.",
        "密码是什么来着？",
        "护照在2031年到期，驾照在2029年到期。",
    ],
)
def test_plain_talk_of_keys_and_papers_holds_no_secret(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    "rest", ["and my tram pass 50 euros.", "and of my flight I know nothing.", "and the rent is 8820."]
)
def test_what_goes_on_behind_a_secret_is_no_further_one(rest: str) -> None:
    assert found_in(f"The PIN of my Visa is 3391 {rest}") == ["3391"]


def test_no_step_item_or_caption_shows_a_further_secret(newcomer: UserMemory) -> None:
    newcomer.remember(["The PIN of my Visa is 3391 and of my Amex 8820.", "My passport number is C01X00T47."])
    newcomer.memory.flush()
    told = [step.content for step in newcomer.steps()] + [item.text for item in newcomer.items()]
    assert not any(secret in text for text in told for secret in ("3391", "8820", "C01X00T47"))
    assert sum(text.count("{{vault:") for text in told[:2]) == 3


@pytest.mark.parametrize(
    "text",
    [
        "The PIN is 3391 " + "and of my Amex " * 200 + "8820",
        "The PIN is 3391" + " and" * 500 + " 8820",
        "my passport number is " + "a" * 3_000,
        "the key is " + "a1" * 3_000,
        "password: x1" + "!" * 3_000,
    ],
)
def test_repeated_words_behind_a_secret_are_read_to_their_end(text: str) -> None:
    assert find_secrets(text) == find_secrets(text)
