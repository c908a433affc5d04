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
import ssl
import time
import uuid
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import Any, Literal, NotRequired, TypedDict
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

UNSET: Any = object()
"""Leaves a field out of the request. None is sent, as null."""


class Problem(Exception):
    """A response from status 400 (RFC 7807). Check code to recognise a business rule."""

    def __init__(self, document: dict[str, Any], request_id: str | None = None):
        super().__init__(document["detail"])
        self.status: int = document["status"]
        self.code: str | None = document.get("code")
        self.errors: dict[str, list[str]] = document.get("errors", {})
        self.request_id = request_id


# RECORDS
class Loyalty:
    """The API of one business, or with a platform token, of the platform.

    Every method raises Problem if the API refuses, and OSError if it gets no response. It repeats
    a request after 409, 429 and 5xx, and where that is safe also without a response: a POST gets
    a random idempotency key unless you pass one. Pass your own, stored with the sale, so that a
    restarted program sends the same one.

    - base_url: Address of the installation, such as https://loyalty.example.
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
        self._base = base_url.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._context = context
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
            headers["Idempotency-Key"] = key
        request = Request(url, content, headers, method=method)
        repeatable = method != "POST" or key is not None
        for wait in (*self._waits, None):
            asked = 0.0
            try:
                with urlopen(request, timeout=self._timeout, context=self._context) as response:
                    text = response.read()
                    return json.loads(text) if text else None
            except HTTPError as error:
                again = error.code in (409, 429) or error.code >= 500
                if not again or wait is None:
                    raise _problem(error) from None
                asked = float(error.headers.get("Retry-After", 0))
            except (OSError, HTTPException):
                if not repeatable or wait is None:
                    raise
            time.sleep(max(wait, asked) * random.uniform(1.1, 1.2))


def _problem(error: HTTPError) -> Problem:
    request_id = error.headers.get("X-Request-Id")
    try:
        return Problem(json.load(error), request_id)
    except (ValueError, KeyError, TypeError):  # a proxy in between responded
        return Problem({"status": error.code, "detail": error.reason}, request_id)
