package core_test

import (
	"testing"

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
