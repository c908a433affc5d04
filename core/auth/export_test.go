package auth

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

// ForgetAttempts does the hourly job.
func (s *Service) ForgetAttempts(ctx context.Context) error {
	return s.forgetAttempts(ctx, forgetAttempts{})
}

// ForgetSessions does the hourly job.
func (s *Service) ForgetSessions(ctx context.Context) error {
	return s.forgetSessions(ctx, forgetSessions{})
}

// ForgetLinks does the hourly job.
func (s *Service) ForgetLinks(ctx context.Context) error { return s.forgetLinks(ctx, forgetLinks{}) }

// NoHash is what a password is compared with where there is none.
const NoHash = noHash

// HashParams are those of every password.
var HashParams = hashParams

// HashPlaces is how many passwords are hashed at once.
func HashPlaces() int { return hashPlaces }

// HoldHashing lets nobody hash a password until it is released.
func HoldHashing(ctx context.Context) (release func(), err error) {
	var held []func()
	release = func() {
		for _, leave := range held {
			leave()
		}
	}
	for i := range hashPlaces {
		leave, err := hashing.Enter(ctx, core.TenantID(-1-i)) // no tenant's
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

// CommonPasswords is how many passwords are refused because they are common.
func CommonPasswords() int { return len(common()) }
