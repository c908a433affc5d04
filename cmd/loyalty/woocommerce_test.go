package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/loyalty/core/sandbox"
)

// "One real plug-in as proof: for WooCommerce". A shop's orders, refunds and vouchers, against the running product. The
// response of the first sale is lost, and its next attempts are refused and redirected. The second business takes customers
// without a phone number, the first one doesn't.
func testWooCommerce(t *testing.T, s *server, without, shop sandbox.Tenant) {
	t.Helper()
	requireProgram(t, "php")
	const plugin = "../../api/clients/woocommerce"
	for _, pattern := range []string{"/*.php", "/src/*.php", "/test/*.php"} {
		files, err := filepath.Glob(plugin + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if out, err := exec.CommandContext(t.Context(), "php", "-l", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %s", file, out)
			}
		}
	}

	d := connect(t, s.in.url())
	location := ask[int64](d, `
		with made as (
			insert into loyalty.location (tenant_id, name) values ($1, 'Web shop <1>') returning id
		), turned_on as (
			update loyalty.tenant set phone_optional = true where id = $1
		)
		select id from made`, shop.ID)
	const benefitSQL = `
		with changed as (
			update loyalty.coupon set benefit_type = $3, benefit_value = $4, benefit_reward_id = $5 where tenant_id = $1 and id = $2 returning 1
		)
		select count(*) from changed`
	ask[int](d, benefitSQL, shop.ID, shop.Coupon, "percent", 20, nil)
	ask[int](d, benefitSQL, shop.ID, shop.Race.Capped[0].Coupon, "amount", 450, nil)
	ask[int](d, benefitSQL, shop.ID, shop.Race.Capped[1].Coupon, "reward", nil, shop.Rewards.InStock.ULID)

	var followed atomic.Bool
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer other.Close()
	troubles := []trouble{
		{drop: true},
		{status: http.StatusServiceUnavailable, wait: 1},
		{status: http.StatusTooManyRequests, wait: 1, dated: true},
		{status: http.StatusTemporaryRedirect, target: other.URL},
	}
	line, address, ca, err := s.lossyLine(t, troubles...)
	if err != nil {
		t.Fatal(err)
	}
	described, err := json.Marshal(map[string]any{
		"address": address, "token": shop.Tokens["all"], "weak": shop.Tokens["customers:read"],
		"other": without.Tokens["all"], "other_type": strconv.FormatInt(without.TransactionTypeID, 10),
		"type": strconv.FormatInt(shop.TransactionTypeID, 10), "location": strconv.FormatInt(location, 10),
		"choices": map[int64]string{
			shop.TransactionTypeID: ask[string](d, "select name from loyalty.transaction_type where id = $1", shop.TransactionTypeID),
			location:               "Web shop <1>",
		},
		"vouchers": map[string]any{
			"percent": shop.Vouchers.Pending[0].ULID, "amount": shop.Race.Capped[0].Vouchers[0], "reward": shop.Race.Capped[1].Vouchers[0],
			"points": shop.Race.Capped[2].Vouchers[0], "expired": shop.Vouchers.Expired.ULID,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "php", "-d", "curl.cainfo="+ca, "-d", "display_errors=stdout", "-d", "error_reporting=-1", plugin+"/test/story.php")
	cmd.Env = append(os.Environ(), "LOYALTY_SHOP="+string(described))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	line.mu.Lock()
	defer line.mu.Unlock()
	if len(line.keys) <= len(troubles) || line.keys[0] == "" || len(slices.Compact(line.keys[:len(troubles)+1])) != 1 || followed.Load() {
		t.Errorf("the lost sale was sent with the keys %q, want the same after %d troubles; redirected: %t", line.keys, len(troubles), followed.Load())
	}
	if len(line.sales) < 2 || line.sales[0] == "" || line.sales[0] != line.sales[1] {
		t.Errorf("the lost sale is recorded as %q, want once", line.sales)
	}
}

// "If it grows beyond 600 lines, stop and say so."
func TestWooCommerceIsSmall(t *testing.T) {
	t.Parallel()
	lines := 0
	for _, pattern := range []string{"*.php", "src/*.php"} {
		files, err := filepath.Glob("../../api/clients/woocommerce/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				code := strings.TrimSpace(line)
				if code != "" && !strings.HasPrefix(code, "/*") && !strings.HasPrefix(code, "*") && !strings.HasPrefix(code, "//") {
					lines++
				}
			}
		}
	}
	if lines == 0 || lines > 600 {
		t.Errorf("the plug-in has %d lines of code", lines)
	}
}
