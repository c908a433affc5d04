package coupon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
)

// Mails queues this package's e-mails, or sends them at once. Their words are in web/email.
type Mails interface {
	Queue(ctx context.Context, tx *db.Tx, e mail.Email) error
	Courier(ctx context.Context) (*mail.Courier, error)
	Voucher(to string, e VoucherEmail) mail.Email
	SendResult(to string, e SendResultEmail) mail.Email
}

// VoucherEmail mails a voucher to its customer.
type VoucherEmail struct {
	Tenant     core.Tenant
	Branding   tenant.Branding
	Subject    string
	Message    string // "" for none
	FirstName  string
	Benefit    Benefit
	RewardName *string    // of a reward benefit
	ExpiresAt  *time.Time // nil: never
	LevelName  *string    // the lowest level whose customers can redeem it; nil: all

	// The tokens of the links to the voucher and to unsubscribing; "" in a sample.
	Voucher     string
	Unsubscribe string
}

// SendResultEmail tells the person who confirmed a send its result.
type SendResultEmail struct {
	Tenant  core.Tenant
	Person  string
	Coupon  string // its name
	Sending Sending
}

// sampleEmail returns the e-mail of a send before it is sent, addressed to its sender.
func (s *Service) sampleEmail(ctx context.Context, by core.Actor, coupon core.ID, send Send) (VoucherEmail, error) {
	c, err := s.Find(ctx, by, coupon)
	if err != nil {
		return VoucherEmail{}, err
	}
	branding, err := tenant.BrandingOf(ctx, s.db, by)
	if err != nil {
		return VoucherEmail{}, err
	}
	check := core.NewCheck(send.Malformed)
	firstName, _, _ := strings.Cut(by.Name, " ")
	l := VoucherEmail{
		Tenant: by.Tenant, Branding: branding, FirstName: firstName,
		Benefit: c.Benefit, RewardName: c.RewardName, LevelName: c.LevelName, ExpiresAt: c.VoucherExpiry(s.db.Now(), by.Tenant.TimeZone),
	}
	l.Subject, l.Message = send.emailText(check, c.Coupon)
	if send.At != nil {
		l.ExpiresAt = c.VoucherExpiry(*send.At, by.Tenant.TimeZone)
	}
	return l, check.Err()
}

// PreviewMail renders the e-mail of a send as a customer would get it, with the sender's first name
// and a link that opens no voucher.
func (s *Service) PreviewMail(ctx context.Context, by core.Actor, coupon core.ID, send Send) (mail.Rendered, error) {
	if err := by.Require(core.Manager); err != nil {
		return mail.Rendered{}, err
	}
	e, err := s.sampleEmail(ctx, by, coupon, send)
	if err != nil {
		return mail.Rendered{}, err
	}
	return s.mails.Voucher(by.Name, e).Render(ctx)
}

// TestMail is the job that sends a person a test of a send's e-mail.
type TestMail struct {
	Mail    core.ID       `json:"mail"`
	Tenant  core.TenantID `json:"tenant"`
	Coupon  core.ID       `json:"coupon"`
	Staff   int64         `json:"staff"`
	Subject string        `json:"subject"`
	Message string        `json:"message"`
}

// Kind names the job in the queue.
func (TestMail) Kind() string { return "coupon_test_mail" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (t TestMail) ForTenant() core.TenantID { return t.Tenant }

// The limit of test mails for each person.
const (
	testMails      = 20
	testMailWindow = time.Hour
)

// SendTest mails the actor what customers would get, and returns the actor's address.
func (s *Service) SendTest(ctx context.Context, by core.Actor, coupon core.ID, send Send) (address string, err error) {
	if err := by.Require(core.Manager); err != nil {
		return "", err
	}
	l, err := s.sampleEmail(ctx, by, coupon, send)
	if err != nil {
		return "", err
	}
	if v := s.tests.Take(fmt.Sprint(by.Tenant.ID, " ", by.StaffID)); !v.Allowed {
		return "", &core.Error{Kind: core.KindThrottled, Message: fmt.Sprintf(
			"You have sent %d test e-mails within an hour. Try again in %d minutes.", v.Limit, 1+int(v.Wait/time.Minute))}
	}
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (string, error) {
		who, err := db.One[recipient](ctx, tx, staffSQL, db.Args{"id": by.StaffID})
		if err != nil {
			return "", err
		}
		return who.Email, s.jobs.Add(ctx, tx, TestMail{
			Mail: core.NewID(tx.Now), Tenant: by.Tenant.ID, Coupon: coupon, Staff: by.StaffID, Subject: l.Subject, Message: l.Message,
		})
	})
}

// recipient is a staff member who gets a mail.
type recipient struct{ Name, Email string }

func (s *Service) sendTest(ctx context.Context, j TestMail) error {
	t, err := db.FindTenant(ctx, s.db, j.Tenant)
	if err != nil {
		return err
	}
	by := core.System(t, "coupon test mail")
	who, err := db.One[recipient](ctx, s.db.Tenant(by), staffSQL, db.Args{"id": j.Staff})
	if errors.Is(err, core.ErrNotFound) {
		return nil // they left meanwhile
	}
	if err != nil {
		return err
	}
	by.Name = who.Name
	e, err := s.sampleEmail(ctx, by, j.Coupon, Send{Subject: &j.Subject, Message: &j.Message})
	if err != nil {
		return err
	}
	m, err := mail.NewMail(ctx, j.Mail, s.mails.Voucher(who.Email, e))
	if err != nil {
		return err
	}
	courier, err := s.mails.Courier(ctx)
	if err != nil {
		return err
	}
	defer courier.Close()
	tried := courier.Deliver(ctx, m, false)
	switch tried.Outcome {
	case mail.Kept:
		return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error { return mail.Keep(tx, m) })
	case mail.Refused:
		return nil // a retry would not help
	}
	return tried.Err
}

// voucherMail renders the e-mail of one voucher.
func (s *Service) voucherMail(ctx context.Context, about mailing, to queuedMail) (mail.Mail, error) {
	e := about.VoucherEmail
	e.FirstName, e.ExpiresAt = to.FirstName, to.ExpiresAt
	var err error
	if e.Voucher, err = s.links.Token(link.Voucher, about.Tenant.ID, to.VoucherID, to.LinkVersion); err != nil {
		return mail.Mail{}, err
	}
	if e.Unsubscribe, err = s.links.Token(link.Unsubscribe, about.Tenant.ID, to.CustomerID, 0); err != nil {
		return mail.Mail{}, err
	}
	return mail.NewMail(ctx, to.VoucherID, s.mails.Voucher(*to.Email, e))
}
