// Package loyalty makes the product's services, once for the process, the commands and the tests.
package loyalty

import (
	"log/slog"
	"time"

	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/change"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/core/walkin"
)

// Services are all use cases on one database.
type Services struct {
	Audit         *audit.Service
	Auth          *auth.Service
	Billing       *billing.Service
	Changes       *change.Service
	Checks        *verify.Service
	Coupons       *coupon.Service
	Customers     *customer.Service
	Days          *daily.Service
	Deprecations  *deprecation.Service
	Imports       *importing.Service
	Levels        *level.Service
	Links         link.Maker
	Live          *live.Hub
	Locations     *location.Service
	Merging       *merging.Service
	Notifications *notification.Service
	Operations    *operation.Service
	Privacy       *privacy.Service
	Programme     *programme.Service
	Promotions    *promotion.Service
	Reports       *report.Service
	Rewards       *reward.Service
	Staff         *staff.Service
	Tenants       *tenant.Service
	TokenMeter    *token.Meter
	Tokens        *token.Service
	Transactions  *transaction.Service
	Usage         *usage.Meter
	Walkins       *walkin.Service
	Weekly        *notification.Weekly

	db    *db.DB
	mails Mails
}

// Mails has the words of every e-mail, and queues them.
type Mails interface {
	auth.Mails
	billing.Mails
	coupon.Mails
	deprecation.Mails
	notification.Mails
	programme.Mails
	tenant.Mails
	token.Mails
	walkin.Mails
}

// Options has what only a process that serves needs. The zero value is for one alone.
type Options struct {
	Direct     *db.DB                      // the database of the queue, without a transaction pooler; nil: the same
	Host       string                      // of the base URL
	AddressKey func(address string) string // of an address, by which limits count it
	Redis      *limit.Redis                // nil: the process counts limits for itself
	Log        *slog.Logger
}

// New makes the services, and registers the handlers of their jobs. A queue has room for one set of services. Without
// mails, use cases that send one panic.
func New(d *db.DB, jobs *job.Queue, mails Mails, keys vault.Keys, o Options) *Services {
	if o.Direct == nil {
		o.Direct = d
	}
	if o.AddressKey == nil {
		o.AddressKey = func(address string) string { return address }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	links := link.New(keys)
	s := &Services{
		Audit:         audit.NewService(d),
		Auth:          auth.NewService(d, jobs, mails, keys, o.AddressKey, o.Log),
		Billing:       billing.NewService(d, jobs, mails, o.Log),
		Checks:        verify.NewService(d, jobs, o.Log),
		Coupons:       coupon.NewService(d, jobs, mails, links, o.Log),
		Customers:     customer.NewService(d),
		Days:          daily.NewService(d, jobs),
		Deprecations:  deprecation.NewService(d, jobs, mails, o.Log),
		Imports:       importing.NewService(d, jobs),
		Levels:        level.NewService(d, jobs),
		Links:         links,
		Live:          live.NewHub(o.Log),
		Locations:     location.NewService(d),
		Merging:       merging.NewService(d),
		Notifications: notification.NewService(d),
		Operations:    operation.NewService(o.Direct, jobs),
		Privacy:       privacy.NewService(d),
		Programme:     programme.NewService(d, jobs, mails, links),
		Promotions:    promotion.NewService(d),
		Reports:       report.NewService(d),
		Rewards:       reward.NewService(d),
		Tenants:       tenant.NewService(d, mails),
		TokenMeter:    token.NewMeter(d, o.Log),
		Tokens:        token.NewService(d, jobs, mails),
		Transactions:  transaction.NewService(d),
		Usage:         usage.NewMeter(d),

		db: d, mails: mails,
	}
	s.Changes = change.NewService(d, s.Customers, s.Rewards, s.Transactions)
	s.Auth.Host = o.Host
	s.Staff = staff.NewService(d, mails, s.Auth)
	s.Walkins = walkin.NewService(d, jobs, mails, keys, s.Transactions, o.AddressKey)
	s.Weekly = notification.NewWeekly(d, jobs, mails, links, s.Reports)
	s.Coupons.ShareLimits(o.Redis)
	s.Walkins.ShareLimits(o.Redis)
	s.Customers.ShareMeter(s.Usage)
	s.Walkins.ShareMeter(s.Usage)
	return s
}

// At returns the services at another time, for records that are dated in the past. Those that it doesn't name stay in
// the present, and so do jobs.
func (s *Services) At(instant time.Time) *Services {
	d, then := s.db.At(instant), *s
	then.db = d
	then.Billing, then.Coupons = s.Billing.At(instant), s.Coupons.At(instant)
	then.Customers = customer.NewService(d)
	then.Imports = s.Imports.At(instant)
	then.Levels = s.Levels.At(instant)
	then.Locations = location.NewService(d)
	then.Programme = s.Programme.At(instant)
	then.Promotions = promotion.NewService(d)
	then.Rewards = reward.NewService(d)
	then.Tenants = tenant.NewService(d, s.mails)
	then.Transactions = s.Transactions.At(instant)
	then.Walkins = s.Walkins.At(instant)
	return &then
}
