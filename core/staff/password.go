package staff

import (
	"context"
	_ "embed"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/session"
)

const minPassword = 12

// A hash takes 19 MiB and 25 ms of a core: as many at once as there are cores, or a
// crowd at the sign-in page would take the memory of the tills.
var hashing = make(chan struct{}, runtime.GOMAXPROCS(0))

var hashParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hashed is what is stored of a password.
func hashed(ctx context.Context, password string) (*string, error) {
	if password == "" {
		return nil, nil //nolint:nilnil // null in SQL: cannot sign in yet
	}
	if err := begin(ctx); err != nil {
		return nil, err
	}
	defer end()
	hash, err := argon2id.CreateHash(password, hashParams)
	return &hash, err
}

// noHash is of no password. It is compared with where there is none: whether there is
// one must not be told by the time that it takes.
const noHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// matches reports whether a hash is of the password. That of nothing is not.
func matches(ctx context.Context, password string, hash *string) (bool, error) {
	if err := begin(ctx); err != nil {
		return false, err
	}
	defer end()
	compared := noHash
	if hash != nil {
		compared = *hash
	}
	right, err := argon2id.ComparePasswordAndHash(password, compared)
	return right && hash != nil, err
}

func begin(ctx context.Context) error {
	select {
	case hashing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func end() { <-hashing }

// Long enough, and still what everybody tries first.
//
//go:embed common_passwords.txt
var commonPasswords string

// weakness says what is wrong with a password, or "".
func weakness(password, email string) string {
	lower := strings.ToLower(password)
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return "The password field must be at least " + strconv.Itoa(minPassword) + " characters."
	case len(password) > 1024:
		return "The password field must not be greater than 1024 characters."
	case strings.Contains("\n"+commonPasswords+"\n", "\n"+lower+"\n") || lower == strings.ToLower(email) || fewCharacters(lower):
		return "The password is too easy to guess. Please choose a different one."
	}
	return ""
}

// fewCharacters is "aaaaaaaaaaaa" and "abcabcabcabc".
func fewCharacters(s string) bool {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen) < 4
}

// strong refuses a password that is too weak.
func strong(password, email string) error {
	if problem := weakness(password, email); problem != "" {
		return core.Invalid(core.Fields{"password": {problem}})
	}
	return nil
}

// ChangePassword sets the actor's password, who says the present one once more, signs them
// out everywhere and mails them so. The proof signs them in again where they are.
func (s *Service) ChangePassword(ctx context.Context, by core.Actor, current, password string) (session.Proof, error) {
	who, err := s.own(ctx, by)
	if err != nil {
		return session.Proof{}, err
	}
	if err := strong(password, who.Email); err != nil {
		return session.Proof{}, err
	}
	try := confirmAttempt(by)
	if err := s.admitted(ctx, by, try); err != nil {
		return session.Proof{}, err
	}
	right, err := matches(ctx, current, who.PasswordHash)
	if err != nil {
		return session.Proof{}, err
	}
	if !right {
		return session.Proof{}, errCurrent
	}
	hash, err := hashed(ctx, password)
	if err != nil {
		return session.Proof{}, err
	}
	return db.Platform(ctx, s.db, by, func(tx *db.Tx) (session.Proof, error) {
		if err := forgive(tx, []attempt{try}, nil); err != nil {
			return session.Proof{}, err
		}
		if err := tx.Enter(by.Tenant.ID); err != nil {
			return session.Proof{}, err
		}
		err := setPassword(ctx, tx, by, who.PasswordHash, *hash, audit.Entry{Action: "staff.change_password"})
		if err != nil {
			return session.Proof{}, err
		}
		return session.Proof{StaffID: who.ID, At: tx.Now, Code: true}, s.tell(ctx, tx, by, who.person(), PasswordChanged)
	})
}

var errCurrent = core.Invalid(core.Fields{"current_password": {"This is not your present password."}})

// setPassword sets the password of the actor's person, if the old one is still that one,
// ends their sessions, withdraws what else would set one, and writes the entry into the
// log. In a transaction that sees their tenant.
func setPassword(ctx context.Context, tx *db.Tx, by core.Actor, old *string, hash string, e audit.Entry) error {
	set, err := db.Exec(ctx, tx, setPasswordSQL, db.Args{"id": by.StaffID, "old": old, "hash": hash, "now": tx.Now})
	if err != nil {
		return err
	}
	if set == 0 {
		return core.ErrNotFound // shut out, or set by somebody else, meanwhile
	}
	e.Subject, e.ID = "staff", by.ID
	return errors.Join(
		session.EndAll(tx, by.StaffID),
		db.Queue(tx, withdrawResetsSQL, db.Args{"id": by.StaffID, "now": tx.Now}),
		db.Queue(tx, withdrawInvitationsSQL, db.Args{"id": by.StaffID, "now": tx.Now}),
		audit.Write(tx, by, e),
	)
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
