// Package sandbox makes businesses for integrators to test against: two fresh
// tenants with a record in every state that takes days to arise by hand, and a
// platform token, written down in one file. It goes through the same core as
// everything else, except that it may set the clock back.
package sandbox

import (
	"context"
	"crypto/rand"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
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

// Tenant is a business and everything in it.
type Tenant struct {
	ID       core.TenantID          `json:"id"`
	Name     string                 `json:"name"`
	Slug     string                 `json:"slug"`
	PanelURL string                 `json:"panel_url"`
	Staff    map[core.Role]Password `json:"staff"`
	// Tokens are one with all abilities, one with none, and one for each.
	Tokens                  map[string]string `json:"tokens"`
	RevokedToken            string            `json:"revoked_token"`
	TransactionTypeID       int64             `json:"transaction_type_id"`        // 1 point for each whole 1.00 spent
	StampsTransactionTypeID int64             `json:"stamps_transaction_type_id"` // 1 stamp for each transaction
	Rewards                 Rewards           `json:"rewards"`
	VoidedRedemption        core.ID           `json:"voided_redemption"`
	Coupon                  core.ID           `json:"coupon"` // the open one
	Vouchers                Vouchers          `json:"vouchers"`
	TillURL                 string            `json:"till_url"`
	Pages                   Pages             `json:"pages"`
	Send                    Send              `json:"send"`
	Race                    Race              `json:"race"`

	holders int // of vouchers, so far
}

// Password is how a person signs in.
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
	Invoices     map[billing.Status]int64 `json:"invoices"` // ids; they are of a third business
	TenantCreate TenantCreate             `json:"tenant_create"`
}

// TenantCreate are the values that a new tenant needs besides its own.
type TenantCreate struct {
	PlanID        int64                `json:"plan_id"`
	BillingCycle  tenant.BillingCycle  `json:"billing_cycle"`
	PaymentMethod tenant.PaymentMethod `json:"payment_method"`
}

// Maker makes sandboxes.
type Maker struct {
	DB           *db.DB
	Tokens       *token.Service
	Customers    *customer.Service
	Transactions *transaction.Service
	Rewards      *reward.Service
	Coupons      *coupon.Service
	Billing      *billing.Service
	Keys         vault.Keys

	BaseURL   string
	TenantURL func(slug string) string
	CAFile    string
	PostScope token.Ability // of POST /transactions
}

var maker = core.System(core.Tenant{}, "sandbox")

// Make makes two tenants and a super-admin, and a third tenant with invoices. Each run makes
// new ones.
func (m Maker) Make(ctx context.Context) (File, error) {
	f := File{BaseURL: m.BaseURL, CAFile: m.CAFile, TransactionsPostScope: m.PostScope}
	for _, letter := range []string{"A", "B"} {
		t, err := m.tenant(ctx, letter)
		if err != nil {
			return File{}, err
		}
		f.Tenants = append(f.Tenants, t)
	}
	var err error
	if f.Platform, err = m.platform(ctx); err != nil {
		return File{}, err
	}
	f.Platform.Invoices, err = m.invoices(ctx)
	return f, err
}

func (m Maker) tenant(ctx context.Context, letter string) (Tenant, error) {
	suffix := strings.ToLower(rand.Text()[:5])
	t := Tenant{
		Name: "Sandbox " + letter, Slug: "sandbox-" + strings.ToLower(letter) + "-" + suffix,
		Staff: map[core.Role]Password{}, Tokens: map[string]string{},
	}
	t.PanelURL, t.TillURL = m.TenantURL(t.Slug)+"/admin", m.TenantURL(t.Slug)+"/till"
	made, err := db.Platform(ctx, m.DB, maker, func(tx *db.Tx) (core.Tenant, error) {
		made, err := tenant.Add(ctx, tx, maker, tenant.New{
			Name: &t.Name, Slug: &t.Slug, Email: new("owner@" + t.Slug + ".example"), PlanID: new(int64(1)),
			BillingCycle: new("monthly"), PaymentMethod: new("manual"),
		})
		if err != nil {
			return made, err
		}
		return made, tenant.FinishSetup(tx, made.ID)
	})
	if err != nil {
		return Tenant{}, err
	}
	t.ID = made.ID
	owner, err := m.staff(ctx, &t, core.System(made, "sandbox"))
	if err != nil {
		return Tenant{}, err
	}
	if err := m.tokens(ctx, &t, owner); err != nil {
		return Tenant{}, err
	}
	if err := m.types(ctx, &t, owner); err != nil {
		return Tenant{}, err
	}
	if err := m.rewards(ctx, &t, owner); err != nil {
		return Tenant{}, err
	}
	if err := m.coupons(ctx, &t, owner); err != nil {
		return Tenant{}, err
	}
	if err := m.pages(ctx, &t, owner); err != nil {
		return Tenant{}, err
	}
	// Last: it says who is in each segment when the file is written.
	return t, m.segments(ctx, &t, owner)
}

// staff makes one person of each role and returns the owner.
func (m Maker) staff(ctx context.Context, t *Tenant, by core.Actor) (core.Actor, error) {
	var owner core.Actor
	for _, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		login := Password{Email: string(role) + "@" + t.Slug + ".example", Password: rand.Text()}
		p, err := db.InTenant(ctx, m.DB, by, func(tx *db.Tx) (staff.Person, error) {
			return staff.Add(ctx, tx, by, staff.New{
				Role: role, Name: "Sandbox " + string(role), Email: login.Email, Password: login.Password,
			})
		})
		if err != nil {
			return core.Actor{}, err
		}
		t.Staff[role] = login
		if role == core.Owner {
			owner = core.Actor{Kind: core.ByStaff, Name: p.Name, Tenant: by.Tenant, StaffID: p.ID, Role: role}
		}
	}
	return owner, nil
}

func (m Maker) tokens(ctx context.Context, t *Tenant, owner core.Actor) error {
	scopes := map[string][]string{"all": {}, "none": {}, "revoked": {}}
	for _, a := range token.Abilities {
		scopes["all"] = append(scopes["all"], string(a))
		scopes[string(a)] = []string{string(a)}
	}
	scopes["revoked"] = scopes["all"]
	for name, abilities := range scopes {
		made, err := m.Tokens.Create(ctx, owner, token.New{Name: &name, Scopes: &abilities})
		if err != nil {
			return err
		}
		if name == "revoked" {
			t.RevokedToken = made.Secret
			if _, err := m.Tokens.Revoke(ctx, owner, made.ID); err != nil {
				return err
			}
			continue
		}
		t.Tokens[name] = made.Secret
	}
	return nil
}

func (m Maker) types(ctx context.Context, t *Tenant, owner core.Actor) error {
	points, err := m.Transactions.AddType(ctx, owner, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	})
	if err != nil {
		return err
	}
	stamps, err := m.Transactions.AddType(ctx, owner, transaction.NewType{
		Name: "Stamp card", RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 1},
	})
	t.TransactionTypeID, t.StampsTransactionTypeID = points.ID, stamps.ID
	return err
}

func (m Maker) platform(ctx context.Context) (Platform, error) {
	p := Platform{
		PanelURL:     m.BaseURL + "/platform",
		Password:     Password{Email: "admin-" + strings.ToLower(rand.Text()[:8]) + "@sandbox.example", Password: rand.Text()},
		TOTPSecret:   auth.NewTOTPSecret(),
		TenantCreate: TenantCreate{PlanID: 1, BillingCycle: tenant.Monthly, PaymentMethod: tenant.Manual},
	}
	person, err := staff.CreateAdmin(ctx, m.DB, maker, staff.New{Name: "Sandbox admin", Email: p.Email, Password: p.Password.Password})
	if err != nil {
		return Platform{}, err
	}
	_, err = db.Platform(ctx, m.DB, maker, func(tx *db.Tx) (int, error) {
		return 0, auth.EnrolTwoFactor(ctx, tx, maker, m.Keys, person.ID, p.TOTPSecret)
	})
	if err != nil {
		return Platform{}, err
	}
	admin := core.Actor{Kind: core.ByAdmin, Name: person.Name, StaffID: person.ID, Role: core.SuperAdmin}
	name := "Sandbox platform"
	made, err := m.Tokens.Create(ctx, admin, token.New{Name: &name, Scopes: &[]string{}})
	p.Token = made.Secret
	return p, err
}
