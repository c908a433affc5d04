package shoptest

import (
	"context"
	"fmt"
	"html"
	"log/slog"
	"regexp"
	"slices"
	"sync"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/walkin"
)

// Mails queues e-mails that list their fields instead of having words.
type Mails struct {
	*mail.Service
	*Inbox
}

// NewMails returns the e-mails of an installation without a mail server.
func NewMails(d *db.DB, jobs *job.Queue) Mails {
	return Mails{mail.New(d, jobs, nil, slog.New(slog.DiscardHandler)), &Inbox{}}
}

// expiryFields are in every tenant, and name days that don't exist.
var expiryFields = regexp.MustCompile(` (Points|Stamps)Expiry:\{[^}]*\}`)

// Inbox keeps the e-mails that were rendered, by recipient.
type Inbox struct {
	mu     sync.Mutex
	emails map[string][]any
}

// To returns the e-mails to an address.
func (b *Inbox) To(address string) []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.emails[address])
}

// The e-mails of core.

func (b *Inbox) Card(to string, e walkin.CardEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) CredentialChange(to string, e auth.ChangeEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Deprecation(to string, e deprecation.NoticeEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) ExpiringTokens(to string, e token.ExpiryEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) ExpiryNotice(to string, e programme.NoticeEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Invitation(to string, e auth.InvitationEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Invoice(to string, e billing.InvoiceEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) NewTokens(to string, e token.CreatedEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) PasswordReset(to string, e auth.ResetEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) SendResult(to string, e coupon.SendResultEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Setup(to string, e tenant.SetupEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Suspension(to string, e tenant.SuspensionEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Voucher(to string, e coupon.VoucherEmail) mail.Email { return listed{b, to, e} }

func (b *Inbox) Weekly(to string, e notification.WeeklyEmail) mail.Email { return listed{b, to, e} }

// listed is an e-mail whose text lists its fields.
type listed struct {
	inbox *Inbox
	to    string
	email any
}

// Render keeps the e-mail in the inbox.
func (l listed) Render(context.Context) (mail.Rendered, error) {
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	if l.inbox.emails == nil {
		l.inbox.emails = map[string][]any{}
	}
	l.inbox.emails[l.to] = append(l.inbox.emails[l.to], l.email)
	fields := expiryFields.ReplaceAllString(fmt.Sprintf("%+v", l.email), "")
	return mail.Rendered{
		To: l.to, Subject: fmt.Sprintf("%T", l.email), Text: fields,
		HTML: "<html><head></head><body>" + html.EscapeString(fields) + "</body></html>",
	}, nil
}
