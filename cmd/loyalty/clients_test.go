package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	sources "example.com/loyalty/api/clients"
	"example.com/loyalty/core/sandbox"
)

// testClients walks the main job with the clients for Python and TypeScript, against the running
// product: create a customer, record a sale with an idempotency key, retry it, redeem a reward,
// handle refusals by their code, and list with the cursor. The first response is lost and the next
// request is refused with 503, so the clients repeat them. The plug-in for WooCommerce has a story of its own.
func testClients(t *testing.T, s *server, shop, webShop sandbox.Tenant) {
	t.Run("WooCommerce", func(t *testing.T) {
		t.Parallel()
		testWooCommerce(t, s, shop, webShop)
	})
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		requireProgram(t, "python3")
		dir := t.TempDir()
		if err := os.CopyFS(dir, sources.Files); err != nil {
			t.Fatal(err)
		}
		s.walk(t, shop, filepath.Join(dir, "python"), "python3", "-B", "example.py")
	})
	t.Run("TypeScript", func(t *testing.T) {
		t.Parallel()
		requireProgram(t, "node")
		const tools = "../../.ci/clients"
		if _, err := os.Stat(tools + "/node_modules"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip("the packages of the TypeScript client are not installed: `make test` installs them where that is permitted")
		}
		dir := t.TempDir()
		if out, err := exec.Command(tools+"/run", "build", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s.walk(t, shop, dir, "node", "example.js")
	})
}

// walk runs an example with a business's token.
func (s *server) walk(t *testing.T, shop sandbox.Tenant, dir string, command ...string) {
	t.Helper()
	line, address, ca, err := s.lossyLine(t, trouble{drop: true}, trouble{status: http.StatusServiceUnavailable, wait: 1})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+ca, "NODE_EXTRA_CA_CERTS="+ca,
		"LOYALTY_URL="+address, "LOYALTY_TOKEN="+shop.Tokens["all"],
		"TRANSACTION_TYPE="+strconv.FormatInt(shop.TransactionTypeID, 10), "REWARD="+shop.Rewards.InStock.ULID.String())
	out, err := cmd.CombinedOutput()
	if want := "Tove Dahl: 12 points\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
	if len(line.keys) < 3 || line.keys[0] != line.keys[1] || line.keys[1] != line.keys[2] {
		t.Errorf("the lost sale was sent with the keys %q, want three times the same", line.keys)
	}
}
