// Package vault seals what is stored and must be read again, such as the secret of a
// second factor: with the installation's secret, which is not in the database. Who
// has only a backup reads nothing.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Keys are made from the installation's secrets: the first seals, all open, so that a
// secret can be replaced without losing what the old one sealed.
type Keys struct{ secrets []string }

// MinSecret is the least length of a secret: an empty or torn one would seal with a key that
// anybody can guess.
const MinSecret = 32

// New takes the secrets of LOYALTY_SECRET: at least one, and each of at least MinSecret
// characters.
func New(secrets []string) (Keys, error) {
	if len(secrets) == 0 {
		return Keys{}, errors.New("vault: there is no secret to seal with")
	}
	for i, secret := range secrets {
		if len(secret) < MinSecret {
			return Keys{}, fmt.Errorf("vault: secret %d has %d characters, fewer than %d", i+1, len(secret), MinSecret)
		}
	}
	return Keys{secrets}, nil
}

// Reseal returns what Seal would write now, or nil where the first secret sealed it already.
// What no secret opens is ErrSealed.
func (k Keys) Reseal(purpose, owner string, sealed []byte) ([]byte, error) {
	if _, err := (Keys{k.secrets[:1]}).Open(purpose, owner, sealed); !errors.Is(err, ErrSealed) {
		return nil, err
	}
	text, err := k.Open(purpose, owner, sealed)
	if err != nil {
		return nil, err
	}
	return k.Seal(purpose, owner, text)
}

// ErrSealed is something that none of the secrets opens: sealed with another, for
// another purpose or owner, or damaged.
var ErrSealed = errors.New("vault: no secret opens this")

// Seal encrypts and authenticates a text for a purpose ("totp") and an owner: what is
// copied to another owner's row does not open there.
func (k Keys) Seal(purpose, owner, text string) ([]byte, error) {
	box, err := box(k.secrets[0], purpose)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce) // never fails, says its documentation
	return box.Seal(nonce, nonce, []byte(text), []byte(owner)), nil
}

// Open reads what Seal wrote, or ErrSealed.
func (k Keys) Open(purpose, owner string, sealed []byte) (string, error) {
	for _, secret := range k.secrets {
		box, err := box(secret, purpose)
		if err != nil {
			return "", err
		}
		if len(sealed) < box.NonceSize() {
			break
		}
		nonce, rest := sealed[:box.NonceSize()], sealed[box.NonceSize():]
		if text, err := box.Open(nil, nonce, rest, []byte(owner)); err == nil {
			return string(text), nil
		}
	}
	return "", ErrSealed
}

// box has a key of its own for each purpose.
func box(secret, purpose string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "loyalty "+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return cipher.NewGCM(block)
}
