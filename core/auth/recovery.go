package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"example.com/loyalty/core/db"
)

// A recovery code is 28 letters and digits in groups of four: 140 bits.
const (
	recoveryLetters = 28
	recoveryGroup   = 4
	recoveryCodes   = 10
)

// newRecoveryCodes returns new codes and their hashes. They are random and long, so an unsalted,
// fast hash is safe.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		code := (rand.Text() + rand.Text())[:recoveryLetters]
		var groups []string
		for group := range slices.Chunk([]byte(strings.ToLower(code)), recoveryGroup) {
			groups = append(groups, string(group))
		}
		codes, hashes = append(codes, strings.Join(groups, "-")), append(hashes, recoveryHash(code))
	}
	return codes, hashes
}

func recoveryHash(code string) []byte {
	sum := sha256.Sum256([]byte(code))
	return sum[:]
}

// replaceRecoveryCodes replaces a person's recovery codes.
func replaceRecoveryCodes(tx *db.Tx, person int64, hashes [][]byte) error {
	return errors.Join(
		db.Queue(tx, dropRecoveryCodesSQL, db.Args{"id": person}),
		db.Queue(tx, addRecoveryCodesSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "hashes": hashes}),
	)
}
