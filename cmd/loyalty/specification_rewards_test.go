package main

import "net/http"

// redemptionOf is the JSON of a redemption of Anna.
func redemptionOf(ulid, state, reward, points, fulfilled string) string {
	return `{"ulid":"` + ulid + `","status":"` + state + `","customer_ulid":"{anna}","reward_ulid":"` + reward + `","points_spent":` + points +
		`,"stamps_spent":0,"created_at":"<time>","fulfilled_at":` + fulfilled + `,"voided_at":null}`
}

const (
	redeemsInStock = `{"customer_ulid":"{anna}","reward_ulid":"{in_stock}"}`
	redeemsDear    = `{"customer_ulid":"{anna}","reward_ulid":"{too_dear}"}`
	redeemsSoldOut = `{"customer_ulid":"{anna}","reward_ulid":"{sold_out}"}`
	inStockIs      = `{"ulid":"{in_stock}","name":"In stock","description":null,"points_cost":50,"stamps_cost":null,"stock":<id>,"active":true,"created_at":"<time>"}`
	soldOutIs      = `{"ulid":"{sold_out}","name":"Out of stock","description":null,"points_cost":10,"stamps_cost":null,"stock":0,"active":true,"created_at":"<time>"}`
	takenBackIs    = `{"ulid":"{taken_back}","status":"voided","customer_ulid":"<ulid>","reward_ulid":"{in_stock}","points_spent":50,"stamps_spent":0,` +
		`"created_at":"<time>","fulfilled_at":null,"voided_at":"<time>"}`

	rewardFields     = "Reward record fields (beyond being listed as active, having a stock that can run out, and a points cost): not shown."
	redemptionFields = "Redemption record fields (beyond its ULID and that it is linked to a customer and a reward): not shown."
	redeemsReward    = "| (none) | POST /redemptions | Enough points; reward in stock | pending | Points are deducted atomically with creation. |"
	redeemsPoor      = "| (none) | POST /redemptions | Insufficient points | none | 422 `Insufficient points balance.` |"
	redeemsNone      = "| (none) | POST /redemptions | Reward out of stock | none | 422 `This reward is out of stock.` |"
	fulfils          = "| pending | POST /redemptions/{ulid}/fulfil | - | fulfilled | - |"
	fulfilledBefore  = "| fulfilled | POST /redemptions/{ulid}/fulfil | - | fulfilled (unchanged) | 422 `This redemption has already been fulfilled.` |"
	fulfilsVoided    = "| voided | POST /redemptions/{ulid}/fulfil | - | voided (unchanged) | 422 `This redemption has been voided.` |"
	rewardList       = "| GET | /api/v1/rewards | rewards:read | - | List of active rewards. |"
	redemptionPost   = "| POST | /api/v1/redemptions | rewards:read | Identifies the customer and the reward. | Redemption in state pending. Deducts points. |"
	bodiesNotShown   = "Request and response bodies of the reward, redemption, coupon, report, invoice and tenant-update endpoints beyond what is listed above: not shown."
	voidsElsewhere   = "How a redemption becomes voided: not shown."
)

var (
	redemptionIs = redemptionOf("{redemption}", "pending", "{in_stock}", "50", "null")
	fulfilledIs  = redemptionOf("{fulfilled}", "fulfilled", "{in_stock}", "50", `"<time>"`)
	redeemedNow  = one(redemptionOf("<ulid>", "pending", "{in_stock}", "50", "null"))
	fulfilledNow = one(redemptionOf("{redemption}", "fulfilled", "{in_stock}", "50", `"<time>"`))

	tooPoor          = ruled("insufficient-points", "Insufficient points balance.")
	outOfStock       = ruled("out-of-stock", "This reward is out of stock.")
	alreadyFulfilled = ruled("already-fulfilled", "This redemption has already been fulfilled.")
	redemptionVoided = ruled("redemption-voided", "This redemption has been voided.")
)

func annaHasHundred(v *visit) { v.fill("{hundred_points}") }

var rewardSentences = []sentence{
	{
		says: rewardFields, method: "GET", path: "/rewards?per_page=100", status: 200,
		want: `{"data":[<anything>` + soldOutIs + `<anything>],<anything>}`,
	},
	{says: redemptionFields, method: "GET", path: "/redemptions/{fulfilled}", status: 200, want: one(fulfilledIs)},
	{says: "States named in the interface: pending, fulfilled, voided.", with: "pending", method: "GET", path: "/redemptions/{redemption}", status: 200, want: one(redemptionIs)},
	{says: "States named in the interface: pending, fulfilled, voided.", with: "fulfilled", method: "GET", path: "/redemptions/{fulfilled}", status: 200, want: one(fulfilledIs)},
	{says: "States named in the interface: pending, fulfilled, voided.", with: "voided", method: "GET", path: "/redemptions/{taken_back}", status: 200, want: one(takenBackIs)},
	{says: redeemsReward, before: annaHasHundred, method: "POST", path: "/redemptions", body: redeemsInStock, status: 201, want: redeemedNow, after: balance(50, 0)},
	{says: redeemsReward, with: "balance for one, many at once", story: func(v *visit) {
		v.fill("{hundred_points}")
		v.made("/redemptions", redeemsInStock) // which leaves 50 points
		counts := v.race(24, func(int) (string, string) { return "/redemptions", redeemsInStock })
		if counts[http.StatusCreated] != 1 || counts[http.StatusUnprocessableEntity] != 23 {
			v.t.Errorf("of 24 redemptions: %v", counts)
		}
		v.has("{anna}", 0, 0)
	}},
	{says: redeemsReward, with: "a stock of five, many buyers at once", story: func(v *visit) {
		scarce := v.shop.Race.Rewards[0]
		buyers := make([]*visit, 24)
		for i := range buyers {
			buyers[i] = v.visit(v.t)
			buyers[i].fill("{sale}")
		}
		counts := v.race(len(buyers), func(i int) (string, string) {
			return "/redemptions", buyers[i].fill(`{"customer_ulid":"{anna}","reward_ulid":"` + scarce.ULID.String() + `"}`)
		})
		if counts[http.StatusCreated] != int(scarce.Stock) || counts[http.StatusUnprocessableEntity] != len(buyers)-int(scarce.Stock) {
			v.t.Errorf("of %d buyers of %d pieces: %v", len(buyers), scarce.Stock, counts)
		}
	}},
	{says: redeemsPoor, before: annaIsThere, method: "POST", path: "/redemptions", body: redeemsInStock, status: 422, want: tooPoor, after: balance(0, 0)},
	{says: redeemsNone, before: annaHasHundred, method: "POST", path: "/redemptions", body: redeemsSoldOut, status: 422, want: outOfStock, after: balance(100, 0)},
	{says: redeemsNone, with: "once the last one is taken", story: func(v *visit) {
		v.fill("{hundred_points}")
		const last = `{"customer_ulid":"{anna}","reward_ulid":"{last_one}"}`
		v.is(v.ask("POST", "/redemptions", "", last), 201, one(redemptionOf("<ulid>", "pending", "{last_one}", "10", "null")))
		v.is(v.ask("POST", "/redemptions", "", last), 422, outOfStock)
		v.has("{anna}", 90, 0)
	}},
	{says: fulfils, method: "POST", path: "/redemptions/{redemption}/fulfil", status: 200, want: fulfilledNow, after: balance(50, 0)},
	{says: fulfilledBefore, method: "POST", path: "/redemptions/{fulfilled}/fulfil", status: 422, want: alreadyFulfilled, after: func(v *visit, _ answer) {
		v.is(v.ask("GET", "/redemptions/{fulfilled}", "", ""), 200, one(fulfilledIs))
	}},
	{says: fulfilsVoided, method: "POST", path: "/redemptions/{taken_back}/fulfil", status: 422, want: redemptionVoided, after: func(v *visit, _ answer) {
		v.is(v.ask("GET", "/redemptions/{taken_back}", "", ""), 200, one(takenBackIs))
	}},
	{says: voidsElsewhere, with: "not through the API", method: "POST", path: "/redemptions/{redemption}/void", status: 404, want: notFound, after: func(v *visit, _ answer) {
		v.is(v.ask("GET", "/redemptions/{redemption}", "", ""), 200, one(redemptionIs))
	}},

	{
		says: rewardList, method: "GET", path: "/rewards?per_page=100", as: "rewards:read", status: 200,
		want: `{"data":[<anything>` + inStockIs + `<anything>],"links":{"first":null,"last":null,"prev":null,"next":null},` +
			`"meta":{"path":"{base}/api/v1/rewards","per_page":100,"next_cursor":null,"prev_cursor":null}}`,
		after: func(v *visit, got answer) { v.lacks(got, "{withdrawn}") },
	},
	{says: redemptionPost, before: annaHasHundred, method: "POST", path: "/redemptions", as: "rewards:read", body: redeemsInStock, status: 201, want: redeemedNow, after: balance(50, 0)},
	{
		says: redemptionPost, with: "identifies neither", method: "POST", path: "/redemptions", as: "rewards:read", body: `{}`, status: 422,
		want: invalid(`"customer_ulid":["The customer ulid field is required."],"reward_ulid":["The reward ulid field is required."]`),
	},
	{
		says: redemptionPost, with: "of a reward that is not active", method: "POST", path: "/redemptions", as: "rewards:read", body: `{"customer_ulid":"{anna}","reward_ulid":"{withdrawn}"}`,
		status: 422, want: invalid(`"reward_ulid":["The selected reward ulid is invalid."]`),
	},
	{says: "| GET | /api/v1/redemptions/{ulid} | rewards:read | - | Redemption. |", method: "GET", path: "/redemptions/{redemption}", as: "rewards:read", status: 200, want: one(redemptionIs)},
	{says: "| GET | /api/v1/redemptions/{ulid} | rewards:read | - | Redemption. |", with: "unknown", method: "GET", path: "/redemptions/{missing}", as: "rewards:read", status: 404, want: notFound},
	{says: "| POST | /api/v1/redemptions/{ulid}/fulfil | rewards:read | none | Redemption, fulfilled. |", method: "POST", path: "/redemptions/{redemption}/fulfil", as: "rewards:read", status: 200, want: fulfilledNow},
	{
		says:   "A per-customer redemption history endpoint (`GET /api/v1/customers/{ulid}/redemptions`) does not exist yet and is only planned.",
		method: "GET", path: "/customers/{anna}/redemptions", status: 404, want: notFound,
	},
	{says: bodiesNotShown, with: "a redemption's", before: annaHasHundred, method: "POST", path: "/redemptions", body: redeemsInStock, status: 201, want: redeemedNow},

	{says: "| POST /redemptions | Insufficient points | Insufficient points balance. |", before: annaHasHundred, method: "POST", path: "/redemptions", body: redeemsDear, status: 422, want: tooPoor, after: balance(100, 0)},
	{says: "| POST /redemptions | Out of stock | This reward is out of stock. |", before: annaHasHundred, method: "POST", path: "/redemptions", body: redeemsSoldOut, status: 422, want: outOfStock, after: balance(100, 0)},
	{says: "| POST /redemptions/{ulid}/fulfil | Already fulfilled | This redemption has already been fulfilled. |", method: "POST", path: "/redemptions/{fulfilled}/fulfil", status: 422, want: alreadyFulfilled},
	{says: "| POST /redemptions/{ulid}/fulfil | Voided | This redemption has been voided. |", method: "POST", path: "/redemptions/{taken_back}/fulfil", status: 422, want: redemptionVoided},
	{says: postsAreNot, with: "a redemption", story: func(v *visit) {
		v.fill("{hundred_points}")
		first := v.made("/redemptions", redeemsInStock)
		if second := v.made("/redemptions", redeemsInStock); second == first {
			v.t.Errorf("twice %s", first)
		}
		v.has("{anna}", 0, 0)
	}},
	{says: checkFirst, with: "a redemption", story: func(v *visit) {
		v.fill("{hundred_points}")
		before := v.ask("GET", "/customers/{anna}", "", "").body
		made := v.ask("POST", "/redemptions", "", redeemsInStock)
		v.is(made, 201, redeemedNow)
		v.is(v.ask("GET", "/redemptions/"+made.identity(v.t), "", ""), 200, made.body)
		// A client without a response can see it in the balance.
		if after := v.ask("GET", "/customers/{anna}", "", "").body; after == before {
			v.t.Errorf("the customer is still %s", after)
		}
	}},
	{says: notAppliedTwice, with: "a fulfilment, many at once", story: func(v *visit) {
		v.fill("{redemption}")
		counts := v.race(24, func(int) (string, string) { return "/redemptions/{redemption}/fulfil", "" })
		if counts[http.StatusOK] != 1 || counts[http.StatusUnprocessableEntity] != 23 {
			v.t.Errorf("of 24: %v", counts)
		}
		v.has("{anna}", 50, 0)
	}},
}
