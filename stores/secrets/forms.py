"""Secrets of a defined form: vendors' tokens, private keys, passwords in web addresses and headers, cards, IBANs, seed phrases.

Formats with a literal prefix are data: the prefix is looked for with ``str.find``, and its pattern is matched there. Some
patterns come from detect-secrets' plugins; a match is widened to the whole run of token characters, because several of
them match one length only, and the tail of a longer key would stay. Check digits are python-stdnum's, the words of seed phrases
mnemonic's. Every pattern is matched over a bounded length.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import NamedTuple

from mnemonic import Mnemonic
from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.cn import ric

from hexamem.once import once
from hexamem.stores.secrets.spans import Candidate, Sensitivity

__all__ = ["find_forms", "is_placeholder"]

_TAIL = re.compile(r"[A-Za-z0-9_\-]*")
# What documentation puts in place of a token: words that say so, one character repeated, a count.
_FAKE = re.compile(
    r"your[-_]?|(.)\1{9}|x{6}|example[-_]?key|placeholder|replace|insert|\.\.\.|123456789012345678", re.IGNORECASE
)


class _PluginPattern:
    """The patterns of a plugin of detect-secrets as one; the plugin is imported at the first use, since an HTTP client
    comes with it."""

    def __init__(self, module: str, plugin: str, before: str = "", after: str = "", flags: int = 0) -> None:
        self._module, self._plugin, self._before, self._after, self._flags = module, plugin, before, after, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        plugin = getattr(import_module(f"detect_secrets.plugins.{self._module}"), self._plugin)
        union = "|".join(f"(?:{pattern.pattern})" for pattern in plugin.denylist)
        return re.compile(f"{self._before}{union}{self._after}", self._flags)

    def match(self, text: str, at: int) -> re.Match[str] | None:
        """The match that begins at ``at``."""
        return self._compiled.match(text, at)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches in a text."""
        return self._compiled.finditer(text)


class _Format(NamedTuple):
    prefixes: tuple[str, ...]
    pattern: re.Pattern[str] | _PluginPattern
    caption: str
    kind: str
    sensitivity: Sensitivity


def _format(
    prefixes: str, rest: str, caption: str, kind: str = "api_key", sensitivity: Sensitivity = "high"
) -> _Format:
    names = tuple(prefixes.split())
    # Longest prefix first, so that "sk-ant-" is not read as "sk-".
    heads = "|".join(re.escape(p) for p in sorted(names, key=len, reverse=True))
    return _Format(names, re.compile(rf"(?:{heads}){rest}"), caption, kind, sensitivity)


# In order: of two formats that match at one place the first wins.
_FORMATS: tuple[_Format, ...] = (
    _format("sk-ant-", r"[A-Za-z0-9_-]{20,250}", "Anthropic API key"),
    _format("sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,250}", "OpenAI API key"),
    _format("sk-or-", r"(?:v\d-)?[A-Za-z0-9]{24,}", "OpenRouter API key"),
    _format("sk-lf-", r"[0-9a-f-]{32,40}", "Langfuse secret key"),
    _format("sk-", r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}", "OpenAI API key"),
    _format("sk-", r"(?=[A-Za-z]{0,120}\d)[A-Za-z0-9]{20,120}", "API key (OpenAI style)"),
    _format("gsk_", r"[A-Za-z0-9]{40,80}", "Groq API key"),
    _format("xai-", r"[A-Za-z0-9]{60,120}", "xAI API key"),
    _format("pplx-", r"[A-Za-z0-9]{40,80}", "Perplexity API key"),
    _format("tvly-", r"[A-Za-z0-9_-]{24,80}", "Tavily API key"),
    _format("pcsk_", r"[A-Za-z0-9_]{40,100}", "Pinecone API key"),
    _format("r8_", r"[A-Za-z0-9]{37,60}", "Replicate API token"),
    _format("hf_ api_org_", r"[A-Za-z0-9]{30,60}", "Hugging Face token", "token"),
    _format("lsv2_pt_ lsv2_sk_", r"[A-Za-z0-9]{20,}(?:_[A-Za-z0-9]+)?", "LangSmith API key"),
    _format("AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}", "AWS access key"),
    _format("ABSK", r"[A-Za-z0-9+/]{100,250}={0,2}", "Amazon Bedrock API key"),
    _format("LTAI", r"[A-Za-z0-9]{12,24}", "Alibaba Cloud access key"),
    _format("AKID", r"[A-Za-z0-9]{32}", "Tencent Cloud secret id"),
    _format("AIza", r"[A-Za-z0-9_-]{35}", "Google API key"),
    _format("GOCSPX-", r"[A-Za-z0-9_-]{24,40}", "Google OAuth client secret"),
    _format("ya29.", r"[A-Za-z0-9_-]{20,}", "Google OAuth access token", "token"),
    _format("ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{36,255}", "GitHub token", "token"),
    _format("github_pat_", r"[A-Za-z0-9_]{36,255}", "GitHub fine-grained token", "token"),
    _format("glpat- gldt- glft- glsoat- glrt- GR1348941 glcbt- glimt- glptt- glagent- gloas-", r"", "GitLab token", "token")._replace(
        pattern=_PluginPattern("gitlab_token", "GitLabTokenDetector")
    ),
    _format("xoxa- xoxb- xoxp- xoxo- xoxs- xoxr- xoxe-", r"[A-Za-z0-9-]{20,250}", "Slack token", "token"),
    _format("xapp-", r"\d-[A-Za-z0-9-]{20,200}", "Slack app token", "token"),
    _format("https://hooks.slack.com/", r"", "Slack webhook", "webhook")._replace(
        pattern=_PluginPattern("slack", "SlackDetector", flags=re.IGNORECASE)
    ),
    _format(
        "https://discord.com/api/webhooks/ https://discordapp.com/api/webhooks/",
        r"\d{10,25}/[\w-]{40,100}", "Discord webhook", "webhook"),
    _format("sk_live_ rk_live_ sk_prod_", r"[A-Za-z0-9]{10,250}", "Stripe API key"),
    _format("sk_test_ rk_test_", r"[A-Za-z0-9]{10,250}", "Stripe test key", "api_key", "medium"),
    _format("whsec_", r"[A-Za-z0-9+/]{24,80}={0,2}", "Stripe webhook secret"),
    _format("sq0atp- sq0idp-", r"[A-Za-z0-9_-]{22,60}", "Square access token", "token"),
    _format("sq0csp-", r"", "Square OAuth secret")._replace(pattern=_PluginPattern("square_oauth", "SquareOAuthDetector")),
    _format("SK", r"[0-9a-f]{32}", "Twilio API key"),
    _format("SG.", r"", "SendGrid API key")._replace(pattern=_PluginPattern("sendgrid", "SendGridDetector")),
    _format("xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", "Brevo API key"),
    _format("key-", r"[0-9a-f]{32}", "Mailgun API key"),
    _format("npm_", r"[A-Za-z0-9]{36,60}", "npm token", "token"),
    _format("pypi-AgE", r"", "PyPI token", "token")._replace(pattern=_PluginPattern("pypi_token", "PypiTokenDetector")),
    _format("rubygems_", r"[0-9a-f]{48}", "RubyGems API key"),
    _format("dckr_pat_", r"[A-Za-z0-9_-]{20,60}", "Docker token", "token"),
    _format("dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}", "DigitalOcean token", "token"),
    _format("shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}", "Shopify token", "token"),
    _format("secret_", r"[A-Za-z0-9]{43}", "Notion token", "token"),
    _format("ntn_", r"\d{11}[A-Za-z0-9]{30,50}", "Notion token", "token"),
    _format("lin_api_", r"[A-Za-z0-9]{40}", "Linear API key"),
    _format("figd_", r"[A-Za-z0-9_-]{30,60}", "Figma token", "token"),
    _format("dapi", r"[0-9a-f]{32}(?:-\d)?", "Databricks token", "token"),
    _format("hvs. hvb.", r"[A-Za-z0-9_-]{24,300}", "HashiCorp Vault token", "token"),
    _format("dp.pt. dp.st.", r"[A-Za-z0-9._-]{40,60}", "Doppler token", "token"),
    _format("glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}", "Grafana token", "token"),
    _format("glc_", r"[A-Za-z0-9+/]{32,400}={0,2}", "Grafana Cloud token", "token"),
    _format("NRAK-", r"[A-Za-z0-9]{27}", "New Relic API key"),
    _format("sntryu_ sntrys_", r"[A-Za-z0-9+/=_]{60,300}", "Sentry token", "token"),
    _format("pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{32,64}", "PlanetScale credential", "token"),
    _format("sbp_ sb_secret_", r"[A-Za-z0-9_]{30,60}", "Supabase token", "token"),
    _format("ATATT3", r"[A-Za-z0-9_\-=]{50,250}", "Atlassian API token", "token"),
    _format("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}", "Postman API key"),
    _format("HRKU-", r"[A-Za-z0-9_-]{36,66}", "Heroku API key"),
    _format("fo1_ fm1a_ fm1r_ fm2_", r"[\w+/-]{43,800}={0,3}", "Fly.io token", "token"),
    _format("EZAK EZTK", r"[A-Za-z0-9]{54}", "EasyPost API key"),
    _format("nfp_", r"[A-Za-z0-9]{36,60}", "Netlify token", "token"),
    _format("tfp_", r"[A-Za-z0-9_.-]{40,70}", "Typeform token", "token"),
    _format("ops_eyJ", r"[A-Za-z0-9+/]{200,}={0,3}", "1Password service account token", "token"),
    _format("sl.", r"(?:u\.)?[A-Za-z0-9_-]{100,}", "Dropbox access token", "token"),
    _format("pul-", r"[0-9a-f]{40}", "Pulumi token", "token"),
    _format("AGE-SECRET-KEY-1", r"[A-Z0-9]{58}", "age secret key", "private_key"),
    _format("xprv yprv zprv tprv", r"[1-9A-HJ-NP-Za-km-z]{100,112}", "extended private key of a wallet", "private_key"),
    _format("EAA", r"(?=[A-Za-z]{0,300}\d)[A-Za-z0-9]{60,300}", "Meta access token", "token"),
)  # fmt: skip

_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,16000}(?:\.[A-Za-z0-9_-]{0,4000})?")
_DISCORD = _PluginPattern("discord", "DiscordBotTokenDetector")
_TELEGRAM = _PluginPattern("telegram_token", "TelegramBotTokenDetector", r"(?<![\w-])(?:", r")(?![\w-])")
_MAILCHIMP = _PluginPattern("mailchimp", "MailchimpDetector", r"(?<![\w-])(?:", r")(?![\w-])")
_TERRAFORM = re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,70}")
_PRODUCT_KEY = re.compile(r"(?=[A-Z-]{0,28}\d)(?=[\d-]{0,28}[A-Z])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![\w-])", re.ASCII)
_AIRTABLE = re.compile(r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}")
_WIF = re.compile(r"(?<![A-Za-z0-9])(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KLc][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9])")
_SAS = re.compile(r"(?<=[?&;])sig=([A-Za-z0-9%+/=_-]{30,100})")
_AZURE = re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})")
_AWS_SECRET = re.compile(
    r"aws_?secret(?:_?access)?_?key[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", re.IGNORECASE
)
_OTPAUTH = re.compile(r"otpauth://[^\s]{1,200}?[?&]secret=([A-Z2-7a-z]{16,128})")
_WIFI_QR = re.compile(r"WIFI:(?:[A-OQ-Z]:(?:[^;\\\n]|\\.){0,64};){0,4}P:((?:[^;\\\n]|\\.){1,64});")
_CREDENTIAL = re.compile(
    r"(?:bearer|basic|authorization[\"']?:[ \t]{0,3}[\"']?token)[ \t]{1,3}([A-Za-z0-9_\-.+/=~]{16,4000})", re.IGNORECASE
)
_URL_LOGIN = re.compile(r"[A-Za-z0-9+.\-]{0,30}://[^\s:/@?#\"'<>{}]{0,100}:([^\s/@\"'<>]{1,200})@[\w.\-\[]")
_SCHEME_NAMES = {
    "postgres": "PostgreSQL", "postgresql": "PostgreSQL", "mysql": "MySQL", "mariadb": "MariaDB", "mongodb": "MongoDB",
    "redis": "Redis", "rediss": "Redis", "amqp": "RabbitMQ", "amqps": "RabbitMQ", "mssql": "SQL Server",
    "sqlserver": "SQL Server", "oracle": "Oracle", "clickhouse": "ClickHouse", "neo4j": "Neo4j", "cockroachdb": "CockroachDB",
}  # fmt: skip
_PEM_BEGIN = re.compile(
    r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
)
_PEM_BODY = re.compile(r"(?<=----)(?:[ \t>]*(?:[A-Za-z0-9+/=_\-]{8,}|[A-Za-z-]{3,20}: [^\n]{0,120}|)(?:\\n|\r?\n|$))*")
_PEM_DATA = re.compile(r"[A-Za-z0-9+/=]{24}")
_PEM_LIMIT = 40_000
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d: ")

_PLACEHOLDER = re.compile(
    r"[*•●·xX.…_\-#?=~:]+|<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)|\$\{[^{}]*\}?|\{\{?[^{}]*\}?\}?|%\(?\w+\)?s?|\$\(?[A-Za-z_]\w*\)?|@[A-Za-z_]+@"
)


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder by its form: masked (``****``), or a variable of a template (``${PASSWORD}``)."""
    return _PLACEHOLDER.fullmatch(value) is not None


def _found(start: int, end: int, caption: str, kind: str = "token", sensitivity: Sensitivity = "high") -> Candidate:
    return Candidate(start, end, kind, caption, caption, sensitivity, fixed=True)


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + len(sign))


def _by_prefix(text: str) -> Iterator[Candidate]:
    for form in _FORMATS:
        for prefix in form.prefixes:
            at = text.find(prefix)
            while at >= 0:
                end = at + len(prefix)
                before = text[at - 1] if at else " "
                if not (before.isascii() and (before.isalnum() or before in "_-")):
                    match = form.pattern.match(text, at)
                    if match is not None and not _FAKE.search(match[0]):
                        tail = _TAIL.match(text, match.end())
                        end = tail.end() if tail else match.end()
                        # A run that goes on for long is another thing (base64 data that begins alike by chance).
                        if end - match.end() <= 200:
                            yield _found(at, end, form.caption, form.kind, form.sensitivity)
                at = text.find(prefix, end)


def _private_keys(text: str) -> Iterator[Candidate]:
    done = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        label = begin[1] or "SSH2 PRIVATE KEY"
        close = text.find("-----END " + label if begin[1] else "---- END SSH2", begin.end(), begin.end() + _PEM_LIMIT)
        if close >= 0:
            stop = text.find("----", close + 9, close + 80)
            end = min(len(text), stop + 5) if stop >= 0 else close + 9
            if text[end - 1 : end] != "-":
                end -= 1
        else:  # cut off: what looks like its body is as secret as a whole key
            body = _PEM_BODY.match(text, begin.end(), begin.end() + _PEM_LIMIT)
            end = body.end() if body else begin.end()
            end = begin.end() + len(text[begin.end() : end].rstrip())
        if _PEM_DATA.search(text, begin.end(), end) is None:
            continue  # the header alone, in a sentence or a program about keys
        done = end
        caption = {"OPENSSH": "SSH private key", "PGP": "PGP private key", "SSH2": "SSH private key"}.get(
            label.split()[0], "private key"
        )
        yield _found(begin.start(), end, caption, "private_key")
    for putty in _PUTTY.finditer(text):
        close = text.find("Private-MAC: ", putty.end(), putty.end() + _PEM_LIMIT)
        line = text.find("\n", close) if close >= 0 else -1
        end = len(text) if close >= 0 and line < 0 else line
        if close >= 0:
            yield _found(putty.start(), end, "SSH private key", "private_key")


def _in_urls(text: str) -> Iterator[Candidate]:
    at = text.find("://")
    while at >= 0:
        start = at
        while (
            start > 0
            and at - start < 30
            and text[start - 1].isascii()
            and (text[start - 1].isalnum() or text[start - 1] in "+.-")
        ):
            start -= 1
        match = _URL_LOGIN.match(text, start)
        if (
            match is not None
            and match[1].lower() not in {"password", "pass", "pwd", "passwd", "secret"}
            and not is_placeholder(match[1])
        ):
            scheme = text[start:at].split("+", maxsplit=1)[0].lower()
            name = _SCHEME_NAMES.get(scheme)
            caption = f"password in a {name} connection string" if name else "password in a web address"
            kind = "connection_string" if name else "password"
            yield _found(match.start(1), match.end(1), caption, kind)
        at = text.find("://", at + 3)


def _basic_is_valid(value: str) -> bool:
    try:
        return ":" in base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False


def _is_jwt(token: str) -> bool:
    from detect_secrets.plugins.jwt import JwtTokenDetector

    return bool(JwtTokenDetector.is_formally_valid(".".join(token.split(".")[:2])))


def _with_signs(text: str) -> Iterator[Candidate]:
    """Formats without a prefix of their own, each searched for only where the text contains its sign."""
    if "eyJ" in text:
        for at in _places(text, "eyJ"):
            match = None if text[at - 1 : at].isalnum() and at else _JWT.match(text, at)
            # The signature may be cut off in a chat; header and payload must be JSON.
            if match is not None and _is_jwt(match[0]):
                yield _found(at, at + len(match[0].rstrip(".")), "JSON Web Token")
    for sign, pattern, caption, kind in (
        (".", _DISCORD, "Discord bot token", "token"),
        (":A", _TELEGRAM, "Telegram bot token", "token"),
        ("-us", _MAILCHIMP, "Mailchimp API key", "api_key"),
        (".atlasv1.", _TERRAFORM, "Terraform Cloud token", "token"),
        ("pat", _AIRTABLE, "Airtable token", "token"),
        ("-", _PRODUCT_KEY, "license key", "license_key"),
    ):
        if sign in text:
            for match in pattern.finditer(text):
                left, right = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
                if not (left.isalnum() or left == "_" or right.isalnum() or right == "_"):
                    yield _found(match.start(), match.end(), caption, kind)
    for match in _WIF.finditer(text):
        if _is_wallet_key(match[0]):
            yield _found(match.start(), match.end(), "Bitcoin private key", "private_key")
    for sign, pattern, caption in (
        ("sig=", _SAS, "Azure shared access signature"),
        ("Key=", _AZURE, "Azure storage key"),
        ("otpauth://", _OTPAUTH, "two-factor secret"),
        ("", _AWS_SECRET, "AWS secret access key"),
    ):
        if sign in text:
            for match in pattern.finditer(text):
                yield _found(
                    match.start(1), match.end(1), caption, "token" if sign in {"sig=", "otpauth://"} else "api_key"
                )


def _in_headers(text: str) -> Iterator[Candidate]:
    for match in _CREDENTIAL.finditer(text):
        if match[0][:5].lower() == "basic":
            if _basic_is_valid(match[1]):
                yield _found(match.start(1), match.end(1), "login in an Authorization header", "password")
        elif sum(map(str.isdigit, match[1])) >= 2 and not _FAKE.search(match[1]):
            yield _found(match.start(1), match.end(1), "bearer token")


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _is_wallet_key(text: str) -> bool:
    """Base58Check with the version byte of Bitcoin's private keys (main and test net)."""
    value = 0
    for char in text:
        value = value * 58 + _BASE58.index(char)
    raw = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return raw[0] in {0x80, 0xEF} and hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


_DIGITS = re.compile(
    r"(?<![\w.,/#$€£+-])\d(?:\d|[ .\u2011\u2013-](?=\d)){10,24}(?:[xX](?![^\W_]))?(?![\w%]|[.,]\d)", re.ASCII
)
_IBAN = re.compile(r"(?<![^\W_])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{2,4}){3,8}(?![^\W_])", re.ASCII)
# By the first digits and the length: ISO/IEC 7812 issuers.
_NETWORKS = (
    ("Visa", re.compile(r"4(?:\d{12}|\d{15}|\d{18})")),
    ("Mastercard", re.compile(r"(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}")),
    ("American Express", re.compile(r"3[47]\d{13}")),
    ("UnionPay", re.compile(r"62\d{14,17}")),
    ("Discover", re.compile(r"(?:6011|65\d\d|64[4-9]\d)\d{12,15}")),
    ("JCB", re.compile(r"35(?:2[89]|[3-8]\d)\d{12,15}")),
    ("Diners Club", re.compile(r"(?:30[0-5]|3[689]\d)\d{11}")),
    ("Mir", re.compile(r"220[0-4]\d{12}")),
    ("RuPay", re.compile(r"(?:60|81|82)\d{14}")),
)


def _numbers(text: str) -> Iterator[Candidate]:
    """Cards, Chinese identity numbers and Brazil's CPF; check digits decide."""
    for match in _DIGITS.finditer(text):
        written, start = match[0], match.start()
        bare = re.sub(r"\D", "", written)
        if len(written) == 18 and written.isalnum() and ric.is_valid(written):
            yield _found(start, match.end(), "Chinese identity number (身份证)", "national_id")
        elif re.fullmatch(r"\d{3}\.\d{3}\.\d{3}-\d\d", written) and cpf.is_valid(written):
            yield _found(start, match.end(), "CPF number", "national_id")
        elif len(set(bare)) > 1 and luhn.is_valid(bare) and (written.isdigit() or _is_grouped(written)):
            network = next((name for name, pattern in _NETWORKS if pattern.fullmatch(bare)), None)
            # Thirteen and fourteen digits in one are also bar codes and times, nineteen also ids of posts.
            if network and (not written.isdigit() or len(bare) in {15, 16} or network == "UnionPay"):
                doubtful = written.isdigit()
                yield Candidate(
                    start, match.end(), "card_number", "card number", f"card number ({network})", "high", True, doubtful
                )


def _is_grouped(written: str) -> bool:
    """Whether digits are in the groups of a card, with one separator."""
    groups = [len(group) for group in re.split(r"\D", written)]
    signs = set(re.sub(r"\d", "", written))
    return (
        len(signs) == 1
        and (groups[:3] == [4, 4, 4] or groups in ([4, 6, 5], [4, 6, 4], [6, 13], [8, 8]))
        and len(groups) <= 5
    )


def _ibans(text: str) -> Iterator[Candidate]:
    for match in _IBAN.finditer(text):
        written = match[0]
        while written:  # what follows may look like one more group
            if iban.is_valid(written):
                yield _found(match.start(), match.start() + len(written), "IBAN (bank account)", "iban", "medium")
                break
            written = written[:-1].rstrip(" -") if " " in written or "-" in written else ""


_SEED_WORD = re.compile(r"(?<![^\W\d_])[a-z]{3,8}(?![^\W\d_])")
_BETWEEN_WORDS = re.compile(r"[\s,;]{1,3}(?:\d{1,2}[.):]?[ ]{0,2})?")
_FIRST_NUMBER = re.compile(r"\b1[.):]?[ ]{0,2}$")
_SEED_LENGTHS = (24, 21, 18, 15, 12)


@once
def _bip39() -> Mnemonic:
    return Mnemonic("english")


def _seed_phrases(text: str) -> Iterator[Candidate]:
    """Runs of words of the list of BIP-39; one without a valid checksum is doubtful."""
    words = frozenset(_bip39().wordlist)
    run: list[re.Match[str]] = []
    for match in [*_SEED_WORD.finditer(text), None]:
        joins = match and run and _BETWEEN_WORDS.fullmatch(text, run[-1].end(), match.start())
        if match and match[0] in words and (joins or not run):
            run.append(match)
            continue
        length = next((size for size in _SEED_LENGTHS if len(run) >= size), None)
        if length:
            certain = len(run) == length and _bip39().check(" ".join(word[0] for word in run))
            start = run[0].start()
            numbered = _FIRST_NUMBER.search(text[max(0, start - 5) : start])
            start -= len(numbered[0]) if numbered else 0
            yield Candidate(
                start, run[length - 1].end(), "seed_phrase", "seed phrase", "seed phrase", "high", True, not certain
            )
        run = [match] if match and match[0] in words else []


_LONG_RUN = re.compile(r"[A-Za-z0-9_\-+/=.:~%!@#$&*]{20}")
_ELEVEN_WORDS = re.compile(r"(?:[a-z]{3,8}[\s,;.):\d]{1,8}){11}[a-z]{3}")


def find_forms(text: str) -> Iterator[Candidate]:
    """Secrets that their form alone identifies; of those that overlap the first counts."""
    if "PRIVATE KEY" in text or "PuTTY-User" in text:
        yield from _private_keys(text)
    if _LONG_RUN.search(text):
        yield from _by_prefix(text)
        yield from _with_signs(text)
    if "WIFI:" in text:
        for match in _WIFI_QR.finditer(text):
            yield _found(match.start(1), match.end(1), "wifi password", "password", "medium")
    yield from _in_headers(text)
    if "://" in text and "@" in text:
        yield from _in_urls(text)
    if _DIGITS.search(text):
        yield from _numbers(text)
    yield from _ibans(text)
    if _ELEVEN_WORDS.search(text):
        yield from _seed_phrases(text)
