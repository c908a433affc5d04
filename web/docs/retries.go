package docs

// retryRequests need the scopes of the quick start's token alone.
func retryRequests(b apiURL) map[string]string {
	return map[string]string{
		"key": b.post("/transactions", "till-3-receipt-4711", `{"customer_ulid": "'$CUSTOMER'",
           "transaction_type_id": 1, "spend_amount_cents": 1250}`),
		"reference": b.post("/transactions", "", `{"customer_ulid": "'$CUSTOMER'",
           "transaction_type_id": 1, "spend_amount_cents": 1250,
           "external_reference": "receipt-4712"}`),
		"look":       b.get("/transactions", "customer_ulid=$CUSTOMER", "per_page=1"),
		"loop":       retryLoop(string(b)),
		"pseudocode": pseudocode,
	}
}

func retryLoop(api string) string {
	return `# post PATH BODY KEY: prints the response, or fails if there is none.
post() {
  for wait in 1 2 4 8 end; do
    status=$(curl --silent --max-time 10 \
      --output answer.json --dump-header headers.txt \
      --write-out '%{http_code}' \
      --header "Authorization: Bearer $TOKEN" \
      --header "Content-Type: application/json" \
      --header "Idempotency-Key: $3" \
      --data "$2" "` + api + `$1") || status=none
    case $status in
      2*) cat answer.json; return 0 ;;
      none | 409 | 429 | 5*) ;;
      *) cat answer.json >&2; return 1 ;;
    esac
    if [ $wait = end ]; then break; fi
    asked=$(seconds_asked)
    if [ "$asked" -gt $wait ]; then wait=$asked; fi
    ms=$((wait * (1100 + RANDOM % 101))) # 10 to 20 percent on top
    sleep $((ms / 1000)).$(printf %03d $((ms % 1000)))
  done
  echo "given up: $status" >&2
  return 1
}

# seconds_asked prints what Retry-After asks for, at most 120:
# seconds, or from a proxy a date.
seconds_asked() {
  after=$(sed -n 's/^[Rr]etry-[Aa]fter: *//p' headers.txt | tr -d '\r')
  case $after in
    *GMT)
      after=$(date -d "$after" +%s 2>/dev/null ||
        date -juf '%a, %d %b %Y %T GMT' "$after" +%s 2>/dev/null ||
        echo 0)
      after=$((after - $(date +%s))) ;;
    *[!0-9]* | '') after=0 ;;
    ????*) after=120 ;;
    *) after=$((10#$after)) ;;
  esac
  echo $((after > 120 ? 120 : after))
}

post /transactions '{"customer_ulid": "'$CUSTOMER'",
  "transaction_type_id": 1, "spend_amount_cents": 1250}' \
  till-3-receipt-4713`
}

const pseudocode = `key = a new random key, stored with the body
for wait in 1, 2, 4, 8, end:
    response = send body and key, with a timeout of 10 seconds
    if response is 2xx: done
    if this retries a void, and the code is already-voided: done
    if response is 4xx, but not 409 or 429: stop, and show its detail
    if wait is end: give up, and alert a person
    asked = Retry-After: seconds, or from a proxy a date; at most 120
    sleep the longer of wait and asked, plus 10 to 20 percent`
