package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"syscall"
)

// listen opens the address of a setting. If that fails, the error names the setting and what to do; elsewhere is how to
// choose another address.
func listen(ctx context.Context, setting, addr, elsewhere string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return listener, nil
	}
	var lookup *net.DNSError
	advice := elsewhere
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "another program, or another process of the product, listens there: stop it, or " + elsewhere
	case errors.Is(err, syscall.EACCES):
		advice = "ports below 1024 need root or the capability CAP_NET_BIND_SERVICE, which docs/operations/loyalty.service gives: or " + elsewhere
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &lookup):
		advice = "it must be an address of this machine, or only a port, such as :8443, for all of its addresses"
	}
	return nil, fmt.Errorf("%s=%s can't be used: %w; %s", setting, addr, err, advice)
}

// checkAddress refuses what can't be an address to listen on. The port may be the name of a service, which listen looks up.
func checkAddress(setting, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	number, named := strconv.Atoi(port)
	if err != nil || port == "" || named == nil && (number < 0 || number > math.MaxUint16) {
		return fmt.Errorf("%s must be a port, or an address and a port, such as :8443 or 127.0.0.1:8443, not %q", setting, addr)
	}
	return nil
}
