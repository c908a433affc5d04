"""Client of the Loyalty API, version VERSION.

One module for Python 3.11 or newer that needs no packages. Generated from openapi.json: changes
are overwritten.

    loyalty = Loyalty("https://loyalty.example", token)
    customer = loyalty.upsert_customer(first_name="Elsa", last_name="Berg", phone="08-465 004 12")
    sale = loyalty.record_transaction(
        customer_ulid=customer["ulid"], transaction_type_id=1, spend_amount_cents=1250,
        idempotency_key="till-3-receipt-4711",
    )
"""

from __future__ import annotations

import json
import random
import re
import ssl
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar
from urllib.error import HTTPError
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

UNSET: Any = object()
"""Leaves a field out of the request. None is sent, as null."""

T = TypeVar("T")


class Problem(Exception):
    """A response that isn't a success (RFC 7807). Check code to recognise a business rule."""

    def __init__(self, document: dict[str, Any], request_id: str | None = None):
        super().__init__(document["detail"])
        self.status: int = document["status"]
        self.code: str | None = document.get("code")
        self.errors: dict[str, list[str]] = document.get("errors", {})
        self.document = document
        self.request_id = request_id


@dataclass(frozen=True)
class Details:
    """What the headers of a response say."""

    method: str
    path: str
    status: int
    request_id: str | None
    """Quote it when you contact support."""
    replayed: bool
    """True for the stored response to an idempotency key: the request was executed before."""
    remaining: int | None
    """Requests left until reset; None if the response doesn't say."""
    reset: datetime | None
    etag: str | None
    """The version of a record or page."""
    deprecated: bool
    """The request will be removed, from sunset on."""
    sunset: datetime | None


class Records(Iterator[T], Generic[T]):
    """The records of a list. Its pages are read when they are needed."""

    meta: dict[str, Any]
    """Of the page that was read last; empty before. Of a list of changes, it says where to go on."""

    def __init__(self, read: Callable[[str | None], dict[str, Any]]):
        self.meta = {}
        self._read = read
        self._records = (record for page in self.pages() for record in page["data"])

    def __next__(self) -> T:
        return next(self._records)

    def pages(self) -> Iterator[dict[str, Any]]:
        """Yields the pages, from the first one: each with its data, links and meta."""
        cursor = None
        while True:
            page = self._read(cursor)
            self.meta = page["meta"]
            yield page
            cursor = parse_qs(urlsplit(page["links"]["next"] or "").query).get("cursor", [None])[0]
            if cursor is None:
                return


# RECORDS
class Loyalty:
    """The API of one business, or with a platform token, of the platform.

    Every method raises Problem if the API refuses, OSError if it gets no response, and ValueError,
    at once, for what can't be sent, such as a key with a line break. It repeats a request after
    429, and where that is safe also after 409, 5xx or no response: a POST gets a random
    idempotency key unless you pass one. Pass your own, stored with the sale, so that a restarted
    program sends the same one. Redirects aren't followed: the token goes to base_url alone.

    - base_url: Address of the installation, such as https://loyalty.example, with or without
      /api/v1. Always https.
    - timeout: Seconds that one attempt may take.
    - context: For an installation with its own certificate authority,
      ssl.create_default_context(cafile="data/ca.pem").
    - waits: Seconds before each retry, at least Retry-After.
    - max_retry_after: Seconds of Retry-After that a call waits at most.
    - on_response: Called with what the headers of each response say, also before it is retried or
      raised as a problem.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout: float = 10,
        context: ssl.SSLContext | None = None,
        waits: Sequence[float] = (1, 2, 4, 8),
        max_retry_after: float = 120,
        on_response: Callable[[Details], None] | None = None,
    ):
        self._base = _address(base_url)
        self._token = _header("token", token)
        self._timeout = timeout
        self._open = build_opener(HTTPSHandler(context=context), _NoRedirects).open
        self._waits = waits
        self._max_retry_after = max_retry_after
        self._on_response = on_response

    # METHODS

    def _records(self, method: str, path: str, *, query: dict[str, Any], **request: Any) -> Any:
        """Returns the records of a list."""

        def read(cursor: str | None) -> Any:
            at = {"cursor": cursor} if cursor is not None else {}
            return self._send(method, path, query={**query, **at}, **request)

        return Records(read)

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        headers: dict[str, str | None] | None = None,
        key: str | None = None,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = self._base + path + ("?" + urlencode(given) if given else "")
        sent = {
            "Authorization": "Bearer " + self._token,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            # A parameter that the API doesn't know is refused: an ignored filter would list
            # everything.
            "Prefer": "handling=strict",
        }
        content = None
        if body is not None:
            content = json.dumps({n: v for n, v in body.items() if v is not UNSET}).encode()
            sent["Content-Type"] = "application/json"
        if key is not None:
            sent["Idempotency-Key"] = _header("idempotency_key", key)
        for name, value in (headers or {}).items():
            if value is not None:
                sent[name] = _header(name, value)
        request = Request(url, content, sent, method=method)
        repeatable = method != "POST" or key is not None
        for wait in (*self._waits, None):
            asked = 0.0
            try:
                with self._attempt(request) as response:
                    status, text = response.status, response.read()
            except (OSError, HTTPException) as error:
                if not repeatable or wait is None or _is_final(error):
                    raise
            else:
                if self._on_response is not None:
                    self._on_response(_details(method, path, status, response.headers))
                # A request above a limit wasn't executed; one that failed may have been.
                again = status == 429 or repeatable and (status == 409 or status >= 500)
                if not again or wait is None:
                    return _content(status, text, response)
                asked = min(_seconds_asked(response.headers), self._max_retry_after)
            time.sleep(max(wait, asked) * random.uniform(1.1, 1.2))

    def _attempt(self, request: Request) -> Any:
        """Returns the response, whatever its status is."""
        try:
            return self._open(request, timeout=self._timeout)
        except HTTPError as refusal:
            return refusal


class _NoRedirects(HTTPRedirectHandler):
    """Makes an error of a redirect, which urllib would follow with the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _address(base_url: str) -> str:
    """Returns the address that paths are added to."""
    parts = urlsplit(base_url)
    plain = re.search(r"[\s\x00-\x1f\x7f?#@]", base_url) is None
    if parts.scheme != "https" or not parts.hostname or not plain:
        raise ValueError("base_url must be an https:// address, such as https://loyalty.example")
    return re.sub(r"(/api/v1)?/*$", "", base_url, flags=re.IGNORECASE)


def _header(name: str, value: str) -> str:
    """Returns a value that a header can have. The message doesn't repeat it: it may be a secret."""
    if not re.fullmatch(r"[ -~]{1,255}", value):
        raise ValueError(f"{name} must be 1 to 255 characters of ASCII, without line breaks")
    return value


def _segment(argument: str | int) -> str:
    """Escapes an argument of a path, so that it can't lead to another path."""
    if argument in ("", ".", ".."):
        raise ValueError(f"{argument!r} isn't an identifier")
    return quote(str(argument), safe="")


def _is_final(error: Exception) -> bool:
    """Reports whether a retry would fail, too: a certificate that isn't trusted stays the same."""
    return isinstance(getattr(error, "reason", None), ssl.SSLCertVerificationError)


def _content(status: int, text: bytes, response: Any) -> Any:
    """Returns what a response has, None if that is nothing (204), or raises its problem."""
    if status == 204:
        return None
    try:
        if response.headers.get("Content-Encoding") == "gzip":
            text = zlib.decompress(text, wbits=31)
        content = json.loads(text)
    except (ValueError, zlib.error):  # a proxy in between responded
        content = None
    if 200 <= status < 300 and isinstance(content, dict):
        return content
    detail = response.reason or f"HTTP status {status}"
    if status < 300:
        detail = "The response is not JSON: a proxy may have sent it. Check base_url."
    elif status < 400 and "Location" in response.headers:
        target = response.headers["Location"]
        detail = f"Redirected to {target}. Not followed, to keep the token here. Check base_url."
    elif isinstance(content, dict) and isinstance(content.get("detail"), str):
        raise Problem({**content, "status": status}, response.headers.get("X-Request-Id"))
    raise Problem({"status": status, "detail": detail}, response.headers.get("X-Request-Id"))


def _details(method: str, path: str, status: int, headers: Mapping[str, str]) -> Details:
    reset = _count(headers.get("X-RateLimit-Reset"))
    return Details(
        method=method,
        path=path,
        status=status,
        request_id=headers.get("X-Request-Id"),
        replayed=headers.get("Idempotent-Replayed") == "true",
        remaining=_count(headers.get("X-RateLimit-Remaining")),
        reset=None if reset is None else datetime.fromtimestamp(reset, timezone.utc),
        etag=headers.get("ETag"),
        deprecated="Deprecation" in headers,
        sunset=_date(headers.get("Sunset")),
    )


def _seconds_asked(headers: Mapping[str, str]) -> float:
    """Returns the seconds that Retry-After asks for, which a proxy may send as a date: by the
    server's own clock, if it tells.
    """
    after = headers.get("Retry-After", "").strip()
    if re.fullmatch("[0-9]+", after):
        return float(after)
    until = _date(after)
    if until is None:
        return 0.0
    now = _date(headers.get("Date")) or datetime.now(timezone.utc)
    return max(0.0, (until - now).total_seconds())


def _date(text: str | None) -> datetime | None:
    """Reads a date. All dates of HTTP are in UTC, and the oldest form doesn't say so."""
    try:
        read = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return read if read.tzinfo else read.replace(tzinfo=timezone.utc)


def _count(text: str | None) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,11}", text or "") else None
