package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/vault"
)

const secretFile = "secret"

// ensureSecret reads the secret of a private installation, and makes it on its first start.
// The file may hold several, by commas, as LOYALTY_SECRET does.
func (c *config) ensureSecret() error {
	if len(c.Secret) > 0 {
		return nil
	}
	text, err := c.kept(secretFile, func() (string, error) {
		random := make([]byte, vault.MinSecret)
		rand.Read(random) // never fails, says its documentation
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
			return fmt.Errorf("%s holds a secret of %d characters, fewer than %d: it is damaged, or was not made by this program. "+
				"Restore the file from a backup. If it is lost, delete it and run `loyalty secret rotate --lost`: "+
				"people then set up two-step verification again, and links in e-mails stop working", file, n, vault.MinSecret)
		}
	}
	return nil
}

// kept is a secret in the data directory, made when it is first asked for and
// readable by its owner alone.
func (c *config) kept(name string, create func() (string, error)) (string, error) {
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

// writeWhole writes a file that its owner alone can read. Whenever the machine stops, the file
// is there as a whole, on the disk, or not at all: it is written under another name, synced and
// then renamed, and the directory that has its name is synced, too.
func writeWhole(name string, text []byte) (err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // best effort: it is not read under this name
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkSecret refuses a secret that is not the database's. A database that can't be asked yet,
// as one without its tables, is asked again before jobs begin.
func (a *app) checkSecret(ctx context.Context) error {
	err := auth.CheckSecret(ctx, a.db, a.keys)
	switch {
	case errors.Is(err, auth.ErrWrongSecret):
		from := "LOYALTY_SECRET"
		if a.secretFromFile {
			from = filepath.Join(a.DataDir, secretFile)
		}
		return fmt.Errorf("%w: put back the secret that %s held before. To replace it, set the new one in front of it "+
			"(new,old), start every process with both, and run `loyalty secret rotate`. "+
			"If it is lost, run `loyalty secret rotate --lost`", err, from)
	case core.IsKind(err, core.KindUnavailable):
		return nil
	}
	return err
}

type secretCmd struct {
	Rotate secretRotate `cmd:"" help:"Seal everything that is stored sealed with the first secret of LOYALTY_SECRET, and say when the old one may go."`
}

type secretRotate struct {
	Lost bool `help:"The secret that was used before is lost: take the present one, and list whose two-step verification must be reset."`
}

// Run seals anew what is sealed with an older secret.
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
	done, err := auth.Reseal(ctx, a.db, core.System(core.Tenant{}, "loyalty secret rotate"), a.keys, cmd.Lost)
	if errors.Is(err, auth.ErrWrongSecret) {
		return fmt.Errorf("%w, nor is any of the others that are set: list it behind the new one (new,old), or, if it is lost, add --lost", err)
	}
	if err != nil {
		return err
	}
	fmt.Printf("sealed anew: %d; sealed with the first secret already: %d\n", done.Sealed, done.Current)
	for _, person := range done.Lost {
		tenant := ""
		if person.Slug != "" {
			tenant = " --tenant=" + person.Slug
		}
		fmt.Printf("two-step verification of %s can't be opened any more: loyalty admin reset-factor --email=%s%s\n", person.Email, person.Email, tenant)
	}
	if len(a.Secret) > 1 {
		fmt.Print("Nothing that is stored needs the old secret any more. Links that were e-mailed do: cards, vouchers and unsubscribing.\n" +
			"If the old secret is known to others, remove it now and restart every process: those links stop working, and\n" +
			"customers ask for new ones. Otherwise keep it for as long as those links should open.\n")
	}
	return nil
}
