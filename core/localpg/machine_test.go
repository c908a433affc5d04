package localpg

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func install(t *testing.T, dir string, programs ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(dir, program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestInstalledPrefersPathThenTheHighestVersion(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fourteen := install(t, filepath.Join(root, "pg", "14", "bin"), "initdb", "postgres")
	fifteen := install(t, filepath.Join(root, "pg", "15", "bin"), "initdb", "postgres")
	install(t, filepath.Join(root, "pg", "17", "bin"), "psql")
	own := install(t, filepath.Join(root, "own"), "initdb", "postgres")

	got := findInstalled("relative:"+own, []string{filepath.Join(root, "pg", "*", "bin")})
	if want := []string{own, fifteen, fourteen}; !slices.Equal(got, want) {
		t.Errorf("installed = %v, want %v", got, want)
	}

	data := install(t, filepath.Join(root, "data"))
	m := machine{bins: got}
	if bin := m.binFor(data); bin != own {
		t.Errorf("a new cluster is made by %s, want %s", bin, own)
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if bin := m.binFor(data); bin != fourteen {
		t.Errorf("a cluster of version 14 is run by %s, want %s", bin, fourteen)
	}
}

func TestMissingProgramsSayWhatToInstall(t *testing.T) {
	t.Parallel()
	if got := findInstalled(t.TempDir(), nil); len(got) != 0 {
		t.Errorf("installed = %v, want none", got)
	}
	for _, want := range []string{"apt-get install postgresql", "dnf install postgresql-server", "brew install postgresql"} {
		if !strings.Contains(ErrMissing.Error(), want) {
			t.Errorf("%q does not name %q", ErrMissing, want)
		}
	}
}
