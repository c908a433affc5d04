package core_test

import (
	"slices"
	"testing"
	_ "time/tzdata" // like the program

	"example.com/loyalty/core"
)

// "Local", this machine's zone, is refused; a zone is loaded once.
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

// All time zones to choose from can be loaded, and UTC is among them.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	names := core.ZoneNames()
	if !slices.IsSorted(names) || !slices.Contains(names, "UTC") || !slices.Contains(names, "Europe/Stockholm") || len(names) < 400 {
		t.Errorf("%d names, %v", len(names), names)
	}
	for country, want := range map[string]string{"SE": "Europe/Stockholm", "AU": "Australia/Sydney", "US": "America/New_York", "": "", "XX": ""} {
		main, all := core.ZonesOf(country)
		if main != want || want != "" && !slices.Contains(all, main) || want == "" && len(all) > 0 {
			t.Errorf("%q has %q, of %v", country, main, all)
		}
	}
	for _, name := range names {
		if _, err := core.Zone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
