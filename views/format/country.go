package format

import (
	"cmp"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// countryNames are those that changed since the library's.
var countryNames = map[string]string{"CV": "Cabo Verde", "MK": "North Macedonia", "MO": "Macao SAR China", "SZ": "Eswatini", "TR": "Türkiye"}

// CountryName is the English name of a country, or the code of what is none.
func CountryName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil || !region.IsCountry() {
		return code
	}
	return cmp.Or(countryNames[code], display.English.Regions().Name(region))
}

// CurrencyName is the code of a currency with its symbol, if it has one: EUR (€).
func CurrencyName(code string) string {
	if sign := Symbol(code); sign != code {
		return code + " (" + sign + ")"
	}
	return code
}
