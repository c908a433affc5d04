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
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import Any, Literal, NotRequired, TypedDict
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

UNSET: Any = object()
"""Leaves a field out of the request. None is sent, as null."""


class Problem(Exception):
    """A response that isn't a success (RFC 7807). Check code to recognise a business rule."""

    def __init__(self, document: dict[str, Any], request_id: str | None = None):
        super().__init__(document["detail"])
        self.status: int = document["status"]
        self.code: str | None = document.get("code")
        self.errors: dict[str, list[str]] = document.get("errors", {})
        self.request_id = request_id


# RECORDS
class Loyalty:
    """The API of one business, or with a platform token, of the platform.

    Every method raises Problem if the API refuses, OSError if it gets no response, and ValueError,
    at once, for what can't be sent, such as a key with a line break. It repeats a request after
    409, 429 and 5xx, and where that is safe also without a response: a POST gets a random
    idempotency key unless you pass one. Pass your own, stored with the sale, so that a restarted
    program sends the same one. Redirects aren't followed: the token goes to base_url alone.

    - base_url: Address of the installation, such as https://loyalty.example. Always https.
    - timeout: Seconds that one attempt may take.
    - context: For an installation with its own certificate authority,
      ssl.create_default_context(cafile="data/ca.pem").
    - waits: Seconds before each retry, at least Retry-After.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout: float = 10,
        context: ssl.SSLContext | None = None,
        waits: Sequence[float] = (1, 2, 4, 8),
    ):
        self._base = _address(base_url)
        self._token = _header("token", token)
        self._timeout = timeout
        self._open = build_opener(HTTPSHandler(context=context), _NoRedirects).open
        self._waits = waits

    # METHODS

    def _records(self, method: str, path: str, query: dict[str, Any]) -> Iterator[Any]:
        """Yields the records of a list, and reads its pages as they are needed."""
        while True:
            page = self._send(method, path, query=query)
            yield from page["data"]
            query = {**query, "cursor": page["meta"]["next_cursor"]}
            if query["cursor"] is None:
                return

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = self._base + path + ("?" + urlencode(given) if given else "")
        headers = {"Authorization": "Bearer " + self._token, "Accept": "application/json"}
        content = None
        if body is not None:
            content = json.dumps({n: v for n, v in body.items() if v is not UNSET}).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = _header("idempotency_key", key)
        request = Request(url, content, headers, method=method)
        repeatable = method != "POST" or key is not None
        for wait in (*self._waits, None):
            asked = 0.0
            try:
                with self._open(request, timeout=self._timeout) as response:
                    text = response.read()
                    return json.loads(text) if text else None
            except HTTPError as error:
                again = error.code in (409, 429) or error.code >= 500
                if not again or wait is None:
                    raise _problem(error) from None
                after = error.headers.get("Retry-After", "")
                asked = float(after) if after.isdecimal() else 0.0
            except (OSError, HTTPException) as error:
                if not repeatable or wait is None or _is_final(error):
                    raise
            time.sleep(max(wait, asked) * random.uniform(1.1, 1.2))


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
    return base_url.rstrip("/")


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


def _problem(error: HTTPError) -> Problem:
    request_id = error.headers.get("X-Request-Id")
    if 300 <= error.code < 400:
        target = error.headers.get("Location", "another address")
        detail = f"Redirected to {target}. Not followed, to keep the token here. Check base_url."
        return Problem({"status": error.code, "detail": detail}, request_id)
    try:
        return Problem(json.load(error), request_id)
    except (ValueError, KeyError, TypeError):  # a proxy in between responded
        return Problem({"status": error.code, "detail": error.reason}, request_id)
