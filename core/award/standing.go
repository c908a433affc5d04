package award

import (
	"time"

	"example.com/loyalty/core/ledger"
)

// Earned returns what a customer's sales of a local day have earned, for the cap of that day. It isn't known of a day before the
// last one on which they earned something.
func Earned(s ledger.Standing, unit ledger.Unit, day time.Time) (earned int64, known bool) {
	switch {
	case s.EarnedOn == nil || s.EarnedOn.Before(day):
		return 0, true
	case s.EarnedOn.After(day):
		return 0, false
	case unit == ledger.Stamps:
		return s.EarnedStamps, true
	}
	return s.EarnedPoints, true
}

// Earn returns a standing with an award of a local day, if the business has a cap. An award of a day before the last one isn't kept.
func (r *Rules) Earn(s ledger.Standing, unit ledger.Unit, day time.Time, amount int64) ledger.Standing {
	if r.PointsDayCap == nil && r.StampsDayCap == nil || s.EarnedOn != nil && s.EarnedOn.After(day) {
		return s
	}
	if s.EarnedOn == nil || s.EarnedOn.Before(day) {
		s.EarnedOn, s.EarnedPoints, s.EarnedStamps = &day, 0, 0
	}
	if unit == ledger.Stamps {
		s.EarnedStamps += amount
	} else {
		s.EarnedPoints += amount
	}
	return s
}

// Unearn returns a standing from which an award of a local day is taken back, if that is the last day on which the customer
// earned something: it gives back what the day's cap leaves.
func Unearn(s ledger.Standing, unit ledger.Unit, day time.Time, amount int64) ledger.Standing {
	switch {
	case s.EarnedOn == nil || !s.EarnedOn.Equal(day):
	case unit == ledger.Stamps:
		s.EarnedStamps = max(0, s.EarnedStamps-amount)
	default:
		s.EarnedPoints = max(0, s.EarnedPoints-amount)
	}
	return s
}

// MergeEarned returns the kept standing of two customers with what both have earned on the later of their last days.
func MergeEarned(kept, merged ledger.Standing) ledger.Standing {
	switch {
	case merged.EarnedOn == nil || kept.EarnedOn != nil && kept.EarnedOn.After(*merged.EarnedOn):
	case kept.EarnedOn != nil && kept.EarnedOn.Equal(*merged.EarnedOn):
		kept.EarnedPoints += merged.EarnedPoints
		kept.EarnedStamps += merged.EarnedStamps
	default:
		kept.EarnedOn, kept.EarnedPoints, kept.EarnedStamps = merged.EarnedOn, merged.EarnedPoints, merged.EarnedStamps
	}
	return kept
}
