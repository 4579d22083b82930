"""A secret said in a sentence: what stands in its place reads well wherever people read it, and gives nothing away."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexamem import Memory, Settings
from hexamem.stores.secrets import find_secrets, format_references, replace_secrets


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My wifi password is {{vault:s1|password of the wifi}}.", "My wifi password is [secret: wifi password]."),
        ("The door: {{vault:s1|access code of the back door}}!", "The door: [secret: back door access code]!"),
        (
            "my PIN is {{vault:s1|PIN}}, and {{vault:s2|PIN of the card}}",
            "my PIN is [secret: PIN], and [secret: card PIN]",
        ),
        ("密码是{{vault:s1|password (密码) of the wifi}}。", "密码是[secret: password (密码) of the wifi]。"),
        ("{{vault:s1|password of Ann's mail}}", "[secret: password of Ann's mail]"),
        ("{{vault:s1|}}", "[secret: hidden]"),
        ("nothing {{vault:broken", "nothing {{vault:broken"),
    ],
)
def test_a_reference_reads_as_a_part_of_its_sentence(text: str, told: str) -> None:
    assert format_references(text) == told


@pytest.mark.parametrize(
    ("said", "question", "secret", "answer"),
    [
        ("My wifi password is hunter2xyz.", "What is my wifi password?", "hunter2xyz", "[secret: wifi password]."),
        ("Our alarm code is 9931-7746.", "What is our alarm code?", "9931-7746", "[secret: alarm access code]."),
    ],
)
def test_an_answer_by_rules_says_that_a_secret_is_kept_and_never_which(
    tmp_path: Path, said: str, question: str, secret: str, answer: str
) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        user.remember([{"role": "user", "content": said}, {"role": "assistant", "content": "Noted!"}])
        user.flush()
        found = user.research(question)
        assert found.answer.endswith(answer)
        assert "{{vault:" not in found.answer
        assert secret not in found.model_dump_json()


def test_no_word_of_a_secret_is_told() -> None:
    text = "my netflix password is netflix4711! and the pin is 8812"
    spans = find_secrets(text)
    told = format_references(replace_secrets(text, spans, ["s1", "s2"]))
    assert told.count("[secret: ") == len(spans) == 2
    assert "4711" not in told
    assert "8812" not in told
