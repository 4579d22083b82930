"""Secrets in texts: what is found by its form and what by its context, how much of the corpus, and what replaces it.

In a row, ⟦…⟧ marks the secret.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import InvalidInputError, ModelFileError
from hexamem.evals.sealed import open_files
from hexamem.stores.secrets import (
    SecretSpan,
    caption_is_safe,
    find_references,
    find_secrets,
    format_references,
    reference,
    replace_secrets,
    restore_references,
)
from hexamem.stores.secrets.tagger import read_tagger_weights

SHARED = Path(__file__).parents[2] / "shared"
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
WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
TWELVE = "abandon ability able about above absent absorb abstract absurd abuse access accident"
NUMBERED = " ".join(f"{number}. {word}" for number, word in enumerate(TWELVE.split(), 1))


def pem(label: str) -> str:
    return f"-----BEGIN {label}-----\n{PEM_BODY}\n-----END {label}-----"


FORMS: list[tuple[str, str]] = [
    ("api_key", f"here is my key ⟦sk-{drawn(48)}⟧"),
    ("api_key", f"OPENAI_API_KEY=⟦sk-proj-{drawn(80, ALNUM + '_-')}x⟧"),
    ("api_key", f"use ⟦sk-ant-api03-{drawn(93, ALNUM + '_-')}AA⟧ for claude"),
    ("api_key", f"openrouter: ⟦sk-or-v1-{drawn(64, HEX)}⟧"),
    ("api_key", f"aws_access_key_id = ⟦AKIA{drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}⟧"),
    ("api_key", f"aws_secret_access_key = ⟦{drawn(40, ALNUM + '+/')}⟧"),
    ("token", f"git clone with ⟦ghp_{drawn(36)}⟧ please"),
    ("token", f"clone it with ⟦ghp_{string.ascii_lowercase + string.digits}⟧ please"),
    ("token", f"token: ⟦github_pat_{drawn(22)}_{drawn(59)}⟧"),
    ("token", f"GitLab: ⟦glpat-{drawn(20)}⟧, read only"),
    ("api_key", f"maps key ⟦AIza{drawn(35)}⟧"),
    ("api_key", f"client_secret: ⟦GOCSPX-{drawn(28)}⟧"),
    ("token", f"slack bot ⟦xox{'b'}-{drawn(12, '0123456789')}-{drawn(13, '0123456789')}-{drawn(24)}⟧"),
    ("webhook", f"post to ⟦https://hooks.slack.com/services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}⟧"),
    ("webhook", f"⟦https://discord.com/api/webhooks/{drawn(18, '0123456789')}/{drawn(68)}⟧"),
    ("api_key", f"stripe ⟦sk_{'live'}_{drawn(24)}⟧"),
    ("api_key", f"stripe ⟦sk_{'live'}_{drawn(99)}⟧"),
    ("api_key", f"twilio key sid ⟦SK{drawn(32, HEX)}⟧"),
    ("api_key", f"sendgrid: ⟦SG.{drawn(22)}.{drawn(43)}⟧"),
    ("token", f"huggingface-cli login --token ⟦hf_{drawn(34)}⟧"),
    ("token", f"//registry.npmjs.org/:_authToken=⟦npm_{drawn(36)}⟧"),
    ("token", f"twine upload -p ⟦pypi-AgEIcHlwaS5vcmc{drawn(90)}⟧"),
    ("token", f"my telegram bot: ⟦{drawn(10, '123456789')}:AA{drawn(33)}⟧"),
    ("token", f"discord bot ⟦M{drawn(24)}.{drawn(6)}.{drawn(27)}⟧ runs"),
    ("api_key", f"mailgun ⟦key-{drawn(32, HEX)}⟧"),
    ("api_key", f"mailchimp ⟦{drawn(32, HEX)}-us12⟧"),
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
    ("card_number", "my card is ⟦4111 1111 1111 1111⟧"),
    ("card_number", "Visa ⟦4012888888881881⟧ exp 12/27"),
    ("card_number", "⟦5555-5555-5555-4444⟧"),
    ("card_number", "amex ⟦3782 822463 10005⟧"),
    ("iban", "IBAN: ⟦DE89 3704 0044 0532 0130 00⟧"),
    ("iban", "pay to ⟦GB82WEST12345698765432⟧ please"),
    ("iban", "iban ⟦fr1420041010050500013m02606⟧"),
    ("national_id", "身份证号⟦11010519491231002X⟧"),
    ("national_id", "CPF ⟦529.982.247-25⟧"),
    ("license_key", "⟦VK7JG-NPHTM-C97JM-9MPGT-3V66T⟧"),
    ("seed_phrase", f"my seed phrase is ⟦{TWELVE}⟧."),
    ("seed_phrase", f"Recovery phrase:\n⟦{NUMBERED}⟧"),
    ("seed_phrase", "⟦legal winner thank year wave sausage worth useful legal winner thank yellow⟧"),
]
CONTEXTS: list[tuple[str, str]] = [
    ("password", "The password for the office router is ⟦blue42moon⟧, ok?"),
    ("password", "I changed my email password to ⟦Sunny2024⟧ yesterday"),
    ("password", "it's ⟦Zebra.Crossing5⟧ (password for the printer)"),
    ("password", "network Bergblick, key ⟦vierjahreszeiten⟧"),
    ("password", "zip is encrypted, open it with ⟦mango-lassi-4⟧"),
    ("password", "⟦Gr8tDane!⟧ is the password for the NAS"),
    ("password", "user: bob\npassword: ⟦opensesame⟧"),
    ("password", "export PGPASSWORD='⟦s3cr3t⟧'"),
    ("password", '{"user": "bob", "password": "⟦hunter2⟧"}'),
    ("password", "我的邮箱密码是⟦qwe789rt⟧，记一下"),
    ("password", "ｐａｓｓｗｏｒｄ：⟦ｈｕｎｔｅｒ２⟧"),
    ("password", "Das WLAN-Passwort lautet ⟦Sonne123⟧."),
    ("password", "La contraseña del wifi es ⟦casa2020⟧"),
    ("password", "Le mot de passe est ⟦soleil42⟧."),
    ("password", "admin password? It's ⟦correct horse battery staple⟧, don't laugh"),
    ("passphrase", "my passphrase: ⟦correct horse battery staple⟧"),
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
NO_SECRETS = """
my password is too long
What is the password?
The wifi password is on the fridge
密码必须8位以上
password: ********
password: ${DB_PASSWORD}
password: <your password>
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-your-api-key-goes-here
error code 4040
order number is 112-4456789-1234567
call me at +1 415 555 2671
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
1234 5678 9012 3456
order #4111111111111111
postgres://user:password@localhost/db
-----BEGIN PUBLIC KEY-----
The file starts with -----BEGIN RSA PRIVATE KEY----- and then base64
the wifi password is {{vault:s1|password of the wifi}}
""".strip().splitlines()


def unmark(row: str) -> tuple[str, str]:
    before, value, after = re.split("[⟦⟧]", row)
    return before + value + after, value


def secrets_in(text: str, before: str = "") -> list[str]:
    return [text[span.start : span.end] for span in find_secrets(text, before)]


@pytest.mark.parametrize(("kind", "row"), FORMS + CONTEXTS)
def test_a_secret_is_found_at_its_exact_place(kind: str, row: str) -> None:
    text, value = unmark(row)
    assert [(text[span.start : span.end], span.kind) for span in find_secrets(text)] == [(value, kind)]


@pytest.mark.parametrize(
    ("before", "text", "secret"),
    [
        ("what is the password?", "pelican9!", "pelican9!"),
        ("What's the SIM pin?", "I think 5523", "5523"),
        ("gate code?", "*1202", "*1202"),
        ("手机密码多少啊", "147258", "147258"),
    ],
)
def test_a_secret_alone_is_found_where_it_answers_a_question_for_it(before: str, text: str, secret: str) -> None:
    assert secrets_in(text, before) == [secret]
    assert secrets_in(text, "How many people came?") == []


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("The PIN of my Visa is 3391 and of my Amex 8820.", ["3391", "8820"]),
        ("The code for the garage is 5521 and for the front door 9034.", ["5521", "9034"]),
        ("银行卡密码是339112，支付宝的是882077。", ["339112", "882077"]),
        ("The PIN of my Visa is 3391 and my tram pass 50 euros.", ["3391"]),
    ],
)
def test_every_secret_of_a_sentence_is_found(text: str, secrets: list[str]) -> None:
    assert secrets_in(text) == secrets


@pytest.mark.parametrize("text", NO_SECRETS)
def test_ordinary_talk_and_program_text_hold_no_secret(text: str) -> None:
    assert secrets_in(text) == []


def test_rows_of_words_tables_and_odd_scripts_hold_no_secret() -> None:
    words = ["harbour", "ledger", "meadow", "copper", "window", "autumn", "basket", "violin", "thunder", "marble"]
    rows = random.Random(5)
    texts = [" ".join(rows.choices(words, k=200)), "\n".join(",".join(rows.choices(words, k=4)) for _ in range(50))]
    texts += [
        "البجعة تطير فوق البحر \u202epelican\u202c שלום",
        "pelican \x01\x02\x1b[31m red \x7f end",
        "a\0b \ud83d c",
    ]
    assert [secrets_in(text) for text in texts] == [[]] * len(texts)


FLOORS: dict[str, tuple[int, int]] = {
    "answers": (108, 0),
    "brief_changes": (21, 1),
    "brief_chinese": (37, 5),
    "brief_clubs": (12, 0),
    "brief_config": (30, 2),
    "brief_german": (6, 0),
    "brief_german_more": (10, 2),
    "brief_home": (27, 1),
    "brief_lists": (154, 12),
    "brief_mixed": (15, 1),
    "brief_more": (23, 0),
    "brief_numbers": (0, 5),
    "brief_office": (20, 1),
    "brief_phones": (24, 1),
    "brief_talk": (0, 1),
    "brief_travel": (17, 2),
    "brief_turns": (33, 1),
    "brief_verbs": (20, 0),
    "brief_wide": (129, 4),
    "brief_words": (11, 0),
    "chinese": (133, 0),
    "everyday_en": (206, 0),
    "fifth_round": (189, 0),
    "first_edition": (245, 0),
    "fourth_round": (147, 0),
    "longer": (80, 0),
    "lookalikes_second_round": (0, 1),
    "other_languages": (70, 0),
    "second_round": (206, 0),
    "sixth_round": (93, 0),
    "technical": (132, 0),
    "third_round": (275, 0),
    "validation": (42, 1),
    "validation_lists": (40, 3),
    "validation_second": (71, 0),
}
"""File of the corpus → least secrets found whole, most look-alikes taken; of the others none is taken."""


@pytest.mark.parametrize(
    "file", [file for file in open_files("secrets") if file.name != "frames.json"], ids=lambda f: f.stem
)
def test_of_the_corpus_no_fewer_secrets_are_found_and_no_more_look_alikes_taken(file: Path) -> None:
    """The weights were trained on all but ``validation*`` and ``brief_*``: of the others this only shows that they fit."""
    found = taken = 0
    for message in json.loads(file.read_text(encoding="utf-8"))["messages"]:
        spans = find_secrets(message["text"], message.get("before", ""))
        secrets = message.get("secrets") or ()
        found += sum(any(s.start <= secret["start"] and secret["end"] <= s.end for s in spans) for secret in secrets)
        taken += bool(spans) and not secrets
    least, most = FLOORS.get(file.stem, (0, 0))
    assert found >= least
    assert taken <= most


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key in {"text", "content"} and isinstance(part, str):
                yield part
            else:
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


@pytest.mark.shared_data
def test_real_conversations_have_almost_no_false_hits() -> None:
    files = sorted((SHARED / "data").glob("locomo/*.json")) + sorted((SHARED / "data").glob("longmemeval/*.json"))
    if not files:
        pytest.skip("the real conversations are not beside the checkout")
    texts = [text for file in files for text in _texts(json.loads(file.read_text(encoding="utf-8")))][::3]
    assert len(texts) > 1_000
    assert sum(bool(find_secrets(text)) for text in texts) <= 1


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("the wifi password is hunter2xyz", "password of the wifi"),
        ("my Netflix password is now popcorn!77", "password of Netflix"),
        ("The password for the office router is blue42moon", "password of the office router"),
        ("use sk-ant-api03-" + drawn(95), "Anthropic API key"),
        (f"my GitHub token is ghp_{drawn(36)}.", "GitHub token"),
        ("card 4111 1111 1111 1111", "card number (Visa)"),
        ("my card PIN: 4821.", "PIN of the card"),
        ("door code: 4471", "access code of the door"),
    ],
)
def test_a_caption_says_what_the_secret_is(text: str, caption: str) -> None:
    assert [span.caption for span in find_secrets(text)] == [caption]


def test_a_caption_reveals_nothing_of_any_secret_of_the_text() -> None:
    texts = [unmark(row)[0] for _, row in FORMS + CONTEXTS]
    texts += ["my netflix password is netflix123", "银行密码是“银行2020”", "the PIN for card 4821 is 4821"]
    for text in texts:
        spans = find_secrets(text)
        assert spans
        for span, other in itertools.product(spans, spans):
            assert text[other.start : other.end].casefold() not in span.caption.casefold()
            assert text[other.start : other.end] not in repr(span)
    for text in texts[-3:]:
        assert all(caption_is_safe(span.caption, text[span.start : span.end]) for span in find_secrets(text))


def test_several_secrets_of_one_text_come_in_order_without_overlap() -> None:
    token = f"ghp_{drawn(36)}"
    text = f"The wifi password is hunter2xyz. My card is 4111 1111 1111 1111 and the cvv is 123, its PIN is 4821. Token: {token}"
    assert secrets_in(text) == ["hunter2xyz", "4111 1111 1111 1111", "123", "4821", token]


def test_letters_that_grow_in_lower_case_do_not_move_the_span() -> None:
    assert secrets_in("İİİİ the wifi password is hunter2xyz, ok") == ["hunter2xyz"]


def test_secrets_are_replaced_by_references_with_their_captions() -> None:
    text = "the wifi password is hunter2xyz"
    replaced = replace_secrets(text, find_secrets(text), ["a1"])
    assert replaced == "the wifi password is {{vault:a1|password of the wifi}}"


PIECES = st.one_of(
    st.sampled_from([unmark(row)[0] for _, row in FORMS + CONTEXTS] + NO_SECRETS),
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.sampled_from(
        ["password", ": ", " is ", '"', "{{vault:", "}}", "|", "密码", "：", "4111", "\n", "sk-", "PIN ", "-"]
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_spans_are_ordered_touch_no_reference_and_restore_the_text(text: str) -> None:
    spans = find_secrets(text)
    assert find_secrets(text) == spans
    taken = [(found.start, found.end) for found in find_references(text)]
    ends = 0
    for span in spans:
        assert ends <= span.start < span.end <= len(text)
        assert not any(span.start < end and start < span.end for start, end in taken)
        assert span.caption
        assert text[span.start : span.end] not in span.caption
        ends = span.end
    ids = [f"secret-{number}" for number in range(len(spans))]
    replaced = replace_secrets(text, spans, ids)
    plaintexts = {name: text[span.start : span.end] for name, span in zip(ids, spans, strict=True)}
    assert restore_references(replaced, plaintexts) == text
    assert [found.id for found in find_references(replaced) if found.id in plaintexts] == ids


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
    ("text", "formatted"),
    [
        ("My wifi password is {{vault:s1|password of the wifi}}.", "My wifi password is [secret: wifi password]."),
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
def test_a_reference_reads_as_a_part_of_its_sentence(text: str, formatted: str) -> None:
    assert format_references(text) == formatted


HOSTILE = [
    "password is ", "password: ", "sk-", "1 ", "1-", "4111 1111 ", "-----BEGIN RSA PRIVATE KEY-----", "://a:", "eyJ", "eyJhbGciOi.",
    '"', "密码是", "a" * 50 + " password ", "AB12 ", "seed abandon ", "abandon ", "token=", "WIFI:", "{{vault:", "{{vault:a|", "bearer ",
    "a1", "!",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_ends(piece: str) -> None:
    # A pattern with runaway backtracking would not come back from this at all.
    text = piece * (40_000 // len(piece))
    assert all(0 <= span.start < span.end <= len(text) for span in find_secrets(text))


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-500])])
def test_weights_that_are_missing_or_damaged_are_named(tmp_path: Path, change: object) -> None:
    shipped = Path(__file__).parents[1] / "stores" / "secrets" / "weights" / "tagger.npz"
    copy = tmp_path / "tagger.npz"
    copy.write_bytes(shipped.read_bytes())
    change(copy)  # type: ignore[operator]
    with pytest.raises(ModelFileError, match=r"tagger\.npz cannot be read"):
        read_tagger_weights(copy)


def test_an_answer_in_a_later_call_is_replaced(newcomer: UserMemory) -> None:
    newcomer.remember([{"role": "assistant", "content": "What's the wifi password?"}])
    newcomer.remember([{"role": "user", "content": "Bumblebee_2"}])
    newcomer.remember([{"role": "assistant", "content": "And the gate code?"}, {"role": "user", "content": "*1202"}])
    newcomer.memory.flush()
    assert not any(secret in step.content for step in newcomer.steps() for secret in ("Bumblebee_2", "*1202"))


@pytest.mark.parametrize(
    ("message", "question", "secret", "answer"),
    [
        ("My wifi password is hunter2xyz.", "What is my wifi password?", "hunter2xyz", "[secret: wifi password]."),
        ("Our alarm code is 9931-7746.", "What is our alarm code?", "9931-7746", "[secret: alarm access code]."),
    ],
)
def test_an_answer_without_a_model_says_that_a_secret_is_stored_and_never_which(
    tmp_path: Path, message: str, question: str, secret: str, answer: str
) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        user.remember([{"role": "user", "content": message}, {"role": "assistant", "content": "Noted!"}])
        user.flush()
        report = user.research(question)
        assert report.answer.endswith(answer)
        assert "{{vault:" not in report.answer
        assert secret not in report.model_dump_json()
