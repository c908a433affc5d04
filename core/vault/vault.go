// Package vault encrypts stored values that must be read again, such as TOTP secrets, and signs links.
// It uses the installation's secret, which is not in the database, so a backup alone reveals nothing.
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

// Keys are derived from the installation's secrets: the first one encrypts, all decrypt, so that a
// secret can be replaced without losing values.
type Keys struct{ secrets []string }

// MinSecret is the minimum length of a secret: the key of an empty or truncated one could be guessed.
const MinSecret = 32

// New returns the keys of the secrets in LOYALTY_SECRET: at least one, each with at least MinSecret
// characters.
func New(secrets []string) (Keys, error) {
	if len(secrets) == 0 {
		return Keys{}, errors.New("vault: there is no secret")
	}
	for i, secret := range secrets {
		if len(secret) < MinSecret {
			return Keys{}, fmt.Errorf("vault: secret %d has %d characters, fewer than %d", i+1, len(secret), MinSecret)
		}
	}
	return Keys{secrets}, nil
}

// Reseal encrypts a value with the first secret. It returns nil if it already is, or ErrSealed if no
// secret opens it.
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

// ErrSealed says that no secret opens a value: it was sealed with another secret, purpose or owner, or
// is damaged.
var ErrSealed = errors.New("vault: no secret opens this")

// Seal encrypts and authenticates a text for a purpose ("totp") and an owner. Copied to another owner's
// row, it doesn't open.
func (k Keys) Seal(purpose, owner, text string) ([]byte, error) {
	aead, err := newAEAD(k.secrets[0], purpose)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // never fails, according to its documentation
	return aead.Seal(nonce, nonce, []byte(text), []byte(owner)), nil
}

// Open decrypts what Seal returned, or fails with ErrSealed.
func (k Keys) Open(purpose, owner string, sealed []byte) (string, error) {
	for _, secret := range k.secrets {
		aead, err := newAEAD(secret, purpose)
		if err != nil {
			return "", err
		}
		if len(sealed) < aead.NonceSize() {
			break
		}
		nonce, rest := sealed[:aead.NonceSize()], sealed[aead.NonceSize():]
		if text, err := aead.Open(nil, nonce, rest, []byte(owner)); err == nil {
			return string(text), nil
		}
	}
	return "", ErrSealed
}

// newAEAD returns a cipher with a separate key for each purpose.
func newAEAD(secret, purpose string) (cipher.AEAD, error) {
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
