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

// sentence is a case of a sentence of the specification: a request and its whole response, or a
// story, which proves the sentence on the running product.
type sentence struct {
	says string // word for word: a sentence, a row of a table, or a part of one
	with string // the case; "" if there is only one

	before       func(v *visit)
	method, path string // below /api/v1; {names} are filled in (visit.make)
	as           string // the token (visit.token); "": one with all abilities
	body         string
	status       int
	want         string   // the body, exact except {names} and <kinds> of values; "": empty
	header       []string // "Name: value" that the response must have; "Name:" that it must not
	after        func(v *visit, got answer)

	story func(v *visit)
	late  bool // the story waits for the end of the first minute
}

// allSentences returns all cases.
func allSentences() []sentence {
	return slices.Concat(
		accessSentences(), tenantSentences(),
		customerSentences, transactionSentences, rewardSentences, couponSentences, tokenSentences,
		reportSentences, platformSentences, docsSentences,
		errorSentences, limitSentences, eventSentences, versionSentences, deprecationSentences,
	)
}

// Every sentence of parts 2 to 9 of the specification has a case, which runs over TLS against the
// running product with the sandbox's tokens. Subtests are named by the sentence's id, its part and
// number: -run 'TestSpecification/.*/§4.12' runs the cases of one sentence, and -v logs its text.
func TestSpecification(t *testing.T) {
	t.Parallel()
	all := allSentences()
	ids := sentenceIDs()
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
				t.Run(strings.TrimSpace(ids(c.says)+" "+c.with), func(t *testing.T) {
					t.Parallel()
					t.Log(docs.Plain(c.says))
					c.try(scene.visit(t))
				})
			}
		})
	}
	try("at once", false)
	try("after a minute", true)
	t.Run("coverage", func(t *testing.T) { wantCoverage(t, all) })
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
	v.fill(strings.Join(blank.FindAllString(c.want, -1), "")) // records in the response are created before the request
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

// sentenceIDs returns a function that returns a sentence's id, such as §4.12.
func sentenceIDs() func(says string) string {
	parts := make([][]string, 10)
	for part := 1; part <= 9; part++ {
		parts[part] = docs.Sentences("specification", fmt.Sprintf("## %d.", part))
	}
	return func(says string) string {
		for part, known := range parts {
			if n := slices.IndexFunc(known, func(s string) bool { return strings.Contains(s, docs.Plain(says)) }); n >= 0 {
				return fmt.Sprintf("§%d.%d", part, n+1)
			}
		}
		return "unknown sentence"
	}
}

// wantCoverage checks that every sentence is quoted by a case, or listed in
// testdata/untestable.txt with a reason.
func wantCoverage(t *testing.T, all []sentence) {
	t.Helper()
	var known []string
	for part := 1; part <= 9; part++ {
		known = append(known, docs.Sentences("specification", fmt.Sprintf("## %d.", part))...)
	}
	quoted := map[string]bool{}
	for _, c := range all {
		quoted[c.says] = true
		if !slices.ContainsFunc(known, func(s string) bool { return strings.Contains(s, c.says) }) {
			t.Errorf("the specification doesn't have: %s", c.says)
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
			t.Errorf("untestable.txt has a sentence that is tested or not in the specification: %s", passage)
		}
	}
	t.Logf("specification: %d sentences covered by %d cases, %d cannot be tested", tested, len(all), excuses)
}

var namedTest = regexp.MustCompile(`(\S+)'s (Test\w+)`)

// untestable reads the passages that can't be tested. Each has a reason below; a test that a reason
// names must exist.
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
			t.Errorf("untestable.txt: a passage needs a reason below it: %q", line)
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
