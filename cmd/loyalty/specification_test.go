package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/docs"
)

// sentence is a case of a sentence of the specification: a request and its whole
// answer, or a story, by which the running product shows that the sentence holds.
type sentence struct {
	says string // word for word: the sentence, the row of a table, or a part of one
	with string // which case of it

	before       func(v *visit)
	method, path string // below /api/v1; {names} are filled in (visit.make)
	as           string // whose token (visit.token); "" may do everything in its tenant
	body         string
	status       int
	want         string   // the body: exact but for {names} and <kinds> of values; "" is empty
	header       []string // "Name: value" that the answer must carry; "Name:" that it must not
	after        func(v *visit, got answer)

	story func(v *visit)
	late  bool // the story waits for the end of the minute that began before all others
}

// sentences are all cases there are.
func sentences() []sentence {
	return slices.Concat(
		accessSentences(), tenantSentences(),
		customerSentences, transactionSentences, rewardSentences, couponSentences, tokenSentences,
		reportSentences, platformSentences, docsSentences,
		errorSentences, limitSentences, eventSentences, versionSentences, deprecationSentences,
	)
}

// The specification as a test: every sentence of its parts 2 to 9 is a case, tried
// through TLS against the running product with the sandbox's file.
func TestSpecification(t *testing.T) {
	t.Parallel()
	all := sentences()
	// The scene with the limits of the specification comes first: its minute passes
	// while the others are tried.
	limited := newScene(t, "LOYALTY_TRANSACTION_CREATE_SCOPE=rewards:read")
	if err := limited.deprecate(t, "GET", "/api/v1/rewards", 91); err != nil {
		t.Fatal(err)
	}
	limited.exhaust(t)
	scene := newScene(t, "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	scene.limited = limited
	for range 3 {
		scene.enlarge(t)
	}
	try := func(name string, late bool) {
		t.Run(name, func(t *testing.T) {
			for _, c := range all {
				if c.late != late {
					continue
				}
				t.Run(docs.Plain(c.says+" "+c.with), func(t *testing.T) {
					t.Parallel()
					c.try(scene.visit(t))
				})
			}
		})
	}
	try("at once", false)
	try("after a minute", true)
	t.Run("nothing is left out", func(t *testing.T) { nothingIsLeftOut(t, all) })
}

func (c sentence) try(v *visit) {
	v.t.Helper()
	if c.story != nil {
		c.story(v)
		return
	}
	if c.before != nil {
		c.before(v)
	}
	v.fill(strings.Join(blank.FindAllString(c.want, -1), "")) // what the answer names is there before the request
	got := v.ask(c.method, c.path, c.as, c.body)
	v.is(got, c.status, c.want)
	for _, h := range c.header {
		name, want, _ := strings.Cut(h, ":")
		if have := got.header.Get(name); !matches(have, v.fill(strings.TrimSpace(want))) {
			v.t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	if c.after != nil {
		c.after(v, got)
	}
}

// nothingIsLeftOut finds every sentence quoted, or named in testdata/untestable.txt
// with a reason.
func nothingIsLeftOut(t *testing.T, all []sentence) {
	t.Helper()
	var known []string
	for part := 1; part <= 9; part++ {
		known = append(known, docs.Sentences("specification", fmt.Sprintf("## %d.", part))...)
	}
	quoted := map[string]bool{}
	for _, c := range all {
		quoted[c.says] = true
		if !slices.ContainsFunc(known, func(s string) bool { return strings.Contains(s, c.says) }) {
			t.Errorf("no sentence of the specification says: %s", c.says)
		}
	}
	excused := untestable(t)
	tested, excuses := 0, 0
	for part := 2; part <= 9; part++ {
		for _, s := range docs.Sentences("specification", fmt.Sprintf("## %d.", part)) {
			left := docs.Unquoted([]string{s}, quoted)
			if left == nil {
				tested++
				continue
			}
			excuses++
			for _, passage := range docs.Unquoted(left, excused) {
				t.Errorf("§%d: no case quotes: %s", part, passage)
			}
			for passage := range excused {
				if strings.Contains(strings.Join(left, " "), passage) {
					excused[passage] = false
				}
			}
		}
	}
	for passage, unused := range excused {
		if unused {
			t.Errorf("untestable.txt: the specification does not say, or a case quotes: %s", passage)
		}
	}
	t.Logf("specification: %d sentences covered by %d cases, %d cannot be tested", tested, len(all), excuses)
}

var namedTest = regexp.MustCompile(`(\S+)'s (Test\w+)`)

// untestable reads the passages that cannot be shown; below each stands its reason. A
// test that a reason names must be there.
func untestable(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/untestable.txt")
	if err != nil {
		t.Fatal(err)
	}
	passages := map[string]bool{}
	passage := ""
	for line := range strings.SplitSeq(string(text), "\n") {
		reason, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "", strings.HasPrefix(line, "//"):
		case !indented && passage == "":
			passage = line
		case indented && passage != "":
			passages[passage], passage = true, ""
			for _, named := range namedTest.FindAllStringSubmatch(reason, -1) {
				if !hasTest(t, named[1], named[2]) {
					t.Errorf("untestable.txt: %s has no %s", named[1], named[2])
				}
			}
		default:
			t.Errorf("untestable.txt: a passage and its reason belong together: %q", line)
		}
	}
	return passages
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+name+"(")
	})
}
