package panel

import (
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
)

var sources = map[transaction.Source]string{transaction.API: "API", transaction.POS: "Till", transaction.Panel: "Panel"}

// Source is the name of where a sale was recorded.
func Source(s transaction.Source) string { return sources[s] }

// RecordedBy is where and by whom a sale was recorded: Till, Maja Sund.
func RecordedBy(by format.Reader, s transaction.Named) string {
	return Source(s.Source) + ", " + by.By.NameOf(s.ActorKind, s.ActorName)
}
