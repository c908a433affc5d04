package dbtest

import (
	"archive/zip"
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Extreme gives the tenant's existing records the largest, longest and oldest valid values: sales of 10^12 cents, awards
// of 10^12, balances of 2^63−1, names of a hundred emoji, of one word, or written from right to left with a direction mark, the longest texts, customers
// since 1926, expiries in the year 9999.
func Extreme(t testing.TB, d *db.DB, by core.Actor) {
	t.Helper()
	ExtremeOn(t, Owner(d), by.Tenant.ID)
}

// ExtremeOn is Extreme with a connection of the owner's login.
func ExtremeOn(t testing.TB, conn interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, tenant core.TenantID,
) {
	t.Helper()
	arabic := "مق\u202e" + firstLetters(strings.Repeat("هى النخيل مق", 9), 96) + "ل" // with a mark that turns what follows
	emoji := strings.Repeat("🦊", 100)
	word := func(n int) string { return strings.Repeat("W", n) } // without a line break opportunity
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{
			`update loyalty.tenant set name = $2, email = $3, confirm_above_cents = 1000000000000, consent_text = $4, privacy_url = $5 where id = $1`,
			[]any{emoji, word(249) + "@ex.io", word(1000), "https://" + word(488) + ".com"},
		},
		{`update loyalty.staff set name = case when id % 2 = 0 then $2 else $3 end where tenant_id = $1`, []any{emoji, arabic}},
		{`update loyalty.customer set first_name = case when n % 3 = 0 then $2 when n % 3 = 1 then $3 else $4 end, last_name = case when n % 3 = 0 then $3 else $4 end,
				email = case when email is null then null else n || $5 end, email_key = case when email is null then null else n || lower($5) end,
				created_at = case when n % 2 = 0 then '1926-02-28 12:00' else created_at end
			from (select id as which, row_number() over (order by id) + 10 as n from loyalty.customer where tenant_id = $1) numbered
			where tenant_id = $1 and id = which`, []any{emoji, arabic, word(100), word(247) + "@ex.io"}},
		{
			`update loyalty.transaction set spend_amount_cents = 1000000000000, base_award = null, points_awarded = case when points_awarded is not null then 1000000000000 end,
				stamps_awarded = case when stamps_awarded is not null then 1000000000000 end, external_reference = rpad(id::text, 100, 'W'), actor_name = $2 where tenant_id = $1`,
			[]any{emoji},
		},
		{`update loyalty.transaction_type set name = case when id % 2 = 0 then $2 else $3 end, min_spend_cents = 0, max_award = 1000000000000,
				points_per_unit = case when rule_type = 'points' then 1000000000000 else 0 end, unit_cents = 1,
				stamps_per_transaction = case when rule_type = 'stamps' then 1000000000000 else 0 end where tenant_id = $1`, []any{emoji, word(100)}},
		{`update loyalty.redemption set points_spent = case when points_spent > 0 then 1000000000000 else 0 end,
				stamps_spent = case when stamps_spent > 0 then 1000000000000 else 0 end, actor_name = $2 where tenant_id = $1`, []any{arabic}},
		{`update loyalty.account set points = 9223372036854775807, stamps = 9223372036854775807 where tenant_id = $1`, nil},
		{
			`update loyalty.ledger_entry set amount = sign(amount::numeric) * case when kind = 'adjustment' then 9223372036854775807 else 1000000000000 end,
				balance_after = 9223372036854775807, actor_name = $2, reason = case when reason is not null then $3 end where tenant_id = $1`,
			[]any{emoji, word(255)},
		},
		{`update loyalty.reward set name = $2, description = $3, stock = case when stock > 0 then 1000000000000 else stock end,
				points_cost = case when points_cost > 0 then 1000000000000 end, stamps_cost = case when stamps_cost > 0 then 1000000000000 end
			where tenant_id = $1`, []any{emoji, word(1000)}},
		{`update loyalty.coupon set name = $2, description = $3, max_per_customer = 1000000000000, max_redemptions = 1000000000000,
				benefit_value = case when benefit_type = 'percent' then 100 when benefit_value is not null then 1000000000000 end,
				voucher_valid_days = null, starts_at = '1926-02-28', expires_at = '9999-12-31' where tenant_id = $1`, []any{arabic, word(1000)}},
		{`update loyalty.coupon_send set subject = $2, message = $3, matched = 9223372036854775807, sent = 9223372036854775807, skipped_inactive = 0,
				skipped_limit = 0, no_email = 9223372036854775807 - mails - unsubscribed, expires_at = '9999-12-31', actor_name = $4
			where tenant_id = $1`, []any{firstLetters(emoji+emoji, 150), word(1000), emoji}},
		{`update loyalty.voucher set expires_at = '9999-12-31' where tenant_id = $1`, nil},
		{`update loyalty.location set name = $2 || id where tenant_id = $1`, []any{strings.Repeat("🦊", 90)}},
		{`update loyalty.token set name = $2, expires_at = '9999-12-31', actor_name = $3 where tenant_id = $1`, []any{word(255), emoji}},
		{`update loyalty.customer_import set file_name = $2, actor_name = $3 where tenant_id = $1`, []any{word(251) + ".csv", emoji}},
		{
			`update loyalty.invoice set recipient = case when recipient is null then null else recipient || jsonb_build_object('name', $2::text, 'address', $3::text) end,
				amount_cents = 1000000000000, tax_cents = 1000000000000, total_cents = 2000000000000, payment_text = $4 where tenant_id = $1`,
			[]any{emoji, word(500), word(1000)},
		},
	} {
		if _, err := conn.Exec(context.Background(), s.sql, append([]any{tenant}, s.args...)...); err != nil {
			t.Fatalf("%v: %s", err, strings.Join(strings.Fields(s.sql), " "))
		}
	}
}

// formValues matches what a page sends back: it keeps what people typed.
var formValues = regexp.MustCompile(`(?s) value="[^"]*"|<textarea.*?</textarea>`)

// Turned returns the first direction mark in a page or file that could turn the rest of its line, with its context, or
// "".
func Turned(answer string) string {
	if strings.HasPrefix(answer, "PK") {
		for _, part := range parts(answer) {
			if said := Turned(part); said != "" {
				return said
			}
		}
		return ""
	}
	shown := formValues.ReplaceAllString(answer, "")
	at := strings.IndexFunc(shown, core.IsDirectionMark)
	if at < 0 || strings.HasPrefix(answer, "%PDF") || strings.HasPrefix(answer, "\x89PNG") {
		return ""
	}
	return fmt.Sprintf("%+q", shown[max(0, at-40):min(len(shown), at+40)])
}

func firstLetters(text string, n int) string { return string([]rune(text)[:n]) }

// nonsense matches failed formats and invalid numbers and dates. What overflows becomes the lowest number; sums in reports
// end one above it.
var nonsense = regexp.MustCompile(`%!|\bNaN\b|[+-]Inf\b|\bInfinity\b|<nil>|\b0001-01-01|\[object |-9,?223,?372,?036,?854,?775,?808|\x{FFFD}`)

// Nonsense returns the first failed format or invalid value in a page, file or response, with its context, or "". It
// reads the contents of spreadsheets and skips PDFs and pictures.
func Nonsense(answer string) string {
	switch {
	case strings.HasPrefix(answer, "%PDF"), strings.HasPrefix(answer, "\x89PNG"):
		return ""
	case strings.HasPrefix(answer, "PK"):
		for name, part := range parts(answer) {
			if said := Nonsense(part); said != "" {
				return name + ": " + said
			}
		}
		return ""
	}
	at := nonsense.FindStringIndex(answer)
	if at == nil {
		return ""
	}
	return fmt.Sprintf("%q", answer[max(0, at[0]-40):min(len(answer), at[1]+40)])
}

// parts returns the files in a spreadsheet by name. One that can't be read is nonsense.
func parts(book string) map[string]string {
	list := map[string]string{}
	sheets, err := zip.NewReader(strings.NewReader(book), int64(len(book)))
	if err != nil {
		return map[string]string{"": "%!" + err.Error()}
	}
	for _, f := range sheets.File {
		part, err := fs.ReadFile(sheets, f.Name)
		if err != nil {
			return map[string]string{f.Name: "%!" + err.Error()}
		}
		list[f.Name] = string(part)
	}
	return list
}
