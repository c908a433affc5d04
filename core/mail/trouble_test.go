package mail_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/mail/smtptest"
)

// The mail server is in trouble from a failure that concerns all mails until an attempt gets as far as it did.
func TestTroubleLastsUntilTheServerWorks(t *testing.T) {
	t.Parallel()
	type step struct {
		do      string
		trouble bool // afterwards
	}
	for name, steps := range map[string][]step{
		"it works": {{"send", false}, {"check", false}},
		"it can't be reached, and is asked again": {
			{"fail", false}, {"send", true}, {"check", true}, {"work", true}, {"check", false},
		},
		"it can't be reached, and a mail is sent": {
			{"fail", false}, {"check", true}, {"work", true}, {"send", false},
		},
		"it refuses the sender": {
			{"refuse", false}, {"send", true}, {"check", true}, {"dial", true}, {"accept", true}, {"check", false},
		},
		"it breaks off each mail, which no check finds": {
			{"drop", false}, {"send", true}, {"check", true}, {"dial", true}, {"drop", true}, {"send", true}, {"send", false},
		},
		"it refuses a recipient": {{"refuse recipient", false}, {"send", false}},
		"it is busy":             {{"defer recipient", false}, {"send", false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, never)
			client := server.client(t, "")
			for i, s := range steps {
				switch s.do {
				case "send":
					_ = deliver(t, client, letter())
				case "check":
					_ = client.Check(t.Context())
				case "dial":
					if conn, err := client.Dial(t.Context()); err == nil {
						_ = conn.Close()
					}
				case "fail":
					server.refuses("connect", refusal(421, "down"))
				case "work":
					server.refuses("connect", nil)
				case "refuse":
					server.refuses("mail", refusal(550, "who are you"))
				case "accept":
					server.refuses("mail", nil)
				case "drop":
					server.refuses("data", errBreakOff)
				case "refuse recipient":
					server.refuses("rcpt", refusal(550, "no such user"))
				case "defer recipient":
					server.refuses("rcpt", refusal(451, "later"))
				}
				if got := client.Trouble() != ""; got != s.trouble {
					t.Fatalf("step %d, %s: trouble %q, want %v", i+1, s.do, client.Trouble(), s.trouble)
				}
			}
		})
	}
}

// A full mailbox keeps its mail waiting, but that isn't late; a server that defers everything is.
func TestAMailThatItsRecipientDefersIsNotLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code     int
		enhanced [3]int
		late     bool
	}{
		{452, [3]int{4, 2, 2}, false}, // the mailbox is full
		{450, [3]int{4, 2, 0}, false}, // the recipient's server doesn't know the sender yet
		{452, [3]int{4, 3, 1}, true},  // the mail server's disk is full
		{451, [3]int{4, 7, 1}, true},  // too many mails
	} {
		server := smtptest.New(t)
		client, err := mail.NewSMTP(server.URL, "Loyalty <loyalty@example.com>")
		if err != nil {
			t.Fatal(err)
		}
		server.Replies("anna@example.com", c.code, c.enhanced, "Later")
		p := newPost(t, client)
		if err := p.write(t.Context(), "Hello", nil); err != nil {
			t.Fatal(err)
		}
		id, _ := p.mails(t)
		err = p.Deliver(t.Context(), mail.Delivery{Tenant: p.by.Tenant.ID, Mail: id[0]})
		if !errors.Is(err, mail.ErrDeferred) || errors.Is(err, mail.ErrMailboxBusy) == c.late {
			t.Errorf("%d %v: %v", c.code, c.enhanced, err)
		}
		p.work(t)
		deadline := time.Now().Add(30 * time.Second)
		for server.Tries("anna@example.com") < 3 && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if late := isLate(t.Context(), t, p.jobs); late != c.late {
			t.Errorf("%d %v: late %v, want %v", c.code, c.enhanced, late, c.late)
		}
	}
}

// isLate reports whether a job waits that is due since before its last attempt.
func isLate(ctx context.Context, t *testing.T, jobs *job.Queue) bool {
	t.Helper()
	loads, err := jobs.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return loads[0].DueSince != nil && time.Since(*loads[0].DueSince) > 500*time.Millisecond
}
