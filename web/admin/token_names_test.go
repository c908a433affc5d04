package admin_test

import (
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/shoptest"
)

// What a token did says so to everyone. Its name is told to owners alone, who may open tokens.
func TestATokensNameIsToldToOwners(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(core.Owner)
	const name = "Nightly bookkeeping"
	owner.Post(tokens+"/new", owner.tokenForm(name, "transactions:write"))
	id := shoptest.Query[int64](s.Shop, "select id from loyalty.token where tenant_id = $1 and name = $2", s.By.Tenant.ID, name)
	program := s.Shop
	program.By = core.Actor{Kind: core.ByToken, ID: strconv.FormatInt(id, 10), Name: name, Tenant: s.By.Tenant, Role: core.Owner, StaffID: s.By.StaffID}
	drinks := program.Points(1)
	program.Sale(s.elsa.ID, drinks, 10_000)
	voided := program.Sale(s.elsa.ID, drinks, 500)
	program.VoidSale(voided.ID)
	cup := program.Reward(1, nil)
	redeemed := program.Redeem(s.elsa.ID, cup)
	program.VoidRedemption(redeemed.ID)
	s.Must(core.Result(program.Customers.Adjust(t.Context(), program.By, s.elsa.ID, customer.Adjustment{Unit: "points", Amount: 3, Reason: "Gift"}, nil)))

	manager, cashier := s.signedIn(core.Manager), s.signedIn(core.Cashier)
	for path, least := range map[string]core.Role{
		"/admin": core.Manager, "/admin/audit": core.Manager, "/admin/audit?subject=customer": core.Manager,
		"/admin/reports/staff": core.Manager, "/admin/reports/staff.csv": core.Manager,
		"/admin/transactions/export.csv": core.Manager, "/admin/redemptions/export.csv?status=voided": core.Manager,
		"/admin/transactions": core.Cashier, "/admin/transactions/" + voided.ID.String(): core.Cashier,
		"/admin/redemptions?status=voided": core.Cashier, "/admin/redemptions/" + redeemed.ID.String(): core.Cashier,
		"/admin/customers/" + s.elsa.ID.String(): core.Cashier,
	} {
		if !strings.Contains(owner.Get(path).Body.String(), name) {
			t.Errorf("%s doesn't name the token to an owner", path)
		}
		for role, reader := range map[core.Role]*browser{core.Manager: manager, core.Cashier: cashier} {
			if role.Includes(least) && strings.Contains(reader.Get(path).Body.String(), name) {
				t.Errorf("%s names the token to a %s", path, role)
			}
		}
	}
}
