"""The main job with the client: find or add a customer, record a sale, redeem a reward, read the
sales. Tests run it against a server."""

import os

from loyalty import Loyalty, Problem

loyalty = Loyalty(os.environ["LOYALTY_URL"], os.environ["LOYALTY_TOKEN"])


def refused(code, call, *args, **kwargs):
    """Returns the problem of a call that a business rule, or with None a field, refuses."""
    try:
        call(*args, **kwargs)
    except Problem as problem:
        assert (problem.code, problem.status) == (code, 422), problem
        return problem
    raise AssertionError(f"not refused with {code}")


customer = loyalty.upsert_customer(first_name="Tove", last_name="Dahl", phone="08-465 004 14")


def record(receipt, cents):
    """Records a sale. The key names it: a retry gets the first response again."""
    return loyalty.record_transaction(
        customer_ulid=customer["ulid"],
        transaction_type_id=int(os.environ["TRANSACTION_TYPE"]),
        spend_amount_cents=cents,
        idempotency_key=receipt,
    )


sale = record("python-1", 6000)
assert record("python-1", 6000) == sale
assert sale["points_awarded"] == 60
record("python-2", 100)
record("python-3", 100)

redemption = loyalty.redeem_reward(customer_ulid=customer["ulid"], reward_ulid=os.environ["REWARD"])
assert loyalty.fulfil_redemption(redemption["ulid"])["status"] == "fulfilled"

# A business rule that refuses has a code, an invalid field an error.
refused("already-fulfilled", loyalty.fulfil_redemption, redemption["ulid"])
refused("idempotency-key-reused", record, "python-1", 7000)
problem = refused(None, loyalty.upsert_customer, first_name="", last_name="Dahl", phone="0")
assert len(problem.errors["first_name"]) == 1

# Two a page, newest first.
sales = [each["ulid"] for each in loyalty.list_customer_transactions(customer["ulid"], per_page=2)]
assert len(sales) == 3 and sales[2] == sale["ulid"]

now = loyalty.find_customer(customer["ulid"])
print(f"{now['first_name']} {now['last_name']}: {now['points_balance']} points")
