package docs

import "strings"

// apiURL is the URL of the API. Its methods return requests for curl that can be pasted: TOKEN holds a token, and the
// guides say what other variables hold. A test runs every one of them. No line is wider than the page.
type apiURL string

func (b apiURL) get(path string, parameters ...string) string {
	if len(parameters) == 0 {
		return `curl --header "Authorization: Bearer $TOKEN" \
  ` + string(b) + path
	}
	return `curl --get ` + string(b) + path + ` \
  --header "Authorization: Bearer $TOKEN" \
  --data ` + strings.Join(parameters, " --data ")
}

// post returns a request with an idempotency key, if it isn't "", and a body of JSON, if it isn't "".
func (b apiURL) post(path, key, body string) string {
	if body == "" {
		return `curl --request POST --header "Authorization: Bearer $TOKEN" \
  ` + string(b) + path
	}
	if key != "" {
		key = `  --header "Idempotency-Key: ` + key + `" \
`
	}
	return `curl ` + string(b) + path + ` \
  --header "Authorization: Bearer $TOKEN" \
` + key + `  --header "Content-Type: application/json" \
  --data '` + body + `'`
}

func syncRequests(b apiURL) map[string]string {
	return map[string]string{
		"load": `FORM=+%Y-%m-%dT%H:%M:%SZ
START=$(date -u -d '1 hour ago' $FORM || date -u -v-1H $FORM)
curl --compressed --header "Authorization: Bearer $TOKEN" \
  "` + string(b) + `/customers?per_page=1000"`,
		"begin":    b.get("/changes", "since=$START", "per_page=1000"),
		"continue": b.get("/changes", "cursor=$CURSOR", "per_page=1000"),
		"records":  b.get("/customers", "updated_since=$START", "per_page=1000"),
	}
}

func customerRequests(b apiURL) map[string]string {
	return map[string]string{
		"find": b.get("/customers", "external_id=shop-1001"),
		"upsert": b.post("/customers", "", `{"external_id": "shop-1001",
           "phone": "070-174 06 05", "email": "anna@example.com",
           "first_name": "Anna", "last_name": "Lindqvist"}`),
		"guests": b.post("/customers", "", `{"external_id": "shop-1002",
           "email": "guest@example.com",
           "first_name": "Elsa", "last_name": "Berg"}`),
		"merged": b.get("/changes", "kind=customer", "since=$START"),
	}
}

func scanningRequests(b apiURL) map[string]string {
	return map[string]string{
		"card": `PATTERN='.*/[Cc][Aa][Rr][Dd]/\([0-9A-Za-z]*\)'
ULID=$(expr "$SCANNED" : "$PATTERN")
` + b.get("/customers/$ULID"),
		"voucher": `CODE=$(printf %s "$SCANNED" |
  od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g')
` + b.get("/vouchers/$CODE"),
	}
}

func tillRequests(b apiURL) map[string]string {
	return map[string]string{
		"tokens": b.post("/tokens", "", `{"name": "Till 3", "scopes": ["customers:read",
           "customers:write", "transactions:write"]}`),
		"locations": b.get("/locations"),
		"sale": b.post("/transactions", "till-3-receipt-5001", `{"customer_ulid": "'$CUSTOMER'",
           "transaction_type_id": 1, "spend_amount_cents": 1250,
           "location_id": '$LOCATION',
           "external_reference": "till-3-receipt-5001"}`),
		"offline": b.post("/transactions/batch", "", `{"items": [
    {"customer_ulid": "'$CUSTOMER'",
     "transaction_type_id": 1, "spend_amount_cents": 800,
     "occurred_at": "'$SOLD_AT'",
     "external_reference": "till-3-receipt-5002"},
    {"customer_ulid": "'$CUSTOMER'",
     "transaction_type_id": 1, "spend_amount_cents": 450,
     "occurred_at": "'$SOLD_AT'",
     "external_reference": "till-3-receipt-5003"}]}`),
	}
}

func voucherRequests(b apiURL) map[string]string {
	return map[string]string{
		"find": b.get("/vouchers/$CODE"),
		"sale": b.post("/transactions", "order-1001", `{"customer_ulid": "'$CUSTOMER'",
           "transaction_type_id": 1, "spend_amount_cents": 4500,
           "external_reference": "order-1001"}`),
		"redeem":  b.post("/coupons/$CODE/redeem", "order-1001-voucher", `{"transaction_ulid": "'$SALE'"}`),
		"restore": b.post("/vouchers/$CODE/restore", "", ""),
		"rewards": b.get("/rewards", "per_page=1000"),
		"spend": b.post("/redemptions", "order-1002-reward", `{"customer_ulid": "'$CUSTOMER'",
           "reward_ulid": "'$REWARD'"}`),
		"unspend": b.post("/redemptions/$REDEMPTION/void", "", ""),
	}
}

func promotionRequests(b apiURL) map[string]string {
	const cart = `"customer_ulid": "'$CUSTOMER'",
           "transaction_type_id": 1, "spend_amount_cents": 4500,
           "items": [{"category": "cakes", "amount_cents": 900}]`
	return map[string]string{
		"list":    b.get("/promotions", "per_page=1000"),
		"preview": b.post("/transactions/preview", "", `{`+cart+`}`),
		"record":  b.post("/transactions", "receipt-4712", `{`+cart+`}`),
		"tier":    b.get("/customers/$CUSTOMER"),
		"birthday": `curl --request PATCH ` + string(b) + `/customers/$CUSTOMER \
  --header "Authorization: Bearer $TOKEN" \
  --header "Content-Type: application/json" \
  --data '{"birthday": "05-21"}'`,
	}
}

func refundRequests(b apiURL) map[string]string {
	return map[string]string{
		"find": b.get("/transactions", "external_reference=order-1001"),
		"part": b.post("/transactions/$SALE/refunds", "", `{"amount_cents": 300,
           "external_reference": "credit-note-17"}`),
		"void": b.post("/transactions/$SALE/void", "", ""),
	}
}

func browserRequests(b apiURL) map[string]string {
	return map[string]string{
		"preflight": `curl --include --request OPTIONS \
  --header "Origin: https://shop.example" \
  --header "Access-Control-Request-Method: POST" \
  ` + string(b) + `/transactions`,
	}
}
