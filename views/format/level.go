package format

import (
	"strings"
	"time"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
)

// Counts is what counts for a level: "500 points", "€ 500.00", "10 visits".
func Counts(n int64, basis award.Basis, currency string) string {
	switch basis {
	case award.BySpend:
		return Money(n, currency)
	case award.ByVisits:
		return Count(n, "visit", "visits")
	case award.ByPoints:
	}
	return Units(n, ledger.Points)
}

// ToNextLevel is how far the next level is: "€ 80.00 to Gold"; "" if there is none above.
func ToNextLevel(p award.Progress, basis award.Basis, currency string) string {
	if p.Next == nil {
		return ""
	}
	return Counts(max(0, p.Next.Threshold-p.Sum), basis, currency) + " to " + p.Next.Name
}

// LevelShare is the share of the way to the next level, from 0 to 1; 1 if there is none above.
func LevelShare(p award.Progress) float64 {
	if p.Next == nil {
		return 1
	}
	return min(1, max(0, float64(p.Sum)/float64(p.Next.Threshold)))
}

// LevelUntil is the last day of a level: "Until 31 December 2027"; "" if it has none.
func LevelUntil(until *time.Time) string {
	if until == nil {
		return ""
	}
	return "Until " + LongDay(*until)
}

// LevelReached tells a customer about the level that they have reached: "You are now Gold, until 31 December 2027".
func LevelReached(l award.Level, until *time.Time) string {
	if until == nil {
		return "You are now " + l.Name
	}
	return "You are now " + l.Name + ", until " + LongDay(*until)
}

// Perks are the lines of a level's perks.
func Perks(l award.Level) (lines []string) {
	for line := range strings.Lines(l.Perks) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
