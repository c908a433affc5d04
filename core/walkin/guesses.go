package walkin

import (
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

// guesses count wrong PINs.
type guesses struct {
	addressKey func(string) string

	tills     *limit.Window // by the cashier's session, so that others' guesses don't block a cashier
	counters  *limit.Window // of cashiers, by address, so that a new session doesn't reset the count
	browsers  *limit.Window
	addresses *limit.Window
	tenants   *limit.Window
	codes     *limit.Window // by address
}

// How many wrong PINs are allowed within guessTime. If there is always one waiting PIN, guessing at a
// tenant's limit finds one in ten weeks on average.
const (
	guessTime      = 5 * time.Minute
	tillGuesses    = 20
	counterGuesses = 100
	clientGuesses  = 10
	tenantGuesses  = 50
	wrongCodes     = 60
)

func newGuesses(addressKey func(string) string, now func() time.Time) guesses {
	window := func(n int) *limit.Window { return limit.NewWindow(n, guessTime, now) }
	return guesses{
		addressKey: addressKey,
		tills:      window(tillGuesses), counters: window(counterGuesses), browsers: window(clientGuesses),
		addresses: window(clientGuesses), tenants: window(tenantGuesses), codes: window(wrongCodes),
	}
}

// count is the window and the key under which a guess counts.
type count struct {
	*limit.Window
	key string
}

// counts returns where a guess counts. The code in a QR code can't be guessed, so it has its own, larger
// window: typed guesses don't block customers with a camera.
func (g guesses) counts(by core.Actor, d direction, taker string, k Key) []count {
	tenant := strconv.FormatInt(int64(by.Tenant.ID), 10) + " "
	address := tenant + g.addressKey(by.Address)
	switch {
	case d == fromCard:
		return []count{{g.tills, tenant + taker}, {g.counters, address}}
	case k.Code != "":
		return []count{{g.codes, address}}
	}
	return []count{{g.browsers, tenant + taker}, {g.addresses, address}, {g.tenants, tenant}}
}

// admit counts a guess, or refuses it. succeeded takes back the count of a right one.
func (g guesses) admit(by core.Actor, d direction, taker string, k Key) error {
	if v := takeAll(g.counts(by, d, taker, k)); !v.Allowed {
		return &core.Error{Kind: core.KindThrottled, Message: "Too many wrong PINs. Scan the QR code, or try again in " + inWords(v.Wait) + ".", Wait: v.Wait}
	}
	return nil
}

// inWords is a time to wait: "a minute", "5 minutes".
func inWords(wait time.Duration) string {
	if minutes := int64((wait + time.Minute - 1) / time.Minute); minutes > 1 {
		return strconv.FormatInt(minutes, 10) + " minutes"
	}
	return "a minute"
}

func (g guesses) succeeded(by core.Actor, d direction, taker string, k Key) {
	refund(g.counts(by, d, taker, k))
}

func refund(counts []count) {
	for _, c := range counts {
		c.Refund(c.key)
	}
}
