package migrations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"example.com/loyalty/migrations"
)

// "A guard refuses a new number that is not the highest and a gap", because installed databases fail at
// either.
func TestNumbersHaveNoGap(t *testing.T) {
	t.Parallel()
	for i, version := range migrations.Versions() {
		if want := int64(101 + i); version != want {
			t.Fatalf("step %d comes where %d is expected: a new step has the number after the highest one", version, want)
		}
	}
}

// "From then on they are never edited": the sum of a new step is added to sums.txt.
func TestStepsAreNeverEdited(t *testing.T) {
	t.Parallel()
	listed, err := os.ReadFile("sums.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(migrations.SQL, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(listed)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			known[name] = sum
		}
	}
	for _, name := range files {
		text, err := migrations.SQL.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		switch got := hex.EncodeToString(sum[:]); known[name] {
		case got:
		case "":
			t.Errorf("a new step: add this line to migrations/sums.txt\n%s", fmt.Sprintf("%s  %s", got, name))
		default:
			t.Errorf("%s was edited: what is to change is a new step", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is gone", name)
	}
}
