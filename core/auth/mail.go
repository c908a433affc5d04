package auth

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// Mails queues this package's e-mails. Their words are in web/email.
type Mails interface {
	Inviter
	PasswordReset(to string, e ResetEmail) mail.Email
	CredentialChange(to string, e ChangeEmail) mail.Email
}

// Change is a change of a person's credential.
type Change int

// The changes that a person is mailed about.
const (
	PasswordChanged Change = iota + 1 // with the current password
	PasswordReset                     // by a link in an e-mail
	PasswordSet                       // by the operator of the platform
	TwoFactorOn
	TwoFactorRenewed // with another authenticator app
	TwoFactorOff
	RecoveryCodesRenewed
)

// ChangeEmail tells a person that their credential was changed, in case it wasn't them.
type ChangeEmail struct {
	Change  Change
	Tenant  string // name of the business, or "" for the platform
	Slug    string // of its host
	Person  string
	By      string // name of another person who changed it; "": the person themselves
	Address string // of the client
	At      time.Time
}

// mailChange mails a person a change, in its transaction.
func (s *Service) mailChange(ctx context.Context, tx *db.Tx, by core.Actor, p Person, change Change) error {
	e := ChangeEmail{Change: change, Tenant: by.Tenant.Name, Slug: by.Tenant.Slug, Person: p.Name, Address: by.Address, At: tx.Now}
	if by.StaffID != p.ID {
		e.By = by.Name
	}
	return s.mails.Queue(ctx, tx, s.mails.CredentialChange(p.Email, e))
}
