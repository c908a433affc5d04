package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strconv"
	"strings"
)

// A secret is 40 random characters and their checksum: 8 hex digits of CRC-32B. A mistyped or truncated
// token is recognised without the database, and leaked ones can be searched for (decisions §4).
type secret string

const (
	alphabet     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	randomLength = 40
	secretLength = randomLength + 8
)

func newSecret() secret {
	random := make([]byte, 0, randomLength)
	for len(random) < randomLength {
		var chunk [64]byte
		rand.Read(chunk[:]) // never fails (crypto/rand)
		for _, b := range chunk {
			// 248 is the last multiple of 62 below 256: with more, some letters would be likelier.
			if b < 248 && len(random) < randomLength {
				random = append(random, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return withChecksum(string(random))
}

func withChecksum(random string) secret {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(random)))
	return secret(random + hex.EncodeToString(sum))
}

// format returns the whole token with an id.
func (s secret) format(id int64) string { return strconv.FormatInt(id, 10) + "|" + string(s) }

func (s secret) hash() []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

func (s secret) matches(hash []byte) bool { return subtle.ConstantTimeCompare(s.hash(), hash) == 1 }

// parseToken reads a whole token, and reports whether its form is valid.
func parseToken(token string) (id int64, s secret, ok bool) {
	number, rest, found := strings.Cut(token, "|")
	if !found || len(rest) != secretLength || strings.Trim(rest[:randomLength], alphabet) != "" ||
		secret(rest) != withChecksum(rest[:randomLength]) {
		return 0, "", false
	}
	id, err := strconv.ParseInt(number, 10, 64)
	// Each token has one spelling: no sign, no leading zero.
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != number {
		return 0, "", false
	}
	return id, secret(rest), true
}
