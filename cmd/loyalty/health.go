package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

type health struct {
	Ready bool `help:"Also check that it can serve requests (/readyz)."`
}

// Run asks the process that serves with these settings. It is the health check of images
// without other programs.
func (cmd health) Run(ctx context.Context) error {
	c, err := settings()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("LOYALTY_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme, path := "https", "/healthz"
	if c.TLS == "proxy" {
		scheme = "http"
	}
	if cmd.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+path, http.NoBody)
	if err != nil {
		return err
	}
	// This calls the process on this machine, whose certificate may be of a local authority.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // no secret is sent
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<12))
	if err != nil {
		return err
	}
	fmt.Println(strings.TrimSpace(string(text)))
	if response.StatusCode != http.StatusOK {
		return exit(1)
	}
	return nil
}
