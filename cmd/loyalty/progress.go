package main

import (
	"fmt"
	"io"
	"os"
)

// progress returns a function that shows the progress of a long operation: on a terminal as a line that changes, otherwise as
// a line when it begins and one when it ends; nil with a JSON log, which programs read.
func (c *config) progress(what string) func(done, count int) {
	if c.Log == "json" {
		return nil
	}
	return progressOn(os.Stderr, isTerminal(os.Stderr), what)
}

func progressOn(w io.Writer, terminal bool, what string) func(done, count int) {
	shown := -1
	return func(done, count int) {
		percent := done * 100 / max(count, 1)
		if percent == shown {
			return
		}
		switch {
		case terminal && percent == 100:
			fmt.Fprintf(w, "\r%s %3d%%\n", what, percent)
		case terminal:
			fmt.Fprintf(w, "\r%s %3d%%", what, percent)
		case percent == 100:
			fmt.Fprintf(w, "%s: done\n", what)
		case shown < 0:
			fmt.Fprintf(w, "%s …\n", what)
		}
		shown = percent
	}
}

// isTerminal reports whether a person may sit at the other end. /dev/null is taken for a terminal, where a line that changes does no
// harm and a question is answered by the end of the file.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
