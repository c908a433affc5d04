package reports

import (
	"strconv"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
)

// earningFile is the address of a part of the report as a file.
func (v Report) earningFile(path, extension string) string {
	return onDays(path+extension, *v.Days, v.Query)
}

// RuleLabels say what a rule belongs to.
var RuleLabels = map[report.RuleKind]string{report.OfTypes: "Base award", report.OfPromotion: "Promotion", report.OfLevel: "Level"}

// capsInWords says what caps took off. "": nothing.
func capsInWords(u report.UnitEarning) string {
	if u.CappedSales == 0 {
		return ""
	}
	return "A cap reduced the award of " + format.Count(u.CappedSales, "sale", "sales") + ", by " + format.Units(u.CappedOff, u.Unit) +
		". What a type’s maximum takes off the base award isn’t in this figure."
}

// ruleNote is what a phone shows of a rule besides its award.
func (v Report) ruleNote(r report.RuleEarning) string {
	return format.Count(r.TransactionsCount, "sale", "sales") + ", " + v.Money(r.SpendTotalCents)
}

// HourRow is the figures of a promotion's hours, or of the others, with those before it began.
type HourRow struct {
	Label       string
	Now, Before report.HourFigures
}

// HourRows are the rows of a promotion. Other hours without any sales have none.
func HourRows(h report.PromotionHours) []HourRow {
	rows := []HourRow{{"In its hours", h.Inside, h.InsideBefore}, {"Other hours", h.Outside, h.OutsideBefore}}
	if h.Outside.TransactionsCount == 0 && h.OutsideBefore.TransactionsCount == 0 { // it is on all day, or else they are closed
		return rows[:1]
	}
	return rows
}

// change is how the sales of a day have changed.
func (r HourRow) change() (now, then int64) {
	return r.Now.TransactionsCount * r.Before.Days, r.Before.TransactionsCount * r.Now.Days
}

// salesPerDay has one decimal, or is "–" without days.
func salesPerDay(f report.HourFigures) string {
	if f.Days == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(f.TransactionsCount)/float64(f.Days), 'f', 1, 64)
}

func (v Report) spendPerDay(f report.HourFigures) string {
	if f.Days == 0 {
		return "–"
	}
	return v.Money(f.SpendTotalCents / f.Days)
}

// hoursNote is what the figures of a day are counted from.
func (v Report) hoursNote(f report.HourFigures) string {
	return format.Count(f.TransactionsCount, "sale", "sales") + ", " + v.Money(f.SpendTotalCents) + ", on " + format.Count(f.Days, "day", "days")
}

// hoursInWords says what happened in a promotion's hours: On Tuesdays from 14:00 to 17:00: 12.0 sales a day, 9.0 before 20 May 2026.
func hoursInWords(h report.PromotionHours) string {
	windows := format.Windows(h.Windows)
	words := strings.ToUpper(windows[:1]) + windows[1:] + ": " + salesPerDay(h.Inside) + " sales a day"
	if h.InsideBefore.Days == 0 {
		return words + ". You had no sales before it began, on " + format.LongDay(h.Since) + "."
	}
	return words + ", " + salesPerDay(h.InsideBefore) + " before it began on " + format.LongDay(h.Since)
}

// MoveColumn is a way in which customers come to a level.
type MoveColumn struct {
	Label   string
	Reasons []award.Reason
}

// MoveColumns are the columns of the page, and Moves those of the file, with every reason apart.
var (
	MoveColumns = []MoveColumn{
		{"Reached", []award.Reason{award.Rose}},
		{"Kept", []award.Reason{award.Kept}},
		{"Dropped to", []award.Reason{award.Dropped}},
		{"By hand", []award.Reason{award.ByHand}},
		{"Other", []award.Reason{award.Undone, award.Imported, award.Merged, award.NewRules}},
	}
	Moves = append(MoveColumns[:4:4], []MoveColumn{
		{"After a void", []award.Reason{award.Undone}},
		{"Imported", []award.Reason{award.Imported}},
		{"Merged", []award.Reason{award.Merged}},
		{"New rules", []award.Reason{award.NewRules}},
	}...)
)

// Of counts the moves to a level.
func (c MoveColumn) Of(l report.LevelMoves) (n int64) {
	for _, r := range c.Reasons {
		n += l.Moves[r]
	}
	return n
}

// ofAll counts the moves to all levels.
func (c MoveColumn) ofAll(levels []report.LevelMoves) (n int64) {
	for _, l := range levels {
		n += c.Of(l)
	}
	return n
}

// movesNote is what a phone shows of the moves to levels: 3 reached, 1 kept.
func movesNote(count func(MoveColumn) int64) string {
	var words []string
	for _, c := range MoveColumns {
		if n := count(c); n > 0 {
			words = append(words, format.Number(n)+" "+strings.ToLower(c.Label))
		}
	}
	return strings.Join(words, ", ")
}

func customersOf(levels []report.LevelMoves) (n int64) {
	for _, l := range levels {
		n += l.Customers
	}
	return n
}

// ruleName is the name of a rule's promotion or level.
func ruleName(r report.RuleEarning) string {
	if r.Kind == report.OfTypes {
		return RuleLabels[r.Kind]
	}
	return core.OrZero(r.Name)
}

// ruleSub says what a rule is.
func ruleSub(r report.RuleEarning) string {
	if r.Kind == report.OfTypes {
		return "Earning rules of types"
	}
	return RuleLabels[r.Kind]
}

// rulePath is the page of a promotion. "": none.
func rulePath(r report.RuleEarning) string {
	if r.Kind == report.OfPromotion {
		return links.Promotion(*r.ID)
	}
	return ""
}

func rulesID(u ledger.Unit) string { return string(u) + "-rules" }
