package forms

import (
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// Countries are the choices of a country, by English name, "None" first.
func Countries() []ui.Option { return slices.Clone(countries) }

var countries = sortedCountries()

func sortedCountries() []ui.Option {
	list := []ui.Option{{Label: "Choose a country"}}
	for _, code := range tenant.Countries() {
		list = append(list, ui.Option{Value: code, Label: format.Country(code)})
	}
	order := collate.New(language.English)
	slices.SortFunc(list[1:], func(a, b ui.Option) int { return order.CompareString(a.Label, b.Label) })
	return list
}

// ProposeByCountry adds the currency and the main time zone of each country to its choice. Where a country has
// several time zones, panel.js prefers the browser's.
func ProposeByCountry(options []ui.Option) {
	for i, o := range options {
		region := tenant.RegionOf(o.Value)
		if region.TimeZone == "" {
			continue // "Choose a country"
		}
		options[i].Proposes = map[string]string{"timezone": region.TimeZone}
		if region.Currency != "" {
			options[i].Proposes["currency"] = region.Currency
		}
		if len(region.TimeZones) > 1 {
			options[i].Proposes["timezones"] = strings.Join(region.TimeZones, " ")
		}
	}
}

// Currencies are the choices of a currency, each with its symbol. The stored one is among them even if it was
// withdrawn.
func Currencies(stored string) (list []ui.Option) {
	codes := core.Currencies()
	if stored != "" && !core.IsCurrency(stored) {
		codes = append([]string{stored}, codes...)
	}
	for _, code := range codes {
		list = append(list, ui.Option{Value: code, Label: format.Currency(code)})
	}
	return list
}

// ZoneGroups are the choices of a time zone, grouped by continent. The selected one is among them
// even if it has an older name.
func ZoneGroups(selected string) []ui.Group {
	names := core.ZoneNames()
	if selected != "" && !slices.Contains(names, selected) {
		names = append(names, selected)
	}
	var groups []ui.Group
	for _, name := range names {
		part, place, found := strings.Cut(name, "/")
		if !found {
			part, place = "Other", name
		}
		at := slices.IndexFunc(groups, func(g ui.Group) bool { return g.Label == part })
		if at < 0 {
			at = len(groups)
			groups = append(groups, ui.Group{Label: part})
		}
		label := strings.NewReplacer("_", " ", "/", ", ").Replace(place)
		groups[at].Options = append(groups[at].Options, ui.Option{Value: name, Label: label, Selected: name == selected})
	}
	return groups
}
