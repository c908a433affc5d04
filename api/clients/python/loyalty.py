"""Client of the Loyalty API, version 1.0.0.

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


class Customer(TypedDict):
    """A person who earns and spends points or stamps at one business."""

    ulid: str
    """Permanent identifier."""
    first_name: str
    """At most 100 characters. `Erased`, like the last name, after the customer was erased."""
    last_name: str
    """At most 100 characters."""
    phone: str
    """As entered, at most 30 characters; empty after the customer was erased, and of a customer
    without a phone number. Numbers are compared in international format: `070-174 06 05` and
    `+46701740605` are the same. An extension makes another customer.
    """
    email: str | None
    """Compared case-insensitively."""
    status: Literal["active", "inactive"]
    """An inactive customer can’t earn or redeem."""
    points_balance: int
    """The sum of all ledger entries; 0 for a new customer. Below zero if a sale was voided after
    its points were spent.
    """
    stamps_balance: int
    """The same for stamps."""
    created_at: str
    """When the customer was added."""
    updated_at: str
    """When a field last changed. Balances don’t count."""
    points_expire_on: str | None
    """The next day after which points end: they can be spent on it. Null if none end. What ends
    then, and later, is in `/expiring`.
    """
    stamps_expire_on: str | None
    """The same for stamps."""
    external_id: str | None
    """Your own ID of the customer, at most 100 characters; unique, and compared exactly."""
    metadata: dict[str, str]
    """Your own fields: up to 20 keys of at most 40 characters, with texts of at most 500
    characters.
    """
    tags: list[str]
    """By name: at most 20 of at most 30 characters. Shown and edited in the panel, too."""
    balance_changed_at: str | None
    """When points or stamps last changed; null if they never did."""
    birthday: str | None
    """`MM-DD`, or `YYYY-MM-DD` if the year is known; null if the day isn’t."""
    tier: dict[str, Any] | None
    """The level that the customer has; null if the business has no levels. When it changes, the
    customer comes again in `order=updated` and in changes.
    """


class BatchCustomer(TypedDict):
    """A customer to find or add with others."""

    first_name: str
    """Given name."""
    last_name: str
    """Family name."""
    phone: NotRequired[str]
    """At least three digits. Required, unless the business has turned on customers without a
    phone number. Looked for if no external ID matches.
    """
    email: NotRequired[str | None]
    """Optional with a phone number. Looked for if no phone number matches."""
    external_id: NotRequired[str | None]
    """Your own ID of the customer; unique. Looked for first. A customer who is found by phone
    number or e-mail address and has none gets it.
    """
    metadata: NotRequired[dict[str, str | None] | None]
    """Your own fields, of a new customer: up to 20 keys of 1 to 40 characters."""
    tags: NotRequired[list[str] | None]
    """Of a new customer: at most 20. Capitals make no difference."""
    birthday: NotRequired[str | None]
    """Of a new customer: `MM-DD`, or `YYYY-MM-DD` if you know the year."""
    idempotency_key: NotRequired[str | None]
    """Your own key for this item, as the header `Idempotency-Key` of a single request."""


class CustomerResult(TypedDict):
    """What came of one customer of a batch: what a single request would have got."""

    status: int
    """The status: 200 if they were found, 201 if they were added."""
    replayed: bool
    """Whether this is the stored response of an earlier request with its key."""
    data: NotRequired[Customer]
    problem: NotRequired[ProblemDocument]


class ExpiringAmount(TypedDict):
    """What a customer has of one last day."""

    unit: Literal["points", "stamps"]
    """Points or stamps."""
    amount: int
    """How much of the balance."""
    expires_on: str | None
    """The last day on which it can be spent; null if it has none."""


class LedgerEntry(TypedDict):
    """A change of a balance. Entries are never changed."""

    ulid: str
    """Identifier of the entry."""
    kind: Literal["earn", "reversal", "redemption", "redemption_refund", "voucher", "adjustment", "merge", "opening", "expiry", "expiry_return", "refund"]
    """Why the balance changed. `earn`: a sale. `reversal`: a sale was voided, or a voucher is
    valid again. `redemption` and `redemption_refund`: a reward was redeemed, and voided.
    `voucher`: a voucher’s points or stamps. `adjustment`: by hand. `merge`: from or to a
    merged customer. `opening`: imported. `expiry`: the last day has passed. `expiry_return`:
    what had expired of an award that is taken back next. `refund`: a part of a sale was
    refunded. New kinds may be added.
    """
    unit: Literal["points", "stamps"]
    """Points or stamps."""
    amount: int
    """Negative if the balance fell."""
    balance_after: int
    """The balance of the unit after it."""
    transaction_ulid: str | None
    """The sale, of the kinds `earn`, `reversal`, `refund` and `expiry_return`; else null."""
    expires_on: str | None
    """The last day of what was added, or the day that ended, as it was recorded; null if there
    is none.
    """
    created_at: str
    """When the balance changed."""


class Transaction(TypedDict):
    """A recorded sale, and what it earned."""

    ulid: str
    """Identifier of the transaction."""
    rule_type: Literal["points", "stamps"]
    """The unit that its type awards."""
    spend_amount_cents: int
    """The amount spent."""
    points_awarded: int | None
    """Points of this transaction; null if its type awards stamps."""
    stamps_awarded: int | None
    """Stamps of this transaction; null if its type awards points."""
    status: Literal["completed", "voided"]
    """A voided transaction stays voided."""
    voided_at: str | None
    """Null unless voided."""
    customer_ulid: str
    """The customer."""
    transaction_type_id: int
    """The transaction type, which has the earning rule."""
    source: Literal["api", "pos", "panel"]
    """Where it was recorded: with this API, at the till, or in the panel."""
    location_id: int | None
    """The branch, if it is known."""
    external_reference: str | None
    """Your own reference, such as a receipt number."""
    occurred_at: str
    """When the customer bought: `created_at`, unless it was recorded later. Expiry goes by it."""
    metadata: dict[str, str]
    """Your own fields of the sale: texts by key. `{}` if there are none."""
    created_at: str
    """When it was recorded. Lists and reports go by it."""
    points_expire_on: str | None
    """The last day on which its points can be spent, in the business’s time zone; null if they
    don’t expire, or if its type awards stamps.
    """
    stamps_expire_on: str | None
    """The last day on which its stamps can be spent, in the business’s time zone; null if they
    don’t expire, or if its type awards points.
    """
    refunded_cents: int
    """How much of the amount spent was refunded in parts. A refunded transaction stays
    `completed`.
    """
    points_refunded: int | None
    """Points that its refunds took back; null if its type awards stamps."""
    stamps_refunded: int | None
    """Stamps that its refunds took back; null if its type awards points."""
    base_points: int | None
    """Points by the rule of its type alone, before promotions, tiers and caps of a day; null if
    its type awards stamps.
    """
    base_stamps: int | None
    """Stamps by the rule of its type alone; null if its type awards points."""
    promotion_id: int | None
    """The promotion that added to it: of those that matched, the one that gave most. Null if
    none did.
    """
    points_capped: bool
    """Whether a cap reduced what it earned, points or stamps: of a transaction, or of a
    customer’s day.
    """
    items: list[TransactionItem]
    """What of the amount was of which category, as it was sent. `[]` if nothing was."""


class TransactionItem(TypedDict):
    """A part of a sale’s amount."""

    category: str
    """Your code of the category. The business says in its panel which of its categories a code
    is of; case doesn’t matter.
    """
    amount_cents: int
    """What was paid for it."""


class BatchTransaction(TypedDict):
    """A sale to record with others."""

    customer_ulid: str
    """An active customer."""
    transaction_type_id: int
    """An active transaction type: see `GET /api/v1/transaction-types`."""
    spend_amount_cents: int
    """12.50 is 1250."""
    external_reference: NotRequired[str | None]
    """Your own reference for the sale, unique in the business: a second use is refused, so a
    receipt number makes retries safe. It stays taken after a void.
    """
    location_id: NotRequired[int | None]
    """The branch: an active location."""
    occurred_at: NotRequired[str | None]
    """When the customer bought, if you record it later: at most 72 hours ago. Expiry goes by it;
    lists and reports go by when it is recorded. Up to a minute ahead of our clock counts as
    now.
    """
    metadata: NotRequired[dict[str, str | None] | None]
    """Your own fields of the sale, such as an order number: at most 20 texts of at most 500
    characters, by keys of 1 to 40 characters. They are returned with it, and deleted when its
    customer is erased.
    """
    items: NotRequired[list[TransactionItem] | None]
    """What of the amount is of which category, as far as you know: for promotions on categories,
    and what earns nothing, such as gift cards. An unknown category is no error. The amounts
    add up to the amount spent at most.
    """
    idempotency_key: NotRequired[str | None]
    """Your own key for this item, as the header `Idempotency-Key` of a single request."""


class TransactionResult(TypedDict):
    """What came of one sale of a batch: what a single request would have got."""

    status: int
    """The status: 201 if it was recorded."""
    replayed: bool
    """Whether this is the stored response of an earlier request with its key."""
    data: NotRequired[Transaction]
    problem: NotRequired[ProblemDocument]


class TransactionPreview(TypedDict):
    """What a sale would earn."""

    rule_type: Literal["points", "stamps"]
    """The unit that its type awards."""
    points_awarded: int | None
    """Points that it would earn; null if its type awards stamps."""
    stamps_awarded: int | None
    """Stamps that it would earn; null if its type awards points."""
    points_expire_on: str | None
    """The last day on which its points could be spent; null if they don’t expire, or if its type
    awards stamps.
    """
    stamps_expire_on: str | None
    """The last day on which its stamps could be spent; null if they don’t expire, or if its type
    awards points.
    """
    points_balance_after: int | None
    """The customer’s points after it; null without a customer."""
    stamps_balance_after: int | None
    """The customer’s stamps after it; null without a customer."""
    base_points: int | None
    """Points by the rule of its type alone, before promotions, tiers and caps of a day; null if
    its type awards stamps.
    """
    base_stamps: int | None
    """Stamps by the rule of its type alone; null if its type awards points."""
    promotion_id: int | None
    """The promotion that would add to it; null if none would."""
    promotion_name: str | None
    """Name of the promotion."""
    promotion_until: str | None
    """When the promotion’s hours end; null without a promotion, or if it has no hours."""
    points_capped: bool
    """Whether a cap would reduce what it earns, points or stamps."""
    tier_reached: dict[str, Any] | None
    """The tier to which it would raise the customer; null if they would keep theirs. A tier
    counts from the next sale on.
    """


class Refund(TypedDict):
    """A part of a transaction’s amount that was paid back, and what it took of the award."""

    ulid: str
    """Identifier of the refund."""
    transaction_ulid: str
    """The refunded transaction."""
    amount_cents: int
    """The amount paid back."""
    points_refunded: int | None
    """Points that it took back; null if the transaction earned stamps."""
    stamps_refunded: int | None
    """Stamps that it took back; null if the transaction earned points."""
    external_reference: str | None
    """Your own reference, such as the number of a credit note."""
    created_at: str
    """When it was recorded."""


class TransactionType(TypedDict):
    """A kind of sale. What its sales earn is decided here: `POST /api/v1/transactions/preview`
    tells it for an amount.
    """

    id: int
    """Identifier, for `transaction_type_id` of a sale."""
    name: str
    """Name."""
    rule_type: Literal["points", "stamps"]
    """What its sales earn."""
    active: bool
    """Whether sales can be recorded with it."""


class Location(TypedDict):
    """A branch of the business."""

    id: int
    """Identifier, as in `location_id` of a sale."""
    name: str
    """Name."""
    active: bool
    """Whether it takes new sales."""


class Reward(TypedDict):
    """Something that customers get for points or stamps. It costs either, never both."""

    ulid: str
    """Identifier of the reward."""
    name: str
    """Name."""
    description: str | None
    """Description for customers."""
    points_cost: int | None
    """Null if it costs stamps."""
    stamps_cost: int | None
    """Null if it costs points."""
    stock: int | None
    """Units left; null: unlimited."""
    value_cents: int | None
    """What it takes off a bill; null: the business hasn’t said."""
    active: bool
    """Whether it can be redeemed."""
    created_at: str
    """When it was created."""
    min_tier_id: int | None
    """The lowest tier whose customers can redeem it, as in `tier` of a customer; null: all. It
    asks for nothing while the business has no tiers.
    """
    max_per_customer: int | None
    """How often a customer can redeem it, not counting voided redemptions and vouchers; null: no
    limit.
    """
    starts_on: str | None
    """First day on which it can be redeemed, in the business’s time zone; null: any."""
    ends_on: str | None
    """Last day on which it can be redeemed; null: none."""


class Promotion(TypedDict):
    """What makes sales earn more, for a time. It applies to a sale that all its conditions fit."""

    id: int
    """Identifier, as in `promotion_id` of a sale."""
    name: str
    """Name, such as for a receipt."""
    unit: Literal["points", "stamps"]
    """What it gives more of."""
    percent: int | None
    """Of what a sale earns: 200 doubles it. Null if it adds `extra`."""
    extra: int | None
    """How much it adds to what a sale earns. Null if it is a `percent`."""
    transaction_type_ids: list[int] | None
    """Of sales of these types; null: of all."""
    location_ids: list[int] | None
    """Of sales at these locations; null: of all."""
    categories: list[str] | None
    """It counts only `items` with these categories, in lower case; null: the whole sale."""
    min_spend_cents: int
    """The smallest amount, of what it counts."""
    starts_on: str
    """Its first day."""
    ends_on: str | None
    """Its last day; null if none is set."""
    windows: list[dict[str, Any]]
    """Its hours, in the business’s time zone. `[]` if it is on all day."""
    on_now: bool
    """Whether this moment is within its hours."""
    audience: Literal["all", "tier", "birthday", "first_visit"]
    """Whose sales it is for: of all customers, of those who have the tier or a higher one, from
    their birthday on, or of those who buy for the first time.
    """
    tier_id: int | None
    """The lowest tier, of the audience `tier`."""
    birthday_days: int | None
    """How many days, with the birthday itself, of the audience `birthday`."""
    limit_times: int | None
    """How often a customer gets it; null if there is no limit."""
    limit_per: str | None
    """The time of the limit: `day` or `ever`; null if there is none."""


class Redemption(TypedDict):
    """One exchange of points or stamps for a reward."""

    ulid: str
    """Identifier of the redemption."""
    status: Literal["pending", "fulfilled", "voided"]
    """Pending until it is fulfilled or voided."""
    customer_ulid: str
    """The customer."""
    reward_ulid: str
    """The reward."""
    reward_value_cents: int | None
    """The reward’s `value_cents`, as it is now."""
    points_spent: int
    """Cost in points; 0 for a voucher."""
    stamps_spent: int
    """Cost in stamps."""
    created_at: str
    """When points or stamps were deducted."""
    fulfilled_at: str | None
    """When it was fulfilled."""
    voided_at: str | None
    """When points or stamps were refunded."""


class Benefit(TypedDict):
    """What a voucher gives: its type, and the field for that type."""

    type: Literal["points", "stamps", "percent", "amount", "reward"]
    """Points and stamps are credited, a reward becomes a pending redemption without cost; the
    cashier deducts percent and amount.
    """
    points: NotRequired[int]
    """With type `points`."""
    stamps: NotRequired[int]
    """With type `stamps`."""
    percent: NotRequired[int]
    """With type `percent`."""
    amount_cents: NotRequired[int]
    """With type `amount`."""
    reward_ulid: NotRequired[str]
    """With type `reward`."""


class Change(TypedDict):
    """Something that happened to a record."""

    kind: Literal["customer", "transaction", "redemption", "voucher"]
    """The kind of record."""
    ulid: str
    """The record’s ULID."""
    change: Literal["created", "changed", "voided", "merged", "erased"]
    """`changed` for a customer includes their balances; for a transaction it is a refund, for a
    redemption that it was fulfilled, for a voucher that it was redeemed or restored. A
    customer who was `merged` or `erased` can’t be read any more as before.
    """
    kept_ulid: str | None
    """Of a customer who was merged: into whom. Everything that was theirs belongs to that
    customer now.
    """
    changed_at: str
    """When it happened."""


class Coupon(TypedDict):
    """A benefit that a business sends to its customers, as vouchers."""

    ulid: str
    """Identifier of the coupon."""
    name: str
    """Name."""
    description: str | None
    """Description for customers."""
    benefit: Benefit
    max_per_customer: int
    """Limit of vouchers per customer, across all sends."""
    max_redemptions: int | None
    """Total redemption limit; null: unlimited."""
    redemptions_count: int
    """Redemptions so far."""
    starts_at: str | None
    """Start date: it can’t be sent earlier."""
    expires_at: str | None
    """End date: its vouchers expire then at the latest."""
    voucher_valid_days: int | None
    """Voucher validity in days after sending."""
    active: bool
    """Whether its vouchers can be redeemed."""
    created_at: str
    """When it was created."""
    min_tier_id: int | None
    """The lowest tier whose customers can redeem its vouchers, as in `tier` of a customer; null:
    all. It asks for nothing while the business has no tiers.
    """


class Voucher(TypedDict):
    """One customer’s copy of a coupon."""

    ulid: str
    """Identifier of the voucher, as in its QR code."""
    coupon_ulid: str
    """Its coupon."""
    customer_ulid: str
    """The customer."""
    status: Literal["pending", "redeemed", "expired"]
    """Pending until it is redeemed or expires."""
    benefit: Benefit
    redemption_ulid: str | None
    """The redemption, of a voucher for a reward."""
    transaction_ulid: str | None
    """The sale that it was redeemed with, if known."""
    expires_at: str | None
    """Set when it was sent; null: never."""
    redeemed_at: str | None
    """Null unless redeemed."""
    restored_at: str | None
    """When its redemption was taken back by a restore, which can be done once."""
    created_at: str
    """When it was sent."""


class VoucherDetail(TypedDict):
    """A voucher, and whether it can be redeemed now."""

    ulid: str
    """Identifier of the voucher, as in its QR code."""
    coupon_ulid: str
    """Its coupon."""
    customer_ulid: str
    """The customer."""
    status: Literal["pending", "redeemed", "expired"]
    """Pending until it is redeemed or expires."""
    benefit: Benefit
    redemption_ulid: str | None
    """The redemption, of a voucher for a reward."""
    transaction_ulid: str | None
    """The sale that it was redeemed with, if known."""
    expires_at: str | None
    """Set when it was sent; null: never."""
    redeemed_at: str | None
    """Null unless redeemed."""
    restored_at: str | None
    """When its redemption was taken back by a restore, which can be done once."""
    created_at: str
    """When it was sent."""
    coupon_name: str
    """Name of its coupon."""
    redeemable: bool
    """Whether it can be redeemed now."""
    not_redeemable: dict[str, str] | None
    """The rule that refuses it now; null: none."""


Summary = TypedDict("Summary", {
    "from": "str",  # The first day.
    "to": "str",  # The last day.
    "transactions_count": "int",  # Completed sales.
    "voided_count": "int",  # Voided sales.
    "spend_total_cents": "int",  # Spend of completed sales, before refunds.
    "points_awarded": "int",  # Points of completed sales.
    "stamps_awarded": "int",  # Stamps of completed sales.
    "points_reversed": "int",  # Points that voided sales had earned.
    "points_redeemed": "int",  # Points spent on redemptions that are not voided.
    "redemptions_count": "int",  # Redemptions that are not voided.
    "vouchers_redeemed": "int",  # Vouchers redeemed.
    "new_customers": "int",  # New customers, without those who were imported or merged into another.
    "points_expired": "int",  # Points whose last day had passed, counted when that was recorded.
    "points_expiry_returned": "int",  # Expired points that were returned before the award that they came from was taken back.
    "points_refunded": "int",  # Points that refunds of completed sales took back.
    "refunds_count": "int",  # Refunds of completed sales, counted on the day of the sale.
    "refunded_total_cents": "int",  # What was refunded of completed sales, counted on the day of the sale.
    "net_spend_total_cents": "int",  # Spend of completed sales, less what was refunded.
    "active_customers": "int",  # Customers with a completed sale.
    "days": "list[SummaryDay]",  # Every day of the range, in order.
})
"""Figures of a range of days."""


class SummaryDay(TypedDict):
    """Figures of one day."""

    date: str
    """The day, in the business’s time zone."""
    transactions_count: int
    """Completed sales."""
    voided_count: int
    """Voided sales."""
    spend_total_cents: int
    """Spend of completed sales, before refunds."""
    points_awarded: int
    """Points of completed sales."""
    stamps_awarded: int
    """Stamps of completed sales."""
    points_reversed: int
    """Points that voided sales had earned."""
    points_redeemed: int
    """Points spent on redemptions that are not voided."""
    redemptions_count: int
    """Redemptions that are not voided."""
    vouchers_redeemed: int
    """Vouchers redeemed."""
    new_customers: int
    """New customers, without those who were imported or merged into another."""
    points_expired: int
    """Points whose last day had passed, counted when that was recorded."""
    points_expiry_returned: int
    """Expired points that were returned before the award that they came from was taken back."""
    points_refunded: int
    """Points that refunds of completed sales took back."""
    refunds_count: int
    """Refunds of completed sales, counted on the day of the sale."""
    refunded_total_cents: int
    """What was refunded of completed sales, counted on the day of the sale."""
    net_spend_total_cents: int
    """Spend of completed sales, less what was refunded."""


class TopCustomer(TypedDict):
    """A customer and their figures in the range."""

    ulid: str
    """Permanent identifier."""
    first_name: str
    """At most 100 characters."""
    last_name: str
    """At most 100 characters."""
    phone: str
    """As entered, at most 30 characters. Numbers are compared in international format: `070-174
    06 05` and `+46701740605` are the same. An extension makes another customer.
    """
    email: str | None
    """Compared case-insensitively."""
    status: Literal["active", "inactive"]
    """An inactive customer can’t earn or redeem."""
    points_balance: int
    """The sum of all ledger entries; 0 for a new customer. Below zero if a sale was voided after
    its points were spent.
    """
    stamps_balance: int
    """The same for stamps."""
    created_at: str
    """When the customer was added."""
    updated_at: str
    """When a field last changed. Balances don’t count."""
    transactions_count: int
    """Completed sales in the range."""
    spend_total_cents: int
    """Spend in the range."""
    points_awarded: int
    """Points earned in the range."""


class CouponReport(TypedDict):
    """Results of a coupon’s vouchers."""

    ulid: str
    """The coupon."""
    name: str
    """Name."""
    sent: int
    """Vouchers sent."""
    pending: int
    """Not redeemed or expired."""
    redeemed: int
    """Redeemed."""
    expired: int
    """Expired without being redeemed."""
    redemption_rate: float
    """Redeemed divided by sent, from 0 to 1."""


Scope = Literal["customers:read", "customers:write", "transactions:write", "rewards:read", "coupons:read", "reports:read"]


class Token(TypedDict):
    """An API token, without its secret."""

    id: int
    """Used to revoke it."""
    name: str
    """Name."""
    abilities: list[Scope]
    """Its scopes."""
    last_used_at: str | None
    """To the minute; null: never."""
    expires_at: str | None
    """Null: never."""
    created_at: str
    """When it was created."""


class CreatedToken(TypedDict):
    """A new API token with its secret."""

    id: int
    """Used to revoke it."""
    name: str
    """Name."""
    token: str
    """The secret. Only this response has it."""
    abilities: list[Scope]
    """Its scopes."""
    expires_at: str | None
    """Null: never."""
    created_at: str
    """When it was created."""


class Tenant(TypedDict):
    """A business that runs its loyalty programme here."""

    id: int
    """Identifier of the tenant."""
    name: str
    """Business name."""
    slug: str
    """The subdomain. Never changes."""
    email: str
    """The owner’s e-mail address."""
    plan_id: int
    """The plan it is on."""
    billing_cycle: Literal["monthly", "yearly"]
    """Billing cycle."""
    payment_method: Literal["manual", "bank_transfer", "card", "stripe", "paypal"]
    """Payment method, for information only: nothing is charged."""
    status: Literal["active", "suspended"]
    """A suspended tenant can’t use tokens or sign in."""
    timezone: str
    """IANA name of the time zone."""
    currency: str
    """ISO 4217."""
    country: str | None
    """ISO 3166-1 alpha-2. Used for phone numbers without a country code."""
    test: bool
    """It is for tests of an integration: it is never billed."""
    created_at: str
    """When it was created."""


class Invoice(TypedDict):
    """What a tenant owes for one period."""

    id: int
    """Identifier of the invoice."""
    number: int | None
    """Consecutive, assigned on issue; null for a draft."""
    tenant_id: int
    """The tenant."""
    status: Literal["draft", "issued", "paid", "overdue", "void"]
    """Status."""
    currency: str
    """The plan’s currency, ISO 4217."""
    lines: list[InvoiceLine]
    """The invoice lines."""
    amount_cents: int
    """Sum of the lines."""
    tax_cents: int
    """Tax on the sum."""
    total_cents: int
    """Sum with tax."""
    period_start: str
    """The first day, in the tenant’s time zone."""
    period_end: str
    """The last day."""
    issued_at: str | None
    """Null for a draft."""
    due_at: str | None
    """Null for a draft."""
    paid_at: str | None
    """Null until paid."""


class InvoiceLine(TypedDict):
    """One line of an invoice."""

    description: str
    """Description."""
    quantity: int
    """Quantity."""
    unit_cents: int
    """Unit price."""
    amount_cents: int
    """Line total."""


class ProblemDocument(TypedDict):
    """Why a request failed (RFC 7807)."""

    type: str
    """A page about this problem: the standard’s section on the status or, for a business rule,
    its page here.
    """
    title: str
    """Short name of the error."""
    status: int
    """The HTTP status."""
    detail: str
    """Describes the error in a sentence."""
    code: NotRequired[str]
    """Identifies the business rule that refused or, beside `errors`, an error that a program can
    act on; otherwise absent. Check it in programs. New codes may be added.
    """
    errors: NotRequired[dict[str, list[str]]]
    """Errors by field name, if fields or parameters are invalid."""
    transaction_ulid: NotRequired[str]
    """With the code `reference-taken`: the sale that has the reference."""
    refund_ulid: NotRequired[str]
    """With the code `reference-taken`: the refund that has the reference."""


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

    def list_customers(
        self,
        *,
        phone: str | None = None,
        email: str | None = None,
        external_id: str | None = None,
        search: str | None = None,
        status: Literal["active", "inactive"] | None = None,
        created_from: str | None = None,
        created_to: str | None = None,
        updated_since: str | None = None,
        order: Literal["newest", "updated"] | None = None,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Customer]:
        """List customers.

        Newest first, paginated. All filters must match; an empty one gets an error. To keep a
        copy, use `order=updated`. A cursor of that order that is older than 60 days gets
        `cursor-expired`.

        Needs the scope `customers:read`.

        Further pages are read when they are needed.

        - phone: This exact number, in any format: `070-174 06 05` and `+46701740605` are the
          same. A merged duplicate's number finds the customer who was kept.
        - email: This exact address, case-insensitive. A merged duplicate's address finds the
          customer who was kept.
        - external_id: This exact ID, as you set it. A merged duplicate's ID finds the
          customer who was kept.
        - search: Part of a name, phone number or e-mail, such as `lindq`. Of several words,
          each must match, in any order. Phone numbers match in any format: `070-112` finds
          `+46 70 112 00 00`.
        - status: Filter by status.
        - created_from: Added on this day or later, in the business’s time zone.
        - created_to: Added on this day or earlier.
        - updated_since: Those that changed at this moment or later, in the order of their
          changes. One that changes again comes again. A moment more than 60 days ago finds
          all. Follow `links.next`; then go on with `meta.resume_cursor`.
        - order: `updated` is the order of changes, the oldest first, from the beginning or
          since `updated_since`. A page may have fewer records than `per_page`, or none, and
          still a next one.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/customers",
            query={
                "phone": phone,
                "email": email,
                "external_id": external_id,
                "search": search,
                "status": status,
                "created_from": created_from,
                "created_to": created_to,
                "updated_since": updated_since,
                "order": order,
                "per_page": per_page,
                "cursor": cursor,
            },
            headers={"If-None-Match": if_none_match},
        )

    def upsert_customer(
        self,
        *,
        first_name: str,
        last_name: str,
        phone: str = UNSET,
        email: str | None = UNSET,
        external_id: str | None = UNSET,
        metadata: dict[str, str | None] | None = UNSET,
        tags: list[str] | None = UNSET,
        birthday: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Customer:
        """Find or add a customer.

        Looks for a customer by `external_id`, then by phone number, then by e-mail. If found,
        returns them unchanged with 200; otherwise adds the customer, with 201. Only a
        customer who is found by phone number or e-mail and has no `external_id` gets the one
        that you send: if the answer shows another one, it stays. The ID, number or e-mail of
        a merged duplicate finds the customer who was kept. Sending it twice adds one
        customer, so retries are safe even without a key.

        Needs the scope `customers:write`.

        - first_name: Given name.
        - last_name: Family name.
        - phone: At least three digits. Required, unless the business has turned on customers
          without a phone number. Looked for if no external ID matches.
        - email: Optional with a phone number. Looked for if no phone number matches.
        - external_id: Your own ID of the customer; unique. Looked for first. A customer who
          is found by phone number or e-mail address and has none gets it.
        - metadata: Your own fields, of a new customer: up to 20 keys of 1 to 40 characters.
        - tags: Of a new customer: at most 20. Capitals make no difference.
        - birthday: Of a new customer: `MM-DD`, or `YYYY-MM-DD` if you know the year.

        Raises Problem, of business rules with these codes:
        - plan-limit-reached: The limit of the plan has been reached.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            "/api/v1/customers",
            body={
                "first_name": first_name,
                "last_name": last_name,
                "phone": phone,
                "email": email,
                "external_id": external_id,
                "metadata": metadata,
                "tags": tags,
                "birthday": birthday,
            },
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def upsert_customers(
        self,
        *,
        items: list[BatchCustomer],
        idempotency_key: str | None = None,
    ) -> list[CustomerResult]:
        """Find or add several customers.

        Finds or adds up to 100 customers, and returns what came of each, in their order: what
        a single request would have got. One that is refused doesn’t affect the others. The
        request counts once against the rate limit. Each item may have a key of its own,
        `idempotency_key`: a repeated one gets its first response, also within a batch. An
        `Idempotency-Key` is one for each item that has none: by its place, so send the same
        items in the same order when you retry. Of two items for the same person, the second
        finds the first. Sending a batch again adds no one twice, even without keys.

        Needs the scope `customers:write`.

        - items: The customers, each as in a single request.
        """
        return self._send(
            "POST",
            "/api/v1/customers/batch",
            body={"items": items},
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def find_customer(self, ulid: str, *, if_none_match: str | None = None) -> Customer:
        """Read a customer.

        Includes both current balances.

        Needs the scope `customers:read`.

        - ulid: The customer’s ULID, case-insensitive.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/customers/{_segment(ulid)}",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def edit_customer(
        self,
        ulid: str,
        *,
        first_name: str = UNSET,
        last_name: str = UNSET,
        phone: str | None = UNSET,
        email: str | None = UNSET,
        external_id: str | None = UNSET,
        metadata: dict[str, str | None] | None = UNSET,
        tags: list[str] | None = UNSET,
        birthday: str | None = UNSET,
        status: Literal["active", "inactive"] = UNSET,
        if_match: str | None = None,
    ) -> Customer:
        """Change a customer.

        Changes only the fields that you send; of `metadata`, only the keys. `tags` replaces
        all tags. `email: null` clears the e-mail, unless the customer has no phone number;
        `external_id`, `metadata` and `tags` may be null, too. A phone number, e-mail or
        `external_id` of another customer gets an error on the field.

        Needs the scope `customers:write`.

        - ulid: The customer’s ULID, case-insensitive.
        - first_name: Given name.
        - last_name: Family name.
        - phone: At least three digits; unique. Null removes it if the business has turned on
          customers without a phone number and the customer has an e-mail address.
        - email: A valid, unique e-mail address; null clears it if the customer has a phone
          number.
        - external_id: Your own ID of the customer; unique. Null removes it.
        - metadata: The given keys change and the others stay, as in a JSON merge patch (RFC
          7396). A key with null is removed; null removes all.
        - tags: Replaces all tags; null or an empty array removes them.
        - birthday: `MM-DD`, or `YYYY-MM-DD` if you know the year; null removes it.
        - status: An inactive customer can’t earn or redeem.
        - if_match: The `ETag` of the record as you have seen it: if the record has changed
          since, nothing is changed and you get 412.

        Raises Problem, of business rules with these codes:
        - customer-erased: This customer was erased and cannot be changed.
        - plan-limit-reached: The limit of the plan has been reached.
        """
        return self._send(
            "PATCH",
            f"/api/v1/customers/{_segment(ulid)}",
            body={
                "first_name": first_name,
                "last_name": last_name,
                "phone": phone,
                "email": email,
                "external_id": external_id,
                "metadata": metadata,
                "tags": tags,
                "birthday": birthday,
                "status": status,
            },
            headers={"If-Match": if_match},
        )["data"]

    def list_customer_transactions(
        self,
        ulid: str,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Transaction]:
        """List a customer’s transactions.

        Newest first, paginated, including voided ones. If a request to record a sale got no
        response, look here before you send it again.

        Needs the scope `customers:read`.

        Further pages are read when they are needed.

        - ulid: The customer’s ULID, case-insensitive.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            f"/api/v1/customers/{_segment(ulid)}/transactions",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def list_expiring(
        self,
        ulid: str,
        *,
        if_none_match: str | None = None,
    ) -> list[ExpiringAmount]:
        """List what expires when.

        A customer’s balances by their last day: points before stamps, the soonest first, what
        has no last day at the end. The amounts of a unit add up to its balance; below zero,
        there are none. Points are spent in this order. Not paginated.

        Needs the scope `customers:read`.

        - ulid: The customer’s ULID, case-insensitive.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/customers/{_segment(ulid)}/expiring",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def list_ledger_entries(
        self,
        ulid: str,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[LedgerEntry]:
        """List a customer’s ledger entries.

        Every change of the balances, newest first, paginated. A balance is the sum of its
        entries.

        Needs the scope `customers:read`.

        Further pages are read when they are needed.

        - ulid: The customer’s ULID, case-insensitive.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            f"/api/v1/customers/{_segment(ulid)}/ledger-entries",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def list_changes(
        self,
        *,
        kind: Literal["customer", "transaction", "redemption", "voucher"] | None = None,
        since: str | None = None,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Change]:
        """List changes.

        What changed in customers, transactions, redemptions and vouchers, the oldest first,
        in an order in which nothing is skipped: a change appears about two seconds after it
        was made, and never behind one that you have read. Of each kind of record, those that
        the token may read: customers with `customers:read`, transactions with
        `transactions:write`, redemptions with `rewards:read`, vouchers with `coupons:read`.

        Follow `links.next`. When it is null, you have everything: keep `meta.resume_cursor`
        and ask again with it after `meta.retry_after` seconds. It is valid for 60 days; an
        older one gets `cursor-expired`. Read the records that changed, or use `updated_since`
        of the lists, which have them as they are now. A change may come again. Staying in
        step shows the whole.

        Needs the scope `customers:read`, `transactions:write`, `rewards:read` or
        `coupons:read`.

        Further pages are read when they are needed.

        - kind: Filter by the kind of record. The token needs the scope of that kind.
        - since: Where to begin without a cursor: at this moment. Left out, or more than 60
          days ago: at the beginning, with every record that was ever added.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/changes",
            query={"kind": kind, "since": since, "per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def list_transactions(
        self,
        *,
        customer_ulid: str | None = None,
        status: Literal["completed", "voided"] | None = None,
        external_reference: str | None = None,
        transaction_type_id: int | None = None,
        location_id: int | None = None,
        created_from: str | None = None,
        created_to: str | None = None,
        updated_since: str | None = None,
        order: Literal["newest", "updated"] | None = None,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Transaction]:
        """List transactions.

        Newest first, paginated, including voided ones. All filters must match. To keep a
        copy, use `order=updated`: see Staying in step. A cursor of that order that is older
        than 60 days gets `cursor-expired`.

        Needs the scope `transactions:write`.

        Further pages are read when they are needed.

        - customer_ulid: Filter by customer, case-insensitive.
        - status: Filter by status.
        - external_reference: This exact reference, as you sent it.
        - transaction_type_id: Filter by type.
        - location_id: Filter by location.
        - created_from: Recorded on this day or later, in the business’s time zone.
        - created_to: Recorded on this day or earlier.
        - updated_since: Those that changed at this moment or later, in the order of their
          changes. One that changes again comes again. A moment more than 60 days ago finds
          all. Follow `links.next`; then go on with `meta.resume_cursor`.
        - order: `updated` is the order of changes, the oldest first, from the beginning or
          since `updated_since`. A page may have fewer records than `per_page`, or none, and
          still a next one.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/transactions",
            query={
                "customer_ulid": customer_ulid,
                "status": status,
                "external_reference": external_reference,
                "transaction_type_id": transaction_type_id,
                "location_id": location_id,
                "created_from": created_from,
                "created_to": created_to,
                "updated_since": updated_since,
                "order": order,
                "per_page": per_page,
                "cursor": cursor,
            },
            headers={"If-None-Match": if_none_match},
        )

    def record_transaction(
        self,
        *,
        customer_ulid: str,
        transaction_type_id: int,
        spend_amount_cents: int,
        external_reference: str | None = UNSET,
        location_id: int | None = UNSET,
        occurred_at: str | None = UNSET,
        metadata: dict[str, str | None] | None = UNSET,
        items: list[TransactionItem] | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Transaction:
        """Record a sale.

        Records a sale and adds what its transaction type earns to the customer’s balance.
        Sending it again records another sale: send an `Idempotency-Key`, an
        `external_reference`, or both to make retries safe.

        Send `items` if you know what was bought: promotions can depend on it.

        An inactive or unknown customer, type or location gets an error on the field, and so
        does an `external_reference` that was used before: then `code` is `reference-taken`,
        and `transaction_ulid` beside `errors` is the sale that has it. A reference stays
        taken after a void.

        To record a sale later, such as one that a till took while it was offline, send
        `occurred_at`. One award is at most 1,000,000,000,000 points or stamps: a larger one
        gets an error on `spend_amount_cents`, with the largest valid spend.

        Needs the scope `transactions:write`, unless the operator chose another of the six.

        - customer_ulid: An active customer.
        - transaction_type_id: An active transaction type: see `GET
          /api/v1/transaction-types`.
        - spend_amount_cents: 12.50 is 1250.
        - external_reference: Your own reference for the sale, unique in the business: a
          second use is refused, so a receipt number makes retries safe. It stays taken after
          a void.
        - location_id: The branch: an active location.
        - occurred_at: When the customer bought, if you record it later: at most 72 hours ago.
          Expiry goes by it; lists and reports go by when it is recorded. Up to a minute ahead
          of our clock counts as now.
        - metadata: Your own fields of the sale, such as an order number: at most 20 texts of
          at most 500 characters, by keys of 1 to 40 characters. They are returned with it,
          and deleted when its customer is erased.
        - items: What of the amount is of which category, as far as you know: for promotions
          on categories, and what earns nothing, such as gift cards. An unknown category is no
          error. The amounts add up to the amount spent at most.

        Raises Problem, of business rules with these codes:
        - balance-too-large: The award would exceed the largest possible balance.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            "/api/v1/transactions",
            body={
                "customer_ulid": customer_ulid,
                "transaction_type_id": transaction_type_id,
                "spend_amount_cents": spend_amount_cents,
                "external_reference": external_reference,
                "location_id": location_id,
                "occurred_at": occurred_at,
                "metadata": metadata,
                "items": items,
            },
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def record_transactions(
        self,
        *,
        items: list[BatchTransaction],
        idempotency_key: str | None = None,
    ) -> list[TransactionResult]:
        """Record several sales.

        Records up to 100 sales, and returns what came of each, in their order: what a single
        request would have got. One that is refused doesn’t affect the others. The request
        counts once against the rate limit. Each item may have a key of its own,
        `idempotency_key`: a repeated one gets its first response, also within a batch. An
        `Idempotency-Key` is one for each item that has none: by its place, so send the same
        items in the same order when you retry. Sales of a customer are recorded in their
        order. If you get no response, or a 503 for some of the items, send the batch again:
        with keys, or an `external_reference` in each item, nothing is recorded twice.

        Needs the scope `transactions:write`, unless the operator chose another of the six.

        - items: The sales, each as in a single request.
        """
        return self._send(
            "POST",
            "/api/v1/transactions/batch",
            body={"items": items},
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def preview_transaction(
        self,
        *,
        transaction_type_id: int,
        spend_amount_cents: int,
        customer_ulid: str | None = UNSET,
        location_id: int | None = UNSET,
        occurred_at: str | None = UNSET,
        items: list[TransactionItem] | None = UNSET,
    ) -> TransactionPreview:
        """Preview a sale.

        Returns what a sale would earn, by which promotion, and what the customer would have
        after it, and records nothing: for a cart. It refuses what recording refuses.

        Needs the scope `transactions:write`, unless the operator chose another of the six.

        - transaction_type_id: An active transaction type: see `GET
          /api/v1/transaction-types`.
        - spend_amount_cents: 12.50 is 1250.
        - customer_ulid: An active customer, to see their balances after it.
        - location_id: The branch: an active location.
        - occurred_at: When the customer bought, if it isn’t now: at most 72 hours ago.
        - items: What of the amount is of which category, as far as you know: for promotions
          on categories, and what earns nothing, such as gift cards. An unknown category is no
          error. The amounts add up to the amount spent at most.

        Raises Problem, of business rules with these codes:
        - balance-too-large: The award would exceed the largest possible balance.
        """
        return self._send(
            "POST",
            "/api/v1/transactions/preview",
            body={
                "transaction_type_id": transaction_type_id,
                "spend_amount_cents": spend_amount_cents,
                "customer_ulid": customer_ulid,
                "location_id": location_id,
                "occurred_at": occurred_at,
                "items": items,
            },
        )["data"]

    def find_transaction(self, ulid: str, *, if_none_match: str | None = None) -> Transaction:
        """Read a transaction.

        Returns a sale and what it earned.

        Needs the scope `transactions:write`.

        - ulid: The transaction’s ULID, case-insensitive.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/transactions/{_segment(ulid)}",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def void_transaction(self, ulid: str, *, idempotency_key: str | None = None) -> Transaction:
        """Void a transaction.

        Voids a sale and takes back its whole award, or what refunds left of it, once. Points
        that were spent since are taken back too: the balance can go below zero, and the
        customer can’t redeem until it is positive again. The body is ignored.

        When you retry a void because you didn’t get its response, treat `already-voided` as
        success.

        Needs the scope `transactions:write`.

        - ulid: The transaction’s ULID, case-insensitive.

        Raises Problem, of business rules with these codes:
        - already-voided: This transaction has already been voided.
        - balance-too-large: The award would exceed the largest possible balance.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            f"/api/v1/transactions/{_segment(ulid)}/void",
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def refund_transaction(
        self,
        ulid: str,
        *,
        amount_cents: int,
        external_reference: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Refund:
        """Refund a part of a transaction.

        Records that a part of a sale was paid back, and takes back the same part of its
        award: 3.00 of 12.50 takes 3 of 12 points. Refunds of one sale add up, and never take
        more or less than its whole award, so what one takes may differ from its exact share
        by less than a point. Points that were spent since are taken back too: the balance can
        go below zero. What has expired of the award isn’t charged twice.

        The sale stays `completed`, and can still be voided: that takes back the rest. To undo
        a whole sale at once, void it. More than is left to refund gets an error on
        `amount_cents`, and so does any refund of a sale of 0. Sending it again refunds again:
        send an `Idempotency-Key`, an `external_reference`, or both to make retries safe. If
        another refund has the `external_reference`, `code` is `reference-taken`, and
        `refund_ulid` beside `errors` is that refund.

        Needs the scope `transactions:write`.

        - ulid: The transaction’s ULID, case-insensitive.
        - amount_cents: At most what is left to refund. 3.00 is 300.
        - external_reference: Your own reference for the refund, unique among the refunds of
          the business: a second use is refused, so it makes retries safe.

        Raises Problem, of business rules with these codes:
        - already-voided: This transaction has already been voided.
        - balance-too-large: The award would exceed the largest possible balance.
        - idempotency-key-reused: This idempotency key was used with a different request.
        - refund-is-void: A refund of the whole sale is a void. Void this transaction instead.
        """
        return self._send(
            "POST",
            f"/api/v1/transactions/{_segment(ulid)}/refunds",
            body={"amount_cents": amount_cents, "external_reference": external_reference},
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def list_transaction_types(
        self,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[TransactionType]:
        """List transaction types.

        The kinds of sales, the oldest first, paginated, including inactive ones.

        Needs the scope `transactions:write`.

        Further pages are read when they are needed.

        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/transaction-types",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def list_locations(
        self,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Location]:
        """List locations.

        The branches of the business, by name, paginated, including inactive ones.

        Needs the scope `transactions:write`.

        Further pages are read when they are needed.

        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/locations",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def list_rewards(
        self,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Reward]:
        """List active rewards.

        Newest first, paginated, including rewards with a stock of 0.

        Needs the scope `rewards:read`.

        Further pages are read when they are needed.

        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/rewards",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def find_reward(self, ulid: str, *, if_none_match: str | None = None) -> Reward:
        """Read a reward.

        Returns a reward, also an inactive one.

        Needs the scope `rewards:read`.

        - ulid: The reward’s ULID, case-insensitive.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/rewards/{_segment(ulid)}",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def list_redemptions(
        self,
        *,
        status: Literal["pending", "fulfilled", "voided"] | None = None,
        customer_ulid: str | None = None,
        updated_since: str | None = None,
        order: Literal["newest", "updated"] | None = None,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Redemption]:
        """List redemptions.

        Newest first, paginated. To keep a copy, use `order=updated`. A cursor of that order
        that is older than 60 days gets `cursor-expired`.

        Needs the scope `rewards:read`.

        Further pages are read when they are needed.

        - status: Filter by status.
        - customer_ulid: Filter by customer, case-insensitive.
        - updated_since: Those that changed at this moment or later, in the order of their
          changes. One that changes again comes again. A moment more than 60 days ago finds
          all. Follow `links.next`; then go on with `meta.resume_cursor`.
        - order: `updated` is the order of changes, the oldest first, from the beginning or
          since `updated_since`. A page may have fewer records than `per_page`, or none, and
          still a next one.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/redemptions",
            query={
                "status": status,
                "customer_ulid": customer_ulid,
                "updated_since": updated_since,
                "order": order,
                "per_page": per_page,
                "cursor": cursor,
            },
            headers={"If-None-Match": if_none_match},
        )

    def redeem_reward(
        self,
        *,
        customer_ulid: str,
        reward_ulid: str,
        idempotency_key: str | None = None,
    ) -> Redemption:
        """Redeem a reward.

        Deducts the reward’s cost from the customer’s balance and one unit from its stock, and
        creates a pending redemption. Sending it again creates another redemption: send an
        `Idempotency-Key` to make retries safe. A reward can ask for a tier, for days, and
        have a limit for each customer. If several rules refuse, the first one listed here is
        reported; an inactive or unknown customer or reward gets an error on the field.

        Needs the scope `rewards:read`.

        - customer_ulid: An active customer.
        - reward_ulid: An active reward.

        Raises Problem, of business rules with these codes:
        - reward-not-available: This reward is for Gold and above. Or the days on which it can
          be redeemed: This reward is available from 1 June 2027.
        - reward-limit-reached: This customer has already redeemed this reward twice.
        - insufficient-points: Insufficient points balance.
        - insufficient-stamps: Insufficient stamps balance.
        - out-of-stock: This reward is out of stock.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            "/api/v1/redemptions",
            body={"customer_ulid": customer_ulid, "reward_ulid": reward_ulid},
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def find_redemption(self, ulid: str, *, if_none_match: str | None = None) -> Redemption:
        """Read a redemption.

        Returns a redemption and its status.

        Needs the scope `rewards:read`.

        - ulid: The redemption’s ULID, case-insensitive.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/redemptions/{_segment(ulid)}",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def fulfil_redemption(self, ulid: str, *, idempotency_key: str | None = None) -> Redemption:
        """Fulfil a redemption.

        Marks a pending redemption as fulfilled, once. The body is ignored.

        Needs the scope `rewards:read`.

        - ulid: The redemption’s ULID, case-insensitive.

        Raises Problem, of business rules with these codes:
        - already-fulfilled: This redemption has already been fulfilled.
        - redemption-voided: This redemption has been voided.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            f"/api/v1/redemptions/{_segment(ulid)}/fulfil",
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def void_redemption(self, ulid: str, *, idempotency_key: str | None = None) -> Redemption:
        """Void a redemption.

        Voids a redemption that is pending, or was fulfilled in the last 24 hours, and returns
        its points or stamps and its unit of stock, once. The body is ignored. A voucher that
        it came from stays redeemed: restore the voucher to void both.

        Needs the scope `rewards:read`.

        - ulid: The redemption’s ULID, case-insensitive.

        Raises Problem, of business rules with these codes:
        - redemption-voided: This redemption has been voided.
        - already-fulfilled: This redemption has already been fulfilled.
        - balance-too-large: The award would exceed the largest possible balance.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            f"/api/v1/redemptions/{_segment(ulid)}/void",
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def list_promotions(
        self,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Promotion]:
        """List current promotions.

        The promotions whose days include today, in the business’s time zone: newest first,
        paginated. Some have hours: `on_now` says whether they are on at this moment. Of those
        that match a sale, the one that gives it most counts. See Promotions.

        Needs the scope `rewards:read`.

        Further pages are read when they are needed.

        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/promotions",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def list_coupons(
        self,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Coupon]:
        """List coupons.

        Newest first, paginated, including inactive and expired ones.

        Needs the scope `coupons:read`.

        Further pages are read when they are needed.

        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/coupons",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def find_coupon(self, ulid: str, *, if_none_match: str | None = None) -> Coupon:
        """Read a coupon.

        Returns a coupon, also an inactive or expired one.

        Needs the scope `coupons:read`.

        - ulid: The coupon’s ULID, case-insensitive.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/coupons/{_segment(ulid)}",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def redeem_voucher(
        self,
        ulid: str,
        *,
        transaction_ulid: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Voucher:
        """Redeem a voucher.

        Redeems a voucher and applies its benefit, once: points and stamps are credited, a
        reward becomes a pending redemption without cost (`redemption_ulid`), the cashier
        deducts percent and amount. `transaction_ulid` in the body has the voucher name the
        sale that it was used with; a body without it is ignored.

        If several rules refuse, the first one listed here is reported.

        Needs the scope `coupons:read`.

        - ulid: The ULID of the voucher, not of its coupon, case-insensitive. Or what the
          customer shows: the code as it is printed, with spaces or hyphens, or the link in
          the QR code, percent-encoded.
        - transaction_ulid: A completed sale of the same customer.

        Raises Problem, of business rules with these codes:
        - voucher-redeemed: This voucher has already been redeemed.
        - voucher-expired: This voucher has expired.
        - coupon-inactive: This coupon is no longer active.
        - voucher-not-available: This voucher is for Gold and above.
        - coupon-cap-reached: Maximum redemptions for this coupon have been reached.
        - out-of-stock: This reward is out of stock.
        - balance-too-large: The award would exceed the largest possible balance.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            f"/api/v1/coupons/{_segment(ulid)}/redeem",
            body={"transaction_ulid": transaction_ulid},
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def list_coupon_redemptions(
        self,
        ulid: str,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Voucher]:
        """List a coupon’s redeemed vouchers.

        Most recently redeemed first, paginated.

        Needs the scope `coupons:read`.

        Further pages are read when they are needed.

        - ulid: The coupon’s ULID, case-insensitive.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            f"/api/v1/coupons/{_segment(ulid)}/redemptions",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def find_voucher(self, ulid: str, *, if_none_match: str | None = None) -> VoucherDetail:
        """Read a voucher.

        Returns a voucher, and whether it can be redeemed now: `not_redeemable` has the rule
        that would refuse it. Redeem it when the customer has paid: until then it can be
        redeemed elsewhere.

        Needs the scope `coupons:read`.

        - ulid: The ULID of the voucher, case-insensitive. Or what the customer shows: the
          code as it is printed, with spaces or hyphens, or the link in the QR code,
          percent-encoded.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            f"/api/v1/vouchers/{_segment(ulid)}",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def restore_voucher(self, ulid: str, *, idempotency_key: str | None = None) -> Voucher:
        """Restore a voucher.

        Takes back the redemption of a voucher within 24 hours, once, for example because the
        payment failed: its points or stamps are reversed, even if they were spent, the
        redemption of its reward is voided, the coupon’s count is reduced, and it can be
        redeemed again. A voucher whose time is over meanwhile is `expired`. The body is
        ignored.

        If several rules refuse, the first one listed here is reported. A retry that is
        refused with `voucher-already-restored` can be treated as success.

        Needs the scope `coupons:read`.

        - ulid: The ULID of the voucher, case-insensitive. Or what the customer shows: the
          code as it is printed, with spaces or hyphens, or the link in the QR code,
          percent-encoded.

        Raises Problem, of business rules with these codes:
        - voucher-already-restored: This voucher has already been restored.
        - voucher-not-redeemed: This voucher has not been redeemed.
        - voucher-used-at-till: This voucher was redeemed at the till, where it can be undone.
        - voucher-restore-expired: This voucher was redeemed more than 24 hours ago.
        - balance-too-large: The award would exceed the largest possible balance.
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            f"/api/v1/vouchers/{_segment(ulid)}/restore",
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def report_summary(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        if_none_match: str | None = None,
    ) -> Summary:
        """Get a summary.

        Whole days in the business’s time zone, first and last included; by default the last
        30 days, at most 3,653. Records count on the day they were created. A sum above
        9,223,372,036,854,775,807 is returned as that number.

        Needs the scope `reports:read`.

        - from_: The first day, such as `2026-09-01`, in the business’s time zone. Default: 29
          days before the last day. A sale counts on the day on which it was recorded
          (`created_at`), not on that of its `occurred_at`.
        - to: The last day, included. Default: today.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            "/api/v1/reports/summary",
            query={"from": from_, "to": to},
            headers={"If-None-Match": if_none_match},
        )["data"]

    def report_top_customers(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        by: Literal["spend", "points", "visits"] | None = None,
        if_none_match: str | None = None,
    ) -> list[TopCustomer]:
        """List top customers.

        Customers with the highest spend, the most points or the most visits in the range, for
        example to send them a coupon. Not paginated.

        Needs the scope `reports:read`.

        - from_: The first day, such as `2026-09-01`, in the business’s time zone. Default: 29
          days before the last day. A sale counts on the day on which it was recorded
          (`created_at`), not on that of its `occurred_at`.
        - to: The last day, included. Default: today.
        - limit: Number of customers.
        - by: Rank by spend, points earned, or number of sales.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            "/api/v1/reports/customers/top",
            query={"from": from_, "to": to, "limit": limit, "by": by},
            headers={"If-None-Match": if_none_match},
        )["data"]

    def report_coupons(self, *, if_none_match: str | None = None) -> list[CouponReport]:
        """Get coupon results.

        Vouchers sent, pending, expired and redeemed of each coupon. Not paginated.

        Needs the scope `reports:read`.

        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._send(
            "GET",
            "/api/v1/reports/coupons",
            headers={"If-None-Match": if_none_match},
        )["data"]

    def list_tokens(
        self,
        *,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Token]:
        """List your tokens.

        All tokens of the caller’s person, newest first, paginated, without their secrets.

        Any valid token can call it. An owner who is signed in to the panel can, too, with
        their session on the panel’s host; other people who are signed in get 403.

        Further pages are read when they are needed.

        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/tokens",
            query={"per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def create_token(
        self,
        *,
        name: str,
        scopes: list[Scope],
        expires_at: str | None = UNSET,
    ) -> CreatedToken:
        """Create a token.

        The new token belongs to the caller’s person, who is notified by e-mail, at most once
        an hour. Only this response has its secret, so `Idempotency-Key` is ignored. A
        platform token creates platform tokens; their `scopes` must be empty.

        Any valid token can call it. An owner who is signed in to the panel can, too, with
        their session on the panel’s host; other people who are signed in get 403.

        - name: Name.
        - scopes: Empty: the token can only manage tokens. Must be empty for a platform token.
        - expires_at: In the future; absent or null: never.

        Raises Problem, of business rules with these codes:
        - token-limit-reached: The limit of 100 active API tokens for one person has been
          reached. Revoke one that is no longer used.
        """
        return self._send(
            "POST",
            "/api/v1/tokens",
            body={"name": name, "scopes": scopes, "expires_at": expires_at},
        )["data"]

    def revoke_token(self, id: int) -> None:
        """Revoke a token.

        The token stops working at once. A token can revoke itself; another person’s token
        gets 404.

        Any valid token can call it. An owner who is signed in to the panel can, too, with
        their session on the panel’s host; other people who are signed in get 403.

        - id: The token.
        """
        self._send("DELETE", f"/api/v1/tokens/{_segment(id)}")

    def list_tenants(
        self,
        *,
        status: Literal["active", "suspended"] | None = None,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Tenant]:
        """List tenants.

        Newest first, paginated.

        Needs a platform token, which a super-admin creates.

        Further pages are read when they are needed.

        - status: Filter by status.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/platform/tenants",
            query={"status": status, "per_page": per_page, "cursor": cursor},
            headers={"If-None-Match": if_none_match},
        )

    def create_tenant(
        self,
        *,
        name: str,
        slug: str,
        email: str,
        plan_id: int,
        billing_cycle: Literal["monthly", "yearly"],
        payment_method: Literal["manual", "bank_transfer", "card", "stripe", "paypal"],
        timezone: str | None = UNSET,
        currency: str | None = UNSET,
        country: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Tenant:
        """Create a tenant.

        Creates the business and its owner, and invites the owner by e-mail. The slug becomes
        the business’s subdomain and never changes.

        Needs a platform token, which a super-admin creates.

        - name: Business name.
        - slug: 3 to 40 characters: a–z, 0–9 and inner hyphens. Unique, not reserved, and
          can’t be changed.
        - email: The owner’s e-mail address.
        - plan_id: A plan that isn’t retired.
        - billing_cycle: Billing cycle.
        - payment_method: Payment method, for information only: nothing is charged.
        - timezone: IANA name.
        - currency: ISO 4217.
        - country: ISO 3166-1 alpha-2.

        Raises Problem, of business rules with these codes:
        - idempotency-key-reused: This idempotency key was used with a different request.
        """
        return self._send(
            "POST",
            "/api/v1/platform/tenants",
            body={
                "name": name,
                "slug": slug,
                "email": email,
                "plan_id": plan_id,
                "billing_cycle": billing_cycle,
                "payment_method": payment_method,
                "timezone": timezone,
                "currency": currency,
                "country": country,
            },
            key=idempotency_key or str(uuid.uuid4()),
        )["data"]

    def edit_tenant(
        self,
        id: int,
        *,
        name: str = UNSET,
        email: str = UNSET,
        plan_id: int = UNSET,
        billing_cycle: Literal["monthly", "yearly"] = UNSET,
        payment_method: Literal["manual", "bank_transfer", "card", "stripe", "paypal"] = UNSET,
        status: Literal["active", "suspended"] = UNSET,
        timezone: str = UNSET,
        currency: str = UNSET,
        country: str | None = UNSET,
        if_match: str | None = None,
    ) -> Tenant:
        """Change a tenant.

        Changes only the fields that you send; `slug` is ignored. Suspending a tenant disables
        its tokens and sign-ins at once.

        Needs a platform token, which a super-admin creates.

        - id: The tenant.
        - name: Business name.
        - email: The owner’s e-mail address.
        - plan_id: A plan that isn’t retired.
        - billing_cycle: Billing cycle.
        - payment_method: Payment method, for information only: nothing is charged.
        - status: Suspending a tenant disables its tokens and sign-ins at once.
        - timezone: IANA name.
        - currency: ISO 4217.
        - country: ISO 3166-1 alpha-2; null clears it.
        - if_match: The `ETag` of the record as you have seen it: if the record has changed
          since, nothing is changed and you get 412.
        """
        return self._send(
            "PATCH",
            f"/api/v1/platform/tenants/{_segment(id)}",
            body={
                "name": name,
                "email": email,
                "plan_id": plan_id,
                "billing_cycle": billing_cycle,
                "payment_method": payment_method,
                "status": status,
                "timezone": timezone,
                "currency": currency,
                "country": country,
            },
            headers={"If-Match": if_match},
        )["data"]

    def list_invoices(
        self,
        *,
        tenant_id: int | None = None,
        status: Literal["draft", "issued", "paid", "overdue", "void"] | None = None,
        per_page: int | None = None,
        cursor: str | None = None,
        if_none_match: str | None = None,
    ) -> Records[Invoice]:
        """List invoices.

        Newest first, paginated.

        Needs a platform token, which a super-admin creates.

        Further pages are read when they are needed.

        - tenant_id: Filter by tenant.
        - status: Filter by status.
        - per_page: Records per page. Values above 1,000 are treated as 1,000.
        - cursor: `meta.next_cursor` or `meta.prev_cursor` of another page; opaque. Or just
          follow `links.next`.
        - if_none_match: The `ETag` of the response that you have: while it is current, you
          get 304.
        """
        return self._records(
            "GET",
            "/api/v1/platform/invoices",
            query={
                "tenant_id": tenant_id,
                "status": status,
                "per_page": per_page,
                "cursor": cursor,
            },
            headers={"If-None-Match": if_none_match},
        )

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
