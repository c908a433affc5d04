package panel

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// Tab leads to a part of a list.
type Tab struct {
	ID, Label, Path string
	Count           string // of its records; "": not counted
	Current         bool
}

// RedemptionStatus is the status of a redemption.
func RedemptionStatus(s reward.Status) ui.Badge {
	switch s {
	case reward.Pending:
		return ui.Badge{Label: "Pending", Tone: ui.Notice}
	case reward.Fulfilled:
		return ui.Badge{Label: "Fulfilled", Tone: ui.Good}
	case reward.Voided:
	}
	return ui.Badge{Label: "Voided", Tone: ui.Bad}
}

// RedemptionEnded is when a redemption was fulfilled or voided; "" for a pending one.
func RedemptionEnded(by format.Reader, r reward.Redemption) string {
	switch r.Status {
	case reward.Fulfilled:
		return by.Moment(*r.FulfilledAt)
	case reward.Voided:
		return by.Moment(*r.VoidedAt)
	case reward.Pending:
	}
	return ""
}

// Waiting is how long ago a pending redemption was made, in days from a week on; "" for others.
func Waiting(by format.Reader, r reward.Redemption) string {
	if r.Status != reward.Pending {
		return ""
	}
	if days := int64(by.Now.Sub(r.CreatedAt) / (24 * time.Hour)); days >= 7 {
		return format.Count(days, "day", "days") + " ago"
	}
	return by.Ago(r.CreatedAt)
}

// MayVoid reports whether the reader may void a redemption.
func MayVoid(by format.Reader, r reward.Redemption) bool {
	return by.May(core.Manager) && r.Voidable(by.Now)
}
