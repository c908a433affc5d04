package portal

// Messages that tests expect.
const (
	InactiveCard  = inactiveCard
	LimitReached  = limitReached
	OfferPaused   = offerPaused
	CardMailed    = cardMailed
	RedeemVoucher = redeemVoucher
)

// Suspended refuses changes at a suspended business.
var Suspended = errSuspended.Message
