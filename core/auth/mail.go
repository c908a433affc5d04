package auth

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Change is what was changed about how a person signs in.
type Change int

// The changes that a person is mailed about.
const (
	PasswordChanged  Change = iota + 1 // by a person who gave the one before
	PasswordReset                      // by a link in an e-mail
	PasswordSet                        // by the operator of the platform
	TwoFactorOn                        // for the first time, or again
	TwoFactorRenewed                   // with another authenticator app
	TwoFactorOff
	RecoveryCodesRenewed // by a person who gave the password
)

// ChangeEmail tells a person that the way in which they sign in was changed. It need not have
// been them, and the mailbox may be the only place where they see it.
type ChangeEmail struct {
	Change  Change
	Tenant  string // name of the business, or "" for the platform
	Slug    string // of its host
	Person  string
	By      string // who did it, or "" for the person themselves
	Address string // from which it was done
	At      time.Time
}

// mailChange mails a person what was changed, in the transaction of the change.
func (s *Service) mailChange(ctx context.Context, tx *db.Tx, by core.Actor, p Person, what Change) error {
	l := ChangeEmail{Change: what, Tenant: by.Tenant.Name, Slug: by.Tenant.Slug, Person: p.Name, Address: by.Address, At: tx.Now}
	if by.StaffID != p.ID {
		l.By = by.Name
	}
	return s.mail.Queue(ctx, tx, p.Email, l)
}
