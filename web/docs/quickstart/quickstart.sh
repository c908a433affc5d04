# Records a sale. Run it twice: the receipt is recorded once.
api=https://localhost:8443/api/v1

# post PATH BODY [KEY] stores the response and prints its status. curl waits and tries
# again after 429, 5xx and a lost response, and takes Retry-After into account.
post() {
  curl --silent --max-time 10 --retry 4 --retry-all-errors \
    --header "Authorization: Bearer $LOYALTY_TOKEN" \
    --header "Content-Type: application/json" \
    ${3:+--header "Idempotency-Key: $3"} \
    --data "$2" --output response.json --write-out '%{http_code}' "$api$1"
}

# field NAME prints a field of the response.
field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' response.json; }

# Find the customer by phone, or add them.
status=$(post /customers '{"first_name": "Elsa", "last_name": "Berg",
  "phone": "08-465 004 12"}')
case $status in 2*) ;; *) cat response.json >&2; exit 1 ;; esac

# The key names this sale. Sent again with it, the sale is not recorded again.
sale='{"customer_ulid": "'$(field ulid)'", "transaction_type_id": 1,
  "spend_amount_cents": 1250}'
for wait in 1 2 4 8 0; do
  status=$(post /transactions "$sale" receipt-4711)
  [ "$status" = 409 ] || break # 409: the first attempt is still running
  sleep $wait
done

case $status in
  2*) echo "Recorded sale $(field ulid): $(field points_awarded) points" ;;
  422)
    case $(field code) in
      idempotency-key-reused)
        echo "Receipt 4711 was recorded before, with other details." >&2 ;;
      *) cat response.json >&2 ;;
    esac
    exit 1 ;;
  *) echo "Not recorded: $status. Run this again, with the same key." >&2; exit 1 ;;
esac
