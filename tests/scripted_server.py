"""A scripted OpenAI-compatible server on loopback, to stand behind the real ``ChatOpenAI``.

It answers ``/v1/chat/completions`` (whole and as a stream, with tools and response formats) and ``/v1/models``, checks
schemas by the rules of OpenAI's strict mode, and misbehaves as it is told. Give it a function ``(request) -> Reply``
or a list of replies, of which the last one repeats::

    with ScriptedServer([Reply({"scope": "travel"})]) as server:
        model = server.chat_model()

In tests import the fixtures: ``from .scripted_server import loopback_only, scripted_server  # noqa: F401``. A server
starts in a millisecond, a client takes more: where many replies are tried, keep both and call ``server.follow(script)``.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Protocol

import pytest
from langchain_openai import ChatOpenAI

KEY = "sk-scripted-0123456789abcdefSECRET"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One parsed request."""

    number: int  # from 0, over all requests of the server
    body: dict[str, Any]
    key: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def text(self) -> str:
        """All that the messages say."""
        return "\n".join(str(one.get("content")) for one in self.messages)

    @property
    def method(self) -> Literal["json_schema", "function_calling", "json_mode", "text"]:
        """How structured output is asked for."""
        if self.body.get("tools"):
            return "function_calling"
        kind = (self.body.get("response_format") or {}).get("type")
        return {"json_schema": "json_schema", "json_object": "json_mode"}.get(kind, "text")

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the reply that is asked for, if it is sent as such."""
        if self.method == "function_calling":
            return self.body["tools"][0]["function"].get("parameters")
        if self.method == "json_schema":
            return self.body["response_format"]["json_schema"].get("schema")
        return None

    @property
    def manager(self) -> str | None:
        """The kind of items, where an agent with the tools of a manager asks."""
        names = [tool["function"]["name"] for tool in self.body.get("tools") or ()]
        found = re.search(r"^Known (\w+) items:$", self.text, re.M) if "search_memory" in names else None
        return found.group(1) if found else None

    @property
    def results(self) -> list[str]:
        """What the tools answered so far."""
        return [str(message["content"]) for message in self.messages if message["role"] == "tool"]

    @property
    def name(self) -> str | None:
        """The name of the tool or schema that is asked for; of a manager's agent that of the agent."""
        if self.manager is not None:
            return f"{self.manager}_manager"
        if self.method == "function_calling":
            return self.body["tools"][0]["function"]["name"]
        if self.method == "json_schema":
            return self.body["response_format"]["json_schema"]["name"]
        return None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the server does with one request. With tools, ``content`` becomes the arguments of the tool asked for."""

    content: object = ""  # a text, sent as it is, or an object, sent as JSON
    tool: str | None = None  # another tool than the one asked for
    plain: bool = False  # text even if a tool is asked for
    calls: Sequence[tuple[str, object]] = ()  # of an agent's tools: names and arguments
    refusal: str | None = None
    finish_reason: str | None = None
    choices: Literal["one", "none", "null"] = "one"
    status: int = 200
    error: str = ""
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: Literal["no", "before", "middle"] = "no"  # where the connection ends
    body: bytes | None = None  # sent in place of everything
    content_type: str = "application/json"
    usage: tuple[int, int] | None = (-1, -1)  # tokens read and written; -1 counts words; None reports none


Script = Callable[[Request], Reply] | Sequence[Reply]


class ScriptedServer:
    """The server; a context manager. ``requests`` is the log of what was asked, ``tokens`` what was reported."""

    def __init__(self, script: Script, *, key: str | None = None) -> None:
        self.script = script
        self.key = key
        self.requests: list[Request] = []
        self.tokens = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        server = self

        class Handler(_Handler):
            scripted = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        """How many chat requests came in."""
        return len(self.requests)

    def chat_model(self, **settings: Any) -> ChatOpenAI:
        """The real client, pointed here."""
        return ChatOpenAI(**{"model": "scripted", "base_url": self.base_url, "api_key": KEY, "timeout": 10, **settings})

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, body: dict[str, Any], key: str) -> tuple[Request, Reply]:
        """Log a request and decide on its reply."""
        with self._lock:
            request = Request(number=len(self.requests), body=body, key=key)
            self.requests.append(request)
        if self.key is not None and key != self.key:
            return request, Reply(
                status=401,
                error_code="invalid_api_key",
                error=f"Incorrect API key provided: {key}. You can find yours.",
            )
        problem = refused_by_strict_mode(body)
        if problem is not None:
            return request, Reply(status=400, error=problem)
        if callable(self.script):
            return request, self.script(request)
        return request, self.script[min(request.number, len(self.script) - 1)]

    def follow(self, script: Script) -> None:
        """Go on with another script, with an empty log."""
        with self._lock:
            self.script, self.tokens = script, 0
            self.requests.clear()

    def wait(self, seconds: float) -> None:
        """Be slow, but not slower than the test."""
        self._stop.wait(seconds)

    def count(self, tokens: int) -> None:
        with self._lock:
            self.tokens += tokens


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self._error(404, f"Unknown request URL: GET {self.path}", None, {})
            return
        self._json({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            self._error(404, f"Unknown request URL: POST {self.path}", None, {})
            return
        request, reply = self.scripted.take(
            json.loads(raw), self.headers.get("Authorization", "").removeprefix("Bearer ")
        )
        if reply.delay:
            self.scripted.wait(reply.delay)
        if reply.cut == "before":
            self._hang_up()
        elif reply.body is not None:
            self._bytes(reply.status, reply.body, reply.content_type, reply.headers)
        elif reply.status != 200:
            self._error(reply.status, reply.error or "Scripted failure", reply.error_code, reply.headers)
        elif request.body.get("stream"):
            self._stream(request, reply)
        else:
            self._json(self._completion(request, reply), reply.headers, cut=reply.cut == "middle")

    # Completions.

    def _message(self, request: Request, reply: Reply) -> tuple[dict[str, Any], str]:
        content = reply.content if isinstance(reply.content, str) else json.dumps(reply.content, ensure_ascii=False)
        if reply.refusal is not None:
            return {"role": "assistant", "content": None, "refusal": reply.refusal}, "stop"
        if reply.calls:
            calls = [
                {
                    "id": f"call_{request.number}_{place}",
                    "type": "function",
                    "function": {"name": tool, "arguments": given if isinstance(given, str) else json.dumps(given)},
                }
                for place, (tool, given) in enumerate(reply.calls)
            ]
            return {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}, "tool_calls"
        name = reply.tool or (request.name if request.method == "function_calling" else None)
        if name is None or reply.plain:
            return {"role": "assistant", "content": content, "refusal": None}, "stop"
        call = {"id": f"call_{request.number}", "type": "function", "function": {"name": name, "arguments": content}}
        return {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}, "tool_calls"

    def _usage(self, request: Request, reply: Reply) -> dict[str, int] | None:
        if reply.usage is None:
            return None
        said = reply.content if isinstance(reply.content, str) else json.dumps(reply.content, ensure_ascii=False)
        read, written = reply.usage
        read = read if read >= 0 else _words("".join(str(one.get("content")) for one in request.messages))
        written = written if written >= 0 else _words(said)
        self.scripted.count(read + written)
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}

    def _frame(self, request: Request, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{request.number}",
            "object": kind,
            "created": 1_700_000_000,
            "model": request.body.get("model", "scripted"),
        }

    def _completion(self, request: Request, reply: Reply) -> dict[str, Any]:
        message, finish = self._message(request, reply)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason or finish}
        choices = {"one": [choice], "none": [], "null": None}[reply.choices]
        completion = {**self._frame(request, "chat.completion"), "choices": choices}
        usage = self._usage(request, reply)
        return completion if usage is None else {**completion, "usage": usage}

    def _stream(self, request: Request, reply: Reply) -> None:
        message, finish = self._message(request, reply)
        events: list[dict[str, Any]] = []

        def event(delta: dict[str, Any], reason: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            choices = [choice] if reply.choices == "one" else []
            events.append({**self._frame(request, "chat.completion.chunk"), "choices": choices})

        event({"role": "assistant", "content": ""})
        if message.get("refusal"):
            event({"refusal": message["refusal"]})
        for index, call in enumerate(message.get("tool_calls", [])):
            arguments = call["function"]["arguments"]
            event(
                {
                    "tool_calls": [
                        {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
                    ]
                }
            )
            for piece in _pieces(arguments):
                event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        for piece in _pieces(message.get("content") or ""):
            event({"content": piece})
        event({}, reply.finish_reason or finish)
        usage = self._usage(request, reply)
        if usage is not None and (request.body.get("stream_options") or {}).get("include_usage"):
            events.append({**self._frame(request, "chat.completion.chunk"), "choices": [], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, one in enumerate(events):
            if reply.cut == "middle" and number >= len(events) // 2:
                self._hang_up()
                return
            self._chunk(f"data: {json.dumps(one)}\n\n".encode())
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    # HTTP.

    def _chunk(self, data: bytes) -> None:
        self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _write(self, data: bytes) -> None:
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except OSError:  # the client went away, which some tests want
            self.close_connection = True

    def _hang_up(self) -> None:
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def _json(self, value: object, headers: Mapping[str, str] | None = None, *, cut: bool = False) -> None:
        self._bytes(200, json.dumps(value).encode(), "application/json", headers or {}, cut=cut)

    def _error(self, status: int, message: str, code: str | None, headers: Mapping[str, str]) -> None:
        kind = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": message, "type": kind, "param": None, "code": code}
        self._bytes(status, json.dumps({"error": error}).encode(), "application/json", headers)

    def _bytes(
        self, status: int, data: bytes, content_type: str, headers: Mapping[str, str], *, cut: bool = False
    ) -> None:
        # Closed each time: a client that is used from several event loops keeps no connection of a dead one.
        head = {"Content-Type": content_type, "Content-Length": str(len(data)), "Connection": "close", **headers}
        try:
            self.send_response(status)
            for name, value in head.items():
                self.send_header(name, value)
            self.end_headers()
        except OSError:
            self.close_connection = True
            return
        self._write(data[: len(data) // 2] if cut else data)
        if cut:
            self._hang_up()


def _words(text: str) -> int:
    """A rough count of tokens: words, marks, and each Chinese character."""
    return len(re.findall(r"[\u2e80-\u9fff]|\w+?(?=\W|[\u2e80-\u9fff]|$)|[^\w\s]", text))


def _pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


# OpenAI's strict mode, in the words in which it refuses. Written apart from hexamem.models.schemas, so that one checks
# the other: https://platform.openai.com/docs/guides/structured-outputs

_NOT_PERMITTED = ("oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "prefixItems")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def refused_by_strict_mode(body: Mapping[str, Any]) -> str | None:
    """Why OpenAI refuses the schemas of a request, or None."""
    kind = body.get("response_format") or {}
    if kind.get("type") == "json_object" and "json" not in json.dumps(body["messages"]).lower():
        return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    if kind.get("type") == "json_schema":
        asked = kind.get("json_schema") or {}
        name = asked.get("name", "")
        if not _NAME.fullmatch(name):
            return f"Invalid 'response_format.json_schema.name': string does not match pattern: {name!r}."
        problem = _problem(asked.get("schema"), (), asked.get("schema")) if asked.get("strict") else None
        if problem:
            return f"Invalid schema for response_format '{name}': {problem}"
    names = []
    for tool in body.get("tools") or []:
        function = tool["function"]
        names.append(function["name"])
        if not _NAME.fullmatch(function["name"]):
            return f"Invalid 'tools[0].function.name': string does not match pattern: {function['name']!r}."
        problem = (
            _problem(function.get("parameters"), (), function.get("parameters")) if function.get("strict") else None
        )
        if problem:
            return f"Invalid schema for function '{function['name']}': {problem}"
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["function"]["name"] not in names:
        return f"Tool choice '{choice['function']['name']}' not found in 'tools' parameter."
    return None


def _problem(node: Any, context: tuple[str, ...], root: Any, depth: int = 1) -> str | None:
    place = f"In context={context!r}, "
    if not isinstance(node, dict):
        return f"{place}schema must be an object."
    if depth == 1 and node.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{node.get('type')}\"'."
    if depth > 10:
        return f"{place}exceeded the maximum nesting depth of 10."
    if "$ref" in node:
        if set(node) - {"$ref"}:
            return f"{place}$ref cannot have keywords {set(node) - {'$ref'}!r}."
        target = root
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target.get(part) if isinstance(target, dict) else None
        return (
            None if target is not None else f"{place}reference can only point to definitions defined at the top level."
        )
    for word in _NOT_PERMITTED:
        if word in node:
            return f"{place}'{word}' is not permitted."
    if "default" in node:
        return f"{place}'default' is not permitted."
    if "anyOf" in node:
        if depth == 1:
            return f"{place}'anyOf' is not permitted at the root."
        for index, one in enumerate(node["anyOf"]):
            problem = _problem(one, (*context, "anyOf", str(index)), root, depth + 1)
            if problem:
                return problem
        return None
    if "type" not in node and "enum" not in node and "const" not in node:
        return f"{place}schema must have a 'type' key."
    if node.get("type") == "object":
        if node.get("additionalProperties") is not False:
            return f"{place}'additionalProperties' is required to be supplied and to be false."
        properties = node.get("properties", {})
        missing = [name for name in properties if name not in node.get("required", [])]
        if missing or "required" not in node:
            told = f" Missing '{missing[0]}'." if missing else ""
            return f"{place}'required' is required to be supplied and to be an array including every key in properties.{told}"
        for name, one in properties.items():
            problem = _problem(one, (*context, "properties", name), root, depth + 1)
            if problem:
                return problem
    if node.get("type") == "array":
        if "items" not in node:
            return f"{place}array schema missing items."
        return _problem(node["items"], (*context, "items"), root, depth + 1)
    for name, one in node.get("$defs", {}).items():
        problem = _problem(one, ("$defs", name), root, 2)
        if problem:
            return problem
    return None


@pytest.fixture
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection but to this machine, no key and no proxy of the surroundings."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_API_KEY", "LANGSMITH_TRACING"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"the test blocks the network: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


class ServerFactory(Protocol):
    """Starts a server that stops with the test; with ``key``, any other key is refused."""

    def __call__(self, script: Script, *, key: str | None = None) -> ScriptedServer: ...


@pytest.fixture
def scripted_server(loopback_only: None) -> Iterator[ServerFactory]:
    """Starts servers: ``server = scripted_server([Reply(content={…})])``; they stop with the test."""
    started: list[ScriptedServer] = []

    def start(script: Script, *, key: str | None = None) -> ScriptedServer:
        started.append(ScriptedServer(script, key=key).__enter__())
        return started[-1]

    yield start
    for one in started:
        one.__exit__()
