//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// diskOf returns the size of a directory's file system, and the bytes that this process may
// still write to it.
func diskOf(dir string) (size, free uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	block := uint64(s.Bsize) //nolint:gosec // never negative
	return s.Blocks * block, s.Bavail * block, nil
}
