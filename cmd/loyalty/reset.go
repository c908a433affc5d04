package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/loyalty/core/localpg"
	"example.com/loyalty/web/host"
)

type reset struct {
	Yes bool `help:"Don't ask."`
}

var (
	errResetDatabase = errors.New("loyalty reset deletes private installations only, and DATABASE_URL names a database: nothing was deleted")
	errNotConfirmed  = errors.New("nothing was deleted")
	errNotAsked      = errors.New("nothing was deleted: run it in a terminal, which asks first, or with --yes")
)

// Run deletes what the product made in the data directory, and its private database, which may be elsewhere.
func (cmd reset) Run(ctx context.Context) error {
	c, err := settings()
	if err != nil {
		return err
	}
	if !c.private() {
		return errResetDatabase
	}
	cluster, err := localpg.FindStopped(c.DataDir)
	switch {
	case errors.Is(err, localpg.ErrRuns):
		return fmt.Errorf("nothing was deleted: %w", err)
	case err == nil:
		defer cluster.Close() //nolint:errcheck // it was only read
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	files, others, err := ownFiles(c.DataDir)
	if err != nil {
		return err
	}
	dir := absolute(c.DataDir)
	if cluster == nil && !isInstallation(files) {
		fmt.Printf("nothing to delete: there is no private installation in %s\n", dir)
		return nil
	}
	fmt.Printf("This permanently deletes the private installation in %s, with all of its businesses, customers and sales:\n", dir)
	if cluster != nil {
		size, err := cluster.Size()
		if err != nil {
			return err
		}
		fmt.Printf("  %s (the database, %d MB)\n", cluster.Dir, (size+1<<20-1)>>20)
	}
	for _, file := range files {
		fmt.Printf("  %s\n", filepath.Join(dir, file))
	}
	if others {
		fmt.Printf("Everything else in %s stays.\n", dir)
	}
	if !cmd.Yes {
		if err := confirm(ctx, os.Stdin, isTerminal(os.Stdin)); err != nil {
			return err
		}
	}
	return deleteInstallation(c.DataDir, cluster, files)
}

// confirm asks a person on a terminal. Ctrl-C is an answer.
func confirm(ctx context.Context, in io.Reader, terminal bool) error {
	if !terminal {
		return errNotAsked
	}
	fmt.Print("Type yes to delete it: ")
	answered := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(in).ReadString('\n')
		answered <- answer
	}()
	select {
	case <-ctx.Done():
		fmt.Println()
		return errNotConfirmed
	case answer := <-answered:
		switch {
		case answer == "": // nothing could be read, as from /dev/null: no person was asked
			return errNotAsked
		case strings.TrimSpace(answer) != "yes":
			return errNotConfirmed
		}
		return nil
	}
}

// deleteInstallation deletes the secret after the database that needs it.
func deleteInstallation(dir string, cluster *localpg.Stopped, files []string) error {
	if cluster != nil {
		if err := cluster.Remove(); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	fmt.Println("deleted; the next start creates a new installation")
	return nil
}

// storedFiles are the files that a private installation has in its data directory.
var storedFiles = []string{
	demoPasswordFile, demoTokenFile, adminPasswordFile, mailFile, host.AuthorityFile, host.AuthorityKeyFile, secretFile,
}

// interrupted are the temporary files of an interrupted write of one (writeWhole, and package host).
var interrupted = regexp.MustCompile(`^(\.(demo-password|demo-token|admin-password|mail-address|secret)-|(ca|ca-key)\.pem\.)\d+$`)

// isInstallation reports whether files without a cluster are a private installation's, whose database was deleted. A directory that was named by
// mistake may have a secret or an authority of another program.
func isInstallation(files []string) bool {
	return slices.Contains(files, secretFile) && slices.Contains(files, demoPasswordFile)
}

// ownFiles lists the product's own files in a data directory, which may be missing, and reports whether there are others: it may be the home
// directory of a person. The product makes no links, so links are others.
func ownFiles(dir string) (own []string, others bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case entry.Type().IsRegular() && (slices.Contains(storedFiles, name) || interrupted.MatchString(name)):
			own = append(own, name)
		case name != "postgres": // the cluster
			others = true
		}
	}
	return own, others, err
}
