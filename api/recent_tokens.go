package api

import (
	"crypto/sha256"
	"sync"
)

// recentTokens remembers the tokens and sessions that were valid at their last look-up, by their
// hashes. They are looked up even if their address has too many failed look-ups, so that a
// stranger on a shop's network can't block the shop's own client.
type recentTokens struct {
	mu  sync.Mutex
	now map[[sha256.Size]byte]bool
	old map[[sha256.Size]byte]bool // the previous now, which was full
}

// maxRecent limits each of the two maps; an entry has 32 bytes.
const maxRecent = 50_000

func newRecentTokens() *recentTokens {
	return &recentTokens{now: map[[sha256.Size]byte]bool{}}
}

func (t *recentTokens) wasValid(secret string) bool {
	key := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now[key] || t.old[key]
}

// store remembers the result of a look-up.
func (t *recentTokens) store(secret string, valid bool) {
	key := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !valid:
		delete(t.now, key)
		delete(t.old, key)
	case !t.now[key]:
		if len(t.now) >= maxRecent {
			t.old, t.now = t.now, map[[sha256.Size]byte]bool{}
		}
		t.now[key] = true
	}
}
