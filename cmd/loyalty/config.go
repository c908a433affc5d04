package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/web/host"
)

// config has the settings, which are environment variables (README).
type config struct {
	DatabaseURL       string        `env:"DATABASE_URL"`
	DatabaseDirectURL string        `env:"LOYALTY_DATABASE_DIRECT_URL"`
	DatabaseOwnerURL  string        `env:"LOYALTY_DATABASE_OWNER_URL"`
	DatabaseWait      time.Duration `env:"LOYALTY_DATABASE_WAIT" envDefault:"1m"`
	Addr              string        `env:"LOYALTY_ADDR" envDefault:":8443"`
	BaseURL           string        `env:"LOYALTY_BASE_URL" envDefault:"https://localhost:8443"`
	DataDir           string        `env:"LOYALTY_DATA_DIR" envDefault:"./data"`
	Secret            []string      `env:"LOYALTY_SECRET"` // the first writes, all read
	TLS               string        `env:"LOYALTY_TLS" envDefault:"local"`
	TLSCert           string        `env:"LOYALTY_TLS_CERT"`
	TLSKey            string        `env:"LOYALTY_TLS_KEY"`
	ACMEEmail         string        `env:"LOYALTY_ACME_EMAIL"`
	ACMEURL           string        `env:"LOYALTY_ACME_URL" envDefault:"https://acme-v02.api.letsencrypt.org/directory"`
	ACMECA            string        `env:"LOYALTY_ACME_CA"`
	TrustedProxies    string        `env:"LOYALTY_TRUSTED_PROXIES"`
	MetricsAddr       string        `env:"LOYALTY_METRICS_ADDR" envDefault:"127.0.0.1:9464"`
	MetricsHosts      []string      `env:"LOYALTY_METRICS_HOSTS"`
	Pprof             bool          `env:"LOYALTY_PPROF"`
	RateToken         int           `env:"LOYALTY_RATE_TOKEN" envDefault:"60"`
	RateIP            int           `env:"LOYALTY_RATE_IP" envDefault:"10"`
	RedisURL          string        `env:"LOYALTY_REDIS_URL"`
	SMTPURL           string        `env:"LOYALTY_SMTP_URL"`
	MailFrom          string        `env:"LOYALTY_MAIL_FROM"`
	CreateScope       string        `env:"LOYALTY_TRANSACTION_CREATE_SCOPE" envDefault:"transactions:write"`
	Sandbox           bool          `env:"LOYALTY_SANDBOX"`
	StopDelay         time.Duration `env:"LOYALTY_STOP_DELAY" envDefault:"0s"`
	AuditRetention    string        `env:"LOYALTY_AUDIT_RETENTION" envDefault:"forever"`
	Log               string        `env:"LOYALTY_LOG" envDefault:"text"`

	// Set by validate.
	names   host.Names
	entries time.Duration // how long audit log entries are kept; 0: forever
	proxies []netip.Prefix
	sender  mail.Sender // nil: e-mails are kept in the database
	smtp    *mail.SMTP  // the same

	secretFromFile bool // the secret is in the data directory
	anySecret      bool // don't check that the secret matches the database
	serves         bool // the command serves, and so waits for missing migrations
	waits          bool // the command waits for a database that isn't up yet
	creates        bool // the command creates a private installation if there is none
}

// patience is how long a command waits for the database: those that are typed by a person say at once that it is away.
func (c *config) patience() time.Duration {
	if c.waits {
		return c.DatabaseWait
	}
	return 0
}

// private reports whether the process runs its own PostgreSQL.
func (c *config) private() bool { return c.DatabaseURL == "" }

// keepsMails reports whether e-mails can be read in the browser instead of being sent.
func (c *config) keepsMails() bool { return c.private() && c.sender == nil }

// readConfig reads the environment, and reports every mistake at once.
func readConfig(environment map[string]string) (*config, error) {
	var c config
	err := env.ParseWithOptions(&c, env.Options{Environment: environment})
	var mistakes []error
	var parsing env.AggregateError
	if errors.As(err, &parsing) {
		for _, mistake := range parsing.Errors {
			mistakes = append(mistakes, withVariable(mistake))
		}
	} else if err != nil {
		mistakes = []error{err}
	}
	mistakes = append(mistakes, unknownSettings(environment)...)
	mistakes = append(mistakes, c.validate()...)
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("invalid settings:\n%w", errors.Join(mistakes...))
	}
	return &c, nil
}

// withVariable adds the name of its variable to a parsing error: the library only names the
// field.
func withVariable(err error) error {
	var parsing env.ParseError
	if errors.As(err, &parsing) {
		if field, ok := reflect.TypeFor[config]().FieldByName(parsing.Name); ok {
			return fmt.Errorf("%s: %w", field.Tag.Get("env"), parsing.Err)
		}
	}
	return err
}

// unknownSettings returns an error for each unknown, probably misspelled setting.
func unknownSettings(environment map[string]string) (mistakes []error) {
	fields, err := env.GetFieldParams(&config{})
	if err != nil {
		return []error{err}
	}
	known := map[string]bool{"LOYALTY_TEST_DATABASE_URL": true}
	for _, f := range fields {
		known[f.Key] = true
	}
	for name := range environment {
		if strings.HasPrefix(name, "LOYALTY_") && !known[name] {
			mistakes = append(mistakes, fmt.Errorf("%s: unknown setting", name))
		}
	}
	return mistakes
}

func (c *config) validate() (mistakes []error) {
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	var err error
	if c.names, err = host.Parse(c.BaseURL); err != nil {
		wrong("LOYALTY_BASE_URL: %w", err)
	}
	for name, value := range map[string]string{
		"DATABASE_URL": c.DatabaseURL, "LOYALTY_DATABASE_DIRECT_URL": c.DatabaseDirectURL, "LOYALTY_DATABASE_OWNER_URL": c.DatabaseOwnerURL,
	} {
		if u, err := url.Parse(value); value != "" && (err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql")) {
			wrong("%s must start with postgres://", name) // the value may contain a password
		} else if err := db.CheckEncryption(value); value != "" && err != nil {
			wrong("%s: %w", name, err)
		}
	}
	if c.private() && c.DatabaseDirectURL != "" {
		wrong("LOYALTY_DATABASE_DIRECT_URL needs DATABASE_URL")
	}
	if c.private() && c.DatabaseOwnerURL != "" {
		wrong("LOYALTY_DATABASE_OWNER_URL needs DATABASE_URL")
	}
	for _, s := range c.Secret {
		if len(s) < vault.MinSecret {
			wrong("LOYALTY_SECRET: each secret must have at least 32 characters; create one with: openssl rand -hex 32")
			break
		}
	}
	if !c.private() && len(c.Secret) == 0 {
		wrong("LOYALTY_SECRET is required with DATABASE_URL; create one with: openssl rand -hex 32")
	}
	switch c.TLS {
	case "local":
	case "files":
		if c.TLSCert == "" || c.TLSKey == "" {
			wrong("LOYALTY_TLS=files needs LOYALTY_TLS_CERT and LOYALTY_TLS_KEY")
		}
	case "proxy":
		if c.TrustedProxies == "" {
			wrong("LOYALTY_TLS=proxy needs LOYALTY_TRUSTED_PROXIES: the addresses of your proxies")
		}
	case "acme":
		if c.names.IsLocal() {
			wrong("LOYALTY_TLS=acme needs LOYALTY_BASE_URL with a host name that the certificate authority can reach")
		}
		if u, err := url.Parse(c.ACMEURL); err != nil || u.Scheme != "https" || u.Host == "" {
			wrong("LOYALTY_ACME_URL must be the https:// address of a directory")
		}
		if c.ACMEEmail != "" && !core.IsEmail(c.ACMEEmail) {
			wrong("LOYALTY_ACME_EMAIL: %q is not an e-mail address", c.ACMEEmail)
		}
	default:
		wrong("LOYALTY_TLS must be local, files, proxy or acme, not %q", c.TLS)
	}
	if c.proxies, err = host.ParseProxies(c.TrustedProxies); err != nil {
		wrong("LOYALTY_TRUSTED_PROXIES: %w", err)
	}
	for name, n := range map[string]int{"LOYALTY_RATE_TOKEN": c.RateToken, "LOYALTY_RATE_IP": c.RateIP} {
		if n < 0 {
			wrong("%s must be 0 (no limit) or more", name)
		}
	}
	if c.RedisURL != "" {
		if host, err := limit.UnencryptedHost(c.RedisURL); err != nil {
			wrong("LOYALTY_REDIS_URL must be like rediss://user:password@host:6379/0") // the value may contain a password
		} else if host != "" && !db.IsThisMachine(host) {
			wrong("LOYALTY_REDIS_URL: the connection to %s is not encrypted: write rediss:// instead of redis://", host)
		}
	}
	for _, name := range c.MetricsHosts {
		if name == "" || strings.ContainsAny(name, "/:* ") {
			wrong("LOYALTY_METRICS_HOSTS: %q is not a host name; separate names by commas, without ports", name)
		}
	}
	if c.SMTPURL != "" {
		smtp, err := mail.NewSMTP(c.SMTPURL, c.MailFrom)
		if err != nil {
			wrong("LOYALTY_SMTP_URL and LOYALTY_MAIL_FROM: %w", err)
		}
		c.sender, c.smtp = smtp, smtp
	}
	if !token.IsAbility(token.Ability(c.CreateScope)) {
		wrong("LOYALTY_TRANSACTION_CREATE_SCOPE must be one of %v, not %q", token.Abilities, c.CreateScope)
	}
	if c.DatabaseWait < 0 || c.DatabaseWait > time.Hour {
		wrong("LOYALTY_DATABASE_WAIT must be between 0s and 1h")
	}
	if err := checkAddress("LOYALTY_ADDR", c.Addr); err != nil {
		mistakes = append(mistakes, err)
	}
	if err := checkAddress("LOYALTY_METRICS_ADDR", c.MetricsAddr); c.MetricsAddr != "off" && err != nil {
		mistakes = append(mistakes, err)
	}
	if c.StopDelay < 0 || c.StopDelay > time.Minute {
		wrong("LOYALTY_STOP_DELAY must be between 0s and 1m")
	}
	if c.entries, err = parseRetention(c.AuditRetention); err != nil {
		wrong("LOYALTY_AUDIT_RETENTION: %w", err)
	}
	if c.Log != "text" && c.Log != "json" {
		wrong("LOYALTY_LOG must be text or json, not %q", c.Log)
	}
	return mistakes
}

var errRetention = errors.New("must be forever or a number of days, at least 90, such as 730d")

// parseRetention reads a duration such as 730d; 0: forever.
func parseRetention(text string) (time.Duration, error) {
	if text == "forever" {
		return 0, nil
	}
	count, isDays := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(count)
	if err != nil || !isDays || days > 36500 || time.Duration(days)*24*time.Hour < audit.LeastRetention {
		return 0, errRetention
	}
	return time.Duration(days) * 24 * time.Hour, nil
}
