"""Keeps a copy of a business's customers, transactions and redemptions in SQLite, in step with it.
A start for a program of your own. It needs only loyalty.py beside it.

    LOYALTY_URL=https://loyalty.example LOYALTY_TOKEN=… python3 sync.py copy.db

At first it loads the lists, 1,000 records a request. Then it follows what changes: the list of
changes says which lists have something new, and those have the records as they are now. Each page
is stored together with the cursor behind it, so the program can be killed at any moment. With
--once, it ends when it has everything. A token may lack the scopes of some lists.

Vouchers are many and have no list, so only what happened to them last is kept, from the first load
on: read one with find_voucher when you need it. A customer's points_expire_on and stamps_expire_on
can move without a change, as when the business sets another rule: read them when you need them.
"""

import json
import os
import signal
import sqlite3
import sys
import time
from datetime import datetime, timedelta, timezone
from http.client import HTTPException

from loyalty import Customer, Details, Loyalty, Problem, Redemption, Transaction

# The lists, each with a table of the same name and fields. Nested fields are kept as JSON.
RECORDS = {"customers": Customer, "transactions": Transaction, "redemptions": Redemption}
CHANGES = "changes"
PER_PAGE = 1000

SCHEMA = f"""
    create table if not exists customers (
        {", ".join(Customer.__annotations__)},
        kept_ulid, -- of a merged customer: who has all that was theirs; the rest is null
        primary key (ulid)
    ) without rowid;
    create table if not exists transactions (
        {", ".join(Transaction.__annotations__)},
        primary key (ulid)
    ) without rowid;
    create index if not exists transactions_customer on transactions (customer_ulid);
    create table if not exists redemptions (
        {", ".join(Redemption.__annotations__)},
        primary key (ulid)
    ) without rowid;
    create index if not exists redemptions_customer on redemptions (customer_ulid);
    create table if not exists vouchers (ulid primary key, change, changed_at) without rowid;
    create table if not exists progress (list primary key, loaded, since, cursor) without rowid;
"""


class Sync:
    """A copy, and how far each list has been read."""

    def __init__(self, file: str, url: str, token: str):
        self.db = sqlite3.connect(file)
        self.db.executescript("pragma journal_mode = wal; pragma synchronous = normal;" + SCHEMA)
        api = Loyalty(url, token, timeout=60, on_response=self.take_note)
        self.lists = {
            "customers": api.list_customers,
            "transactions": api.list_transactions,
            "redemptions": api.list_redemptions,
            CHANGES: api.list_changes,
        }
        self.changed = set(RECORDS)  # lists to read; at the start it isn't known which
        self.remaining: int | None = None  # requests, until reset
        self.reset: datetime | None = None
        self.requests = self.refused = self.records = 0
        self.before = len(self.lists)  # requests of the pass before
        self.oldest: str | None = None  # when the first change of this pass was made
        self.begin()

    def begin(self) -> None:
        """Remembers, before the first load, since when changes must be followed. The hour is for
        clocks that differ, and for what is being written."""
        since = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat(timespec="seconds")
        lists = [(name, name == CHANGES, since) for name in self.lists]
        with self.db:
            insert = "insert or ignore into progress (list, loaded, since) values (?, ?, ?)"
            self.db.executemany(insert, lists)

    def forget(self) -> None:
        """Empties the copy, to load it anew."""
        with self.db:
            for table in (*RECORDS, "vouchers", "progress"):
                self.db.execute(f"delete from {table}")
        self.changed = set(RECORDS)
        self.begin()

    def take_note(self, response: Details) -> None:
        self.requests += 1
        self.refused += response.status == 429
        self.remaining, self.reset = response.remaining, response.reset

    def seconds_left(self) -> float:
        """Returns the seconds until requests are counted anew."""
        if self.reset is None:
            return 0
        return min(60, max(0, (self.reset - datetime.now(timezone.utc)).total_seconds()))

    def run_once(self) -> float:
        """Reads everything that is new, and returns the seconds to wait before the next pass."""
        self.requests = self.refused = self.records = 0
        self.oldest = None
        _, _, followed = self.progress(CHANGES)  # None: what the load had already is read again
        for name in RECORDS:
            loaded, _, _ = self.progress(name)
            if not loaded:
                self.read(name)
        self.read(CHANGES)
        for name in [name for name in RECORDS if name in self.changed]:
            self.read(name)
            self.changed.discard(name)
        late = ""
        if self.oldest is not None and followed is not None:
            made = datetime.fromisoformat(self.oldest)
            late = f", {(datetime.now(timezone.utc) - made).total_seconds():.1f} s behind"
        say(f"{self.requests} requests ({self.refused} refused), {self.records} records{late}")
        pause, self.before = self.pause(), self.requests
        return pause

    def pause(self) -> float:
        """Returns five seconds, or more if the requests that are left wouldn't last otherwise. A
        single pass that had much to read doesn't count."""
        expected = min(self.requests, self.before)
        return max(5, self.seconds_left() * min(1, expected / max(1, self.remaining or 0)))

    def progress(self, name: str) -> tuple[bool, str, str | None]:
        query = "select loaded, since, cursor from progress where list = ?"
        return self.db.execute(query, [name]).fetchone()

    def read(self, name: str) -> None:
        """Reads a list from where it was left to its end: newest first to load it, then in the
        order of changes."""
        more = True
        while more and name in self.lists:
            loaded, since, cursor = self.progress(name)
            query = {"per_page": PER_PAGE, "cursor": cursor}
            if name == CHANGES:
                query["since"] = since
            elif loaded:
                query |= {"order": "updated", "updated_since": since}
            if self.remaining == 0:
                time.sleep(self.seconds_left())
            try:
                page = next(self.lists[name](**query).pages())
            except Problem as problem:
                if problem.status != 403 or name == CHANGES or len(self.lists) == 2:
                    raise
                del self.lists[name]
                say(f"the token may not read {name}")
                return
            more = page["meta"]["next_cursor"] is not None
            cursor = page["meta"]["resume_cursor"] if loaded else page["meta"]["next_cursor"]
            with self.db:
                self.store(name, page["data"])
                moved = "update progress set loaded = ?, cursor = ? where list = ?"
                self.db.execute(moved, [loaded or not more, cursor, name])
            if not loaded and self.requests % 100 == 0:
                say(f"loading {name}: {self.records} records")

    def store(self, name: str, records: list) -> None:
        if name == CHANGES:
            for change in records:
                self.apply(change)
            return
        self.records += len(records)
        fields = RECORDS[name].__annotations__
        rows = [[plain(record[field]) for field in fields] for record in records]
        into = f"{name} ({', '.join(fields)}) values ({', '.join('?' * len(fields))})"
        self.db.executemany(f"insert or replace into {into}", rows)

    def apply(self, change: dict) -> None:
        """Notes what changed. What no list says is done here: what was a merged customer's is
        another's, and the metadata of an erased customer's sales is deleted."""
        self.oldest = self.oldest or change["changed_at"]
        if change["kind"] == "voucher":
            insert = "insert or replace into vouchers values (:ulid, :change, :changed_at)"
            self.db.execute(insert, change)
            return
        self.changed.add(change["kind"] + "s")
        if change["change"] == "merged":
            insert = "insert or replace into customers (ulid, kept_ulid) values (:ulid, :kept_ulid)"
            self.db.execute(insert, change)
            for table in ("transactions", "redemptions"):
                move = f"update {table} set customer_ulid = :kept_ulid where customer_ulid = :ulid"
                self.db.execute(move, change)
        elif change["change"] == "erased":
            delete = "update transactions set metadata = '{}' where customer_ulid = :ulid"
            self.db.execute(delete, change)


def plain(value):
    """Returns a value that SQLite can store."""
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value


def say(text: str) -> None:
    print(time.strftime("%Y-%m-%d %H:%M:%S"), text, flush=True)


def main() -> None:
    once = "--once" in sys.argv[2:]
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: sys.exit(0))  # an open transaction is rolled back
    sync = Sync(sys.argv[1], os.environ["LOYALTY_URL"], os.environ["LOYALTY_TOKEN"])
    while True:
        try:
            pause = sync.run_once()
        except (Problem, OSError, HTTPException) as problem:
            code, status = getattr(problem, "code", None), getattr(problem, "status", 503)
            if code == "cursor-expired":
                say("the copy is too old to follow: loading it anew")
                sync.forget()
                continue
            if once or status < 500 and status != 429:
                raise
            say(f"not reached: {problem}")
            pause = 60
        if once:
            return
        time.sleep(pause)


if __name__ == "__main__":
    main()
