// Package tenant keeps the businesses and the plans they are on. A business's slug
// is part of its host name and of printed QR codes, so it never changes.
package tenant

import (
	"context"
	"errors"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// BillingCycle is how often a tenant is billed.
type BillingCycle string

// PaymentMethod is how a tenant pays.
type PaymentMethod string

// Status of a tenant. A suspended tenant's tokens and sign-ins stop working at once.
type Status string

// The allowed values (decisions §6).
const (
	Monthly BillingCycle = "monthly"
	Yearly  BillingCycle = "yearly"

	Manual       PaymentMethod = "manual"
	BankTransfer PaymentMethod = "bank_transfer"
	Card         PaymentMethod = "card"
	Stripe       PaymentMethod = "stripe"
	PayPal       PaymentMethod = "paypal"

	Active    Status = "active"
	Suspended Status = "suspended"
)

// New describes a tenant to be.
type New struct {
	Name          string
	Slug          string
	Email         string // the owner's
	PlanID        int64
	BillingCycle  BillingCycle
	PaymentMethod PaymentMethod
	TimeZone      string // IANA; "" is UTC
	Currency      string // ISO 4217; "" is EUR
	Country       string // ISO 3166-1 alpha-2; "" is none
}

// reserved slugs would collide with host names of the platform itself, now or later.
var reserved = []string{
	"admin", "api", "app", "assets", "auth", "billing", "blog", "cdn", "docs", "help", "login", "mail", "platform",
	"static", "status", "support", "test", "www",
}

var slugPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])+$`)

func (n *New) validate() error {
	check := core.NewCheck(nil)
	n.Name = check.Text("name", &n.Name, 255)
	n.Slug = check.Text("slug", &n.Slug, 40)
	if check.OK("slug") && (len(n.Slug) < 3 || !slugPattern.MatchString(n.Slug) || slices.Contains(reserved, n.Slug)) {
		check.Add("slug", core.Selected("slug"))
	}
	n.Email = check.Text("email", &n.Email, 255)
	if a, err := mail.ParseAddress(n.Email); check.OK("email") && (err != nil || a.Address != n.Email) {
		check.Add("email", core.MustBe("email", "a valid email address"))
	}
	core.OneOf(check, "billing_cycle", n.BillingCycle, Monthly, Yearly)
	core.OneOf(check, "payment_method", n.PaymentMethod, Manual, BankTransfer, Card, Stripe, PayPal)
	if n.TimeZone == "" {
		n.TimeZone = "UTC"
	}
	if _, err := Zone(n.TimeZone); err != nil {
		check.Add("timezone", core.Selected("timezone"))
	}
	if n.Currency == "" {
		n.Currency = "EUR"
	}
	if len(n.Currency) != 3 || strings.ToUpper(n.Currency) != n.Currency {
		check.Add("currency", core.Selected("currency"))
	}
	if n.Country != "" && (len(n.Country) != 2 || strings.ToUpper(n.Country) != n.Country) {
		check.Add("country", core.Selected("country"))
	}
	return check.Err()
}

// zones that were loaded: reading one takes files, and every request wants one.
var zones sync.Map

// Zone loads a time zone by its IANA name. "Local" would be this machine's: refused.
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

// Create makes a tenant in the caller's transaction, which has no tenant set.
func Create(ctx context.Context, tx *db.Tx, n New) (core.Tenant, error) {
	if err := n.validate(); err != nil {
		return core.Tenant{}, err
	}
	id, err := db.Value[int64](ctx, tx, insertSQL, db.Args{
		"name": n.Name, "slug": n.Slug, "email": n.Email, "plan": n.PlanID,
		"billing_cycle": n.BillingCycle, "payment_method": n.PaymentMethod,
		"timezone": n.TimeZone, "currency": n.Currency, "country": n.Country, "now": tx.Now,
	})
	if db.Violates(err, "tenant_slug_key") {
		return core.Tenant{}, core.Invalid(core.Fields{"slug": {core.Taken("slug")}})
	}
	if err != nil {
		return core.Tenant{}, err
	}
	zone, err := Zone(n.TimeZone)
	if err != nil {
		return core.Tenant{}, err
	}
	return core.Tenant{
		ID: core.TenantID(id), Name: n.Name, Slug: n.Slug, TimeZone: zone, Currency: n.Currency, Country: n.Country,
	}, nil
}

type row struct {
	ID       core.TenantID
	Name     string
	Slug     string
	Timezone string
	Currency string
	Country  string
}

// BySlug finds a tenant by the label in front of the host.
func BySlug(ctx context.Context, d *db.DB, slug string) (core.Tenant, error) {
	return read(db.PlatformOne[row](ctx, d, bySlugSQL, db.Args{"slug": slug}))
}

// ByID finds a tenant, for jobs.
func ByID(ctx context.Context, d *db.DB, id core.TenantID) (core.Tenant, error) {
	return read(db.PlatformOne[row](ctx, d, byIDSQL, db.Args{"id": int64(id)}))
}

func read(r row, err error) (core.Tenant, error) {
	if err != nil {
		return core.Tenant{}, err
	}
	zone, err := Zone(r.Timezone)
	return core.Tenant{ID: r.ID, Name: r.Name, Slug: r.Slug, TimeZone: zone, Currency: r.Currency, Country: r.Country}, err
}

// SetStatus suspends a tenant or lets it in again, in the caller's transaction.
func SetStatus(ctx context.Context, tx *db.Tx, id core.TenantID, to Status) error {
	touched, err := db.Exec(ctx, tx, setStatusSQL, db.Args{"id": int64(id), "status": to})
	if err == nil && touched == 0 {
		return core.ErrNotFound
	}
	return err
}
