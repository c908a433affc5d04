package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"

	"example.com/loyalty/core/db"
)

// A recovery code is sixteen letters and digits.
const (
	recoveryLetters = 16
	recoveryCodes   = 10
)

// newRecoveryCodes makes the codes and what is stored of them. They are random, with 80 bits
// each, so a plain hash is enough.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		code := rand.Text()[:recoveryLetters]
		codes = append(codes, strings.ToLower(code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:]))
		hashes = append(hashes, recoveryHash(code))
	}
	return codes, hashes
}

func recoveryHash(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// replaceRecoveryCodes stores a person's recovery codes instead of those they have.
func replaceRecoveryCodes(tx *db.Tx, person int64, hashes [][]byte) error {
	return errors.Join(
		db.Queue(tx, dropRecoveryCodesSQL, db.Args{"id": person}),
		db.Queue(tx, addRecoveryCodesSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "hashes": hashes}),
	)
}
