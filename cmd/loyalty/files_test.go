package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
	"go.yaml.in/yaml/v3"
)

const operationFiles = "../../docs/operations"

func operationFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(operationFiles, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// "Files for running it for real": each setting that they and their document name is one, and
// the files that they name are there.
func TestOperationFiles(t *testing.T) {
	t.Parallel()
	fields, err := env.GetFieldParams(&config{})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range fields {
		known[f.Key] = true
	}
	setting := regexp.MustCompile(`\bLOYALTY_[A-Z_]+\b`)
	for _, name := range []string{"loyalty.service", "Dockerfile", "compose.yml", "example.env", "haproxy.cfg", "../operations.md", "restore-test.sh"} {
		for _, s := range setting.FindAllString(operationFile(t, name), -1) {
			if !known[s] {
				t.Errorf("%s names %s, which is not a setting", name, s)
			}
		}
	}
	for _, link := range regexp.MustCompile(`\]\((operations/[^)#]+|[a-z]+\.md)`).FindAllStringSubmatch(operationFile(t, "../operations.md"), -1) {
		if _, err := os.Stat(filepath.Join("../../docs", link[1])); err != nil {
			t.Errorf("docs/operations.md: %v", err)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(operationFiles, "*.sh"))
	if err != nil || len(scripts) < 4 {
		t.Fatalf("scripts %v, %v", scripts, err)
	}
	for _, script := range scripts {
		info, err := os.Stat(script)
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s can't be run: %v", script, err)
		}
		if out, err := exec.Command("sh", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", script, err, out)
		}
	}
}

// Two processes behind one proxy, with valid settings.
func TestCompose(t *testing.T) {
	t.Parallel()
	type service struct {
		Image       string
		Environment map[string]string
		Volumes     []string
		Command     any
		Networks    map[string]struct {
			Address string `yaml:"ipv4_address"`
		}
	}
	var file struct{ Services map[string]service }
	if err := yaml.Unmarshal([]byte(operationFile(t, "compose.yml")), &file); err != nil {
		t.Fatal(err)
	}
	values := strings.NewReplacer("${LOYALTY_SECRET:?set it in .env, by openssl rand -hex 32}", strings.Repeat("s", 32),
		"${LOYALTY_BASE_URL:?set it in .env}", "https://loyalty.example", "${POSTGRES_PASSWORD:?set it in .env}", "p", "${LOYALTY_SMTP_URL:-}", "", "${LOYALTY_MAIL_FROM:-}", "")
	for _, name := range []string{"app1", "app2", "migrate"} {
		settings := map[string]string{}
		for key, value := range file.Services[name].Environment {
			settings[key] = values.Replace(value)
		}
		c, err := readConfig(settings)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.TLS != "proxy" || c.StopDelay == 0 || c.TrustedProxies != file.Services["proxy"].Networks["inside"].Address {
			t.Errorf("%s: %+v", name, settings)
		}
	}
	proxy := operationFile(t, "haproxy.cfg")
	for _, name := range []string{"app1", "app2"} {
		if !strings.Contains(proxy, "server "+name+" "+name+":8443") {
			t.Errorf("the proxy does not know %s", name)
		}
	}
	for name, s := range file.Services {
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(from, "./") && from != "./tls" { // the certificate is the operator's
				if _, err := os.Stat(filepath.Join(operationFiles, from)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// The image is built like the binary, and runs as an unprivileged user.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	dockerfile, makefile := operationFile(t, "Dockerfile"), operationFile(t, "../../Makefile")
	if !strings.Contains(dockerfile, "CGO_ENABLED=0 go build -trimpath -o /out/loyalty ./cmd/loyalty") || !strings.Contains(makefile, "CGO_ENABLED=0 go build -trimpath -o bin/loyalty ./cmd/loyalty") {
		t.Error("image and binary are built in different ways")
	}
	for _, want := range []string{"\nFROM scratch\n", "\nUSER 65532:65532\n", "\nCOPY --from=build --chown=65532:65532 /out/tmp /tmp\n", `CMD ["/loyalty", "health"]`, `ENTRYPOINT ["/loyalty"]`} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(operationFile(t, "../../go.mod"))[1]
	if !strings.Contains(dockerfile, "FROM golang:"+goVersion+"-") {
		t.Errorf("the image is not built with Go %s", goVersion)
	}
}

// If systemd is installed, it accepts the unit.
func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), "loyalty.service")
	text := strings.ReplaceAll(operationFile(t, "loyalty.service"), "/usr/local/bin/loyalty", "/bin/true")
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
