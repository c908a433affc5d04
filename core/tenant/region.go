package tenant

import (
	"golang.org/x/text/currency"
	"golang.org/x/text/language"

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
	region, err := language.ParseRegion(country)
	if err != nil {
		return r
	}
	if unit, ok := currency.FromRegion(region); ok && currencies[unit.String()] {
		r.Currency = unit.String()
	}
	return r
}
