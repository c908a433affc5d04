package api

import (
	"crypto/sha256"
	"sync"
)

// recentTokens remembers which tokens and sessions were valid when they were last looked up, by their
// hashes. It admits no request by itself: those it knows are looked up even where their address has had too
// many looked up in vain, so a stranger on a shop's network doesn't stop the shop's own client.
type recentTokens struct {
	mu  sync.Mutex
	now map[[sha256.Size]byte]bool
	old map[[sha256.Size]byte]bool // what now was before it was full
}

// mostLately is how many are remembered at most, twice: 32 bytes each.
const mostLately = 50_000

func newRecentTokens() *recentTokens {
	return &recentTokens{now: map[[sha256.Size]byte]bool{}}
}

func (l *recentTokens) wasValid(secret string) bool {
	key := sha256.Sum256([]byte(secret))
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now[key] || l.old[key]
}

// store remembers how a look-up ended.
func (l *recentTokens) store(secret string, valid bool) {
	key := sha256.Sum256([]byte(secret))
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !valid:
		delete(l.now, key)
		delete(l.old, key)
	case !l.now[key]:
		if len(l.now) >= mostLately {
			l.old, l.now = l.now, map[[sha256.Size]byte]bool{}
		}
		l.now[key] = true
	}
}
