package auth

import (
	"context"
	"runtime"
	"time"

	"github.com/alexedwards/argon2id"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

var hashParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// A hash takes 19 MiB and 25 ms of a core. At most half of the cores hash at once, so that a crowd
// at one sign-in page doesn't slow down every till. One tenant gets at most half of these places.
var (
	hashPlaces = max(1, runtime.GOMAXPROCS(0)/2)
	hashing    = limit.NewGate(hashPlaces, max(1, hashPlaces/2), hashPatience, busyHashing)
)

const (
	hashPatience = 10 * time.Second
	busyHashing  = "Many people are signing in right now. Try again in a few seconds."
)

// HashPassword hashes a password of a person of a tenant (0: of the platform). It is slow: call it
// outside of transactions where possible. If too many wait to hash, the error is of
// core.KindUnavailable and says when to try again.
func HashPassword(ctx context.Context, t core.TenantID, password string) (string, error) {
	leave, err := hashing.Compute(ctx, t)
	if err != nil {
		return "", err
	}
	defer leave()
	return argon2id.CreateHash(password, hashParams)
}

// noHash belongs to no password. It is compared where there is no hash, so that the time doesn't
// tell whether there is one.
const noHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// passwordMatches reports whether a hash is that of the password. Without a hash, none matches.
func passwordMatches(ctx context.Context, t core.TenantID, password string, hash *string) (bool, error) {
	leave, err := hashing.Compute(ctx, t)
	if err != nil {
		return false, err
	}
	defer leave()
	compared := noHash
	if hash != nil {
		compared = *hash
	}
	right, err := argon2id.ComparePasswordAndHash(password, compared)
	return right && hash != nil, err
}
