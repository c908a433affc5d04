//go:build !linux && !darwin

package main

import "errors"

func diskOf(string) (size, free uint64, err error) {
	return 0, 0, errors.ErrUnsupported
}
