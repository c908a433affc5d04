package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// "Files for running it for real": each setting that they and their document name is one.
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
	for _, name := range []string{"loyalty.service", "Dockerfile", "compose.yml", "example.env", "haproxy.cfg", "../operations.md", "restore-test.sh", "../../CHANGELOG.md"} {
		for _, s := range setting.FindAllString(operationFile(t, name), -1) {
			if !known[s] {
				t.Errorf("%s names %s, which is not a setting", name, s)
			}
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

// The image is built like the binary, and runs as an unprivileged user.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	dockerfile, makefile := operationFile(t, "Dockerfile"), operationFile(t, "../../Makefile")
	if !strings.Contains(dockerfile, `CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/loyalty ./cmd/loyalty`) ||
		!strings.Contains(makefile, "CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/loyalty ./cmd/loyalty") {
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

// An image that is built from a clone at a tag says that version, although an operator's own files are in the clone.
// (Go takes tags of v1, as the path of the module says.) What .dockerignore names isn't sent to Docker.
func TestTheImageSaysItsVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product: make test-long")
	}
	t.Parallel()
	source := filepath.Join(t.TempDir(), "loyalty")
	for _, args := range [][]string{{"clone", "--quiet", "../..", source}, {"-C", source, "tag", "v1.98.7"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Skipf("needs the project's repository: %v\n%s", err, out)
		}
	}
	certificates := filepath.Join(source, "docs/operations/tls")
	if err := os.Mkdir(certificates, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(source, ".env"), filepath.Join(certificates, "loyalty.pem")} {
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(operationFile(t, "../../.dockerignore")) {
		if err := os.RemoveAll(filepath.Join(source, strings.TrimSpace(line))); err != nil {
			t.Fatal(err)
		}
	}
	for _, secret := range []string{".env", "docs/operations/tls"} {
		if exists(filepath.Join(source, secret)) {
			t.Errorf("%s is sent to Docker", secret)
		}
	}
	program, run := filepath.Join(t.TempDir(), "loyalty"), func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=auto")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
		return string(out)
	}
	for _, c := range []struct{ what, version, note string }{
		{"at a tag", `v1\.98\.7`, ""},
		{"with a change", `v1\.98\.7\+dirty`, ", not a release: it has changes that aren't committed"},
		{"after a tag", `v1\.98\.8-0\.\d{14}-[0-9a-f]{12}`, ", not a release: its commit has no tag"},
	} {
		switch c.what {
		case "with a change":
			if err := os.WriteFile(filepath.Join(source, "README.md"), []byte("changed"), 0o600); err != nil {
				t.Fatal(err)
			}
		case "after a tag":
			run("git", "-c", "user.name=Anna", "-c", "user.email=anna@example.com", "commit", "--quiet", "--all", "--message", "a change")
		}
		run("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/loyalty") // as TestDockerfile finds it
		if got := run(program, "version"); !regexp.MustCompile(`^loyalty ` + c.version + ` go\S+` + c.note + `\n$`).MatchString(got) {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

// A host of the project runs .ci/run for every change, with the Go of the image, in a container that is bare but for it.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs struct {
			Run struct {
				Container string
				Steps     []struct{ Run string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(operationFile(t, "../../.github/workflows/ci.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	run := workflow.Jobs.Run
	if !strings.Contains(operationFile(t, "Dockerfile"), "FROM "+run.Container+" AS build\n") {
		t.Errorf("the tests run in %s, the image is built in another one", run.Container)
	}
	if last := run.Steps[len(run.Steps)-1].Run; last != ".ci/run" {
		t.Errorf("the last step runs %q", last)
	}
}

// unitSettings returns the settings of a section of the unit. Some occur several times.
func unitSettings(t *testing.T, section string) map[string][]string {
	t.Helper()
	settings, current := map[string][]string{}, ""
	for line := range strings.Lines(operationFile(t, "loyalty.service")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			current = strings.Trim(line, "[]")
		}
		if key, value, isSetting := strings.Cut(line, "="); isSetting && current == section && !strings.HasPrefix(line, "#") {
			settings[key] = append(settings[key], value)
		}
	}
	return settings
}

// "`StartLimitIntervalSec=0`": the unit is started again however long the database is away, and a start may take as
// long as the commands wait and migrate.
func TestSystemdUnitIsPatient(t *testing.T) {
	t.Parallel()
	unit, service := unitSettings(t, "Unit"), unitSettings(t, "Service")
	if got := unit["StartLimitIntervalSec"]; !slices.Equal(got, []string{"0"}) {
		t.Errorf("[Unit] has StartLimitIntervalSec=%q, want 0", got)
	}
	for setting, want := range map[string]string{"Restart": "always", "TimeoutStartSec": "infinity"} {
		if got := service[setting]; !slices.Equal(got, []string{want}) {
			t.Errorf("[Service] has %s=%q, want %s", setting, got, want)
		}
	}
	// A stop must not be cut short either: LOYALTY_STOP_DELAY, then open requests, then jobs.
	stop, err := time.ParseDuration(strings.Join(service["TimeoutStopSec"], ""))
	if err != nil || stop < 5*time.Second+2*drainTime {
		t.Errorf("TimeoutStopSec=%v, %v", stop, err)
	}
	// The environment that the unit sets is valid.
	settings := map[string]string{}
	for assignment := range strings.FieldsSeq(strings.Join(service["Environment"], " ")) {
		name, value, _ := strings.Cut(assignment, "=")
		settings[name] = value
	}
	if _, err := readConfig(settings); err != nil || len(settings) < 2 {
		t.Errorf("Environment=%v: %v", settings, err)
	}
	for _, command := range append(service["ExecStartPre"], service["ExecStart"]...) {
		if !strings.HasPrefix(command, "/usr/local/bin/loyalty ") { // where docs/operations.md installs it
			t.Errorf("the unit runs %s", command)
		}
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

// The proxy of one machine: the page's command leaves no name of compose.yml in haproxy.cfg, and the processes listen where it sends requests.
func TestProxyOfOneMachine(t *testing.T) {
	t.Parallel()
	page := operationFile(t, "../operations.md")
	_, command, _ := strings.Cut(page, "\nsed -e '/^global/")
	command, _, found := strings.Cut("sed -e '/^global/"+command, " >/etc/haproxy/haproxy.cfg")
	if !found {
		t.Fatal("the page doesn't adapt haproxy.cfg")
	}
	sed := exec.Command("sh", "-c", command)
	sed.Dir = "../.."
	out, err := sed.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config := string(out)
	for line, count := range map[string]int{
		"    user haproxy\n": 1, "    group haproxy\n": 1, "    bind :80\n": 1, "    bind :443 ssl ": 1,
		"    server app1 127.0.0.1:8441": 3, "    server app2 127.0.0.1:8442": 3, "app1:8443": 0, "app2:8443": 0,
	} {
		if got := strings.Count(config, line); got != count {
			t.Errorf("haproxy.cfg has %q %d times, want %d", line, got, count)
		}
	}
	if !strings.Contains(page, `printf 'LOYALTY_ADDR=127.0.0.1:844%s\nLOYALTY_METRICS_ADDR=127.0.0.1:946%s\n' $i $i >/etc/loyalty/$i.env`) {
		t.Error("the processes have other addresses")
	}
}
