package staff

import (
	"context"
	_ "embed"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

const minPassword = 12

// A hash takes 19 MiB and 25 ms of a core: as many at once as there are cores, or a
// crowd at the sign-in page would take the memory of the tills.
var hashing = make(chan struct{}, runtime.GOMAXPROCS(0))

var hashParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

func hashed(ctx context.Context, password string) (*string, error) {
	if password == "" {
		return nil, nil //nolint:nilnil // null in SQL: cannot sign in yet
	}
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	hash, err := argon2id.CreateHash(password, hashParams)
	return &hash, err
}

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

func id(n int64) string { return strconv.FormatInt(n, 10) }
