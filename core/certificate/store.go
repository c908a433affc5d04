// Package certificate stores the files of LOYALTY_TLS=acme in the database: certificates, their private keys,
// and the account with the certificate authority. They are sealed with the installation's secret, and shared by
// all processes.
//
// Its surprising rule: a lock is a row that its holder renews, not an advisory lock. So it holds no connection,
// works through a transaction pooler, and expires soon after its process dies.
package certificate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/vault"
)

const (
	lockLife  = 30 * time.Second // after its last renewal
	lockRenew = lockLife / 3
	lockPoll  = 500 * time.Millisecond // by those who wait for it
)

// purpose of sealing. The owner is the file's key, so a copied row doesn't open.
const purpose = "tls file"

// Store is a certmagic.Storage. A key is a path, such as certificates/ca/host/host.key.
type Store struct {
	db   *db.DB
	keys vault.Keys

	mu   sync.Mutex
	held map[string]hold // by the lock's name
}

// hold is a lock that this process holds.
type hold struct {
	holder string
	stop   context.CancelFunc // ends its renewal
}

// NewStore returns the store in a database.
func NewStore(d *db.DB, keys vault.Keys) *Store {
	return &Store{db: d, keys: keys, held: map[string]hold{}}
}

const storeSQL = `
	insert into loyalty.tls_file (key, sealed, modified_at)
	values (@key, @sealed, @now)
	on conflict (key) do update
	set sealed = excluded.sealed, modified_at = excluded.modified_at`

// Store writes a file.
func (s *Store) Store(ctx context.Context, key string, value []byte) error {
	sealed, err := s.keys.Seal(purpose, key, string(value))
	if err != nil {
		return err
	}
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		return db.Queue(tx, storeSQL, db.Args{"key": key, "sealed": sealed, "now": tx.Now})
	})
}

const loadSQL = `
	select sealed
	from loyalty.tls_file
	where key = @key`

// Load reads a file, or fails with fs.ErrNotExist.
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	file, err := db.One[struct{ Sealed []byte }](ctx, s.db.Platform(), loadSQL, db.Args{"key": key})
	if err != nil {
		return nil, orNotExist(key, err)
	}
	text, err := s.keys.Open(purpose, key, file.Sealed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return []byte(text), nil
}

func orNotExist(key string, err error) error {
	if errors.Is(err, core.ErrNotFound) {
		return &fs.PathError{Op: "read", Path: key, Err: fs.ErrNotExist}
	}
	return err
}

const deleteSQL = `
	delete from loyalty.tls_file
	where key = @key or starts_with(key, @key || '/')`

// Delete deletes a file, or everything in a directory.
func (s *Store) Delete(ctx context.Context, key string) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		return db.Queue(tx, deleteSQL, db.Args{"key": key})
	})
}

// Exists reports whether a file or directory is there. It has no way to return an error: false then means that
// a certificate is requested, which fails on the same error.
func (s *Store) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

const statSQL = `
	select bool_or(key = @key) as is_file, max(modified_at) as modified_at
	from loyalty.tls_file
	where key = @key or starts_with(key, @key || '/')
	having count(*) > 0`

// Stat describes a file or a directory, or fails with fs.ErrNotExist.
func (s *Store) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	found, err := db.One[struct {
		IsFile     bool
		ModifiedAt time.Time
	}](ctx, s.db.Platform(), statSQL, db.Args{"key": key})
	if err != nil {
		return certmagic.KeyInfo{}, orNotExist(key, err)
	}
	return certmagic.KeyInfo{Key: key, Modified: found.ModifiedAt, IsTerminal: found.IsFile}, nil
}

const listSQL = `
	select key
	from loyalty.tls_file
	where @path = '' or starts_with(key, @path || '/')`

// List returns the files and directories in a directory or, if recursive, all files below it. It fails with
// fs.ErrNotExist if there are none.
func (s *Store) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	files, err := db.All[struct{ Key string }](ctx, s.db.Platform(), listSQL, db.Args{"path": path})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, file := range files {
		key := file.Key
		if !recursive {
			inside := key[len(path):]
			if path != "" {
				inside = inside[1:]
			}
			name, _, _ := strings.Cut(inside, "/")
			key = key[:len(key)-len(inside)+len(name)]
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, orNotExist(path, core.ErrNotFound)
	}
	slices.Sort(keys) // a file and a directory may have the same name, with others between
	return slices.Compact(keys), nil
}

// An expired lock is taken over.
const lockSQL = `
	insert into loyalty.tls_lock as l (name, holder, expires_at)
	values (@name, @holder, @expires_at)
	on conflict (name) do update
	set holder = excluded.holder, expires_at = excluded.expires_at
	where l.expires_at <= @now`

// Lock waits until it has a lock, which no one else has then in any process.
func (s *Store) Lock(ctx context.Context, name string) error {
	holder := rand.Text()
	for {
		taken, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int64, error) {
			return db.Exec(ctx, tx, lockSQL, db.Args{"name": name, "holder": holder, "expires_at": tx.Now.Add(lockLife), "now": tx.Now})
		})
		if err != nil {
			return err
		}
		if taken == 1 {
			renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
			s.mu.Lock()
			s.held[name] = hold{holder, stop}
			s.mu.Unlock()
			go s.renew(renewing, name, holder)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

const renewSQL = `
	update loyalty.tls_lock
	set expires_at = @expires_at
	where name = @name and holder = @holder`

// renew renews a lock until ctx ends. While the database is gone, the lock may expire: then two processes may
// request the same certificate, and the later one stays.
func (s *Store) renew(ctx context.Context, name, holder string) {
	tick := time.NewTicker(lockRenew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.renewOnce(ctx, name, holder) // tried again by the next tick
		}
	}
}

func (s *Store) renewOnce(ctx context.Context, name, holder string) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		return db.Queue(tx, renewSQL, db.Args{"name": name, "holder": holder, "expires_at": tx.Now.Add(lockLife)})
	})
}

const unlockSQL = `
	delete from loyalty.tls_lock
	where name = @name and holder = @holder`

// Unlock releases a lock of this process.
func (s *Store) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	held, found := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if !found {
		return fmt.Errorf("unlock %s: %w", name, fs.ErrNotExist)
	}
	held.stop()
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		return db.Queue(tx, unlockSQL, db.Args{"name": name, "holder": held.holder})
	})
}
