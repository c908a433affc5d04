package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lookForUpgrade is how often the installed programs are compared with those that the server
// was started from. An upgrade replaces them under a running server, whose new sessions then
// load libraries that don't fit it.
const lookForUpgrade = 2 * time.Second

// libraries are where the language of functions lies, as seen from the programs.
var libraries = []string{"../lib/plpgsql.*", "../lib/postgresql/plpgsql.*", "../lib64/pgsql/plpgsql.*", "../lib/x86_64-linux-gnu/plpgsql.*"}

// fingerprint tells one installation of the programs in a directory from the next in its
// place. It is "" where the programs are missing, say in the middle of an upgrade.
func fingerprint(bin string) string {
	files := []string{filepath.Join(bin, "postgres")}
	for _, pattern := range libraries {
		found, _ := filepath.Glob(filepath.Join(bin, pattern))
		files = append(files, found...)
	}
	var b strings.Builder
	for i, file := range files {
		info, err := os.Stat(file)
		switch {
		case err == nil:
			inode := uint64(0)
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				inode = stat.Ino
			}
			fmt.Fprintln(&b, file, inode, info.Size(), info.ModTime().UnixNano())
		case i == 0:
			return ""
		}
	}
	return b.String()
}

// upgraded reports whether other programs are installed than the server was started from, and
// have been since the last look: an upgrade takes a moment.
func (c *Cluster) upgraded() bool {
	now := fingerprint(c.machine.binFor(c.data()))
	settled := now != "" && now != c.server.programs && now == c.server.seen
	c.server.seen = now
	return settled
}
