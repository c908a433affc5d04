package core

import (
	_ "embed"
	"errors"
	"strings"
	"sync"
	"time"
)

// zones caches time zones: loading one reads files, and every request needs one.
var zones sync.Map

// Zone loads a time zone by its IANA name. "Local", this machine's zone, is refused.
func Zone(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	if name == "Local" {
		return nil, errors.New("unknown time zone Local")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Store(name, zone)
	return zone, nil
}

// The time zones of all countries, from zone.tab in the IANA time zone database, which is in the public domain:
// a name, its country, and an asterisk at the one where most people of the country live.
//
//go:embed zones.txt
var zoneList string

// ZoneNames returns the time zones to choose from, sorted. Zone also knows older names of them.
func ZoneNames() (names []string) {
	for line := range strings.Lines(zoneList) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	return names
}

// ZonesOf returns the main time zone of a country, by its ISO 3166 code, and all of them. An unknown country has none.
func ZonesOf(country string) (main string, all []string) {
	for line := range strings.Lines(zoneList) {
		f := strings.Fields(line)
		if len(f) < 2 || f[1] != country {
			continue
		}
		all = append(all, f[0])
		if len(f) == 3 {
			main = f[0]
		}
	}
	return main, all
}
