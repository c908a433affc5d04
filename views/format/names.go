package format

import (
	"cmp"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"example.com/loyalty/core"
)

// countryNames are those that changed since the library's.
var countryNames = map[string]string{"CV": "Cabo Verde", "MK": "North Macedonia", "MO": "Macao SAR China", "SZ": "Eswatini", "TR": "Türkiye"}

// Country is the English name of a country.
func Country(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil || !region.IsCountry() {
		return code
	}
	return cmp.Or(countryNames[code], display.English.Regions().Name(region))
}

// Role is the name of a role.
func Role(r core.Role) string {
	return map[core.Role]string{core.Owner: "Owner", core.Manager: "Manager", core.Cashier: "Cashier"}[r]
}
