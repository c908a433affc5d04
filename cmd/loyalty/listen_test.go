package main

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
)

// `"address already in use" names the setting`: and so does every other reason why an address can't be listened on.
func TestAnAddressThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	const elsewhere = "choose another port in LOYALTY_ADDR and LOYALTY_BASE_URL"
	for addr, want := range map[string][]string{
		taken.Addr().String():         {"address already in use", "stop it, or " + elsewhere},
		"192.0.2.1:8443":              {"cannot assign requested address", "it must be an address of this machine"},
		"no-such-host.invalid.:18443": {"it must be an address of this machine"},
	} {
		_, err := listen(t.Context(), "LOYALTY_ADDR", addr, elsewhere)
		for _, part := range append(want, "LOYALTY_ADDR="+addr+" can't be used: ") {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", addr, err, part)
			}
		}
	}

	// Without metrics the product runs on: it is a warning.
	var log bytes.Buffer
	new(metrics).serve(t.Context(), metricsAccess{addr: taken.Addr().String()}, slog.New(slog.NewTextHandler(&log, nil)))
	for _, part := range []string{"level=WARN", "LOYALTY_METRICS_ADDR=" + taken.Addr().String(), "address already in use", "or off"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log says %s, want %q", &log, part)
		}
	}
}

// The ports below 1024 are refused to ordinary users.
func TestAPortThatNeedsRoot(t *testing.T) {
	t.Parallel()
	if lowest, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start"); err != nil || strings.TrimSpace(string(lowest)) == "0" {
		t.Skip("every user may listen on every port here")
	}
	in := ordinaryUser(t)
	in.with("LOYALTY_ADDR=127.0.0.1:443").run("serve").says(t, "LOYALTY_ADDR=127.0.0.1:443 can't be used", "permission denied", "CAP_NET_BIND_SERVICE")
}

// The progress of the demo is a line that changes on a terminal, and two lines elsewhere: pipes, files and journals keep each
// change.
func TestProgress(t *testing.T) {
	t.Parallel()
	for terminal, want := range map[bool]string{
		true:  "\rcreating   0%\rcreating  50%\rcreating 100%\n",
		false: "creating …\ncreating: done\n",
	} {
		var out bytes.Buffer
		show := progressOn(&out, terminal, "creating")
		for done := range 1001 {
			if done%500 == 0 {
				show(done, 1000)
				show(done, 1000)
			}
		}
		if out.String() != want {
			t.Errorf("on a terminal %t: %q, want %q", terminal, out.String(), want)
		}
	}
	if (&config{Log: "json"}).progress("creating") != nil {
		t.Error("a JSON log has progress in it")
	}
}
