package main

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// "An invalid one stops the start; all mistakes are reported together."
func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	const url = "postgres://loyalty@localhost/loyalty"
	secret := strings.Repeat("s", 32)
	for name, test := range map[string]struct {
		set  map[string]string
		want []string // the lines of the error
	}{
		"nothing":      {},
		"a server's":   {set: map[string]string{"DATABASE_URL": url, "LOYALTY_SECRET": secret}},
		"two secrets":  {set: map[string]string{"LOYALTY_SECRET": secret + "," + secret}},
		"another name": {set: map[string]string{"LOYALTYADDR": "x", "loyalty_addr": "x", "HOME": "/"}},
		"the address for tests": {
			set: map[string]string{"LOYALTY_TEST_DATABASE_URL": url},
		},
		"misspelled": {
			set:  map[string]string{"LOYALTY_ADRESS": ":80", "LOYALTY_DATABASE_URL": url},
			want: []string{"LOYALTY_ADRESS: unknown setting", "LOYALTY_DATABASE_URL: unknown setting"},
		},
		"a database of another kind": {
			set:  map[string]string{"DATABASE_URL": "mysql://root:hush@localhost/x", "LOYALTY_SECRET": secret},
			want: []string{"DATABASE_URL must start with postgres://"},
		},
		"a database that is not a URL": {
			set:  map[string]string{"DATABASE_URL": "postgres://u:hush%zz@localhost/x", "LOYALTY_SECRET": secret},
			want: []string{"DATABASE_URL must start with postgres://"},
		},
		"a database without a secret": {
			set:  map[string]string{"DATABASE_URL": url},
			want: []string{"LOYALTY_SECRET is required with DATABASE_URL; create one with: openssl rand -hex 32"},
		},
		"short secrets": {
			set:  map[string]string{"LOYALTY_SECRET": secret + ",hush,hush-hush"},
			want: []string{"LOYALTY_SECRET: each secret must have at least 32 characters"},
		},
		"a direct URL alone": {
			set:  map[string]string{"LOYALTY_DATABASE_DIRECT_URL": url},
			want: []string{"LOYALTY_DATABASE_DIRECT_URL needs DATABASE_URL"},
		},
		"base URLs": {
			set:  map[string]string{"LOYALTY_BASE_URL": "http://localhost"},
			want: []string{"LOYALTY_BASE_URL: "},
		},
		"numbers": {
			set:  map[string]string{"LOYALTY_RATE_TOKEN": "many", "LOYALTY_RATE_IP": "1.5"},
			want: []string{`LOYALTY_RATE_TOKEN: strconv.ParseInt: parsing "many"`, `LOYALTY_RATE_IP: strconv.ParseInt: parsing "1.5"`},
		},
		"numbers below zero": {
			set:  map[string]string{"LOYALTY_RATE_TOKEN": "-1", "LOYALTY_RATE_IP": "-60"},
			want: []string{"LOYALTY_RATE_TOKEN must be 0 (no limit) or more", "LOYALTY_RATE_IP must be 0 (no limit) or more"},
		},
		"a short audit log retention": {
			set:  map[string]string{"LOYALTY_AUDIT_RETENTION": "30d"},
			want: []string{"LOYALTY_AUDIT_RETENTION: must be forever or a number of days, at least 90, such as 730d"},
		},
		"an invalid audit log retention": {
			set:  map[string]string{"LOYALTY_AUDIT_RETENTION": "2 years"},
			want: []string{"LOYALTY_AUDIT_RETENTION: must be forever"},
		},
		"a switch": {
			set:  map[string]string{"LOYALTY_SANDBOX": "please"},
			want: []string{`LOYALTY_SANDBOX: strconv.ParseBool: parsing "please"`},
		},
		"addresses to listen on": {
			set: map[string]string{"LOYALTY_ADDR": "8443", "LOYALTY_METRICS_ADDR": "127.0.0.1:94640"},
			want: []string{
				`LOYALTY_ADDR must be a port, or an address and a port, such as :8443 or 127.0.0.1:8443, not "8443"`,
				`LOYALTY_METRICS_ADDR must be a port, or an address and a port, such as :8443 or 127.0.0.1:8443, not "127.0.0.1:94640"`,
			},
		},
		"an address without a port, and no metrics": {
			set:  map[string]string{"LOYALTY_ADDR": "localhost:", "LOYALTY_METRICS_ADDR": "off"},
			want: []string{`LOYALTY_ADDR must be a port, or an address and a port`},
		},
		"a TLS mode": {
			set:  map[string]string{"LOYALTY_TLS": "auto"},
			want: []string{`LOYALTY_TLS must be local, files, proxy or acme, not "auto"`},
		},
		"certificates by ACME": {
			set: map[string]string{"LOYALTY_TLS": "acme", "LOYALTY_BASE_URL": "https://loyalty.example", "LOYALTY_ACME_EMAIL": "ops@loyalty.example"},
		},
		"certificates by ACME for this machine": {
			set:  map[string]string{"LOYALTY_TLS": "acme"},
			want: []string{"LOYALTY_TLS=acme needs LOYALTY_BASE_URL with a host name that the certificate authority can reach"},
		},
		"certificates by ACME for an address": {
			set:  map[string]string{"LOYALTY_TLS": "acme", "LOYALTY_BASE_URL": "https://203.0.113.7"},
			want: []string{"LOYALTY_TLS=acme needs LOYALTY_BASE_URL with a host name that the certificate authority can reach"},
		},
		"certificates by ACME from nowhere": {
			set: map[string]string{
				"LOYALTY_TLS": "acme", "LOYALTY_BASE_URL": "https://loyalty.example",
				"LOYALTY_ACME_URL": "http://ca.example/directory", "LOYALTY_ACME_EMAIL": "ops",
			},
			want: []string{"LOYALTY_ACME_URL must be the https:// address of a directory", `LOYALTY_ACME_EMAIL: "ops" is not an e-mail address`},
		},
		"files without a key": {
			set:  map[string]string{"LOYALTY_TLS": "files", "LOYALTY_TLS_CERT": "cert.pem"},
			want: []string{"LOYALTY_TLS=files needs LOYALTY_TLS_CERT and LOYALTY_TLS_KEY"},
		},
		"a proxy without trusted addresses": {
			set:  map[string]string{"LOYALTY_TLS": "proxy"},
			want: []string{"LOYALTY_TLS=proxy needs LOYALTY_TRUSTED_PROXIES"},
		},
		"a proxy with an invalid address": {
			set:  map[string]string{"LOYALTY_TLS": "proxy", "LOYALTY_TRUSTED_PROXIES": "10.0.0.0/8,gate"},
			want: []string{`LOYALTY_TRUSTED_PROXIES: trusted proxy "gate" is neither an address nor a CIDR range`},
		},
		"a Redis server": {
			set:  map[string]string{"LOYALTY_REDIS_URL": "http://u:hush@localhost"},
			want: []string{"LOYALTY_REDIS_URL must be like rediss://user:password@host:6379/0"},
		},
		"an unencrypted Redis server on another machine": {
			set:  map[string]string{"LOYALTY_REDIS_URL": "redis://:hush@redis.example"},
			want: []string{"LOYALTY_REDIS_URL: the connection to redis.example is not encrypted: write rediss:// instead of redis://"},
		},
		"a mail server": {
			set:  map[string]string{"LOYALTY_SMTP_URL": "http://u:hush@localhost", "LOYALTY_MAIL_FROM": "a@example.com"},
			want: []string{"LOYALTY_SMTP_URL and LOYALTY_MAIL_FROM: a mail server is written"},
		},
		"a mail server without a sender": {
			set:  map[string]string{"LOYALTY_SMTP_URL": "smtp://u:hush@localhost"},
			want: []string{`LOYALTY_SMTP_URL and LOYALTY_MAIL_FROM: "" is not an address`},
		},
		"an unencrypted database on another machine": {
			set:  map[string]string{"DATABASE_URL": "postgres://loyalty:hush@db.example/loyalty?sslmode=disable", "LOYALTY_SECRET": strings.Repeat("s", 32)},
			want: []string{"DATABASE_URL: the connection to db.example might not be encrypted: add sslmode=require to it"},
		},
		"a database on another machine": {
			set: map[string]string{"DATABASE_URL": "postgres://loyalty:hush@db.example/loyalty?sslmode=require", "LOYALTY_SECRET": strings.Repeat("s", 32)},
		},
		"names of the metrics listener": {
			set:  map[string]string{"LOYALTY_METRICS_HOSTS": "app1,app2:9464"},
			want: []string{`LOYALTY_METRICS_HOSTS: "app2:9464" is not a host name`},
		},
		"a scope": {
			set:  map[string]string{"LOYALTY_TRANSACTION_CREATE_SCOPE": "sales:write"},
			want: []string{"LOYALTY_TRANSACTION_CREATE_SCOPE must be one of "},
		},
		"a log": {
			set:  map[string]string{"LOYALTY_LOG": "xml"},
			want: []string{`LOYALTY_LOG must be text or json, not "xml"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readConfig(test.set)
			if err == nil {
				if len(test.want) > 0 {
					t.Errorf("%v is accepted, want %q", test.set, test.want)
				}
				return
			}
			head, rest, _ := strings.Cut(err.Error(), "\n")
			lines := strings.Split(rest, "\n")
			if head != "invalid settings:" || len(lines) != len(test.want) {
				t.Errorf("%v: %q, want %q", test.set, err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains("\n"+rest, "\n"+want) {
					t.Errorf("%v: %q lacks %q", test.set, err, want)
				}
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("%q contains a secret", err)
			}
		})
	}
}

// Every command exits with 1, reports all mistakes, and starts nothing.
func TestInvalidSettingsStartNothing(t *testing.T) {
	t.Parallel()
	const hidden = "keep-this-secret"
	for _, command := range [][]string{
		{"serve"},
		{"migrate", "up"},
		{"demo"},
		{"verify"},
		{"sandbox", "--out", "tokens.json"},
		{"admin", "create", "--email=a@example.com", "--name=A"},
		{"psql", "--tenant=demo"},
	} {
		t.Run(command[0], func(t *testing.T) {
			t.Parallel()
			in := newInstallation(t,
				"DATABASE_URL=postgres://loyalty:"+hidden+"%zz@localhost/x", "LOYALTY_SECRET="+hidden,
				"LOYALTY_SMTP_URL=smtp://u:"+hidden+"@",
				"LOYALTY_RATE_IP=-1", "LOYALTY_TLS=maybe", "LOYALTY_LOG=loud", "LOYALTY_PORT=80")
			in.hidden = append(in.hidden, hidden)
			p := in.run(command...)
			p.says(t, "invalid settings:", "DATABASE_URL must start", "LOYALTY_SECRET: each", "LOYALTY_SMTP_URL and",
				"LOYALTY_RATE_IP must", "LOYALTY_TLS must", "LOYALTY_LOG must", "LOYALTY_PORT: unknown setting")
			if p.out.String() != "" {
				t.Errorf("it printed %q", p.out.String())
			}
			if exists(in.data) || exists(filepath.Join(in.top, "tokens.json")) {
				t.Error("it created files")
			}
		})
	}
}

func TestDatabaseOutOfReach(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"serve"}, {"migrate", "status"}, {"verify"}} {
		t.Run(command[0], func(t *testing.T) {
			t.Parallel()
			in := newInstallationOn(t, "postgres://loyalty@127.0.0.1:1/loyalty")
			in.run(command...).says(t, "127.0.0.1:1", "connection refused")
			if exists(in.cluster()) {
				t.Error("a private database was created")
			}
		})
	}
}

// "Without SMTP settings every mail is kept and readable": with a private database only.
func TestMailsAreKeptWithAPrivateDatabase(t *testing.T) {
	t.Parallel()
	shared := map[string]string{"DATABASE_URL": "postgres://loyalty@localhost/loyalty", "LOYALTY_SECRET": strings.Repeat("s", 32)}
	smtp := map[string]string{"LOYALTY_SMTP_URL": "smtp://localhost", "LOYALTY_MAIL_FROM": "a@example.com"}
	both := maps.Clone(shared)
	maps.Copy(both, smtp)
	for _, c := range []struct {
		set  map[string]string
		want bool
	}{{nil, true}, {shared, false}, {smtp, false}, {both, false}} {
		settings, err := readConfig(c.set)
		if err != nil || settings.keepsMails() != c.want {
			t.Errorf("%v: %v, want mails kept: %v", c.set, err, c.want)
		}
	}
}
