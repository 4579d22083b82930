"""Secrets in texts: those of a defined form, those that only context reveals, and what stands in their place.

In a row, ⟦…⟧ marks the secret.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import HexamemError, InvalidInputError, ModelFileError
from hexamem.evals.sealed import open_files
from hexamem.stores.redaction import Redactor, safe_errors
from hexamem.stores.secrets import (
    SecretSpan,
    caption_is_safe,
    find_references,
    find_secrets,
    find_secrets_in,
    reference,
    replace_secrets,
    restore_references,
    tell_references,
)
from hexamem.stores.secrets.tagger import read_weights

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM) -> str:
    """Random-looking text, the same at every run; tokens are made here so that none stands in the repository."""
    source = random.Random(f"{length}{alphabet}")
    text = [source.choice(alphabet) for _ in range(length)]
    if alphabet.startswith(ALNUM) and length >= 8:
        text[2], text[length // 2], text[-1] = "7", "4", "9"  # a run of letters alone is possible, and no token
    return "".join(text)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded({'sub': '1234567890', 'name': 'Ann'})}.{drawn(43)}"
PEM_BODY = "\n".join(drawn(64, ALNUM + "+/") for _ in range(6))


def pem(label: str) -> str:
    return f"-----BEGIN {label}-----\n{PEM_BODY}\n-----END {label}-----"


WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"

# kind, sentence
TOKENS: list[tuple[str, str]] = [
    ("api_key", f"here is my key ⟦sk-{drawn(48)}⟧"),
    ("api_key", f"OPENAI_API_KEY=⟦sk-proj-{drawn(80, ALNUM + '_-')}x⟧"),
    ("api_key", f"use ⟦sk-ant-api03-{drawn(93, ALNUM + '_-')}AA⟧ for claude"),
    ("api_key", f"openrouter: ⟦sk-or-v1-{drawn(64, HEX)}⟧"),
    ("api_key", f"aws_access_key_id = ⟦AKIA{drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}⟧"),
    ("token", f"git clone with ⟦ghp_{drawn(36)}⟧ please"),
    ("token", f"token: ⟦github_pat_{drawn(22)}_{drawn(59)}⟧"),
    ("token", f"GitLab: ⟦glpat-{drawn(20)}⟧, read only"),
    ("api_key", f"maps key ⟦AIza{drawn(35)}⟧"),
    ("api_key", f"client_secret: ⟦GOCSPX-{drawn(28)}⟧"),
    ("token", f"slack bot ⟦xox{'b'}-{drawn(12, '0123456789')}-{drawn(13, '0123456789')}-{drawn(24)}⟧"),
    ("webhook", f"post to ⟦https://hooks.slack.com/services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}⟧"),
    ("webhook", f"⟦https://discord.com/api/webhooks/{drawn(18, '0123456789')}/{drawn(68)}⟧"),
    ("api_key", f"stripe ⟦sk_{'live'}_{drawn(24)}⟧"),
    ("api_key", f"stripe ⟦sk_{'live'}_{drawn(99)}⟧"),
    ("api_key", f"stripe test ⟦sk_{'test'}_{drawn(24)}⟧"),
    ("api_key", f"twilio key sid ⟦SK{drawn(32, HEX)}⟧"),
    ("api_key", f"sendgrid: ⟦SG.{drawn(22)}.{drawn(43)}⟧"),
    ("token", f"huggingface-cli login --token ⟦hf_{drawn(34)}⟧"),
    ("token", f"//registry.npmjs.org/:_authToken=⟦npm_{drawn(36)}⟧"),
    ("token", f"twine upload -p ⟦pypi-AgEIcHlwaS5vcmc{drawn(90)}⟧"),
    ("token", f"my telegram bot: ⟦{drawn(10, '123456789')}:AA{drawn(33)}⟧"),
    ("token", f"discord bot ⟦M{drawn(24)}.{drawn(6)}.{drawn(27)}⟧ runs"),
    ("api_key", f"groq ⟦gsk_{drawn(52)}⟧"),
    ("api_key", f"mailgun ⟦key-{drawn(32, HEX)}⟧"),
    ("api_key", f"mailchimp ⟦{drawn(32, HEX)}-us12⟧"),
    ("token", f"do token ⟦dop_v1_{drawn(64, HEX)}⟧"),
    ("token", f"shop ⟦shpat_{drawn(32, HEX)}⟧"),
    ("token", f"notion ⟦ntn_{drawn(11, '0123456789')}{drawn(35)}⟧"),
    ("token", f"databricks ⟦dapi{drawn(32, HEX)}⟧"),
    ("token", f"vault ⟦hvs.{drawn(92)}⟧"),
    ("token", f"jwt is ⟦{JWT}⟧."),
    ("token", f"curl -H 'Authorization: Bearer ⟦{drawn(40)}⟧' https://api.example.com"),
    ("password", f"Authorization: Basic ⟦{base64.b64encode(b'ann:secret99').decode()}⟧"),
    ("password", "clone https://ann:⟦s3cr3tpw⟧@git.example.com/repo.git"),
    ("connection_string", "DATABASE_URL=postgresql://app:⟦p4ssw0rd!x⟧@db.internal:5432/app"),
    ("connection_string", "mongodb+srv://root:⟦Tr0ub4dor⟧@cluster0.abc.mongodb.net/test"),
    ("connection_string", "redis://:⟦r3disPass99⟧@10.0.0.5:6379/0"),
    ("api_key", f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=⟦{drawn(86, ALNUM + '+/')}==⟧;"),
    ("private_key", f"my key:\n⟦{pem('RSA PRIVATE KEY')}⟧\nthanks"),
    ("private_key", f"⟦{pem('OPENSSH PRIVATE KEY')}⟧"),
    ("private_key", f"⟦{pem('PGP PRIVATE KEY BLOCK')}⟧"),
    ("private_key", f"cut off ⟦-----BEGIN EC PRIVATE KEY-----\n{PEM_BODY}⟧"),
    ("private_key", f"age: ⟦AGE-SECRET-KEY-1{drawn(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}⟧"),
    ("private_key", f"wallet ⟦{WIF}⟧"),
    ("token", f"otpauth://totp/Site:ann?secret=⟦{drawn(32, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}⟧&issuer=Site"),
    ("password", "WIFI:S:Home;T:WPA;P:⟦blue-fish-42⟧;;"),
]

TWELVE = "abandon ability able about above absent absorb abstract absurd abuse access accident"
NUMBERED = " ".join(f"{i}. {w}" for i, w in enumerate(TWELVE.split(), 1))

NUMBERS: list[tuple[str, str]] = [
    ("card_number", "my card is ⟦4111 1111 1111 1111⟧"),
    ("card_number", "Visa ⟦4012888888881881⟧ exp 12/27"),
    ("card_number", "my card is ⟦5555-5555-5555-4444⟧"),
    ("card_number", "my amex is ⟦3782 822463 10005⟧"),
    ("iban", "IBAN: ⟦DE89 3704 0044 0532 0130 00⟧"),
    ("iban", "pay to ⟦GB82WEST12345698765432⟧ please"),
    ("iban", "iban ⟦fr1420041010050500013m02606⟧"),
    ("national_id", "身份证号⟦11010519491231002X⟧"),
    ("national_id", "CPF ⟦529.982.247-25⟧"),
    ("seed_phrase", f"my seed phrase is ⟦{TWELVE}⟧."),
    ("seed_phrase", f"Recovery phrase:\n⟦{NUMBERED}⟧"),
    ("seed_phrase", f"⟦{TWELVE}⟧"),
]

IN_CONTEXT: list[tuple[str, str]] = [
    ("password", "the wifi password is ⟦hunter2⟧"),
    ("password", "The password for the office router is ⟦blue42moon⟧, ok?"),
    ("password", "I changed my email password to ⟦Sunny2024⟧ yesterday"),
    ("password", "her password? it's just ⟦qwerty123⟧"),
    ("password", "network Bergblick, key ⟦vierjahreszeiten⟧"),
    ("password", "zip is encrypted, open it with ⟦mango-lassi-4⟧"),
    ("password", "⟦Gr8tDane!⟧ is the password for the NAS"),
    ("password", "user: bob\npassword: ⟦opensesame⟧"),
    ("password", "export PGPASSWORD='⟦s3cr3t⟧'"),
    ("password", "密码是 ⟦abc12345⟧"),
    ("password", "我的邮箱密码是⟦qwe789rt⟧，记一下"),
    ("password", "ｐａｓｓｗｏｒｄ：⟦ｈｕｎｔｅｒ２⟧"),
    ("password", "Das WLAN-Passwort lautet ⟦Sonne123⟧."),
    ("password", "La contraseña del wifi es ⟦casa2020⟧"),
    ("password", "Le mot de passe est ⟦soleil42⟧."),
    ("pin", "unlock my phone with ⟦605118⟧ if it rings while I drive"),
    ("pin", "my card PIN: ⟦4821⟧."),
    ("access_code", "door code changed to ⟦7719⟧ since the break-in"),
    ("access_code", "The code for the front door is ⟦4471#⟧"),
    ("access_code", "locker combination is ⟦32-14-8⟧"),
    ("one_time_code", "Your verification code is ⟦482913⟧."),
    ("one_time_code", "验证码 ⟦482913⟧"),
    ("card_cvv", "and the cvv is ⟦123⟧"),
    ("national_id", "My passport number is ⟦X1234567⟧"),
    ("api_key", f"My weather API key is ⟦{drawn(32, HEX)}⟧, keep it"),
]

ANSWERS = [
    ("what is the password?", "pelican9!", "pelican9!"),
    ("What's the SIM pin?", "I think 5523", "5523"),
    ("gate code?", "*1202", "*1202"),
    ("手机密码多少啊", "147258", "147258"),
]

ORDINARY = """
my password is too long
I forgot my password again, can you reset it?
What is the password?
The wifi password is on the fridge
the door code doesn't work
密码忘了
密码必须8位以上
password = input()
password: ********
password: ${DB_PASSWORD}
password: <your password>
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-your-api-key-goes-here
Use promo code WELCOME10 for 10% off
error code 4040
order number is 112-4456789-1234567
ISBN 978-3-16-148410-0
call me at +1 415 555 2671
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
room 4471
1234 5678 9012 3456
order #4111111111111111
postgres://user:password@localhost/db
-----BEGIN PUBLIC KEY-----
The file starts with -----BEGIN RSA PRIVATE KEY----- and then base64
the combination of 3 and 4 is 12
I lost my pin
Der Schlüssel ist Geduld
the key to success is 4 hours of practice
""".strip().splitlines()


def unmark(row: str) -> tuple[str, list[str]]:
    return re.sub("[⟦⟧]", "", row), re.findall("⟦(.*?)⟧", row, re.DOTALL)


def found_in(text: str, before: str = "") -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.kind) for span in find_secrets(text, before)]


@pytest.mark.parametrize(("kind", "row"), TOKENS + NUMBERS)
def test_a_secret_of_a_defined_form_is_found_at_its_exact_place(kind: str, row: str) -> None:
    text, (value,) = unmark(row)
    assert (value, kind) in found_in(text)


def test_a_token_whose_body_looks_like_an_alphabet_is_found() -> None:
    token = "ghp_" + (string.ascii_lowercase + string.digits)
    assert found_in(f"clone it with {token} please") == [(token, "token")]


def test_secrets_that_only_context_reveals_are_found() -> None:
    wrong = {
        row: found for kind, row in IN_CONTEXT if (found := found_in(unmark(row)[0])) != [(unmark(row)[1][0], kind)]
    }
    assert wrong == {}


@pytest.mark.parametrize(("before", "text", "secret"), ANSWERS)
def test_a_secret_alone_is_found_where_it_answers_a_question_for_it(before: str, text: str, secret: str) -> None:
    assert [value for value, _ in found_in(text, before)] == [secret]
    assert found_in(text, "How many people came?") == []


def test_ordinary_talk_holds_no_secret() -> None:
    assert {text: found for text in ORDINARY if (found := found_in(text))} == {}


def test_of_the_corpus_nearly_all_secrets_and_hardly_any_look_alike_are_taken() -> None:
    """The weights were trained on it: this guards against weights that do not fit the code, and measures nothing else."""
    messages = [
        one
        for file in open_files("secrets")
        if file.name != "frames.json"
        for one in json.loads(file.read_text(encoding="utf-8"))["messages"]
    ]
    found = find_secrets_in([one["text"] for one in messages], [one.get("before", "") for one in messages])
    secrets = hits = look_alikes = taken = 0
    for one, spans in zip(messages, found, strict=True):
        for secret in one.get("secrets") or ():
            secrets += 1
            hits += any(span.start <= secret["start"] and secret["end"] <= span.end for span in spans)
        if not one.get("secrets"):
            look_alikes += 1
            taken += bool(spans)
    assert hits / secrets > 0.9
    assert taken / look_alikes < 0.01


def test_many_texts_at_once_give_what_each_gives_alone() -> None:
    texts = [unmark(row)[0] for _, row in TOKENS + NUMBERS + IN_CONTEXT] + ORDINARY + ["", " ", "🙂"]
    assert find_secrets_in(texts) == [find_secrets(text) for text in texts]


def test_several_secrets_of_one_text_come_in_order_without_overlap() -> None:
    text = f"wifi password is hunter2, card 4111 1111 1111 1111 cvv 123, key ghp_{drawn(36)}, PIN 4821."
    spans = find_secrets(text)
    assert [text[s.start : s.end] for s in spans] == [
        "hunter2",
        "4111 1111 1111 1111",
        "123",
        f"ghp_{drawn(36)}",
        "4821",
    ]
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


def test_letters_that_grow_in_lower_case_do_not_move_the_span() -> None:
    text = "İİİİ the wifi password is hunter2x, ok"
    assert [text[s.start : s.end] for s in find_secrets(text)] == ["hunter2x"]


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("the wifi password is hunter2", "password of the wifi"),
        ("my Netflix password is now popcorn!77", "password of Netflix"),
        ("use sk-ant-api03-" + drawn(95), "Anthropic API key"),
        ("my card is 4111 1111 1111 1111", "card number (Visa)"),
        ("door code: 4471", "access code of the door"),
    ],
)
def test_a_caption_says_what_the_secret_is(text: str, caption: str) -> None:
    assert [s.caption for s in find_secrets(text)] == [caption]


def test_a_caption_tells_nothing_of_the_secret() -> None:
    texts = [unmark(row)[0] for _, row in TOKENS + NUMBERS + IN_CONTEXT]
    texts += ["my netflix password is netflix123", "银行密码是“银行2020”", "the PIN for card 4821 is 4821"]
    for text in texts:
        for span in find_secrets(text):
            value = text[span.start : span.end]
            assert value.casefold() not in span.caption.casefold()
            assert value not in repr(span)
            assert span.certain or caption_is_safe(span.caption, value)


def test_a_caption_never_holds_another_secret_of_the_text() -> None:
    text = "password for 4929x8821q is hunter2x and the password for me is 4929x8821q"
    spans = find_secrets(text)
    assert "hunter2x" in {text[s.start : s.end] for s in spans}
    redactor = Redactor(None)
    assert "4929x8821q" not in redactor.clean(text, redactor.look(text))


def test_secrets_are_replaced_by_references_with_their_captions() -> None:
    text = "the wifi password is hunter2"
    assert replace_secrets(text, find_secrets(text), ["a1"]) == "the wifi password is {{vault:a1|password of the wifi}}"


def test_a_text_with_references_has_no_secrets_left() -> None:
    for text in (unmark(row)[0] for _, row in TOKENS + NUMBERS + IN_CONTEXT):
        spans = find_secrets(text)
        assert find_secrets(replace_secrets(text, spans, [f"id{i}" for i in range(len(spans))])) == ()


PIECES = st.one_of(
    st.sampled_from([unmark(row)[0] for _, row in TOKENS + NUMBERS + IN_CONTEXT] + ORDINARY),
    st.text(max_size=40),
    st.sampled_from(
        ["password", ": ", " is ", '"', "{{vault:", "}}", "|", "密码", "：", "4111", "\n", "sk-", "PIN ", "-"]
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_spans_are_ordered_lie_in_the_text_and_restore(text: str) -> None:
    spans = find_secrets(text)
    assert find_secrets(text) == spans
    taken = [(r.start, r.end) for r in find_references(text)]
    ends = 0
    for span in spans:
        assert ends <= span.start < span.end <= len(text)
        assert not any(span.start < end and start < span.end for start, end in taken)
        assert text[span.start : span.end] not in span.caption
        ends = span.end
    ids = [f"secret-{i}" for i in range(len(spans))]
    replaced = replace_secrets(text, spans, ids)
    plaintexts = {name: text[s.start : s.end] for name, s in zip(ids, spans, strict=True)}
    assert restore_references(replaced, plaintexts) == text


@pytest.mark.parametrize(
    ("spans", "ids"),
    [([(4, 2)], ["a"]), ([(0, 99)], ["a"]), ([(0, 3), (2, 5)], ["a", "b"]), ([(0, 3)], []), ([(0, 3)], ["a b"])],
)
def test_spans_that_do_not_fit_the_text_are_refused(spans: list[tuple[int, int]], ids: list[str]) -> None:
    made = [SecretSpan(start=a, end=b, kind="password", caption="c", sensitivity="high") for a, b in spans]
    with pytest.raises(InvalidInputError):
        replace_secrets("hello world", made, ids)


@pytest.mark.parametrize("caption", ["a|b", "a}}b{{c", "line\nbreak", "", "x" * 500, "{{vault:x|y}}", "密码 of 家"])
def test_any_caption_survives_as_one_reference(caption: str) -> None:
    written = reference("id-1", caption)
    (found,) = find_references(f"before {written} after")
    assert found.id == "id-1"
    assert f"before {written} after"[found.start : found.end] == written


def test_text_that_only_resembles_a_reference_is_none() -> None:
    assert find_references("{{vault:}} {{vault:a}} {{vault:a|b} {vault:a|b}} {{vault:a b|c}}") == ()


def test_restoring_leaves_unknown_references_and_does_not_expand_twice() -> None:
    text = f"{reference('a', 'x')} and {reference('b', 'y')}"
    assert restore_references(text, {"a": reference("b", "y")}) == f"{reference('b', 'y')} and {reference('b', 'y')}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My wifi password is {{vault:s1|password of the wifi}}.", "My wifi password is [secret: wifi password]."),
        (
            "my PIN is {{vault:s1|PIN}}, and {{vault:s2|PIN of the card}}",
            "my PIN is [secret: PIN], and [secret: card PIN]",
        ),
        ("{{vault:s1|password of Ann's mail}}", "[secret: password of Ann's mail]"),
        ("{{vault:s1|}}", "[secret: hidden]"),
        ("nothing {{vault:broken", "nothing {{vault:broken"),
    ],
)
def test_a_reference_reads_as_a_part_of_its_sentence(text: str, told: str) -> None:
    assert tell_references(text) == told


HOSTILE = [
    "password is ", "sk-", "1 ", "1-", "4111 1111 ", "-----BEGIN RSA PRIVATE KEY-----", "://a:", "eyJ", "eyJhbGciOi.", '"',
    "密码是", "a" * 50 + " password ", "AB12 ", "abandon ", "token=", "WIFI:", "{{vault:", "{{vault:a|", "bearer ", "a1",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_ends(piece: str) -> None:
    # A pattern with runaway backtracking would not come back from this at all.
    text = piece * (40_000 // len(piece))
    assert all(0 <= s.start < s.end <= len(text) for s in find_secrets(text))


def test_weights_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "tagger.npz").write_bytes(b"no weights")
    with pytest.raises(ModelFileError, match=r"tagger\.npz"):
        read_weights(tmp_path / "tagger.npz")


@pytest.mark.parametrize(
    "message",
    [
        "the secret was encrypted with vault key 9f86d081884c7d65, but the key that is loaded is 5e884898da280471",
        "no secret 'wifi-2' is in the vault",
        "the password is missing: give password=…",
    ],
)
def test_the_words_of_an_error_message_stay(message: str) -> None:
    @safe_errors
    def fail(_: object, value: str) -> None:
        raise HexamemError(message)

    with pytest.raises(HexamemError) as raised:
        fail(None, "wifi-2")
    assert str(raised.value) == message


def test_an_error_message_tells_no_secret_that_was_given_or_has_a_form() -> None:
    token = f"ghp_{drawn(36)}"

    @safe_errors
    def fail(_: object, value: str) -> None:
        raise HexamemError(f"{value!r} does not fit, {token} neither")

    with pytest.raises(HexamemError) as raised:
        fail(None, "my wifi password is hunter2x")
    assert "hunter2x" not in str(raised.value)
    assert token not in str(raised.value)


def test_an_answer_in_a_later_call_is_taken_out(newcomer: UserMemory) -> None:
    newcomer.remember([{"role": "assistant", "content": "What's the wifi password?"}])
    newcomer.remember([{"role": "user", "content": "Bumblebee_2"}])
    newcomer.memory.flush()
    assert not any("Bumblebee_2" in step.content for step in newcomer.steps())


def test_an_answer_without_a_model_says_that_a_secret_is_stored_and_never_which(tmp_path: Path) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        user.remember([{"role": "user", "content": "My wifi password is hunter2xyz."}])
        user.flush()
        found = user.research("What is my wifi password?")
        assert found.answer.endswith("[secret: wifi password].")
        assert "{{vault:" not in found.answer
        assert "hunter2xyz" not in found.model_dump_json()
