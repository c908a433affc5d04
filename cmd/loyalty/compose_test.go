package main

import (
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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

// "`compose.yml` follows `operations.md`": the settings of each process are valid, it serves with the serving login, and has
// the owner's for migrations and the nightly check alone.
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
		if login := loginOf(t, c.DatabaseOwnerURL); login != "loyalty" {
			t.Errorf("%s migrates and checks as %s", name, login)
		}
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

// composeDatabase is a PostgreSQL server that is set up as compose.yml does it, on this machine.
type composeDatabase struct {
	t        *testing.T
	file     composeFile
	dir, bin string
	port     string
	as       *syscall.Credential // PostgreSQL refuses to run as root
}

func newComposeDatabase(t *testing.T) *composeDatabase {
	t.Helper()
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(programs) == 0 {
		t.Skip("needs PostgreSQL as Debian packages it")
	}
	d := &composeDatabase{t: t, file: readCompose(t), dir: openDir(t), bin: filepath.Dir(programs[len(programs)-1]), port: strconv.Itoa(freePort(t))}
	if os.Geteuid() == 0 {
		d.as = credentialOf(t, "postgres")
	}
	cert, key := selfSigned(t, time.Now().Add(time.Hour), "db")
	files := map[string]string{"db.crt": string(cert), "db.key": string(key)}
	for _, name := range []string{"pg_hba.conf", "create-database.sh", "backup.sh", "nightly-backup.sh", "archive-wal.sh"} {
		files[name] = operationFile(t, name)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(d.dir, "backup"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.own(t)
	d.run(nil, "initdb", "-D", filepath.Join(d.dir, "data"), "-U", "postgres", "--auth=reject", "--locale=C.UTF-8")
	d.start(t)
	return d
}

func credentialOf(t *testing.T, login string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(login)
	if err != nil {
		t.Skip(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// own gives all files to the user that PostgreSQL runs as.
func (d *composeDatabase) own(t *testing.T) {
	t.Helper()
	if d.as == nil {
		return
	}
	err := filepath.WalkDir(d.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, int(d.as.Uid), int(d.as.Gid)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// command is one that a container would run, with the environment of a service.
func (d *composeDatabase) command(environment map[string]string, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(d.bin, program), args...)
	if strings.HasSuffix(program, ".sh") {
		cmd = exec.Command(filepath.Join(d.dir, program), args...)
	}
	cmd.Env = []string{"PATH=" + d.bin + ":" + os.Getenv("PATH"), "HOME=" + d.dir, "BACKUP_DIR=" + filepath.Join(d.dir, "backup"), "PGPORT=" + d.port}
	for name, value := range environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Dir, cmd.SysProcAttr = d.dir, &syscall.SysProcAttr{Credential: d.as, Setpgid: true}
	return cmd
}

func (d *composeDatabase) run(environment map[string]string, program string, args ...string) {
	d.t.Helper()
	if out, err := d.command(environment, program, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// start starts the server with the settings of compose.yml, at other paths.
func (d *composeDatabase) start(t *testing.T) {
	t.Helper()
	at := strings.NewReplacer("/operations/", d.dir+"/", "/tls/", d.dir+"/")
	args := []string{"-D", filepath.Join(d.dir, "data"), "-p", d.port, "-k", d.dir, "-h", "127.0.0.1"}
	for _, arg := range d.file.Services["db"].Command[1:] { // after the program
		args = append(args, at.Replace(arg))
	}
	server := d.command(nil, "postgres", args...)
	var log output
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	await(t, "PostgreSQL accepts connections", func() bool {
		return d.command(nil, "pg_isready", "-q", "-h", "127.0.0.1").Run() == nil
	})
}

// settings are those of a service of the product, with the database on this machine.
func (d *composeDatabase) settings(service string) (settings []string) {
	for _, name := range []string{"DATABASE_URL", "LOYALTY_DATABASE_OWNER_URL", "LOYALTY_SECRET"} {
		if value := d.file.Services[service].Environment[name]; value != "" {
			settings = append(settings, name+"="+strings.Replace(value, "@db/", "@127.0.0.1:"+d.port+"/", 1))
		}
	}
	return settings
}

// refuses checks that PostgreSQL refuses a connection before it asks for a password.
func (d *composeDatabase) refuses(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err == nil {
		_ = conn.Close(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "no pg_hba.conf entry") {
		t.Errorf("%s: %v", address, err)
	}
}

// backups are the finished base backups.
func (d *composeDatabase) backups() []string {
	found, _ := filepath.Glob(filepath.Join(d.dir, "backup", "base", "*Z", "base.tar.gz"))
	return found
}

// The database that compose.yml describes works by itself from the first start: its logins have their passwords, the
// migration and the processes connect encrypted, and backups are taken every night, with no other way in.
func TestComposeDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL of its own: make test-long")
	}
	t.Parallel()
	d := newComposeDatabase(t)
	passwords := d.file.Services["db"].Environment
	for range 2 { // the second time changes passwords
		d.run(map[string]string{
			"PGHOST": d.dir, "POSTGRES_PASSWORD": passwords["POSTGRES_PASSWORD"], "APP_PASSWORD": passwords["APP_PASSWORD"], "BACKUP_PASSWORD": passwords["BACKUP_PASSWORD"],
		}, "create-database.sh")
	}
	newInstallation(t, d.settings("migrate")...).succeed("migrate", "up")
	in := newInstallation(t, append(d.settings("app1"), "LOYALTY_TLS=proxy", "LOYALTY_TRUSTED_PROXIES=127.0.0.1")...)
	s := in.served()
	if got := readiness(t, in.addr); got != http.StatusOK {
		t.Errorf("/readyz = %d", got)
	}
	s.stop()
	if out := in.succeed("verify"); !strings.HasSuffix(out, "no differences\n") {
		t.Errorf("the nightly check: %s", out)
	}
	const anyPassword = ":x@127.0.0.1:"
	d.refuses(t, "postgres://postgres"+anyPassword+d.port+"/loyalty?sslmode=require")
	d.refuses(t, "postgres://loyalty_backup"+anyPassword+d.port+"/postgres?sslmode=require")
	d.refuses(t, "postgres://loyalty_app"+anyPassword+d.port+"/loyalty?sslmode=disable")

	nightly := maps.Clone(d.file.Services["backup"].Environment)
	nightly["PGHOST"], nightly["PAUSE"] = "127.0.0.1", "1"
	backup := d.command(nightly, "nightly-backup.sh")
	var log output
	backup.Stdout, backup.Stderr = &log, &log
	if err := backup.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-backup.Process.Pid, syscall.SIGKILL)
		_ = backup.Wait()
	}()
	await(t, "the first backup is taken at once", func() bool { return len(d.backups()) == 1 })
	time.Sleep(2500 * time.Millisecond) // two further looks
	if n := len(d.backups()); n != 1 {
		t.Errorf("%d backups in a night\n%s", n, log.String())
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(filepath.Dir(d.backups()[0]), yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	await(t, "the next night's backup is taken", func() bool { return len(d.backups()) == 2 })
	await(t, "the WAL is archived", func() bool {
		segments, _ := filepath.Glob(filepath.Join(d.dir, "backup", "wal", "0*"))
		return len(segments) > 0
	})
}
