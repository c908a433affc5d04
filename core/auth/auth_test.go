package auth_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with people who sign in. Its owner has the known password.
type shop struct {
	shoptest.Shop
	*auth.Service
	people  *staff.Service
	tokens  *token.Service
	visitor auth.Visitor
	console *bytes.Buffer // the log lines of the process
}

// known is the password of the people in these tests.
const known = shoptest.Password

func newShop(t *testing.T) shop { return shopIn(t, dbtest.DB(t)) }

// shopIn is a shop in a database, which may be the test's own.
func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shoptest.In(t, d)
	s.GivePassword(s.By)
	return withServices(s)
}

// withServices returns the shop with services that write log lines.
func withServices(s shoptest.Shop) shop {
	s.T.Helper()
	var console bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&console, nil))
	jobs, err := job.New(s.DB, slog.New(slog.DiscardHandler))
	s.Check(err)
	s.Jobs, s.Mails = jobs, shoptest.Mails{Service: mail.New(s.DB, jobs, nil, log), Inbox: s.Inbox}
	network := func(address string) string { before, _, _ := strings.Cut(address, "::"); return before }
	s.Services = loyalty.New(s.DB, jobs, s.Mails, dbtest.Keys(), loyalty.Options{Host: "loyalty.example", AddressKey: network, Log: log})
	return shop{
		Shop: s, Service: s.Auth, people: s.Staff, tokens: s.Tokens,
		visitor: auth.Visitor{Tenant: s.By.Tenant, Address: address(s.By), RequestID: "R1"}, console: &console,
	}
}

// address differs for each shop, because addresses are counted over all tenants.
func address(by core.Actor) string { return "2001:db8:" + by.ID + "::7" }

// at returns the shop at another instant, in another process.
func (s shop) at(instant time.Time) shop {
	s.T.Helper()
	return withServices(s.At(instant))
}

// later returns the shop after a time.
func (s shop) later(d time.Duration) shop {
	s.T.Helper()
	return withServices(s.Later(d))
}

// token creates a token for a person.
func (s shop) token(person core.Actor) token.Created {
	s.T.Helper()
	made, err := core.Result(s.tokens.Create(s.T.Context(), person, token.New{Name: "Till", Scopes: &[]string{}}, nil))
	s.Check(err)
	return made
}
