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

// ErrLink refuses a link that is unknown, used, withdrawn or expired. The four look the same.
var ErrLink = &core.Error{Kind: core.KindNotFound, Message: "This link no longer works. Each link works once, for a limited time."}

// ResetEmail lets a person who forgot their password choose another one. Only the mail has the
// secret; a hash of it is stored.
type ResetEmail struct {
	Tenant    string // name of the business
	Slug      string // of its host
	Person    string
	Secret    string
	Address   string // of the client that asked
	ExpiresAt time.Time
}

// ResetRequest is the job that mails the link. It is a job so that the request takes as long for an
// address without an account.
type ResetRequest struct {
	Tenant    core.TenantID `json:"tenant"`
	Email     string        `json:"email"`
	Address   string        `json:"address"`
	RequestID string        `json:"request_id"`
}

// Kind names the job in the queue.
func (ResetRequest) Kind() string { return "password_forgotten" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (f ResetRequest) ForTenant() core.TenantID { return f.Tenant }

// RequestReset queues a link to the person of the visitor's tenant with an e-mail address. The
// result doesn't tell whether there is one. Super-admins can't reset their password: core.ErrRole.
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
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		if _, _, err := s.admitByEmail(ctx, tx, by, v, forgotLimits, key); err != nil {
			return err
		}
		return s.jobs.Add(ctx, tx, ResetRequest{Tenant: v.Tenant.ID, Email: key, Address: v.Address, RequestID: v.RequestID})
	})
}

// resetRecipient is a person who may reset their password, and their business.
type resetRecipient struct {
	Person
	Invited    bool // they have no password to forget
	TenantName string
	TenantSlug string
}

// SendReset runs the job of RequestReset. A person who has not accepted their invitation is invited
// again, in case it expired.
func (s *Service) SendReset(ctx context.Context, f ResetRequest) error {
	by := core.System(core.Tenant{ID: f.Tenant}, "forgotten password")
	by.Address, by.RequestID = f.Address, f.RequestID
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		p, err := db.One[resetRecipient](ctx, tx, resetRecipientSQL, db.Args{"email_key": f.Email})
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		t := core.Tenant{ID: f.Tenant, Name: p.TenantName, Slug: p.TenantSlug}
		if p.Invited {
			return Invite(ctx, tx, by, s.mails, t, p.Person)
		}
		secret, hash := newLink()
		expires := tx.Now.Add(ResetLifetime)
		err = db.Queue(tx, addResetSQL, db.Args{
			"id": core.NewID(tx.Now), "staff": p.ID, "hash": hash, "expires_at": expires, "now": tx.Now,
		})
		if err != nil {
			return err
		}
		err = audit.Write(tx, by, audit.Entry{
			Action: "staff.forgot_password", Subject: "staff", ID: idText(p.ID), Name: p.Name,
			New: map[string]any{"email": p.Email, "expires_at": expires},
		})
		if err != nil {
			return err
		}
		return s.mails.Queue(ctx, tx, s.mails.PasswordReset(p.Email, ResetEmail{
			Tenant: t.Name, Slug: t.Slug, Person: p.Name, Secret: secret, Address: f.Address, ExpiresAt: expires,
		}))
	})
}

// newLink returns the secret of a new link and its hash.
func newLink() (secret string, hash []byte) {
	secret = rand.Text() // 130 bits, in letters and digits
	return secret, linkHash(secret)
}

func linkHash(secret string) []byte {
	hash := sha256.Sum256([]byte(secret))
	return hash[:]
}

// Link is the person a link was mailed to.
type Link struct {
	Person
	ExpiresAt time.Time
}

// ResetLink is the person a reset was mailed to.
type ResetLink struct {
	Link
	LiveTokens int // their API tokens
}

// FindReset returns the person of a reset's link, or ErrLink.
func (s *Service) FindReset(ctx context.Context, v Visitor, secret string) (ResetLink, error) {
	return findLink[ResetLink](ctx, s, v, findResetSQL, secret)
}

func findLink[T any](ctx context.Context, s *Service, v Visitor, statement, secret string) (T, error) {
	l, err := db.One[T](ctx, s.db.Tenant(v.system("link")), statement, db.Args{"hash": linkHash(secret), "now": s.db.Now()})
	if errors.Is(err, core.ErrNotFound) {
		return l, ErrLink
	}
	return l, err
}

// NewPassword is what a person enters to reset their password.
type NewPassword struct {
	Password     string
	RevokeTokens bool // their API tokens, which may have leaked with the password
}

// Reset sets the password of the person a link was mailed to, signs them out everywhere and mails
// them. Two-step verification stays on: access to the mailbox doesn't prove possession of the phone.
func (s *Service) Reset(ctx context.Context, v Visitor, secret string, n NewPassword) error {
	l, err := s.FindReset(ctx, v, secret)
	if err != nil {
		return err
	}
	if err := s.checkPassword(n.Password, l.Person, v.Tenant); err != nil {
		return err
	}
	hash, err := HashPassword(ctx, v.Tenant.ID, n.Password)
	if err != nil {
		return err
	}
	by := v.As(l.Person)
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		if err := tx.Enter(by.Tenant.ID); err != nil {
			return err
		}
		used, err := db.Exec(ctx, tx, useResetSQL, db.Args{"hash": linkHash(secret), "now": tx.Now})
		if err != nil {
			return err
		}
		if used == 0 {
			return ErrLink
		}
		if err := setPassword(ctx, tx, by, passwordChange{person: l.ID, hash: hash}, audit.Entry{Action: "staff.reset_password", Name: l.Name}); err != nil {
			return err
		}
		if n.RevokeTokens {
			if _, err := token.RevokeAll(ctx, tx, by, l.ID); err != nil {
				return err
			}
		}
		return s.mailChange(ctx, tx, by, l.Person, PasswordReset)
	})
}
