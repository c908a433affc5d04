package core

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"
)

// The currencies of ISO 4217. This file alone knows the library, so that a keypad, a form, an invoice and an
// import agree on a currency's decimals.

// unitsOfAccount are in ISO 4217, but not used to pay: funds, indexed units, and dollars of the next day.
var unitsOfAccount = []string{"BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI", "UYW", "XAD"}

// formerWhole are withdrawn currencies whose amounts are stored in whole units. Other withdrawn ones have two
// decimals.
var formerWhole = []string{"ADP", "BYR", "ESP", "ITL", "LUF", "MGF", "MRO", "SLL", "STD", "TMM", "TRL", "ZMK", "ZWD"}

// spentWhole are currencies whose decimals in ISO 4217 aren't used to pay: a hundredth of a rupiah buys nothing.
var spentWhole = []string{
	"AFN", "ALL", "AMD", "COP", "GYD", "IDR", "IRR", "KPW", "LAK", "LBP", "MGA", "MMK", "MNT", "MUR", "PKR", "RSD", "SOS", "SYP", "TZS", "UZS", "YER",
}

var english = currency.NewLocale("en")

// Currencies returns the codes of the currencies that people pay with today, sorted.
var Currencies = sync.OnceValue(func() []string {
	list := slices.DeleteFunc(slices.Clone(currency.GetCurrencyCodes()), func(code string) bool {
		return slices.Contains(unitsOfAccount, code)
	})
	slices.Sort(list)
	return list
})

// IsCurrency reports whether people pay with a currency today.
func IsCurrency(code string) bool {
	_, found := slices.BinarySearch(Currencies(), code)
	return found
}

// CurrencyDecimals returns the number of decimals of a currency: its smallest unit is one of the last of them.
func CurrencyDecimals(code string) int {
	if digits, known := currency.GetDigits(code); known {
		return int(digits)
	}
	if slices.Contains(formerWhole, code) {
		return 0
	}
	return 2
}

// SpentWhole reports whether amounts of a currency have no decimals in practice, though it has some.
func SpentWhole(code string) bool { return slices.Contains(spentWhole, code) }

// ConvertCents returns the same number of another currency, in its smallest unit: 1.00 of a currency with two decimals
// is 1.000 of one with three. It is rounded, but never to nothing.
func ConvertCents(cents int64, from, to string) int64 {
	shift := CurrencyDecimals(to) - CurrencyDecimals(from)
	for range shift {
		cents *= 10
	}
	if cents == 0 || shift >= 0 {
		return cents
	}
	unit := int64(1)
	for range -shift {
		unit *= 10
	}
	return max(1, (cents+unit/2)/unit)
}

// DefaultCeiling is the amount above which sales are confirmed, until the owner of a business changes it: 1,000.00, or
// 100,000 where amounts are whole.
func DefaultCeiling(code string) int64 {
	if decimals := CurrencyDecimals(code); decimals > 0 && !SpentWhole(code) {
		return ConvertCents(100_000, "EUR", code)
	}
	return ConvertCents(100_000, "JPY", code)
}

// CurrencySymbol returns the sign of a currency in English, or its code if it has none.
func CurrencySymbol(code string) string {
	symbol, _ := currency.GetSymbol(code, english)
	return symbol
}

// paidIn are countries that mostly pay in another currency than the library names first.
var paidIn = map[string]string{"HT": "HTG", "PS": "ILS"}

// CurrencyOf returns the currency of a country, or "" if none is known.
func CurrencyOf(country string) string {
	code, _ := currency.ForCountryCode(country)
	return cmp.Or(paidIn[country], code)
}

// writtenMarks are marks of currencies besides those of Unicode's tables, as people write them.
var writtenMarks = map[string][]string{
	"AED": {"dh", "dhs"}, "ALL": {"lek"}, "AMD": {"դր."}, "ARS": {"ar$"}, "AZN": {"man"}, "BAM": {"км"}, "BBD": {"bds$"}, "BDT": {"tk"}, "BOB": {"bs."},
	"BSD": {"b$"}, "BTN": {"nu"}, "BYN": {"руб", "р"}, "CHF": {"fr", "sfr"}, "CNY": {"元", "rmb", "块"}, "COP": {"col$"}, "CRC": {"¢"},
	"CVE": {"$", "esc"}, "CZK": {"kc"}, "DKK": {"kr"}, "DZD": {"da"}, "EGP": {"le", "l.e.", "e£"}, "ETB": {"br"}, "EUR": {"euro", "euros"}, "GEL": {"ლ"},
	"GHS": {"₵", "gh¢"}, "HKD": {"$"}, "HTG": {"g"}, "IDR": {"rp"}, "ILS": {"nis", "ש״ח", "ש\"ח", "שח"}, "INR": {"rs", "re"}, "IRR": {"﷼", "rial"},
	"ISK": {"kr"}, "JMD": {"j$"}, "JPY": {"円", "yen"}, "KES": {"sh", "kshs", "/="}, "KGS": {"с", "som"}, "KRW": {"원", "won"}, "KZT": {"тг", "тенге"},
	"LAK": {"kip"}, "LKR": {"rs", "රු"}, "MAD": {"dh", "dhs"}, "MDL": {"lei", "leu"}, "MKD": {"ден", "den"}, "MMK": {"ks"}, "MNT": {"төг"}, "MOP": {"$"},
	"MVR": {"rf."}, "NOK": {"kr."}, "NPR": {"rs", "रु"}, "PAB": {"b/."}, "PEN": {"s/."}, "PHP": {"p"}, "PLN": {"zl"}, "PYG": {"₲", "gs"},
	"RON": {"lei", "leu"}, "RSD": {"din", "дин", "рсд"}, "RUB": {"руб", "р"}, "SAR": {"sr", "﷼"}, "SEK": {"kr.", "skr"}, "SGD": {"s$"}, "SOS": {"sh"},
	"THB": {"บาท", "baht"}, "TRY": {"tl"}, "TTD": {"tt$"}, "TWD": {"$", "元"}, "TZS": {"sh", "/="}, "UAH": {"грн"}, "UGX": {"sh", "/="}, "UYU": {"$u"},
	"UZS": {"so'm", "сум", "сўм"}, "VES": {"bs", "bs.", "bs.d"}, "VND": {"đ", "d", "vnđ"}, "XAF": {"f cfa", "cfa"}, "XCG": {"cg"}, "XOF": {"cfa", "fcfa"},
	"XPF": {"f", "fr"}, "ZAR": {"r"}, "ZWG": {"zig"},
}

// CurrencyMarks returns how amounts of a currency may be marked, each as CurrencyMark returns it, the longest
// first: its code, its sign in English and in its own countries, and other common ones.
func CurrencyMarks(code string) []string {
	if known, ok := marks.Load(code); ok {
		return known.([]string)
	}
	list := []string{CurrencyMark(code)}
	add := func(mark string) {
		if mark = CurrencyMark(mark); mark != "" && !slices.Contains(list, mark) {
			list = append(list, mark)
		}
	}
	add(CurrencySymbol(code))
	for _, country := range countriesOf()[code] {
		spoken, _ := language.Make("und-" + country).Base()
		for _, l := range []string{spoken.String(), "en"} {
			if symbol, known := currency.GetSymbol(code, currency.NewLocale(l+"-"+country)); known {
				add(symbol)
			}
		}
	}
	for _, mark := range writtenMarks[code] {
		add(mark)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	marks.Store(code, list)
	return list
}

var marks sync.Map // by code

// CurrencyMark returns the form in which marks of currencies are compared: "Kr." and "kr", "F CFA" and "fcfa" are
// the same.
func CurrencyMark(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf) {
			return -1
		}
		return r
	}, Fold(text))
	return strings.TrimSuffix(text, ".")
}

// countriesOf are the countries of each currency.
var countriesOf = sync.OnceValue(func() map[string][]string {
	list := map[string][]string{}
	for first := 'A'; first <= 'Z'; first++ {
		for second := 'A'; second <= 'Z'; second++ {
			country := string([]rune{first, second})
			if code, ok := currency.ForCountryCode(country); ok {
				list[code] = append(list[code], country)
			}
		}
	}
	return list
})
