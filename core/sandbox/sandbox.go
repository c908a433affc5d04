// Package sandbox makes businesses for integrators to test against, with a record in every state that takes days to reach
// by hand: two new tenants and a platform token, described by one file, or one tenant for a super-admin. It uses the
// product's use cases, and may set the clock back. Its tenants are marked as tests.
package sandbox

import (
	"context"
	"crypto/rand"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/vault"
)

// File is what a client's tests need to know.
type File struct {
	BaseURL               string        `json:"base_url"`
	CAFile                string        `json:"ca_file"`
	TransactionsPostScope token.Ability `json:"transactions_post_scope"`
	Tenants               []Tenant      `json:"tenants"`
	Platform              Platform      `json:"platform"`
}

// Tenant is a business and its records.
type Tenant struct {
	ID       core.TenantID          `json:"id"`
	Name     string                 `json:"name"`
	Slug     string                 `json:"slug"`
	PanelURL string                 `json:"panel_url"`
	Staff    map[core.Role]Password `json:"staff"`
	// Tokens has one with all abilities, one with none, and one for each ability.
	Tokens                  map[string]string `json:"tokens"`
	RevokedToken            string            `json:"revoked_token"`
	TransactionTypeID       int64             `json:"transaction_type_id"`        // 1 point for each whole 1.00 spent
	StampsTransactionTypeID int64             `json:"stamps_transaction_type_id"` // 1 stamp for each transaction
	Rewards                 Rewards           `json:"rewards"`
	VoidedRedemption        core.ID           `json:"voided_redemption"`
	Coupon                  core.ID           `json:"coupon"` // the one named "Open"
	Vouchers                Vouchers          `json:"vouchers"`
	TillURL                 string            `json:"till_url"`
	Pages                   Pages             `json:"pages"`
	Expiring                Expiring          `json:"expiring"`
	Earning                 Earning           `json:"earning"`
	Send                    Send              `json:"send"`
	Race                    Race              `json:"race"`
}

// Password is a person's e-mail address and password.
type Password struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

// Platform is a super-admin and their token.
type Platform struct {
	PanelURL string `json:"panel_url"`
	Password
	TOTPSecret   string                   `json:"totp_secret"`
	Token        string                   `json:"token"`
	Invoices     map[billing.Status]int64 `json:"invoices"` // IDs of a third business's invoices
	TenantCreate TenantCreate             `json:"tenant_create"`
}

// TenantCreate has values with which a tenant can be created.
type TenantCreate struct {
	PlanID        int64                `json:"plan_id"`
	BillingCycle  tenant.BillingCycle  `json:"billing_cycle"`
	PaymentMethod tenant.PaymentMethod `json:"payment_method"`
}

// Maker makes sandboxes.
type Maker struct {
	*loyalty.Services
	DB   *db.DB
	Keys vault.Keys

	BaseURL   string
	TenantURL func(slug string) string
	CAFile    string
	PostScope token.Ability // of POST /transactions
}

var maker = core.System(core.Tenant{}, "sandbox")

// Make makes two tenants, a super-admin, and a third tenant with invoices. Each call makes new ones.
func (m Maker) Make(ctx context.Context) (File, error) {
	f := File{BaseURL: m.BaseURL, CAFile: m.CAFile, TransactionsPostScope: m.PostScope}
	err := sample.Do(ctx, func(run sample.Run) {
		for _, letter := range []string{"A", "B"} {
			f.Tenants = append(f.Tenants, m.makeTenant(run, letter))
		}
		f.Platform = m.makePlatform(ctx)
		f.Platform.Invoices = m.makeInvoices(ctx)
	})
	if err != nil {
		return File{}, err
	}
	return f, nil
}

// business is a tenant that is being filled.
type business struct {
	Maker
	*Tenant
	shop     sample.Shop // as its owner sees it
	purchase transaction.Type
	holders  int // number of customers with vouchers
	earners  int // number of customers whose points end
}

func (m Maker) makeTenant(run sample.Run, letter string) Tenant {
	t := m.named("Sandbox "+letter, "sandbox-"+strings.ToLower(letter))
	m.fill(run, &t, sample.AddTenant(run.Context(), m.DB, maker, t.describe(1)))
	return t
}

// describe describes a tenant to add.
func (t Tenant) describe(plan int64) tenant.New {
	return tenant.New{
		Name: t.Name, Slug: t.Slug, Email: "owner@" + t.Slug + ".example", PlanID: plan,
		BillingCycle: string(tenant.Monthly), PaymentMethod: string(tenant.Manual), Country: "SE", Test: true,
	}
}

// named returns a tenant without records. Its slug ends at random.
func (m Maker) named(name, slug string) Tenant {
	slug += "-" + strings.ToLower(rand.Text()[:5])
	return Tenant{
		Name: name, Slug: slug, Staff: map[core.Role]Password{}, Tokens: map[string]string{},
		PanelURL: m.TenantURL(slug) + "/admin", TillURL: m.TenantURL(slug) + "/till",
	}
}

// fill adds the people and the records of a tenant.
func (m Maker) fill(run sample.Run, t *Tenant, made core.Tenant) {
	t.ID = made.ID
	b := &business{Maker: m, Tenant: t, shop: sample.Shop{Run: run, Services: m.Services, DB: m.DB}}
	b.addStaff(made)
	b.addTokens()
	b.addTypes()
	b.addEarning()
	b.addExpiring() // early, because points from before the rule never end
	b.addRewards()
	b.addCoupons()
	b.addPages()
	b.addSegments() // last, because it counts all customers
	b.shop.Must(db.In(run.Context(), m.DB.Tenant(b.shop.By), func(tx *db.Tx) (int, error) { return 0, daily.CountAnew(tx) }))
}

// addStaff adds one person of each role.
func (b *business) addStaff(t core.Tenant) {
	for _, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		login := Password{Email: string(role) + "@" + t.Slug + ".example", Password: rand.Text()}
		p := sample.AddPerson(b.shop.Context(), b.DB, core.System(t, "sandbox"), staff.New{
			Role: role, Name: "Sandbox " + string(role), Email: login.Email, Password: login.Password,
		})
		b.Staff[role] = login
		if role == core.Owner {
			b.shop.By = sample.Actor(t, p)
		}
	}
}

func (b *business) addTokens() {
	scopes := map[string][]string{"all": {}, "none": {}}
	for _, a := range token.Abilities {
		scopes["all"] = append(scopes["all"], string(a))
		scopes[string(a)] = []string{string(a)}
	}
	for name, abilities := range scopes {
		b.Tokens[name] = b.addToken(name, abilities).Secret
	}
	revoked := b.addToken("revoked", scopes["all"])
	b.RevokedToken = revoked.Secret
	b.shop.Must(core.Result(b.shop.Tokens.Revoke(b.shop.Context(), b.shop.By, revoked.ID, nil)))
}

func (b *business) addToken(name string, scopes []string) token.Created {
	return sample.Must(core.Result(b.shop.Tokens.Create(b.shop.Context(), b.shop.By, token.New{Name: name, Scopes: &scopes}, nil)))
}

func (b *business) addTypes() {
	b.purchase = b.shop.Points(100)
	b.TransactionTypeID = b.purchase.ID
	b.StampsTransactionTypeID = b.shop.Type("Stamp card", ledger.Stamps, transaction.Rule{StampsPerTransaction: 1}).ID
}

func (m Maker) makePlatform(ctx context.Context) Platform {
	p := Platform{
		PanelURL:     m.BaseURL + "/platform",
		Password:     Password{Email: "admin-" + strings.ToLower(rand.Text()[:8]) + "@sandbox.example", Password: rand.Text()},
		TOTPSecret:   auth.NewTOTPSecret(),
		TenantCreate: TenantCreate{PlanID: 1, BillingCycle: tenant.Monthly, PaymentMethod: tenant.Manual},
	}
	person := sample.Must(staff.CreateAdmin(ctx, m.DB, maker, staff.New{Name: "Sandbox admin", Email: p.Email, Password: p.Password.Password}))
	sample.Must(db.In(ctx, m.DB.Platform(), func(tx *db.Tx) (int, error) {
		return 0, auth.EnrolTwoFactor(ctx, tx, maker, m.Keys, person.ID, p.TOTPSecret)
	}))
	admin := core.Actor{Kind: core.ByAdmin, Name: person.Name, StaffID: person.ID, Role: core.SuperAdmin}
	p.Token = sample.Must(core.Result(m.Tokens.Create(ctx, admin, token.New{Name: "Sandbox platform", Scopes: &[]string{}}, nil))).Secret
	return p
}
