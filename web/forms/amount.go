package forms

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.com/loyalty/core"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// TypedAmount is an amount that a person typed.
type TypedAmount struct {
	State    AmountState
	Cents    int64           // of a read amount, in the currency's smallest unit
	Readings []AmountReading // of an ambiguous amount: the two
	typed    string
	currency string
	foreign  bool // an unreadable amount has the mark of something else than its currency
}

// AmountState says whether a typed amount could be read.
type AmountState int

// The states. Only a read amount may be recorded.
const (
	AmountUnreadable AmountState = iota
	AmountRead
	AmountAmbiguous
)

// AmountReading is one of the two amounts that an ambiguous text can mean.
type AmountReading struct {
	Cents int64
	Text  string // what the field shows after choosing it
	Cut   bool   // the text has more decimals than the currency, which this reading drops
}

// maxAmount is above every limit in core, and safe to multiply.
const maxAmount = 1 << 52

// ParseAmount reads an amount as people type it: 24.50, 24,5, 1 234.50, 1.234,50, 1,23,456.50, €24, 49 kr, 49:-,
// ２４．５０. The currency's own mark may be before it or after it; another currency's isn't read.
//
// A single point or comma before exactly three digits, as in 12,505 or 12.505, is ambiguous in
// every currency with decimals: it can separate thousands or decimals, and a guess could be wrong
// by a factor of a thousand. In a currency with two decimals, the second reading means that one
// digit too many was typed. There are three exceptions. In a currency without decimals, and in one whose decimals
// aren't used, the mark separates thousands. In a currency with three decimals, a point is the decimal mark. A space
// or an apostrophe is never a decimal mark.
func ParseAmount(text, currency string) TypedAmount {
	s := scale(core.CurrencyDecimals(currency))
	plain, whole, ok := unmarked(core.TypedNumber(text), currency)
	typed := TypedAmount{typed: plain, currency: currency}
	if !ok {
		typed.foreign = strings.ContainsFunc(plain, isDigit) && strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) })
		return typed
	}
	if whole {
		return typed.read(s.cents(ungrouped(plain, "., '"), ""))
	}
	if units, decimals, only := strings.Cut(plain, arabicDecimalMark); only {
		return typed.read(s.cents(ungrouped(units, "., '"), decimals))
	}
	at := strings.LastIndexAny(plain, ".,")
	if at < 0 {
		return typed.read(s.cents(ungrouped(plain, " '"), ""))
	}
	units, decimals, mark := plain[:at], plain[at+1:], plain[at:at+1]
	digits := ungrouped(plain, "., '")
	single := !strings.Contains(units, mark)
	switch {
	case digits == "" && !single:
		return typed
	case digits == "", single && mark == "." && s > 2:
		return typed.read(s.cents(ungrouped(units, "., '"), decimals))
	case single && s > 0 && !core.SpentWhole(currency):
		return typed.ambiguous(s, digits, units, decimals)
	}
	return typed.read(s.cents(digits, ""))
}

const arabicDecimalMark = "٫"

// wholeMarks are written in place of decimals: 49:- and 49,- are 49.
var wholeMarks = []string{":-", ",-", ".-", "/-", "/="}

// colonDecimals are decimals after a colon, as on Swedish price tags: 49:50.
var colonDecimals = regexp.MustCompile(`:(\d\d)$`)

// unmarked returns a typed amount without the marks of its currency, and whether a mark says that it has no decimals.
// It is not ok if anything else is before or after the amount, such as a minus or the mark of another currency.
func unmarked(text, currency string) (plain string, whole, ok bool) {
	first, last := strings.IndexFunc(text, isDigit), strings.LastIndexFunc(text, isDigit)
	if first < 0 {
		return text, false, false
	}
	before, after := text[:first], strings.TrimLeft(text[last+1:], " ")
	plain = text[first : last+1]
	for _, mark := range wholeMarks {
		if rest, found := strings.CutPrefix(after, mark); found {
			after, whole = rest, true
		}
	}
	if !whole && after != "" && (after[0] == '.' || after[0] == ',') { // 24. is 24
		plain, after = plain+after[:1], after[1:]
	}
	if currency == "SEK" {
		plain = colonDecimals.ReplaceAllString(plain, arabicDecimalMark+"$1")
	}
	return plain, whole, isMark(before, currency) && isMark(after, currency)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isMark reports whether a text is blank, or one or more marks of a currency.
func isMark(text, currency string) bool {
	rest := core.CurrencyMark(text)
	if rest == "" {
		return strings.TrimSpace(text) == ""
	}
	for rest != "" {
		at := slices.IndexFunc(core.CurrencyMarks(currency), func(mark string) bool { return strings.HasPrefix(rest, mark) })
		if at < 0 {
			return false
		}
		rest = strings.TrimPrefix(rest[len(core.CurrencyMarks(currency)[at]):], ".")
	}
	return true
}

// ungrouped removes the separators of thousands, or returns "" if the marks separate anything else:
// 0,500 can only be a half. Commas may also group by hundreds above the thousands, as in India: 1,23,456.
func ungrouped(whole, marks string) string {
	at := strings.IndexAny(whole, marks)
	if at < 0 {
		return whole
	}
	mark := whole[at : at+1]
	parts := strings.Split(whole, mark)
	last, size := len(parts)-1, 3
	if mark == "," && last > 1 && len(parts[1]) == 2 {
		size = 2
	}
	for i, part := range parts {
		switch {
		case i == 0 && (part == "" || len(part) > size || part[0] == '0'),
			i > 0 && i < last && len(part) != size,
			i > 0 && i == last && len(part) != 3:
			return ""
		}
	}
	return strings.Join(parts, "")
}

// scale is the number of decimals of a currency.
type scale int

// cents converts an amount to the smallest unit. It is false for one with a fraction of that unit.
func (s scale) cents(whole, decimals string) (int64, bool) {
	if whole == "" || len(decimals) > int(s) || len(whole) > 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+decimals+strings.Repeat("0", int(s)-len(decimals)), 10, 63)
	return int64(n), err == nil && n <= maxAmount
}

func (a TypedAmount) read(cents int64, ok bool) TypedAmount {
	if ok {
		a.State, a.Cents = AmountRead, cents
	}
	return a
}

// ambiguous sets the two readings of an amount with one mark: thousands or decimals.
func (a TypedAmount) ambiguous(s scale, digits, whole, decimals string) TypedAmount {
	grouped := AmountReading{Text: digits}
	decimal := AmountReading{Text: a.typed}
	if int(s) < len(decimals) {
		decimals = decimals[:s]
		decimal.Text, decimal.Cut = whole+"."+decimals, true
	}
	var ok bool
	if grouped.Cents, ok = s.cents(digits, ""); !ok {
		return a
	}
	if decimal.Cents, ok = s.cents(whole, decimals); !ok {
		return a
	}
	a.State, a.Readings = AmountAmbiguous, []AmountReading{grouped, decimal}
	return a
}

// Question asks which of its readings an ambiguous amount means.
func (a TypedAmount) Question() string {
	grouped, decimal := format.Money(a.Readings[0].Cents, a.currency), format.Money(a.Readings[1].Cents, a.currency)
	if a.Readings[1].Cut {
		return "“" + a.typed + "” could mean " + grouped + ", or " + decimal + " with a digit too many. Choose one."
	}
	return "“" + a.typed + "” could mean " + grouped + " or " + decimal + ". Choose one."
}

// chosen returns the amount with the chosen reading, and the text that the field then shows. It is
// not ok for a choice that was made for another text.
func (a TypedAmount) chosen(choice string) (amount TypedAmount, text string, ok bool) {
	for _, r := range a.Readings {
		if choice == a.choice(r) {
			a.State, a.Cents, a.Readings = AmountRead, r.Cents, nil
			return a, r.Text, true
		}
	}
	return a, "", false
}

// choice identifies a reading of this text: 12,505=1250500.
func (a TypedAmount) choice(r AmountReading) string {
	return a.typed + "=" + strconv.FormatInt(r.Cents, 10)
}

// show adds to a field how its amount was read, or the question which reading is meant.
func (a TypedAmount) show(f *ui.Field) {
	switch a.State {
	case AmountRead:
		f.Read = format.Money(a.Cents, a.currency)
	case AmountAmbiguous:
		f.Question = a.Question()
		for _, r := range a.Readings {
			f.Readings = append(f.Readings, ui.Reading{Label: format.Money(r.Cents, a.currency), Choice: a.choice(r), Text: r.Text})
		}
	case AmountUnreadable:
	}
}
