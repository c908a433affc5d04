# Records a sale. Run it twice: the receipt is recorded once.
api=https://localhost:8443/api/v1
longest=120 # seconds of Retry-After

# post PATH BODY [KEY] stores the response and sets its status, or none. It repeats the
# request with the same key while that can help.
post() {
  for wait in 1 2 4 8 end; do
    status=$(curl --silent --max-time 10 \
      --header "Authorization: Bearer $LOYALTY_TOKEN" \
      --header "Content-Type: application/json" \
      ${3:+--header "Idempotency-Key: $3"} \
      --data "$2" --output response.json --dump-header headers.txt \
      --write-out '%{http_code}' "$api$1") || status=none # the sale may have been recorded
    case $status in none | 409 | 429 | 5*) ;; *) return ;; esac
    if [ $wait = end ]; then return; fi
    asked=$(seconds_asked)
    if [ "$asked" -gt $wait ]; then wait=$asked; fi
    ms=$((wait * (1100 + RANDOM % 101))) # 10 to 20 percent on top
    sleep $((ms / 1000)).$(printf %03d $((ms % 1000)))
  done
}

# seconds_asked prints what Retry-After asks for: seconds, or from a proxy a date.
seconds_asked() {
  after=$(sed -n 's/^[Rr]etry-[Aa]fter: *//p' headers.txt | tr -d '\r')
  case $after in
    *GMT)
      after=$(date -d "$after" +%s 2>/dev/null ||
        date -juf '%a, %d %b %Y %T GMT' "$after" +%s 2>/dev/null || echo 0)
      after=$((after - $(date +%s))) ;;
    *[!0-9]* | '') after=0 ;;
    ????*) after=$longest ;;
    *) after=$((10#$after)) ;;
  esac
  echo $((after > longest ? longest : after))
}

# field NAME prints a field of the response.
field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' response.json; }

# Find the customer by phone, or add them.
post /customers '{"first_name": "Elsa", "last_name": "Berg", "phone": "08-465 004 12"}'
case $status in
  2*) ;;
  none) echo "No response." >&2; exit 1 ;;
  *) echo "HTTP status $status:" >&2; cat response.json >&2; exit 1 ;;
esac

# The key names this sale. Sent again with it, the sale is not recorded again.
post /transactions '{"customer_ulid": "'$(field ulid)'", "transaction_type_id": 1,
  "spend_amount_cents": 1250}' receipt-4711

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
