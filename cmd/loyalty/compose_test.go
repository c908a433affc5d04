package main

import (
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// composeFile is docs/operations/compose.yml, of which every field is known.
type composeFile struct {
	Name     string
	Service  any `yaml:"x-service"`
	Once     any `yaml:"x-once"`
	App      any `yaml:"x-app"`
	Services map[string]composeService
	Networks map[string]any
	Volumes  map[string]any
}

type composeService struct {
	Image, User, Restart  string
	Build                 map[string]string
	Init                  bool
	ReadOnly              bool `yaml:"read_only"`
	Entrypoint, Command   []string
	Environment           map[string]string
	Volumes, Ports, Tmpfs []string
	Networks              map[string]*struct {
		Address string `yaml:"ipv4_address"`
	}
	NetworkMode string   `yaml:"network_mode"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	DependsOn   any      `yaml:"depends_on"`
	Healthcheck any
	Logging     struct {
		Driver  string
		Options map[string]string
	}
	Memory       string `yaml:"mem_limit"`
	SharedMemory string `yaml:"shm_size"`
	StopGrace    string `yaml:"stop_grace_period"`
}

// variable is one that compose interpolates: ${NAME}, ${NAME:-default} or ${NAME:?message if it is empty}.
var variable = regexp.MustCompile(`\$\{([A-Z_]+)(:[-?][^}]*)?\}`)

// readCompose reads compose.yml, with the variables of an example.env that is filled in.
func readCompose(t *testing.T) composeFile {
	t.Helper()
	given := exampleEnv(t)
	text := variable.ReplaceAllStringFunc(operationFile(t, "compose.yml"), func(found string) string {
		parts := variable.FindStringSubmatch(found)
		if value := given[parts[1]]; value != "" {
			return value
		}
		if strings.HasPrefix(parts[2], ":?") {
			return strings.Repeat("0f", 32) // as openssl rand -hex 32 makes it
		}
		return strings.TrimPrefix(parts[2], ":-")
	})
	if strings.Contains(text, "$") {
		t.Error("compose.yml has a $ that isn't a variable: write $$")
	}
	var file composeFile
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file
}

// exampleEnv are the variables of example.env.
func exampleEnv(t *testing.T) map[string]string {
	t.Helper()
	variables := map[string]string{}
	for line := range strings.Lines(operationFile(t, "example.env")) {
		name, value, isVariable := strings.Cut(strings.TrimSpace(line), "=")
		if isVariable && !strings.HasPrefix(line, "#") {
			variables[name] = value
		}
	}
	return variables
}

// "`compose.yml` follows `operations.md`": the settings of each process are valid, it serves with the serving login,
// and only the migration has the owner's.
func TestComposeSettings(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	for _, name := range []string{"app1", "app2", "migrate"} {
		service := file.Services[name]
		c, err := readConfig(service.Environment)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.TLS != "proxy" || c.StopDelay == 0 || c.RedisURL == "" || c.TrustedProxies != file.Services["proxy"].Networks["inside"].Address {
			t.Errorf("%s: %+v", name, service.Environment)
		}
		if login := loginOf(t, c.DatabaseURL); login != "loyalty_app" {
			t.Errorf("%s serves as %s", name, login)
		}
		if _, owns := service.Environment["LOYALTY_DATABASE_OWNER_URL"]; owns != (name == "migrate") {
			t.Errorf("%s has the owner's login: %t", name, owns)
		}
	}
	if login := loginOf(t, file.Services["migrate"].Environment["LOYALTY_DATABASE_OWNER_URL"]); login != "loyalty" {
		t.Errorf("migrate migrates as %s", login)
	}
	// The socket that the processes count limits by is the one on which Redis listens.
	redis := file.Services["redis"]
	folder, _, _ := strings.Cut(strings.TrimPrefix(redis.Volumes[0], "redis:"), ":")
	socket := strings.TrimPrefix(file.Services["app1"].Environment["LOYALTY_REDIS_URL"], "unix:///redis/")
	if !slices.Contains(redis.Command, folder+"/"+socket) || !slices.Contains(file.Services["app1"].Volumes, "redis:/redis:ro") {
		t.Errorf("Redis listens at %q, with the volume %q", redis.Command, redis.Volumes)
	}
}

func loginOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.User.Username()
}

// Each variable of compose.yml is in example.env, and each of example.env is used.
func TestComposeVariables(t *testing.T) {
	t.Parallel()
	used := map[string]string{}
	for _, found := range variable.FindAllStringSubmatch(operationFile(t, "compose.yml"), -1) {
		used[found[1]] = ""
	}
	given := exampleEnv(t)
	if a, b := slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(given)); !slices.Equal(a, b) {
		t.Errorf("compose.yml uses %q, example.env has %q", a, b)
	}
}

// Each service has a bound for its log and its memory, an image of a version, and volumes that exist. Backups are not
// in the database's volume.
func TestComposeServices(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	pinned := regexp.MustCompile(`^[a-z]+:\d+(\.\d+)*-bookworm$`)
	mounted := map[string]bool{}
	for name, s := range file.Services {
		if s.Logging.Driver == "" || s.Logging.Options["max-size"] == "" || s.Logging.Options["max-file"] == "" {
			t.Errorf("the log of %s is kept without bounds", name)
		}
		if s.Memory == "" {
			t.Errorf("%s has no memory limit", name)
		}
		if s.Restart == "" || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s: restart %q, %q", name, s.Restart, s.SecurityOpt)
		}
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s has the image %s, which is not of one version", name, s.Image)
		}
		for _, file := range s.Build {
			if _, err := os.Stat(filepath.Join("../..", file)); err != nil && file != "../.." {
				t.Errorf("%s is built with %v", name, err)
			}
		}
		for _, volume := range s.Volumes {
			mounted[checkVolume(t, name, volume, file.Volumes)] = true
		}
		for _, word := range append(s.Entrypoint, s.Command...) {
			checkOperation(t, name, word)
		}
	}
	for name := range file.Volumes {
		if !mounted[name] {
			t.Errorf("no service uses the volume %s", name)
		}
	}
	backup := strings.Join(file.Services["backup"].Volumes, " ")
	if !strings.Contains(backup, "backup:/backup") || strings.Contains(backup, "postgresql") || !slices.Contains(file.Services["db"].Volumes, "db:/var/lib/postgresql/data") {
		t.Errorf("backups are written to %s", backup)
	}
}

// checkVolume checks that the source of a mount is a volume of the file, or in the repository. The certificate is the
// operator's.
func checkVolume(t *testing.T, service, volume string, named map[string]any) (source string) {
	t.Helper()
	source, _, _ = strings.Cut(volume, ":")
	if !strings.HasPrefix(source, "./") {
		if _, isNamed := named[source]; !isNamed {
			t.Errorf("%s uses the volume %s, which is not declared", service, source)
		}
	} else if _, err := os.Stat(filepath.Join(operationFiles, source)); err != nil && source != "./tls" {
		t.Errorf("%s: %v", service, err)
	}
	return source
}

// checkOperation checks that what a command names of docs/operations is there; scripts can be run.
func checkOperation(t *testing.T, service, word string) {
	t.Helper()
	for _, found := range regexp.MustCompile(`/operations/(\S+)`).FindAllStringSubmatch(word, -1) {
		info, err := os.Stat(filepath.Join(operationFiles, found[1]))
		if err != nil {
			t.Errorf("%s: %v", service, err)
		} else if strings.HasSuffix(found[1], ".sh") && info.Mode()&0o111 == 0 {
			t.Errorf("%s: %s can't be run (%v)", service, found[1], fs.FormatFileInfo(info))
		}
	}
}

// HAProxy's servers are the services of the product, in each backend, and it finds its files where compose.yml mounts
// them.
func TestComposeProxy(t *testing.T) {
	t.Parallel()
	file, proxy := readCompose(t), operationFile(t, "haproxy.cfg")
	servers := regexp.MustCompile(`(?m)^    server (\S+) (\S+)`)
	sections := regexp.MustCompile(`(?m)^backend `).Split(proxy, -1)[1:]
	if len(sections) < 3 {
		t.Fatalf("%d backends", len(sections))
	}
	for _, backend := range sections {
		var names []string
		for _, found := range servers.FindAllStringSubmatch(backend, -1) {
			names = append(names, found[1])
			if file.Services[found[1]].Image != "loyalty" || found[2] != found[1]+file.Services[found[1]].Environment["LOYALTY_ADDR"] {
				t.Errorf("the proxy leads to %s at %s, which is no service", found[1], found[2])
			}
		}
		if !slices.Equal(names, []string{"app1", "app2"}) {
			t.Errorf("a backend has the servers %q", names)
		}
	}
	for _, path := range regexp.MustCompile(`/etc/haproxy/\S+`).FindAllString(proxy, -1) {
		found := slices.ContainsFunc(file.Services["proxy"].Volumes, func(volume string) bool {
			_, target, _ := strings.Cut(strings.TrimSuffix(volume, ":ro"), ":")
			return target == path || strings.HasPrefix(path, target+"/")
		})
		if !found {
			t.Errorf("compose.yml mounts no %s", path)
		}
	}
	for _, port := range file.Services["proxy"].Ports {
		_, inside, _ := strings.Cut(port, ":")
		if !regexp.MustCompile(`(?m)^    bind :` + inside + `\b`).MatchString(proxy) {
			t.Errorf("the proxy doesn't listen on %s", inside)
		}
	}
}
