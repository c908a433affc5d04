package daily

import (
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Group is a group of customers by recency, frequency and spend in the 365 days up to the last one that was counted. Each customer
// with a visit in these days is in exactly one. The names are stored.
type Group string

// The groups, the best ones first.
const (
	Best      Group = "best"      // came often and lately, and spent much
	Regulars  Group = "regulars"  // came often and lately
	Promising Group = "promising" // came more than once, and lately
	New       Group = "new"       // came once, lately
	AtRisk    Group = "at_risk"   // came often or spent much, but not lately
	Quiet     Group = "quiet"     // all others
)

// Groups are all groups, in order.
var Groups = []Group{Best, Regulars, Promising, New, AtRisk, Quiet}

// What the groups' words mean. Much is twice what a customer of the year spent on average.
const (
	LatelyDays  = 60 // up to the last day counted
	OftenVisits = 6  // days with a sale
)

// Lately reports whether customers of the group came lately.
func (g Group) Lately() bool { return g != AtRisk && g != Quiet }

// GroupOfYear is the group of a row y of loyalty.customer_year. k is the row of loyalty.year_counted.
const GroupOfYear = `case
			when y.last_day > k.as_of - 60 then case
				when y.visits >= 6 and y.spend >= k.high then 'best'
				when y.visits >= 6 then 'regulars'
				when y.visits >= 2 then 'promising'
				else 'new'
			end
			when y.visits >= 6 or y.spend >= k.high then 'at_risk'
			else 'quiet'
		end`

// Lapsed is customers without a visit for a number of days.
type Lapsed int

// LapsedDays are the choices.
var LapsedDays = []Lapsed{30, 60, 90}

// Since returns the first of the days without a visit as of a day: of 30, the day itself is the last.
func (l Lapsed) Since(day time.Time) time.Time { return day.AddDate(0, 0, 1-int(l)) }

// Audience names the customers of a group, or those who lapsed: best, lapsed_60.
type Audience string

// Lapsed returns the days without a visit, or 0 if the audience is a group.
func (a Audience) Lapsed() Lapsed {
	for _, l := range LapsedDays {
		if a == l.Audience() {
			return l
		}
	}
	return 0
}

// Known reports whether there is the audience.
func (a Audience) Known() bool { return a.Lapsed() > 0 || slices.Contains(Groups, Group(a)) }

// Audience names those who lapsed.
func (l Lapsed) Audience() Audience {
	return map[Lapsed]Audience{30: "lapsed_30", 60: "lapsed_60", 90: "lapsed_90"}[l]
}

// Args returns the arguments of the condition InGroup or HasLapsed, as of an instant.
func (a Audience) Args(now time.Time, zone *time.Location) db.Args {
	if l := a.Lapsed(); l > 0 {
		return db.Args{"lapsed_id": core.FirstID(core.StartOfDate(l.Since(core.DateOf(now, zone)), zone))}
	}
	return db.Args{"group": string(a)}
}

// Conditions on a customer c, who isn't merged into another one.
const (
	InGroup = `c.id in (
				select y.customer_id
				from loyalty.year_counted k
				join loyalty.customer_year y on y.tenant_id = @tenant_id
				where k.tenant_id = @tenant_id
					and ` + GroupOfYear + ` = @group::text
			)`

	// The customer's last visit is found from the end of an index.
	HasLapsed = `(
				select t.id
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.customer_id = c.id
					and t.status = 'completed'
				order by t.id desc
				limit 1
			) < @lapsed_id`
)
