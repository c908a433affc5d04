package core_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
)

// Each role may do what the lower ones may.
func TestRolesIncludeEachOther(t *testing.T) {
	t.Parallel()
	order := []core.Role{core.Cashier, core.Manager, core.Owner}
	for has, role := range order {
		person := core.Actor{Kind: core.ByStaff, Role: role}
		for needs, least := range order {
			err := person.Require(least)
			if allowed := has >= needs; allowed != (err == nil) || (err != nil && !errors.Is(err, core.ErrRole)) {
				t.Errorf("%s where %s is required: %v", role, least, err)
			}
		}
	}
	for _, role := range []core.Role{"", "boss", core.SuperAdmin} {
		if err := (core.Actor{Kind: core.ByStaff, Role: role}).Require(core.Cashier); !errors.Is(err, core.ErrRole) {
			t.Errorf("%q at the till: %v, want ErrRole", role, err)
		}
	}
}

// Require refuses neither tokens, which have abilities, nor jobs.
func TestTokensAndJobsHaveNoRole(t *testing.T) {
	t.Parallel()
	for _, by := range []core.Actor{{Kind: core.ByToken, Role: core.Cashier}, core.System(core.Tenant{}, "job")} {
		if err := by.Require(core.Owner); err != nil {
			t.Errorf("%s: %v", by.Kind, err)
		}
	}
}
