package core

import (
	"errors"
	"sync"
	"time"
)

// zones that were loaded: reading one takes files, and every request wants one.
var zones sync.Map

// Zone loads a time zone by its IANA name. "Local" would be this machine's: refused.
func Zone(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	if name == "Local" {
		return nil, errors.New("unknown time zone Local")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Store(name, zone)
	return zone, nil
}
