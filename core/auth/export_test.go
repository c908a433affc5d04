package auth

import "context"

// ForgetAttempts does the hourly job.
func (s *Service) ForgetAttempts(ctx context.Context) error {
	return s.forgetAttempts(ctx, forgetAttempts{})
}

// ForgetSessions does the hourly job.
func (s *Service) ForgetSessions(ctx context.Context) error {
	return s.forgetSessions(ctx, forgetSessions{})
}

// NoHash is what a password is compared with where there is none.
const NoHash = noHash

// HashParams are those of every password.
var HashParams = hashParams

// HoldHashing lets nobody hash a password until it is released.
func HoldHashing() (release func()) {
	for range cap(hashing) {
		hashing <- struct{}{}
	}
	return func() {
		for range cap(hashing) {
			<-hashing
		}
	}
}

// CommonPasswords is how many passwords are refused because they are common.
func CommonPasswords() int { return len(common()) }
