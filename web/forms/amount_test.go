package forms_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
	"golang.org/x/text/width"

	"example.com/loyalty/core"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
)

// A cashier types what the receipt says, in whatever habit.
func TestParseAmount(t *testing.T) {
	t.Parallel()
	for currency, read := range map[string]map[string]int64{
		"EUR": {
			"24.50": 2450, "24,50": 2450, "24": 2400, "24.5": 2450, "0": 0, "0,05": 5, " € 24.50 ": 2450, "24.50 EUR": 2450, "24.": 2400,
			"1,234.50": 123450, "1.234,50": 123450, "1 234,50": 123450, "1'234.50": 123450, "1.234.567": 123456700, "1,234,567": 123456700,
			"12,345,678.90": 1234567890, "1\u202f234,50": 123450, "1 234": 123400, "12 505": 1250500, "\t24.50\t": 2450, "1’234": 123400, "12'505": 1250500,
		},
		"JPY": {
			"1234": 1234, "12,505": 12505, "12.505": 12505, "1,234,567": 1234567, "¥12,505": 12505,
			"２４５０": 2450, "￥2450": 2450, "￥２，４５０": 2450, "2450円": 2450, "２４５０円": 2450, "2,450 JPY": 2450, "円2450": 2450, "2\u3000450": 2450,
		},
		"KWD": {
			"12.5": 12500, "12,5": 12500, "12.50": 12500, "1,234.500": 1234500, "1.234,500": 1234500, "1,234,567": 1234567000, "1 234,500": 1234500,
			"0.505": 505, "0,505": 505, "1234.505": 1234505, "12 505": 12505000, "12.505": 12505, "KWD 1.250": 1250, "د.ك 1.250": 1250, "١٫٢٥٠": 1250,
		},
		"IQD": {"1.250": 1250, "1 250": 1250000},
		// "２４５０", "￥2450": typed with a keyboard for Chinese or Japanese; and with other digits.
		"CNY": {"￥２４．５０": 2450, "¥24.50": 2450, "24.5元": 2450, "RMB 24.50": 2450, "２４。５": 2450},
		"AED": {"١٢٫٥٠": 1250, "١٬٢٣٤٫٥٠": 123450, "۱۲٫۵": 1250, "د.إ.\u200f 12.50": 1250, "12.50 د.إ": 1250, "Dhs 12.50": 1250},
		// A currency's own mark, before and after.
		"SEK": {
			"49 kr": 4900, "49kr.": 4900, "Kr 49,50": 4950, "49:-": 4900, "49 :-": 4900, "49,-": 4900, "1 250:-": 125000, "1.250:-": 125000, "49,50 SEK": 4950, "49:50": 4950, "49:50 kr": 4950,
			"SEK 49": 4900, "4\u00a0999,00\u00a0kr": 499900, "４９ｋｒ": 4900, "1 250 SKr": 125000,
		},
		"NOK": {"kr 49,-": 4900, "49,– kr": 4900},
		"DKK": {"49,95 kr.": 4995, "kr. 49": 4900},
		"PLN": {"19,99 zł": 1999, "19,99zl": 1999, "1 999,00 ZŁ": 199900, "PLN 5": 500},
		"RUB": {"119,99 ₽": 11999, "119,99 руб.": 11999, "1\u00a0119 р.": 111900},
		"HUF": {"1 250 Ft": 125000, "1\u00a0250 Ft": 125000, "Ft 5": 500},
		"IDR": {"Rp 25.000": 2500000, "Rp25.000": 2500000, "Rp. 25.000,-": 2500000, "25.000": 2500000, "25,000": 2500000, "Rp 1.250.000": 125000000, "IDR 25.000,50": 2500050, "25000": 2500000},
		"COP": {"$ 25.000": 2500000, "COL$25.000": 2500000},
		"RSD": {"1.250 din.": 125000, "1.250,00 RSD": 125000, "199,50": 19950},
		"USD": {"$5.25": 525, "US$ 5.25": 525, "USD 5.25": 525, "5.25$": 525, "5.25 usd": 525, "＄5.25": 525},
		"AUD": {"$5.25": 525, "A$5.25": 525},
		"MXN": {"$5.25": 525, "MX$5.25": 525},
		"CHF": {"Fr. 24.50": 2450, "SFr. 24.50": 2450, "CHF 24.–": 2400, "24.-": 2400, "1’234.50 Fr.": 123450},
		"GBP": {"£5.25": 525, "￡５．２５": 525},
		"KRW": {"2450원": 2450, "₩2,450": 2450, "￦2,450": 2450},
		"CZK": {"49,90 Kč": 4990, "49,- Kc": 4900},
		"TRY": {"49,90 TL": 4990, "₺49,90": 4990},
		"INR": {"1,23,456.50": 12345650, "12,34,567": 123456700, "₹ 1,23,456.50": 12345650, "Rs. 500": 50000, "500/-": 50000, "1,23,45,678": 1234567800, "१,२३,४५६.५०": 12345650},
		"XOF": {"2 450 F CFA": 2450, "2450 FCFA": 2450, "2450 CFA": 2450},
		"KES": {"Ksh 1,250/=": 125000, "KSh1,250.00": 125000},
	} {
		for text, want := range read {
			if got := forms.ParseAmount(text, currency); got.State != forms.AmountRead || got.Cents != want {
				t.Errorf("%q %s = %+v; want %d", text, currency, got, want)
			}
		}
	}
	for currency, unreadable := range map[string][]string{
		"EUR": {
			"", "-1", "+1", "abc", "1e3", "24.505.1", "12,34,56", "1,23.4.5", ".", ",5", "24.5678", "99999999999999999999", "1.2,3", "1234.567,8", "0x10",
			"24 50", "24 5", "0.001", "0,500", "012,345", "24\t50", "2 4.50", "1 234.567", "12'50", "1 2345", "1234,567", "1.234,567", "ab,cde", "12,5o5", "1_2,505",
			// Another currency's mark isn't ignored.
			"$24.50", "24,50 kr", "SEK 24.50", "£24.50", "24 €$", "24.50 EURO?", "％24", "24½", "19⁹⁹", "②4", "24.50 = €", "49:50", "€ -5", "24.50-", "1,23,45.50", "1,2,345", "01,23,456",
			"1\t234", "１２\n34", "١٢٫٥٫٠",
		},
		"SEK": {"€ 49", "49 €", "49 NOK", "49:5", "49:500", "12:49:50", "$49", "kr", "49:50:-", "kronor 49"},
		"USD": {"A$5.25", "C$5.25", "R$ 5", "€5.25", "CA$5.25"},
		"RUB": {"119,99 BYN"},
		"AUD": {"US$5.25", "NZ$5.25"},
		"IRR": {"تومان 5"}, // ten rials
		"JPY": {"12.5", "12,50", "1.234,50", "0,505"},
		"KWD": {"12.5050", "1 234.5678", "12. 50", "1.250 IQD", "$1.250"},
	} {
		for _, text := range unreadable {
			if got := forms.ParseAmount(text, currency); got.State != forms.AmountUnreadable {
				t.Errorf("%q %s is read as %+v", text, currency, got)
			}
		}
	}
}

// "What can be read in two ways (`12,505`, `12.505`) is refused with both readings offered."
func TestAmountsWithTwoReadings(t *testing.T) {
	t.Parallel()
	type reading struct {
		cents int64
		text  string
	}
	for _, c := range []struct {
		text, currency string
		want           []reading
		question       string
	}{
		{"12,505", "EUR", []reading{{1250500, "12505"}, {1250, "12.50"}}, "“12,505” could mean € 12,505.00, or € 12.50 with a digit too many. Choose one."},
		{"12.505", "EUR", []reading{{1250500, "12505"}, {1250, "12.50"}}, "“12.505” could mean € 12,505.00, or € 12.50 with a digit too many. Choose one."},
		{" € 1,234 ", "EUR", []reading{{123400, "1234"}, {123, "1.23"}}, "“1,234” could mean € 1,234.00, or € 1.23 with a digit too many. Choose one."},
		{"999.000 SEK", "SEK", []reading{{99900000, "999000"}, {99900, "999.00"}}, "“999.000” could mean SEK 999,000.00, or SEK 999.00 with a digit too many. Choose one."},
		{"12,505", "KWD", []reading{{12505000, "12505"}, {12505, "12,505"}}, "“12,505” could mean KWD 12,505.000 or KWD 12.505. Choose one."},
		{"１２，５０５", "EUR", []reading{{1250500, "12505"}, {1250, "12.50"}}, "“12,505” could mean € 12,505.00, or € 12.50 with a digit too many. Choose one."},
		{"1.250 Ft", "HUF", []reading{{125000, "1250"}, {125, "1.25"}}, "“1.250” could mean HUF 1,250.00, or HUF 1.25 with a digit too many. Choose one."},
		{"12,505", "CLF", []reading{{125050000, "12505"}, {125050, "12,505"}}, "“12,505” could mean CLF 12,505.0000 or CLF 12.5050. Choose one."},
	} {
		got := forms.ParseAmount(c.text, c.currency)
		var readings []reading
		for _, r := range got.Readings {
			readings = append(readings, reading{r.Cents, r.Text})
		}
		if got.State != forms.AmountAmbiguous || !slices.Equal(readings, c.want) {
			t.Errorf("%q %s = %+v, want %v", c.text, c.currency, got, c.want)
			continue
		}
		if question := strings.ReplaceAll(got.Question(), "\u00a0", " "); question != c.question {
			t.Errorf("%q %s: %s", c.text, c.currency, question)
		}
	}
}

// asked is a form with one amount.
func asked(text, choice string) *forms.Form {
	v := url.Values{"amount": {text}}
	if choice != "" {
		v.Set("amount_choice", choice)
	}
	return forms.Query(v)
}

// A reading is chosen for the text that was asked about, and for no other.
func TestChoosingAReading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, choice, currency string
		want                   int64
		text2, choice2         string // what the form shows then
	}{
		{"12,505", "12,505=1250500", "EUR", 1250500, "12505", ""},
		{"12,505", "12,505=1250", "EUR", 1250, "12.50", ""},
		{" € 12,505", "12,505=1250", "EUR", 1250, "12.50", ""},
		{"12,505", "12,505=12505000", "KWD", 12505000, "12505", ""},
		{"12,505", "12,505=12505", "KWD", 12505, "12,505", "12,505=12505"},
		{"13", "12,505=1250500", "EUR", 1300, "13", ""},              // it was corrected since
		{"13.505", "12,505=1250500", "EUR", -1, "13.505", ""},        // likewise, and asks anew
		{"12,505", "12,505=1250600", "EUR", -1, "12,505", ""},        // nothing that it could mean
		{"12,505", "12,505=1250500 ", "EUR", -1, "12,505", ""},       // not as it was offered
		{"abc", "abc=1", "EUR", -1, "abc", ""},                       // nothing that could be asked about
		{"99", "99=1", "EUR", 9900, "99", ""},                        // nor this
		{"12.505", "12,505=1250500", "EUR", -1, "12.505", ""},        // another text
		{"1,234.50", "1,234.50=1234", "EUR", 123450, "1,234.50", ""}, // which has one reading
	} {
		form := asked(c.text, c.choice)
		got := form.Amount("amount", c.currency)
		switch {
		case c.want < 0 && (got != nil || len(form.Malformed) != 1):
			t.Errorf("%q chosen as %q: %v, %v", c.text, c.choice, got, form.Malformed)
		case c.want >= 0 && (got == nil || *got != c.want):
			t.Errorf("%q chosen as %q: %v, %v; want %d", c.text, c.choice, got, form.Malformed, c.want)
		}
		if text, choice := form.Value("amount"), form.Value("amount_choice"); text != c.text2 || choice != c.choice2 {
			t.Errorf("%q chosen as %q: then %q, %q", c.text, c.choice, text, choice)
		}
		again := asked(form.Value("amount"), form.Value("amount_choice"))
		if got := again.Amount("amount", c.currency); c.want >= 0 && (got == nil || *got != c.want) {
			t.Errorf("%q chosen as %q: sent again %v", c.text, c.choice, got)
		}
	}
}

// An ambiguous amount is refused on its field, which offers both readings; a clear one is shown
// as it was read.
func TestAmountFields(t *testing.T) {
	t.Parallel()
	form := asked("12,505", "")
	form.AmountOf("spend_amount_cents", "amount", "EUR")
	if !form.Refused(core.Invalid(form.Malformed)) {
		t.Fatal("not refused")
	}
	field := form.FieldOf("spend_amount_cents", "amount", ui.Field{Label: "Amount"})
	var offered []string
	for _, r := range field.Readings {
		offered = append(offered, strings.ReplaceAll(r.Label, "\u00a0", " ")+"|"+r.Choice+"|"+r.Text)
	}
	if want := []string{"€ 12,505.00|12,505=1250500|12505", "€ 12.50|12,505=1250|12.50"}; !slices.Equal(offered, want) || len(field.Errors) != 1 || field.Read != "" {
		t.Errorf("field = %+v", field)
	}
	form = asked("24,5", "")
	form.Amount("amount", "EUR")
	if field := form.Field("amount", ui.Field{Label: "Amount"}); field.Read != "€\u00a024.50" || len(field.Readings) > 0 {
		t.Errorf("field = %+v", field)
	}
}

// The message for a mark of another currency names the right one.
func TestForeignMarksAreExplained(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"€ 49": "SEK 24.50", "49 NOK": "SEK 24.50", "49.50.1": "24.50", "kr": "24.50", "-5": "24.50"} {
		form := asked(text, "")
		if got := form.Amount("amount", "SEK"); got != nil || form.Malformed["amount"][0].Other != want {
			t.Errorf("%q: %v", text, form.Malformed)
		}
	}
}

// What a form begins with is read back as the same amount, also where a person who typed it
// would be asked.
func TestAmountsSurviveTheirField(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"EUR", "JPY", "KWD", "SEK", "CLF"} {
		for _, cents := range []int64{0, 1, 9, 10, 99, 100, 999, 1000, 1001, 1250, 12505, 123456, 999999, 1_000_000, 1_000_000_000_000} {
			form := forms.Blank(nil)
			form.SetAmount("amount", cents, code)
			sent := asked(form.Value("amount"), form.Value("amount_choice"))
			if got := sent.Amount("amount", code); got == nil || *got != cents {
				t.Errorf("%d of %s is written %q and read as %v: %v", cents, code, form.Values, got, sent.Malformed)
			}
		}
		if got := forms.ParseAmount(format.AmountExample(code), code); got.State != forms.AmountRead {
			t.Errorf("%s: the example %s is %+v", code, format.AmountExample(code), got)
		}
	}
}

// Whole numbers have no decimals, so a comma before three digits can only group them, as the
// pages do. Whatever else could be a fraction is refused.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"12505": 12505, "12,505": 12505, "12 505": 12505, "12\u202f505": 12505, "1,234,567": 1234567, "-12,505": -12505, "−50": -50, "+50": 50, "0": 0,
		"２４５０": 2450, "－５０": -50, "＋５０": 50, "–50": -50, "１２，５０５": 12505, "٢٤٥٠": 2450, "१२": 12, "1,23,456": 123456, "12\u2009505": 12505, "\u200e50": 50,
	} {
		form := forms.Query(url.Values{"points": {text}})
		if got := form.Integer("points"); got == nil || *got != want {
			t.Errorf("%q = %v, %v; want %d", text, got, form.Malformed, want)
		}
	}
	for _, text := range []string{"12.505", "12.5", "12,5", "12,50", "12.505,00", "1.234.567", "12,5050", "0,505", "1e3", "twelve", "12'505", "5²", "--5", "5-", "１２．５", "12,34,56"} {
		form := forms.Query(url.Values{"points": {text}})
		if got := form.Integer("points"); got != nil || len(form.Malformed) != 1 {
			t.Errorf("%q is read as %d", text, *got)
		}
	}
}

// notation is how amounts are written somewhere.
type notation struct {
	printer *message.Printer
	decimal string // the mark before decimals
}

// notations are those of ten places, by what Unicode says of them, with western digits.
var notations = func() (all []notation) {
	for _, tag := range []string{"en-US", "de-DE", "de-CH", "fr-FR", "sv-SE", "pt-BR", "en-IN", "ja-JP", "ar-KW-u-nu-latn", "tr-TR"} {
		p := message.NewPrinter(language.MustParse(tag))
		all = append(all, notation{p, strings.Trim(p.Sprint(number.Decimal(0.5)), "05")})
	}
	return all
}()

// The ways to write an amount, which a style is put together from.
const (
	ungrouped  = 1 << iota // 12505.00
	short                  // 12.5, 12,505
	withSymbol             // € 12.50
	withCode               // 12.50 EUR
	wide                   // １２．５０
	marked                 // kr 12.50 kr., with every mark of the currency in turn
	styles     = 1 << iota
)

var testedCurrencies = []string{"EUR", "JPY", "KWD", "INR", "CHF", "SEK", "IDR", "USD", "IQD"}

// write writes an amount as it is written there.
func (n notation) write(cents int64, currency string, style int) string {
	scale := format.Decimals(currency)
	digits := fmt.Sprintf("%0*d", scale+1, cents)
	whole, decimals := digits[:len(digits)-scale], digits[len(digits)-scale:]
	if style&ungrouped == 0 {
		units, _ := strconv.ParseInt(whole, 10, 64)
		whole = n.printer.Sprint(number.Decimal(units))
	}
	if style&short != 0 {
		decimals = strings.TrimRight(decimals, "0")
	}
	text := whole
	if decimals != "" {
		text += n.decimal + decimals
	}
	if style&withSymbol != 0 {
		text = format.Symbol(currency) + "\u00a0" + text
	}
	if style&withCode != 0 {
		text += " " + currency
	}
	if style&marked != 0 {
		marks := core.CurrencyMarks(currency)
		text = marks[int(cents)%len(marks)] + " " + text + "\u202f" + marks[int(cents/7)%len(marks)]
	}
	if style&wide != 0 {
		text = width.Widen.String(text)
	}
	return text
}

// aPointDecides reports whether a written amount is the exception of currencies with three decimals: a point is
// their decimal mark, also where only three digits of thousands follow it, as in German.
func (n notation) aPointDecides(cents int64, currency string, style int) bool {
	scale := format.Decimals(currency)
	unit := int64(math.Pow10(scale))
	units := cents / unit
	return scale == 3 && n.decimal != "." && style&ungrouped == 0 && style&short != 0 && cents%unit == 0 && units >= 1000 && units < 1_000_000 &&
		strings.Contains(n.printer.Sprint(number.Decimal(units)), ".")
}

// mustNotMistake fails for an amount that is read as another one than was written. Where both
// readings are offered, the right one is among them.
func mustNotMistake(t *testing.T, cents int64, where, style int, currency string) forms.AmountState {
	t.Helper()
	text := notations[where].write(cents, currency, style)
	got := forms.ParseAmount(text, currency)
	if notations[where].aPointDecides(cents, currency, style) {
		if got.State != forms.AmountRead || got.Cents != cents/1000 {
			t.Errorf("%s: %q is read as %+v; the point is its decimal mark", currency, text, got)
		}
		return got.State
	}
	switch got.State {
	case forms.AmountRead:
		if got.Cents != cents {
			t.Errorf("%s: %d is written %q and read as %d", currency, cents, text, got.Cents)
		}
	case forms.AmountAmbiguous:
		if !slices.ContainsFunc(got.Readings, func(r forms.AmountReading) bool { return r.Cents == cents && !r.Cut }) {
			t.Errorf("%s: %d is written %q and offered as %+v", currency, cents, text, got.Readings)
		}
	case forms.AmountUnreadable:
	}
	return got.State
}

// An amount in the notation of any place is read as that amount or refused, and never as
// another one.
func TestNoNotationIsMistaken(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	amounts := []int64{0, 1, 5, 10, 50, 99, 100, 500, 999, 1000, 1001, 1250, 1251, 9999, 10000, 12505, 99999, 100000, 123400, 125050, 999999, 1000000, 1250500, 12505000, 123456789}
	for range 300 {
		amounts = append(amounts, rng.Int64N(1<<rng.IntN(41)+1))
	}
	states := map[forms.AmountState]int{}
	for where := range notations {
		for style := range styles {
			for _, currency := range testedCurrencies {
				for _, cents := range amounts {
					states[mustNotMistake(t, cents, where, style, currency)]++
				}
			}
		}
	}
	// That not everything is refused: in whole groups and with all decimals an
	// amount is clear, unless three decimals are all that follows a mark.
	if read := states[forms.AmountRead]; read < 8*(states[forms.AmountAmbiguous]+states[forms.AmountUnreadable]) {
		t.Errorf("read, ambiguous and unreadable: %v", states)
	}
}

// A mark of another currency is never ignored: € 5 at a business in Sweden isn't kr 5. Every mark of every
// currency is read as its own.
func TestForeignMarks(t *testing.T) {
	t.Parallel()
	for _, own := range core.Currencies() {
		marks := core.CurrencyMarks(own)
		for _, mark := range marks {
			for _, text := range []string{mark + " 5", "5 " + mark, strings.ToUpper(mark) + "5"} {
				if got := forms.ParseAmount(text, own); got.State != forms.AmountRead {
					t.Errorf("%q %s is %+v", text, own, got)
				}
			}
		}
		for _, foreign := range core.Currencies() {
			for _, mark := range core.CurrencyMarks(foreign) {
				if slices.Contains(marks, mark) || mark == "/=" {
					continue
				}
				for _, text := range []string{mark + "5", "5 " + mark} {
					if got := forms.ParseAmount(text, own); got.State != forms.AmountUnreadable {
						t.Errorf("%q of %s is read in %s: %+v", text, foreign, own, got)
					}
				}
			}
		}
	}
}

func FuzzAmount(f *testing.F) {
	for where := range notations {
		for i, cents := range []int64{0, 5, 1250, 12505, 1250500, 123456789, 1_000_000_000_000} {
			f.Add(cents, uint8(where), uint8(i*3), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, cents int64, where, style, currency uint8) {
		if cents < 0 || cents > 1_000_000_000_000 {
			return
		}
		mustNotMistake(t, cents, int(where)%len(notations), int(style)%styles, testedCurrencies[int(currency)%len(testedCurrencies)])
	})
}
