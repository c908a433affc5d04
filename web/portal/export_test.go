package portal

import (
	"context"
	"net/http"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/walkin"
)

// Messages that tests expect.
const (
	LimitReached = limitReached
	OfferPaused  = offerPaused
	CardMailed   = cardMailed

	CardPerhapsMailed = cardPerhapsMailed

	RedeemVoucher = redeemVoucher
)

// InactiveCard refuses an inactive customer.
var InactiveCard = walkin.ErrInactive.Message

// Suspended refuses changes at a suspended business.
const Suspended = suspendedWords

// NewImpatient is New with drawings that wait for hardly any time, and a function that takes a business's place
// to draw until leave.
func NewImpatient(c Config) (pages http.Handler, hold func(context.Context, core.TenantID) (leave func(), err error)) {
	d := drawingsOf(keptBytes, 10*time.Millisecond)
	return newWith(c, d), d.gate.Enter
}
