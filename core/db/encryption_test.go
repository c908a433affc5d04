package db_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/db"
)

// "The database connection to another host needs `sslmode` of at least `require`, or the start
// says why not."
func TestCheckEncryption(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for url, ok := range map[string]bool{
		"postgres://u:hush@db.example/x":                              false, // prefer, which falls back
		"postgres://u:hush@db.example/x?sslmode=disable":              false,
		"postgres://u:hush@db.example/x?sslmode=allow":                false,
		"postgres://u:hush@db.example/x?sslmode=require":              true,
		"postgres://u:hush@db.example/x?sslmode=verify-full":          true,
		"postgres://u:hush@10.0.0.7/x":                                false,
		"postgres://u:hush@127.0.0.1,db.example/x":                    false,
		"postgres://u:hush@db1.example,db2.example/x?sslmode=require": true,
		"postgres://u:hush@localhost/x":                               true,
		"postgres://u:hush@127.0.0.1:6432/x?sslmode=disable":          true,
		"postgres://u:hush@[::1]/x":                                   true,
		"postgres:///x?host=/run/postgresql":                          true,
	} {
		err := db.CheckEncryption(url)
		if (err == nil) != ok || err != nil && (strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "sslmode=require")) {
			t.Errorf("%s: %v, want accepted: %v", url, err, ok)
		}
	}
	t.Setenv("PGSSLMODE", "require")
	if err := db.CheckEncryption("postgres://u@db.example/x"); err != nil {
		t.Errorf("with PGSSLMODE=require: %v", err)
	}
}
