package vault

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
)

// Sign returns the HMAC-SHA256 of a message with the first secret, for a purpose ("link"). A signature
// for one purpose is invalid for another.
func (k Keys) Sign(purpose, message string) ([]byte, error) {
	return sign(k.secrets[0], purpose, message)
}

// Signatures returns the signature with each secret, the current one first. A signature that equals one
// of them is valid, so replaced secrets still verify.
func (k Keys) Signatures(purpose, message string) ([][]byte, error) {
	signatures := make([][]byte, len(k.secrets))
	for i, secret := range k.secrets {
		signature, err := sign(secret, purpose, message)
		if err != nil {
			return nil, err
		}
		signatures[i] = signature
	}
	return signatures, nil
}

func sign(secret, purpose, message string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "loyalty sign "+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message))
	return mac.Sum(nil), nil
}
