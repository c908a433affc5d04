package auth

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

// DeleteOldAttempts runs the hourly job.
func (s *Service) DeleteOldAttempts(ctx context.Context) error {
	return s.deleteOldAttempts(ctx, deleteOldAttempts{})
}

// DeleteOldSessions runs the hourly job.
func (s *Service) DeleteOldSessions(ctx context.Context) error {
	return s.deleteOldSessions(ctx, deleteOldSessions{})
}

// DeleteOldLinks runs the hourly job.
func (s *Service) DeleteOldLinks(ctx context.Context) error {
	return s.deleteOldLinks(ctx, deleteOldLinks{})
}

// NoHash is compared with passwords where there is no hash.
const NoHash = noHash

// HashParams are the parameters of all hashes.
var HashParams = hashParams

// HashPlaces returns the number of passwords hashed at once.
func HashPlaces() int { return hashPlaces }

// HoldHashing blocks hashing until it is released.
func HoldHashing(ctx context.Context) (release func(), err error) {
	var held []func()
	release = func() {
		for _, leave := range held {
			leave()
		}
	}
	for i := range hashPlaces {
		leave, err := hashing.Enter(ctx, core.TenantID(-1-i)) // not a tenant's id
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, leave)
	}
	return release, nil
}

// HashImpatiently sets how long callers wait to hash a password, until end is called.
func HashImpatiently(wait time.Duration) (end func()) {
	before := hashing
	hashing = limit.NewGate(hashPlaces, max(1, hashPlaces/2), wait, busyHashing)
	return func() { hashing = before }
}

// CommonPasswords returns the number of common passwords.
func CommonPasswords() int { return len(common()) }
