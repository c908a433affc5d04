package portal

import "example.com/loyalty/core/walkin"

// Messages that tests expect.
const (
	LimitReached  = limitReached
	OfferPaused   = offerPaused
	CardMailed    = cardMailed
	RedeemVoucher = redeemVoucher
)

// InactiveCard refuses an inactive customer.
var InactiveCard = walkin.ErrInactive.Message

// Suspended refuses changes at a suspended business.
const Suspended = suspendedWords
