package viewtest

import "testing"

func TestFaults(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]int{
		`<!doctype html><html lang="en"><p>a<br>b</p><!-- <i> --></html>`: 0,
		`<!DOCTYPE html><img src="a" alt=""/><input disabled>`:            0,
		`<p>a</p>`:                                  1,
		`<!doctype html><p>a`:                       1,
		`<!doctype html><p><b>a</p></b>`:            1,
		`<!doctype html></p>`:                       1,
		`<!doctype html><br></br>`:                  1,
		`<!doctype html><p>a < b</p>`:               1,
		`<!doctype html><p class=a>b</p>`:           2, // its end is then one too many
		`<!doctype html><p id="a">b</p><i id="a"/>`: 2, // the id, and the <i>
	} {
		if got := faults(html); len(got) != want {
			t.Errorf("%s has the faults %q, want %d", html, got, want)
		}
	}
}
