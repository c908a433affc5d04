package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/docs"
)

// sentence is a story of a sentence of the specification that needs the whole product.
type sentence struct {
	says  string // word for word: a sentence, a row of a table, or a part of one
	with  string // the case; "" if there is only one
	when  stage
	story func(v *visit)
}

// stage is when a story happens: with requests to spare, or when the first business's token and this address have made as
// many as they may, or a minute after that.
type stage string

const (
	atFirst        stage = ""
	atTheLimits    stage = "at the limits"
	afterTheLimits stage = "after the limits"
)

// The specification holds for the running product, over TLS: in the tests of package api, whose TestQuotations checks that
// every sentence is quoted, and in the stories here.
func TestSpecification(t *testing.T) {
	t.Parallel()
	t.Run("API", testAPI)
	scene := newScene(t, "LOYALTY_TRANSACTION_CREATE_SCOPE=rewards:read")
	if err := scene.deprecate(t, "GET", "/api/v1/rewards", 91); err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(docsSentences, productSentences, limitSentences, deprecationSentences)
	for _, stage := range []stage{atFirst, atTheLimits, afterTheLimits} {
		if stage == atTheLimits {
			scene.exhaust(t)
		}
		t.Run(string(stage), func(t *testing.T) {
			for _, c := range all {
				if c.when == stage {
					t.Run(strings.TrimSpace(docs.Plain(c.says)+" "+c.with), func(t *testing.T) {
						t.Parallel()
						c.story(scene.visit(t))
					})
				}
			}
		})
	}
}

// lengthy are tests of package api that take long and prove no sentence of the specification.
const lengthy = "^Test(InvalidInput|PageSizes|InventedCursors|NoExtremeBreaksAResponse|HugeRecordsBreakNoResponse|EveryRouteAfterADismissal|" +
	"ConcurrentTokensStopAtTheLimit|DisconnectedClientsLeaveNoPartialChanges)$"

// failedTest is the line of a failed test in the output of the go command.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// testAPI runs the tests of package api over TLS against the running product.
func testAPI(t *testing.T) {
	t.Parallel()
	const tested = "../../api"
	if _, err := os.ReadDir(tested); err != nil { // so the go command runs this test again when those change
		t.Fatal(err)
	}
	url := dbtest.OwnURL(t)
	in := newInstallationOn(t, url, "LOYALTY_SECRET="+dbtest.Secret, "LOYALTY_BASE_URL=https://loyalty.example", "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	in.base = "https://loyalty.example"
	in.serve()
	tests := exec.CommandContext(t.Context(), "go", "test", "-short", "-count=1", "-vet=off", "-parallel=4", "-run=^Test", "-skip="+lengthy, tested)
	tests.Env = append(os.Environ(), "LOYALTY_TEST_PRODUCT="+strings.Join([]string{in.addr, filepath.Join(in.data, "ca.pem"), url}, " "))
	out, err := tests.CombinedOutput()
	for _, failed := range failedTest.FindAllSubmatch(out, -1) { // each is named, however long the output is
		t.Run(string(failed[1]), func(t *testing.T) { t.Error("fails over TLS, see the output below") })
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
