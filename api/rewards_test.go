package api_test

import "testing"

// redemption is the JSON of a redemption of Anna.
func redemption(ulid, state, reward, points, stamps, fulfilled, voided string) string {
	return `{"ulid":"` + ulid + `","status":"` + state + `","customer_ulid":"{anna}","reward_ulid":"` + reward + `","points_spent":` + points +
		`,"stamps_spent":` + stamps + `,"created_at":"<time>","fulfilled_at":` + fulfilled + `,"voided_at":` + voided + `}`
}

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

	rewardFields     = "**Reward**: `ulid, name, description, points_cost, stamps_cost, stock (null = unlimited), active, created_at`; costs points or stamps, never both."
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
			want: `{"data":[{"ulid":"{espresso}","name":"Espresso","description":null,"points_cost":10,"stamps_cost":null,"stock":3,"active":true,` +
				`"created_at":"<time>"}],"links":{"first":null,"last":null,"prev":null,"next":null},` +
				`"meta":{"path":"https://{host}/api/v1/rewards","per_page":15,"next_cursor":null,"prev_cursor":null}}`,
		},
		{
			says: rewardFields, with: "stamps, and as many as are wanted", method: "GET", path: "/rewards", before: func(s *shop) { s.fill("{tenth_coffee}") }, status: 200,
			want: `{"data":[{"ulid":"{tenth_coffee}","name":"Tenth coffee","description":"On us.","points_cost":null,"stamps_cost":9,"stock":null,"active":true,` +
				`"created_at":"<time>"}],<anything>}`,
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
