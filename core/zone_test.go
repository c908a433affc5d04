package core_test

import (
	"slices"
	"testing"
	_ "time/tzdata" // as the program has them

	"example.com/loyalty/core"
)

// "Local would be this machine's: refused"; a zone is one wherever it is asked for.
func TestZones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Stockholm", "Asia/Kathmandu"} {
		for range 2 {
			if zone, err := core.Zone(name); err != nil || zone.String() != name {
				t.Errorf("Zone(%s) = %s, %v", name, zone, err)
			}
		}
	}
	for _, name := range []string{"Local", "Mars/Olympus", "../etc/passwd"} {
		for range 2 {
			if zone, err := core.Zone(name); err == nil {
				t.Errorf("Zone(%s) = %s", name, zone)
			}
		}
	}
}

// Each of the time zones to choose from is one, and "UTC" is among them.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	names := core.ZoneNames()
	if !slices.IsSorted(names) || !slices.Contains(names, "UTC") || !slices.Contains(names, "Europe/Stockholm") || len(names) < 400 {
		t.Errorf("%d names, %v", len(names), names)
	}
	for _, name := range names {
		if _, err := core.Zone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
