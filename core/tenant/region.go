package tenant

import (
	"example.com/loyalty/core"
)

// Region is what a business's country says about its other settings.
type Region struct {
	Currency  string   // ISO 4217; "": none that a tenant can have
	TimeZone  string   // where most people of the country live; "": unknown country
	TimeZones []string // all of the country
}

// RegionOf returns the region of a country, by its ISO 3166 code.
func RegionOf(country string) (r Region) {
	r.TimeZone, r.TimeZones = core.ZonesOf(country)
	if code := core.CurrencyOf(country); core.IsCurrency(code) {
		r.Currency = code
	}
	return r
}
