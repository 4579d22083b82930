"""Secrets of a defined form: vendor tokens, private keys, passwords in URLs, headers and webhooks.

Formats that are defined by a literal prefix are data: a prefix is looked for with ``str.find``, and its pattern is
matched there. Some patterns come from detect-secrets' plugins; they are anchored, and a match is widened to the whole
run of token characters, because several of them match one fixed length only, and the tail of a longer key would stay.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import NamedTuple

from hexamem.stores.secrets.checksums import base58check_is_valid
from hexamem.stores.secrets.grammar import continues_word, occurrences
from hexamem.stores.secrets.spans import Candidate, Sensitivity, TextForms
from hexamem.stores.secrets.values import is_placeholder

__all__ = ["find_tokens"]

_PRIORITY = 90
_RUN = re.compile(r"[A-Za-z0-9_\-+/=.:~%!@#$&*]{20}")
_TAIL = re.compile(r"[A-Za-z0-9_\-]*")
_FAKE = re.compile(
    r"your[-_]?|(.)\1{9}|x{6}|example[-_]?key|placeholder|replace|insert|\.\.\.|123456789012345678|abcdefghijklmnopqrs",
    re.IGNORECASE,
)


class _PluginPattern:
    """The patterns of a plugin of detect-secrets as one; the plugin, which imports an HTTP client, is imported when first used."""

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
    prefixes: str,
    rest: str | _PluginPattern,
    caption: str,
    kind: str = "api_key",
    sensitivity: Sensitivity = "high",
) -> _Format:
    """A format by its prefixes and the pattern of what follows, or a plugin's pattern of the whole token."""
    names = tuple(prefixes.split())
    if isinstance(rest, _PluginPattern):
        return _Format(names, rest, caption, kind, sensitivity)
    # Longest prefix first, so that "sk-ant-" is not read as "sk-".
    heads = "|".join(re.escape(prefix) for prefix in sorted(names, key=len, reverse=True))
    return _Format(names, re.compile(rf"(?:{heads}){rest}"), caption, kind, sensitivity)


# In order: of two formats that match at one place the first wins.
_FORMATS: tuple[_Format, ...] = (
    _format("sk-ant-", r"[A-Za-z0-9_-]{20,250}", "Anthropic API key"),
    _format("sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,250}", "OpenAI API key"),
    _format("sk-or-", r"(?:v\d-)?[A-Za-z0-9]{24,}", "OpenRouter API key"),
    _format("sk-lf-", r"[0-9a-f-]{32,40}", "Langfuse secret key"),
    _format("sk-", r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}", "OpenAI API key"),
    _format("sk-", r"(?=[A-Za-z]*\d)[A-Za-z0-9]{20,120}", "API key (OpenAI style)"),
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
    _format(
        "glpat- gldt- glft- glsoat- glrt- GR1348941 glcbt- glimt- glptt- glagent- gloas-",
        _PluginPattern("gitlab_token", "GitLabTokenDetector"), "GitLab token", "token"),
    _format("xoxa- xoxb- xoxp- xoxo- xoxs- xoxr- xoxe-", r"[A-Za-z0-9-]{20,250}", "Slack token", "token"),
    _format("xapp-", r"\d-[A-Za-z0-9-]{20,200}", "Slack app token", "token"),
    _format("https://hooks.slack.com/", _PluginPattern("slack", "SlackDetector", flags=re.IGNORECASE), "Slack webhook", "webhook"),
    _format(
        "https://discord.com/api/webhooks/ https://discordapp.com/api/webhooks/",
        r"\d{10,25}/[\w-]{40,100}", "Discord webhook", "webhook"),
    _format("sk_live_ rk_live_ sk_prod_", r"[A-Za-z0-9]{10,250}", "Stripe API key"),
    _format("sk_test_ rk_test_", r"[A-Za-z0-9]{10,250}", "Stripe test key", "api_key", "medium"),
    _format("whsec_", r"[A-Za-z0-9+/]{24,80}={0,2}", "Stripe webhook secret"),
    _format("sq0atp- sq0idp-", r"[A-Za-z0-9_-]{22,60}", "Square access token", "token"),
    _format("sq0csp-", _PluginPattern("square_oauth", "SquareOAuthDetector"), "Square OAuth secret"),
    _format("SK", r"[0-9a-f]{32}", "Twilio API key"),
    _format("SG.", _PluginPattern("sendgrid", "SendGridDetector"), "SendGrid API key"),
    _format("xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", "Brevo API key"),
    _format("key-", r"[0-9a-f]{32}", "Mailgun API key"),
    _format("npm_", r"[A-Za-z0-9]{36,60}", "npm token", "token"),
    _format("pypi-AgE", _PluginPattern("pypi_token", "PypiTokenDetector"), "PyPI token", "token"),
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
    _format("EAA", r"(?=[A-Za-z]*\d)[A-Za-z0-9]{60,300}", "Meta access token", "token"),
)  # fmt: skip

_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,16000}(?:\.[A-Za-z0-9_-]{0,4000})?")
_ALONE = (r"(?<![\w-])(?:", r")(?![\w-])")
_WIF = re.compile(r"(?<![A-Za-z0-9])(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KLc][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9])")
_WIFI_QR = re.compile(r"WIFI:(?:[A-OQ-Z]:(?:[^;\\\n]|\\.){0,64};){0,4}P:((?:[^;\\\n]|\\.){1,64});")
_CREDENTIAL = re.compile(
    r"(?:bearer|basic|authorization[\"']?:[ \t]{0,3}[\"']?token)[ \t]{1,3}([A-Za-z0-9_\-.+/=~]{16,4000})", re.IGNORECASE
)
_SCHEME = re.compile(r"[A-Za-z0-9+.\-]+$")
_URL_LOGIN = re.compile(r"://[^\s:/@?#\"'<>{}]{0,100}:([^\s/@\"'<>]{1,200})@[\w.\-\[]")
_PLACEHOLDER_PASSWORDS = frozenset({"password", "pass", "pwd", "passwd", "secret"})
_SCHEME_NAMES = {
    "postgres": "PostgreSQL", "postgresql": "PostgreSQL", "mysql": "MySQL", "mariadb": "MariaDB", "mongodb": "MongoDB",
    "redis": "Redis", "rediss": "Redis", "amqp": "RabbitMQ", "amqps": "RabbitMQ", "mssql": "SQL Server",
    "sqlserver": "SQL Server", "oracle": "Oracle", "clickhouse": "ClickHouse", "neo4j": "Neo4j", "cockroachdb": "CockroachDB",
}  # fmt: skip
_PEM_BEGIN = re.compile(
    r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
)
_PEM_BODY = re.compile(r"(?:[ \t>]*(?:[A-Za-z0-9+/=_\-]{8,}|[A-Za-z-]{3,20}: [^\n]{0,120}|)(?:\\n|\r?\n|$))*")
_PEM_DATA = re.compile(r"[A-Za-z0-9+/=]{24}")
_PEM_LIMIT = 40_000
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d: .{0,8000}?Private-MAC: [^\n]*", re.DOTALL)


def _token(
    start: int,
    end: int,
    caption: str,
    kind: str = "token",
    sensitivity: Sensitivity = "high",
    priority: int = _PRIORITY,
) -> Candidate:
    return Candidate(start, end, kind, caption, sensitivity, priority, fixed=True)


def _by_prefix(text: str) -> Iterator[Candidate]:
    for form in _FORMATS:
        for start in occurrences(text, form.prefixes):
            match = None if continues_word(text, start - 1, "_-") else form.pattern.match(text, start)
            if match is None or _FAKE.search(match[0]):
                continue
            tail = _TAIL.match(text, match.end())
            end = tail.end() if tail else match.end()
            # A long tail is other text, such as base64 data that begins alike by chance.
            if end - match.end() <= 200:
                yield _token(start, end, form.caption, form.kind, form.sensitivity)


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
        else:  # cut off: a part of the body is as secret as a whole key
            body = _PEM_BODY.match(text, begin.end(), begin.end() + _PEM_LIMIT)
            end = body.end() if body else begin.end()
            end = begin.end() + len(text[begin.end() : end].rstrip())
        if _PEM_DATA.search(text, begin.end(), end) is None:
            continue  # the header alone, in a sentence or a program about keys
        done = end
        caption = {"OPENSSH": "SSH private key", "PGP": "PGP private key", "SSH2": "SSH private key"}.get(
            label.split()[0], "private key"
        )
        yield _token(begin.start(), end, caption, "private_key", priority=_PRIORITY + 5)
    for putty in _PUTTY.finditer(text):
        yield _token(*putty.span(), "SSH private key", "private_key", priority=_PRIORITY + 5)


def _in_urls(text: str) -> Iterator[Candidate]:
    for start in occurrences(text, ("://",)):
        match = _URL_LOGIN.match(text, start)
        if match is None or match[1].lower() in _PLACEHOLDER_PASSWORDS or is_placeholder(match[1]):
            continue
        scheme = _SCHEME.search(text[max(0, start - 30) : start])
        name = _SCHEME_NAMES.get(scheme[0].split("+", maxsplit=1)[0].lower()) if scheme else None
        caption = f"password in a {name} connection string" if name else "password in a web address"
        yield _token(*match.span(1), caption, "connection_string" if name else "password", priority=_PRIORITY - 5)


def _basic_is_valid(value: str) -> bool:
    try:
        return ":" in base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False


def _is_jwt(token: str) -> bool:
    from detect_secrets.plugins.jwt import JwtTokenDetector

    return bool(JwtTokenDetector.is_formally_valid(".".join(token.split(".")[:2])))


# Formats without a prefix: a sign that the text contains, the pattern, caption, kind.
_WHOLE_FORMATS: tuple[tuple[str, re.Pattern[str] | _PluginPattern, str, str], ...] = (
    (".", _PluginPattern("discord", "DiscordBotTokenDetector"), "Discord bot token", "token"),
    (":A", _PluginPattern("telegram_token", "TelegramBotTokenDetector", *_ALONE), "Telegram bot token", "token"),
    ("-us", _PluginPattern("mailchimp", "MailchimpDetector", *_ALONE), "Mailchimp API key", "api_key"),
    (".atlasv1.", re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,70}"), "Terraform Cloud token", "token"),
    ("pat", re.compile(r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"), "Airtable token", "token"),
)
# Formats whose secret is group 1 of the pattern.
_PART_FORMATS = (
    ("sig=", re.compile(r"(?<=[?&;])sig=([A-Za-z0-9%+/=_-]{30,100})"), "Azure shared access signature", "token"),
    (
        "Key=",
        re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})"),
        "Azure storage key",
        "api_key",
    ),
    (
        "otpauth://",
        re.compile(r"otpauth://[^\s]{1,200}?[?&]secret=([A-Z2-7a-z]{16,128})"),
        "two-factor secret",
        "token",
    ),
)


def _by_form(text: str) -> Iterator[Candidate]:
    for start in occurrences(text, ("eyJ",)):
        jwt = None if text[start - 1 : start].isalnum() else _JWT.match(text, start)
        # The signature may be cut off in a chat; header and payload must be JSON.
        if jwt is not None and _is_jwt(jwt[0]):
            yield _token(start, start + len(jwt[0].rstrip(".")), "JSON Web Token")
    for sign, pattern, caption, kind in _WHOLE_FORMATS:
        for match in pattern.finditer(text) if sign in text else ():
            around = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
            if not any(char.isalnum() or char == "_" for char in around):
                yield _token(*match.span(), caption, kind)
    for match in _WIF.finditer(text):
        if base58check_is_valid(match[0]):
            yield _token(*match.span(), "Bitcoin private key", "private_key")
    for sign, part, caption, kind in _PART_FORMATS:
        for match in part.finditer(text) if sign in text else ():
            yield _token(*match.span(1), caption, kind)


def _in_headers(text: str, low: str) -> Iterator[Candidate]:
    for start in occurrences(low, ("bearer ", "basic ", "authorization")):
        match = _CREDENTIAL.match(text, start)
        if match is None or (start and low[start - 1].isalnum()):
            continue
        if low[start : start + 5] == "basic":
            if _basic_is_valid(match[1]):
                yield _token(*match.span(1), "login in an Authorization header", "password")
        elif sum(map(str.isdigit, match[1])) >= 2 and not _FAKE.search(match[1]):
            yield _token(*match.span(1), "bearer token")


def find_tokens(forms: TextForms) -> Iterator[Candidate]:
    """Secrets that their form alone identifies. One cheap search for a long run of token characters comes first."""
    text, low = forms.norm, forms.low
    if "://" in text and "@" in text:
        yield from _in_urls(text)
    if "WIFI:" in text:
        for match in _WIFI_QR.finditer(text):
            yield _token(*match.span(1), "wifi password", "password", "medium")
    if "PRIVATE KEY" in text or "PuTTY-User" in text:
        yield from _private_keys(text)
    yield from _in_headers(text, low)
    if _RUN.search(text):
        yield from _by_prefix(text)
        yield from _by_form(text)
