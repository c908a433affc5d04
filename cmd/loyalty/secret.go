package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/certificate"
	"example.com/loyalty/core/vault"
)

const secretFile = "secret"

// ensureSecret reads the secret of a private installation, and creates it on its first start.
// Like LOYALTY_SECRET, the file may have several, separated by commas.
func (c *config) ensureSecret() error {
	if len(c.Secret) > 0 {
		return nil
	}
	text, err := c.stored(secretFile, func() (string, error) {
		random := make([]byte, vault.MinSecret)
		rand.Read(random) // never fails, according to its documentation
		return hex.EncodeToString(random), nil
	})
	if err != nil {
		return err
	}
	for secret := range strings.SplitSeq(text, ",") {
		c.Secret = append(c.Secret, strings.TrimSpace(secret))
	}
	for _, secret := range c.Secret {
		if n := utf8.RuneCountInString(secret); n < vault.MinSecret {
			file := filepath.Join(c.DataDir, secretFile)
			return fmt.Errorf("%s has a secret of %d characters, fewer than %d: the file is damaged or was changed. "+
				"Restore the file from a backup. If it is lost, delete it and run `loyalty secret rotate --lost`: "+
				"people must then set up two-step verification again, and links in e-mails stop working", file, n, vault.MinSecret)
		}
	}
	return nil
}

// stored returns a secret from the data directory. It creates one on first use, in a file that
// only its owner can read.
func (c *config) stored(name string, create func() (string, error)) (string, error) {
	file := filepath.Join(c.DataDir, name)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		made, err := create()
		if err != nil {
			return "", err
		}
		return made, writeWhole(file, []byte(made+"\n"))
	}
	return strings.TrimSpace(string(text)), err
}

// kept returns a secret from the data directory, or "" if there is none.
func (c *config) kept(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(c.DataDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(text)), err
}

// writeWhole writes a file that only its owner can read, all of it or nothing.
func writeWhole(name string, text []byte) error {
	return writeWholly(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// writeWholly has write fill a file that only its owner can read. If that fails, or the machine stops, the file
// doesn't exist or is the one before: it is written under another name, synced and renamed, and its directory is
// synced, too.
func writeWholly(name string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // best effort: no one reads this name
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkSecret refuses a secret that doesn't match the database. If the database can't be read
// yet, for example because it has no tables, it is checked again before jobs start.
func (a *app) checkSecret(ctx context.Context) error {
	err := auth.CheckSecret(ctx, a.db, a.keys)
	switch {
	case errors.Is(err, auth.ErrWrongSecret):
		from := "LOYALTY_SECRET"
		if a.secretFromFile {
			from = filepath.Join(a.DataDir, secretFile)
		}
		return fmt.Errorf("%w: restore the previous secret in %s. To replace it, put the new one in front of it "+
			"(new,old), restart every process with both, and run `loyalty secret rotate`. "+
			"If it is lost, run `loyalty secret rotate --lost`%s", err, from, a.orReset())
	case core.IsKind(err, core.KindUnavailable):
		return nil
	}
	return err
}

// findSecret reads or creates the secret of a private installation. It creates none for a database that was used with another: the
// data directory was deleted without the database, which may be in another folder, and nothing that it stores could be opened.
func (a *app) findSecret(ctx context.Context) error {
	a.secretFromFile = len(a.Secret) == 0
	file := absolute(filepath.Join(a.DataDir, secretFile))
	if _, err := os.Lstat(file); a.secretFromFile && !a.anySecret && errors.Is(err, fs.ErrNotExist) {
		used, err := auth.HasSecret(ctx, a.db)
		if err != nil {
			return err
		}
		if used {
			return fmt.Errorf("the secret of this installation is missing: %s was deleted, and its database is still in %s. "+
				"Restore the file from a backup. If it is lost, `loyalty secret rotate --lost` keeps the data: "+
				"people must then set up two-step verification again, and links in e-mails stop working%s", file, a.cluster.Dir(), a.orReset())
		}
	}
	return a.ensureSecret()
}

// orReset ends a sentence about what to do with a secret that doesn't match: a private installation may be one to try out.
func (a *app) orReset() string {
	if a.cluster == nil {
		return ""
	}
	return ". To start afresh, run `loyalty reset`: it deletes the database in " + a.cluster.Dir()
}

type secretCmd struct {
	Rotate secretRotate `cmd:"" help:"Encrypt stored values with the first secret in LOYALTY_SECRET."`
}

type secretRotate struct {
	Lost bool `help:"The previous secret is lost: adopt the current one, and list the people whose two-step verification must be reset."`
}

// Run encrypts values of an older secret again.
func (cmd secretRotate) Run(ctx context.Context) error {
	c, err := settings()
	if err != nil {
		return err
	}
	c.anySecret = true // this command checks it
	a, err := open(ctx, c, c.logger())
	if err != nil {
		return err
	}
	defer a.close(ctx)
	rotation := core.System(core.Tenant{}, "loyalty secret rotate")
	done, err := auth.Reseal(ctx, a.db, rotation, a.keys, cmd.Lost)
	if errors.Is(err, auth.ErrWrongSecret) {
		return fmt.Errorf("%w, and neither is any other in LOYALTY_SECRET: add it after the new one (new,old), or, if it is lost, add --lost", err)
	}
	if err != nil {
		return err
	}
	files, err := certificate.Reseal(ctx, a.db, rotation, a.keys)
	if err != nil {
		return err
	}
	fmt.Printf("encrypted again: %d; already current: %d\n", done.Sealed+files.Sealed, done.Current+files.Current)
	if files.Lost > 0 {
		fmt.Println("certificates of LOYALTY_TLS=acme are lost: restart every process, which then requests new ones")
	}
	for _, person := range done.Lost {
		tenant := ""
		if person.Slug != "" {
			tenant = " --tenant=" + person.Slug
		}
		fmt.Printf("two-step verification of %s is lost; reset it: loyalty admin reset-factor --email=%s%s\n", person.Email, person.Email, tenant)
	}
	if len(a.Secret) > 1 {
		fmt.Print("No stored value needs the old secret. Links that were e-mailed with it do: cards, vouchers and unsubscribing.\n" +
			"If the old secret leaked, remove it now and restart every process: those links stop working, and customers\n" +
			"ask for new ones. Otherwise keep it as long as those links should work.\n")
	}
	return nil
}
