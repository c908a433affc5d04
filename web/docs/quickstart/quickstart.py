# Records a sale. Run it twice: the receipt is recorded once.
import json, os, random, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

API = "https://localhost:8443/api/v1"
LONGEST = 120  # seconds of Retry-After


class NoRedirects(HTTPRedirectHandler):
    """Keeps urllib from taking the token to another address."""

    def redirect_request(self, *_):
        return None


opener = build_opener(NoRedirects)


class Problem(Exception):
    def __init__(self, document):
        super().__init__(document["detail"])
        self.status = document["status"]
        self.code = document.get("code")
        self.errors = document.get("errors")


def post(path, body, key=None):
    """Sends a request, and repeats it with the same key while that can help."""
    headers = {
        "Authorization": f"Bearer {os.environ['LOYALTY_TOKEN']}",
        "Content-Type": "application/json",
    }
    if key:
        headers["Idempotency-Key"] = key
    request = Request(API + path, json.dumps(body).encode(), headers)
    for wait in (1, 2, 4, 8, None):
        try:
            with opener.open(request, timeout=10) as response:
                return json.load(response)["data"]
        except HTTPError as error:
            if error.code < 400:
                raise
            if error.code not in (409, 429) and error.code < 500:
                raise Problem(document_of(error)) from None
            failure, asked = error, seconds_asked(error.headers.get("Retry-After", ""))
        except (OSError, HTTPException) as error:
            failure, asked = error, 0  # no response: the sale may have been recorded
        if wait is None:
            raise failure
        time.sleep(max(wait, asked) * random.uniform(1.1, 1.2))


def document_of(error):
    """Reads a problem. A proxy in between may respond with a page."""
    try:
        return {"detail": error.reason, **json.load(error), "status": error.code}
    except (ValueError, TypeError):
        return {"detail": f"HTTP status {error.code}", "status": error.code}


def seconds_asked(after):
    """Reads Retry-After, which has seconds, or from a proxy a date."""
    try:
        if after.isdigit():
            return min(float(after), LONGEST)
        asked = parsedate_to_datetime(after) - datetime.now(timezone.utc)
        return min(asked.total_seconds(), LONGEST)
    except (ValueError, TypeError):
        return 0


try:
    # Finds the customer by phone, or adds them.
    customer = post("/customers", {
        "first_name": "Elsa", "last_name": "Berg", "phone": "08-465 004 12",
    })
    # The key names this sale. Sent again with it, the sale is not recorded again.
    sale = post("/transactions", {
        "customer_ulid": customer["ulid"],
        "transaction_type_id": 1,
        "spend_amount_cents": 1250,
    }, key="receipt-4711")
    print(f"Recorded sale {sale['ulid']}: {sale['points_awarded']} points")
except Problem as problem:
    match problem.code:
        case "idempotency-key-reused":
            sys.exit("Receipt 4711 was recorded before, with other details.")
        case _:
            sys.exit(f"{problem} {problem.errors or ''}")
