package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/token"
)

// ResetLifetime is how long the link of a password reset works (decisions §1).
const ResetLifetime = 60 * time.Minute

// ErrLink is a link that does not work: unknown, used, withdrawn or expired. The four
// must look the same.
var ErrLink = &core.Error{Kind: core.KindNotFound, Message: "This link no longer works. Each link works once, for a limited time."}

// ResetEmail lets a person who forgot their password choose another one. Its secret is
// told in the mail alone: what is stored of it is a hash.
type ResetEmail struct {
	Tenant    string // name of the business
	Slug      string // of its host
	Person    string
	Secret    string
	Address   string // from which it was asked for
	ExpiresAt time.Time
}

// ResetRequest is the job that mails the link: in a job, so that asking takes as long for
// an address without an account.
type ResetRequest struct {
	Tenant    core.TenantID `json:"tenant"`
	Email     string        `json:"email"`
	Address   string        `json:"address"`
	RequestID string        `json:"request_id"`
}

// Kind names the job in the queue.
func (ResetRequest) Kind() string { return "password_forgotten" }

// ForTenant is the tenant whose share of the workers it uses.
func (f ResetRequest) ForTenant() core.TenantID { return f.Tenant }

// RequestReset has a link mailed with which a person of the visitor's tenant chooses another
// password, if there is such a person: what it returns does not tell. Super-admins have no
// such link: core.ErrRole.
func (s *Service) RequestReset(ctx context.Context, v Visitor, email string) error {
	if v.Tenant.ID == 0 {
		return core.ErrRole
	}
	check := core.NewCheck(nil)
	check.Text("email", &email, 255)
	key := EmailKey(email)
	if key == "" && check.OK("email") {
		check.Add("email", core.MustBeEmail)
	}
	if err := check.Err(); err != nil {
		return err
	}
	by := v.system("forgotten password")
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		if _, _, err := s.admitByEmail(ctx, tx, by, v, forgotLimits, key); err != nil {
			return 0, err
		}
		return 0, s.jobs.Add(ctx, tx, ResetRequest{Tenant: v.Tenant.ID, Email: key, Address: v.Address, RequestID: v.RequestID})
	})
	return err
}

// resetRecipient is a person who may reset their password, with what a mail to them names.
type resetRecipient struct {
	Person
	Invited    bool // they have no password to forget
	TenantName string
	TenantSlug string
}

// SendReset does the job that RequestReset queued. A person who has not accepted their
// invitation is invited again: an expired link must not keep them out.
func (s *Service) SendReset(ctx context.Context, f ResetRequest) error {
	by := core.System(core.Tenant{ID: f.Tenant}, "forgotten password")
	by.Address, by.RequestID = f.Address, f.RequestID
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		p, err := db.One[resetRecipient](ctx, tx, forgetfulSQL, db.Args{"email_key": f.Email})
		if errors.Is(err, core.ErrNotFound) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		t := core.Tenant{ID: f.Tenant, Name: p.TenantName, Slug: p.TenantSlug}
		if p.Invited {
			return 0, Invite(ctx, tx, by, s.mail, t, p.Person)
		}
		secret, hash := newLink()
		expires := tx.Now.Add(ResetLifetime)
		err = db.Queue(tx, addResetSQL, db.Args{
			"id": core.NewID(tx.Now), "staff": p.ID, "hash": hash, "expires_at": expires, "now": tx.Now,
		})
		if err != nil {
			return 0, err
		}
		err = audit.Write(tx, by, audit.Entry{
			Action: "staff.forgot_password", Subject: "staff", ID: idText(p.ID), New: map[string]any{"email": p.Email, "expires_at": expires},
		})
		if err != nil {
			return 0, err
		}
		return 0, s.mail.Queue(ctx, tx, p.Email, ResetEmail{
			Tenant: t.Name, Slug: t.Slug, Person: p.Name, Secret: secret, Address: f.Address, ExpiresAt: expires,
		})
	})
	return err
}

// newLink makes the secret of a link, and what is stored of it.
func newLink() (secret string, hash []byte) {
	secret = rand.Text() // 130 bits, in letters and digits
	return secret, linkHash(secret)
}

func linkHash(secret string) []byte {
	hash := sha256.Sum256([]byte(secret))
	return hash[:]
}

// Link is whom a link in a mail is for.
type Link struct {
	Person
	ExpiresAt time.Time
}

// ResetLink is whom the link of a reset is for, and how many live API tokens they have.
type ResetLink struct {
	Link
	LiveTokens int
}

// FindReset tells whom the link of a reset is for, or ErrLink. One round trip.
func (s *Service) FindReset(ctx context.Context, v Visitor, secret string) (ResetLink, error) {
	return findLink[ResetLink](ctx, s, v, findResetSQL, secret)
}

func findLink[T any](ctx context.Context, s *Service, v Visitor, statement, secret string) (T, error) {
	l, err := db.ReadOne[T](ctx, s.db, v.system("link"), statement, db.Args{"hash": linkHash(secret), "now": s.db.Now()})
	if errors.Is(err, core.ErrNotFound) {
		return l, ErrLink
	}
	return l, err
}

// NewPassword is the password that a person chooses by the link of a reset.
type NewPassword struct {
	Password     string
	RevokeTokens bool // also their API tokens, which may have leaked with the password
}

// Reset sets the password of the person whom a link was mailed to, signs them out
// everywhere and mails them. Two-step verification stays on: a mailbox is no phone.
func (s *Service) Reset(ctx context.Context, v Visitor, secret string, n NewPassword) error {
	l, err := s.FindReset(ctx, v, secret)
	if err != nil {
		return err
	}
	if err := checkPassword(n.Password, l.Email, l.Name, v.Tenant.Name); err != nil {
		return err
	}
	hash, err := HashPassword(ctx, v.Tenant.ID, n.Password)
	if err != nil {
		return err
	}
	by := v.As(l.Person)
	_, err = db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		// They may have come here because too many passwords were wrong: those count for the old one.
		if err := tx.Enter(by.Tenant.ID); err != nil {
			return 0, err
		}
		used, err := db.Exec(ctx, tx, useResetSQL, db.Args{"hash": linkHash(secret), "now": tx.Now})
		if err != nil {
			return 0, err
		}
		if used == 0 {
			return 0, ErrLink
		}
		if err := setPassword(ctx, tx, by, newPassword{person: l.ID, hash: hash}, audit.Entry{Action: "staff.reset_password"}); err != nil {
			return 0, err
		}
		if n.RevokeTokens {
			if _, err := token.RevokeAll(ctx, tx, by, l.ID); err != nil {
				return 0, err
			}
		}
		return 0, s.mailChange(ctx, tx, by, l.Person, PasswordReset)
	})
	return err
}
