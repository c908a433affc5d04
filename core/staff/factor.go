package staff

import (
	"context"
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ErrFactorOn is a second factor that is in use already: who could set up another one
// without turning it off first would need neither password nor code.
var ErrFactorOn = core.Refuse("second-factor-on", "The second factor is on already. Turn it off first to set it up anew.")

// Factor is how a person's second factor stands.
type Factor struct {
	On            bool
	Begun         bool // it is being set up
	RecoveryCodes int  // that are left
}

// Setup is what a person gives their authenticator app.
type Setup struct {
	Secret string
	URI    string // the same as an address, for a QR code
}

// Factor tells how the actor's second factor stands. One round trip.
func (s *Service) Factor(ctx context.Context, by core.Actor) (Factor, error) {
	return db.ReadOne[Factor](ctx, s.db, by, factorSQL, db.Args{"id": by.StaffID})
}

// BeginFactor makes a secret for the actor's second factor, which is off until a code
// confirms that the app has it. Begun again, the secret is another one.
func (s *Service) BeginFactor(ctx context.Context, by core.Actor) (Setup, error) {
	secret := NewTOTPSecret()
	sealed, err := s.keys.Seal(totpPurpose, id(by.StaffID), secret)
	if err != nil {
		return Setup{}, err
	}
	email, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (string, error) {
		email, err := db.Value[string](ctx, tx, beginFactorSQL, db.Args{"id": by.StaffID, "secret": sealed})
		if errors.Is(err, core.ErrNotFound) {
			return "", ErrFactorOn
		}
		return email, err
	})
	if err != nil {
		return Setup{}, err
	}
	return setup(by.Tenant, email, secret)
}

// BegunFactor is what BeginFactor returned last, to be shown once more: core.ErrNotFound
// where nothing was begun. One round trip.
func (s *Service) BegunFactor(ctx context.Context, by core.Actor) (Setup, error) {
	p, err := db.ReadOne[pending](ctx, s.db, by, pendingFactorSQL, db.Args{"id": by.StaffID})
	if err != nil {
		return Setup{}, err
	}
	secret, err := s.keys.Open(totpPurpose, id(by.StaffID), p.TotpPending)
	if err != nil {
		return Setup{}, err
	}
	return setup(by.Tenant, p.Email, secret)
}

type pending struct {
	Email       string
	TotpPending []byte
}

// setup writes a secret as apps read it. They show the business and the address, with a
// colon between them: it must not stand in either.
func setup(t core.Tenant, email, secret string) (Setup, error) {
	raw, err := base32.StdEncoding.DecodeString(secret)
	if err != nil {
		return Setup{}, err
	}
	plain := strings.NewReplacer(":", " ")
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: plain.Replace(t.Name), AccountName: plain.Replace(email), Secret: raw, Period: uint(step / time.Second),
	})
	if err != nil {
		return Setup{}, err
	}
	return Setup{Secret: secret, URI: key.URL()}, nil
}

// ConfirmFactor turns the second factor on that was begun, by a code that the app shows,
// and returns the recovery codes: they are told this once.
func (s *Service) ConfirmFactor(ctx context.Context, by core.Actor, code string) ([]string, error) {
	p, err := db.ReadOne[pending](ctx, s.db, by, pendingFactorSQL, db.Args{"id": by.StaffID})
	if err != nil {
		return nil, err
	}
	number, found, err := s.stepOf(account{ID: by.StaffID}, p.TotpPending, compact(code), s.db.Now())
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errCode("code")
	}
	codes, hashes := newRecoveryCodes()
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) ([]string, error) {
		touched, err := db.Exec(ctx, tx, confirmFactorSQL, db.Args{"id": by.StaffID, "pending": p.TotpPending, "step": number})
		if err != nil {
			return nil, err
		}
		if touched == 0 {
			return nil, core.ErrNotFound // begun again, or confirmed, meanwhile
		}
		if err := replaceRecoveryCodes(tx, by.StaffID, hashes); err != nil {
			return nil, err
		}
		return codes, audit.Write(tx, by, audit.Entry{Action: "staff.enrol_totp", Subject: "staff", ID: id(by.StaffID)})
	})
}

func replaceRecoveryCodes(tx *db.Tx, person int64, hashes [][]byte) error {
	return errors.Join(
		db.Queue(tx, dropRecoveryCodesSQL, db.Args{"id": person}),
		db.Queue(tx, addRecoveryCodesSQL, db.Args{"id": person, "hashes": hashes}),
	)
}

// RenewRecoveryCodes makes the actor new recovery codes instead of those they have.
// confirmation is their password, or a code of their app.
func (s *Service) RenewRecoveryCodes(ctx context.Context, by core.Actor, confirmation string) ([]string, error) {
	codes, hashes := newRecoveryCodes()
	return codes, s.confirmed(ctx, by, confirmation, func(tx *db.Tx) error {
		if err := replaceRecoveryCodes(tx, by.StaffID, hashes); err != nil {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "staff.renew_recovery_codes", Subject: "staff", ID: id(by.StaffID)})
	})
}

// DisableFactor turns the actor's second factor off, and mails them so. confirmation is
// their password, or a code of their app.
func (s *Service) DisableFactor(ctx context.Context, by core.Actor, confirmation string) error {
	return s.confirmed(ctx, by, confirmation, func(tx *db.Tx) error { return s.dropFactor(ctx, tx, by, by.StaffID) })
}

// DropFactor turns the second factor of a person off who lost it, so that they can sign
// in and set it up anew, and mails them so.
func (s *Service) DropFactor(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, s.dropFactor(ctx, tx, by, person) })
	return err
}

// dropFactor is core.ErrNotFound where there is none.
func (s *Service) dropFactor(ctx context.Context, tx *db.Tx, by core.Actor, person int64) error {
	p, err := db.One[Person](ctx, tx, dropFactorSQL, db.Args{"id": person})
	if err != nil {
		return err
	}
	err = errors.Join(
		db.Queue(tx, dropRecoveryCodesSQL, db.Args{"id": person}),
		audit.Write(tx, by, audit.Entry{Action: "staff.drop_totp", Subject: "staff", ID: id(person)}),
	)
	if err != nil {
		return err
	}
	return s.tell(ctx, tx, by, p, FactorOff)
}

// confirmed does something about the actor's second factor after they showed once more
// that it is them: whoever finds a signed-in browser must not turn it off.
func (s *Service) confirmed(ctx context.Context, by core.Actor, confirmation string, fn func(tx *db.Tx) error) error {
	who, err := s.own(ctx, by)
	if err != nil {
		return err
	}
	if who.TotpSecret == nil {
		return core.ErrNotFound
	}
	try := confirmAttempt(by)
	if err := s.admitted(ctx, by, try); err != nil {
		return err
	}
	isCode := isOfApp(compact(confirmation)) // passwords are longer
	right := false
	if !isCode {
		if right, err = matches(ctx, confirmation, who.PasswordHash); err != nil {
			return err
		}
	}
	right, err = db.Platform(ctx, s.db, by, func(tx *db.Tx) (bool, error) {
		if isCode {
			kind, err := s.take(ctx, tx, who, confirmation)
			if err != nil || kind == "" {
				return false, err
			}
		} else if !right {
			return false, nil
		}
		if err := forgive(tx, []attempt{try}, nil); err != nil {
			return false, err
		}
		if err := tx.Enter(by.Tenant.ID); err != nil {
			return false, err
		}
		return true, fn(tx)
	})
	if err != nil {
		return err
	}
	if !right {
		return core.Invalid(core.Fields{"confirmation": {"This is neither your password nor a code that is valid now."}})
	}
	return nil
}

// confirmAttempt is how often a signed-in person may say their password again.
func confirmAttempt(by core.Actor) attempt {
	return try("confirm as", id(by.StaffID), 10, 15*time.Minute)
}

// own is what is known of the actor's person. One round trip.
func (s *Service) own(ctx context.Context, by core.Actor) (account, error) {
	return db.ReadOne[account](ctx, s.db, by, accountSQL, db.Args{"id": by.StaffID})
}
