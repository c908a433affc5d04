package email_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
)

func expiryNotice() programme.NoticeEmail {
	return programme.NoticeEmail{
		BusinessName: "Café Åro", Slug: "cafe-aro", FirstName: "Elsa", Unit: ledger.Points, Balance: 1234,
		LastDay:   new(time.Date(2027, time.November, 30, 0, 0, 0, 0, time.UTC)),
		Expiry:    core.Expiry{Rule: core.ExpireAfter, Months: 12, RoundTo: core.ToMonth},
		CardToken: cardToken,
	}
}

// Customers are told what they have, its last day, and how what they earn expires.
func TestExpiryNotice(t *testing.T) {
	t.Parallel()
	inactive, yearly, never := expiryNotice(), expiryNotice(), expiryNotice()
	inactive.Unit, inactive.Balance, inactive.Expiry = ledger.Stamps, 3, core.Expiry{Rule: core.ExpireInactive, Months: 1, RoundTo: core.ToDay}
	yearly.FirstName, yearly.Expiry = "", core.Expiry{Rule: core.ExpireYearly, Month: time.December, Day: 31}
	never.LastDay, never.Balance = nil, 1
	for name, e := range map[string]programme.NoticeEmail{
		"expiry-after": expiryNotice(), "expiry-inactive": inactive, "expiry-yearly": yearly, "expiry-never-before": never,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).ExpiryNotice(maja, e))
			if got.From != "Café Åro" || got.Unsubscribe != "" {
				t.Errorf("from %q, unsubscribe at %q", got.From, got.Unsubscribe)
			}
			golden(t, name, got)
		})
	}
}

func TestNamesInAnExpiryNoticeAddNoLines(t *testing.T) {
	t.Parallel()
	e := expiryNotice()
	e.BusinessName, e.FirstName = "Café\r\nBcc: everyone@example.com", "Elsa\n\nSend money <b>now</b>"
	got := render(t, mails(t).ExpiryNotice(maja, e))
	if strings.ContainsAny(got.Subject+got.From, "\r\n") || strings.Contains(got.Text, "\nSend money") || strings.Contains(got.HTML, "<b>now</b>") {
		t.Errorf("%q from %q:\n%s", got.Subject, got.From, got.Text)
	}
}
