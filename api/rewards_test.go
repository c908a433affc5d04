package api_test

import (
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
)

// redemption is the JSON of a redemption of Anna.
func redemption(ulid, state, reward, points, stamps, fulfilled, voided string) string {
	return `{"ulid":"` + ulid + `","status":"` + state + `","customer_ulid":"{anna}","reward_ulid":"` + reward + `","reward_value_cents":null,"points_spent":` + points +
		`,"stamps_spent":` + stamps + `,"created_at":"<time>","fulfilled_at":` + fulfilled + `,"voided_at":` + voided + `}`
}

// noTerms are the members of a reward that everyone can redeem at any time.
const noTerms = `"min_tier_id":null,"max_per_customer":null,"starts_on":null,"ends_on":null`

const (
	listsRewards     = "| GET | /api/v1/rewards | rewards:read | - | List of active rewards. |"
	redeems          = "| POST | /api/v1/redemptions | rewards:read | Identifies the customer and the reward. | Redemption in state pending. Deducts points. |"
	tooPoor          = "| (none) | POST /redemptions | Insufficient points | none | 422 `Insufficient points balance.` |"
	noStock          = "| (none) | POST /redemptions | Reward out of stock | none | 422 `This reward is out of stock.` |"
	findsIt          = "| GET | /api/v1/redemptions/{ulid} | rewards:read | - | Redemption. |"
	handsOver        = "| pending | POST /redemptions/{ulid}/fulfil | - | fulfilled | - |"
	handedBefore     = "| fulfilled | POST /redemptions/{ulid}/fulfil | - | fulfilled (unchanged) | 422 `This redemption has already been fulfilled.` |"
	wasVoided        = "| voided | POST /redemptions/{ulid}/fulfil | - | voided (unchanged) | 422 `This redemption has been voided.` |"
	redemptionStates = "States named in the interface: pending, fulfilled, voided."
	notShown         = "Request and response bodies of the reward, redemption, coupon, report, invoice and tenant-update endpoints beyond what is listed above: not shown."
	notActive        = "An inactive reward or customer is 422 on the field."

	voidsPending     = "Voiding a pending one, in the panel or through the API: points and stock return once."
	voidsFulfilled   = "A fulfilled one can be voided within 24 hours by a manager, with a reason (a mistake at the counter), or through the API, without one: the same, once."
	rewardFields     = "**Reward**: `ulid, name, description, points_cost, stamps_cost, stock (null = unlimited), active, created_at`, + `value_cents`: what it takes off a bill, where the business has set it; costs points or stamps, never both."
	redemptionFields = "**Redemption**: `ulid, status, customer_ulid, reward_ulid, points_spent, stamps_spent, created_at, fulfilled_at, voided_at`."
	orderFields      = "POST takes `customer_ulid`, `reward_ulid`."
	rewardCodes      = "`insufficient-points`, `insufficient-stamps`, `out-of-stock`, `already-fulfilled`, `redemption-voided`,"
)

func TestRewards(t *testing.T) {
	proves(t, redemptionFields, rewardCodes)
	runScenarios(t, []scenario{
		{
			says: listsRewards, also: []string{"Reward record fields (beyond being listed as active, having a stock that can run out, and a points cost): not shown."}, method: "GET", path: "/rewards", auth: "rewards:read", status: 200,
			before: func(s *shop) { s.fill("{withdrawn} {espresso}") },
			want: `{"data":[{"ulid":"{espresso}","name":"Espresso","description":null,"points_cost":10,"stamps_cost":null,"stock":3,"value_cents":null,"active":true,` +
				`"created_at":"<time>",` + noTerms + `}],"links":{"first":null,"last":null,"prev":null,"next":null},` +
				`"meta":{"path":"https://{host}/api/v1/rewards","per_page":15,"next_cursor":null,"prev_cursor":null}}`,
		},
		{
			says: rewardFields, with: "stamps, and as many as are wanted", method: "GET", path: "/rewards", before: func(s *shop) { s.fill("{tenth_coffee}") }, status: 200,
			want: `{"data":[{"ulid":"{tenth_coffee}","name":"Tenth coffee","description":"On us.","points_cost":null,"stamps_cost":9,"stock":null,"value_cents":null,"active":true,` +
				`"created_at":"<time>",` + noTerms + `}],<anything>}`,
		},
		{
			says: redeems, also: []string{"| (none) | POST /redemptions | Enough points; reward in stock | pending | Points are deducted atomically with creation. |", notShown}, method: "POST", path: "/redemptions", auth: "rewards:read", before: func(s *shop) { s.fill("{sale}") },
			body: `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`, status: 201,
			want: one(redemption("<ulid>", "pending", "{espresso}", "10", "0", "null", "null")), after: balance(2, 0, 2),
		},
		{
			says: tooPoor, also: []string{"| POST /redemptions | Insufficient points | Insufficient points balance. |"}, method: "POST", path: "/redemptions", before: func(s *shop) { s.fill("{anna}") },
			body: `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`, status: 422,
			want: refused("insufficient-points", "Insufficient points balance."), after: balance(0, 0, 0),
		},
		{
			says: "`Insufficient stamps balance.`", method: "POST", path: "/redemptions", before: func(s *shop) { s.fill("{anna}") },
			body: `{"customer_ulid":"{anna}","reward_ulid":"{tenth_coffee}"}`, status: 422,
			want: refused("insufficient-stamps", "Insufficient stamps balance."), after: balance(0, 0, 0),
		},
		{
			says: noStock, also: []string{"| POST /redemptions | Out of stock | This reward is out of stock. |"}, method: "POST", path: "/redemptions", before: func(s *shop) { s.fill("{sale}") },
			body: `{"customer_ulid":"{anna}","reward_ulid":"{sold_out}"}`, status: 422,
			want: refused("out-of-stock", "This reward is out of stock."), after: balance(12, 0, 1),
		},
		{
			says: "An insufficient balance is reported before an empty stock.", method: "POST", path: "/redemptions",
			before: func(s *shop) { s.fill("{anna}") }, body: `{"customer_ulid":"{anna}","reward_ulid":"{sold_out}"}`, status: 422,
			want: refused("insufficient-points", "Insufficient points balance."), after: balance(0, 0, 0),
		},
		{
			says: notActive, method: "POST", path: "/redemptions", before: func(s *shop) { s.fill("{anna}") },
			body: `{"customer_ulid":"{inactive}","reward_ulid":"{withdrawn}"}`, status: 422,
			want: invalid(`"customer_ulid":["The selected customer ulid is invalid."],"reward_ulid":["The selected reward ulid is invalid."]`),
		},
		{
			says: orderFields, method: "POST", path: "/redemptions", body: `{}`, status: 422,
			want: invalid(`"customer_ulid":["The customer ulid field is required."],"reward_ulid":["The reward ulid field is required."]`),
		},
		{
			says: onTheField, method: "POST", path: "/redemptions", before: func(s *shop) { s.fill("{sale}") },
			body: `{"customer_ulid":"{anna}","reward_ulid":"{foreign_espresso}"}`, status: 422,
			want: invalid(`"reward_ulid":["The selected reward ulid is invalid."]`),
		},
		{
			says: "every failing field is reported at once.", with: "of a redemption", method: "POST", path: "/redemptions",
			body: `{"customer_ulid":5}`, status: 422,
			want: invalid(`"customer_ulid":["The customer ulid field must be a string."],"reward_ulid":["The reward ulid field is required."]`),
		},
		{
			says: findsIt, also: []string{"Redemption record fields (beyond its ULID and that it is linked to a customer and a reward): not shown."},
			method: "GET", path: "/redemptions/{redemption}", auth: "rewards:read", status: 200,
			want: one(redemption("{redemption}", "pending", "{espresso}", "10", "0", "null", "null")),
		},
		{
			says: redemptionStates, method: "GET", path: "/redemptions/{taken_back}", status: 200,
			want: one(redemption("{taken_back}", "voided", "{espresso}", "10", "0", "null", `"<time>"`)),
		},
		{says: findsIt, with: "unknown", method: "GET", path: "/redemptions/{missing}", status: 404, want: notFound},
		{
			says: handsOver, also: []string{"| POST | /api/v1/redemptions/{ulid}/fulfil | rewards:read | none | Redemption, fulfilled. |"}, method: "POST", path: "/redemptions/{redemption}/fulfil", auth: "rewards:read", status: 200,
			want: one(redemption("{redemption}", "fulfilled", "{espresso}", "10", "0", `"<time>"`, "null")), after: balance(2, 0, 2),
		},
		{
			says: handedBefore, also: []string{"| POST /redemptions/{ulid}/fulfil | Already fulfilled | This redemption has already been fulfilled. |"},
			method: "POST", path: "/redemptions/{fulfilled}/fulfil", status: 422, want: refused("already-fulfilled", "This redemption has already been fulfilled."),
			after: shows("/redemptions/{fulfilled}", one(redemption("{fulfilled}", "fulfilled", "{espresso}", "10", "0", `"<time>"`, "null"))),
		},
		{
			says: wasVoided, also: []string{"| POST /redemptions/{ulid}/fulfil | Voided | This redemption has been voided. |"},
			method: "POST", path: "/redemptions/{taken_back}/fulfil", status: 422, want: refused("redemption-voided", "This redemption has been voided."),
			after: all(balance(12, 0, 3), shows("/redemptions/{taken_back}", one(redemption("{taken_back}", "voided", "{espresso}", "10", "0", "null", `"<time>"`)))),
		},
	})
}

// A shop reads one reward, also one that is withdrawn, with what it takes off a bill.
func TestAReward(t *testing.T) {
	worth := func(s *shop) {
		s.fill("{tenth_coffee}")
		s.must(s.Rewards.Edit(s.T.Context(), s.By, s.id("{tenth_coffee}"), reward.Edit{ValueCents: core.Set(int64(420))}))
	}
	runScenarios(t, []scenario{
		{
			with: "a reward", method: "GET", path: "/rewards/{tenth_coffee}", auth: "rewards:read", before: worth, status: 200,
			want: one(`{"ulid":"{tenth_coffee}","name":"Tenth coffee","description":"On us.","points_cost":null,"stamps_cost":9,"stock":null,"value_cents":420,` +
				`"active":true,"created_at":"<time>",` + noTerms + `}`),
		},
		{with: "withdrawn", method: "GET", path: "/rewards/{withdrawn}", status: 200, want: `{"data":{"ulid":"{withdrawn}",<anything>"active":false,<anything>}}`},
		{with: "unknown", method: "GET", path: "/rewards/{missing}", status: 404, want: notFound},
		{
			with: "a coupon", method: "GET", path: "/coupons/{coupon}", auth: "coupons:read", before: off("{redeemed}", "{coupon}"), status: 200,
			want: one(strings.Replace(couponOf("{coupon}", "Welcome back", fivePoints, "1"), `"active":true`, `"active":false`, 1)),
		},
		{with: "an unknown coupon", method: "GET", path: "/coupons/{missing}", status: 404, want: notFound},
	})
}

// Redemptions are listed by their state and their customer, and voided: points and stock return once.
func TestRedemptions(t *testing.T) {
	proves(t, "How a redemption becomes voided: not shown.")
	three := func(s *shop) {
		s.fill("{sale}")
		s.Adjust(s.id("{anna}"), ledger.Points, 20)
		s.fill("{redemption} {taken_back} {fulfilled}")
	}
	const rest = `,"links":{"first":null,"last":null,"prev":null,"next":null},<anything>`
	pending := redemption("{redemption}", "pending", "{espresso}", "10", "0", "null", "null")
	handed := redemption("{fulfilled}", "fulfilled", "{espresso}", "10", "0", `"<time>"`, "null")
	void := func(name string) func(*shop, answer) {
		return func(s *shop, _ answer) {
			s.call("POST", "/api/v1/redemptions/"+name+"/void", s.token, "").is(s.T, 422, refused("redemption-voided", "This redemption has been voided."))
		}
	}
	runScenarios(t, []scenario{
		{
			with: "all", method: "GET", path: "/redemptions?per_page=3", auth: "rewards:read", before: three, status: 200,
			want: `{"data":[` + handed + `,` + redemption("{taken_back}", "voided", "{espresso}", "10", "0", "null", `"<time>"`) + `,` + pending + `]` + rest,
		},
		{
			with: "of a state", method: "GET", path: "/redemptions?status=fulfilled", before: three, status: 200, want: `{"data":[` + handed + `]` + rest,
		},
		{
			with: "of a customer, the first page", method: "GET", path: "/redemptions?customer_ulid={anna_lower}&status=pending&per_page=1", before: three, status: 200,
			want: `{"data":[` + pending + `]` + rest,
		},
		{with: "of another customer", method: "GET", path: "/redemptions?customer_ulid={bo}", before: three, status: 200, want: `{"data":[]` + rest},
		{
			with: "filters that can't be", method: "GET", path: "/redemptions?status=open&customer_ulid=anna&per_page=0", status: 422,
			want: invalid(`"customer_ulid":["The selected customer ulid is invalid."],"per_page":["The per page field must be at least 1."],"status":["The selected status is invalid."]`),
		},
		{
			says: voidsPending, with: "voided, pending", method: "POST", path: "/redemptions/{redemption}/void", auth: "rewards:read", status: 200,
			want: one(redemption("{redemption}", "voided", "{espresso}", "10", "0", "null", `"<time>"`)), after: all(balance(12, 0, 3), void("{redemption}")),
		},
		{
			says: voidsFulfilled, with: "voided, fulfilled", method: "POST", path: "/redemptions/{fulfilled}/void", body: "{", headers: []string{"Content-Type: text/plain"}, status: 200,
			want: one(redemption("{fulfilled}", "voided", "{espresso}", "10", "0", `"<time>"`, `"<time>"`)), after: all(balance(12, 0, 3), void("{fulfilled}")),
		},
		{
			with: "fulfilled a day ago", method: "POST", path: "/redemptions/{fulfilled}/void",
			before: func(s *shop) {
				s.fill("{fulfilled}")
				s.change("redemption", "fulfilled_at = now() - interval '1 day'")
			},
			status: 422, want: refused("already-fulfilled", "This redemption has already been fulfilled."), after: balance(2, 0, 2),
		},
		{with: "void an unknown one", method: "POST", path: "/redemptions/{missing}/void", status: 404, want: notFound},
		{with: "void what isn't an ULID", method: "POST", path: "/redemptions/x/void", status: 404, want: notFound},
	})
}

// A plug-in lets its shop choose the type of its sales and the location from lists.
func TestTypesAndLocations(t *testing.T) {
	proves(t, "The rule that turns spend into points is part of the transaction type and is not exposed.")
	const page = `"links":{"first":null,"last":null,"prev":null,"next":null},"meta":{"path":"https://{host}/api/v1/`
	typed := func(id, name, kind string) string {
		return `{"id":` + id + `,"name":"` + name + `","rule_type":"` + kind + `","active":true}`
	}
	places := func(s *shop) {
		s.fill("{old_town} {harbour}")
		number, _ := strconv.ParseInt(s.named["{old_town}"], 10, 64)
		s.must(s.Locations.Edit(s.T.Context(), s.By, number, location.Edit{Active: core.Set(false)}))
	}
	runScenarios(t, []scenario{
		{
			with: "types", method: "GET", path: "/transaction-types", auth: "transactions:write", before: func(s *shop) { s.fill("{points} {stamps} {from_ten} {capped}") }, status: 200,
			want: `{"data":[` + typed("{points}", "Purchase", "points") + `,` + typed("{stamps}", "Coffee", "stamps") + `,` +
				typed("{from_ten}", "From ten", "points") + `,` + typed("{capped}", "Capped", "points") + `],` +
				page + `transaction-types","per_page":15,"next_cursor":null,"prev_cursor":null}}`,
		},
		{
			with: "an inactive type", method: "GET", path: "/transaction-types", before: func(s *shop) { s.fill("{closed_type}") }, status: 200,
			want: `{"data":[{"id":{closed_type},<anything>"active":false}],<anything>}`,
		},
		{
			with: "locations, by name", method: "GET", path: "/locations", auth: "transactions:write", before: places, status: 200,
			want: `{"data":[{"id":{harbour},"name":"Harbour","active":true},{"id":{old_town},"name":"Old town","active":false}],` +
				page + `locations","per_page":15,"next_cursor":null,"prev_cursor":null}}`,
		},
		{
			with: "a page of locations", method: "GET", path: "/locations?per_page=1", before: places, status: 200,
			want: `{"data":[{"id":{harbour},"name":"Harbour","active":true}],<anything>"next_cursor":"<cursor>","prev_cursor":null}}`,
			after: func(s *shop, got answer) {
				next := s.call("GET", "/api/v1/locations?per_page=1&cursor="+*got.page(s.T).Meta.NextCursor, s.token, "")
				next.is(s.T, 200, s.fill(`{"data":[{"id":{old_town},"name":"Old town","active":false}],<anything>"next_cursor":null,"prev_cursor":"<cursor>"}}`))
			},
		},
		{
			with: "no page", method: "GET", path: "/locations?per_page=0&cursor=x", status: 422,
			want: invalid(`"cursor":["The selected cursor is invalid."],"per_page":["The per page field must be at least 1."]`),
		},
	})
}
