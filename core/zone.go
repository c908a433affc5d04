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

// The time zones of all countries: the third column of zone.tab in the IANA time zone database, which is
// in the public domain.
//
//go:embed zones.txt
var zoneNames string

// ZoneNames returns the time zones to choose from, sorted. Zone also knows older names of them.
func ZoneNames() []string { return strings.Fields(zoneNames) }
