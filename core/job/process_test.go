package job_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	ours "example.com/loyalty/core/mail"
	"example.com/loyalty/core/shoptest"
)

// With these variables, the test binary is a process that delivers mails.
const (
	workerDatabase = "JOB_TEST_DATABASE"
	workerSMTP     = "JOB_TEST_SMTP"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(workerDatabase); url != "" {
		if err := deliverMails(context.Background(), url, os.Getenv(workerSMTP)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if url := os.Getenv(victimDatabase); url != "" {
		if err := workUntilKilled(context.Background(), url, os.Getenv(workerSMTP), os.Getenv(victimStep)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dbtest.Main(m)
}

// deliverMails delivers until the test closes standard input.
func deliverMails(ctx context.Context, url, server string) error {
	d, err := db.Open(ctx, url, db.Options{Listens: true})
	if err != nil {
		return err
	}
	defer d.Close()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	jobs, err := job.NewHasty(d, log)
	if err != nil {
		return err
	}
	sender, err := ours.NewSMTP(server, "Loyalty <loyalty@example.com>")
	if err != nil {
		return err
	}
	ours.New(d, jobs, sender, log)
	if err := jobs.Start(ctx); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return jobs.Stop(ctx)
}

// process is another process that delivers mails.
type process struct{ *exec.Cmd }

func startProcess(t *testing.T, url, server string) process {
	t.Helper()
	p := process{exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), workerDatabase+"="+url, workerSMTP+"="+server)
	p.Stderr = os.Stderr
	stdin, err := p.StdinPipe() // which closes when this process ends
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = p.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return p
}

// mailServer stalls during the first mail, before it accepts it.
type mailServer struct {
	sync.Mutex
	seen  []string // Message-IDs of all mails that began to arrive
	taken []string // … and that it has
	stall chan struct{}
}

func newMailServer(t *testing.T) (s *mailServer, url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = &mailServer{stall: make(chan struct{})}
	daemon := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return conversation{s}, nil }))
	daemon.Domain = "mail.example.com"
	go func() { _ = daemon.Serve(listener) }()
	t.Cleanup(func() {
		close(s.stall)
		_ = daemon.Close()
	})
	return s, "smtp://" + listener.Addr().String()
}

func (s *mailServer) ids() (seen, taken []string) {
	s.Lock()
	defer s.Unlock()
	return append([]string(nil), s.seen...), append([]string(nil), s.taken...)
}

type conversation struct{ *mailServer }

func (conversation) Mail(string, *smtp.MailOptions) error { return nil }
func (conversation) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (conversation) Reset()                               {}
func (conversation) Logout() error                        { return nil }

func (c conversation) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	id := m.Header.Get("Message-Id")
	c.Lock()
	c.seen = append(c.seen, id)
	first := len(c.seen) == 1
	c.Unlock()
	if first {
		<-c.stall
		return io.ErrUnexpectedEOF
	}
	c.Lock()
	defer c.Unlock()
	c.taken = append(c.taken, id)
	return nil
}

// After a process is killed during SMTP, another one delivers the mail with the same Message-ID when the claim
// has ended, and not before.
func TestAMailOutlivesTheProcessThatSendsIt(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	server, at := newMailServer(t)
	url := f.db.OwnerURL()
	first := startProcess(t, url, at)

	// The mail is queued by a process that delivers nothing itself.
	post := shoptest.NewMails(f.db, f.Queue)
	_, err := db.In(t.Context(), f.db.Tenant(f.by), func(tx *db.Tx) (int, error) {
		return 0, post.Queue(t.Context(), tx, post.PasswordReset("anna@example.com", auth.ResetEmail{}))
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the first process is in the middle of the mail", func() bool { seen, _ := server.ids(); return len(seen) == 1 })
	startProcess(t, url, at)
	time.Sleep(job.HastyRescue + time.Second) // longer than a claim lasts that is not renewed
	if seen, _ := server.ids(); len(seen) != 1 {
		t.Fatalf("the mail was sent twice while its process lives: %v", seen)
	}

	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	await(t, "another process delivers the mail", func() bool { _, taken := server.ids(); return len(taken) == 1 })
	t.Logf("delivered %s after the kill", time.Since(killed).Round(time.Millisecond))
	seen, taken := server.ids()
	if len(seen) != 2 || seen[0] != seen[1] || taken[0] != seen[0] || !strings.HasSuffix(seen[0], "@example.com>") {
		t.Errorf("Message-IDs: seen %v, taken %v", seen, taken)
	}
	await(t, "the mail is marked", func() bool { return one[string](t, f, "select status from loyalty.mail") == "sent" })
	if got := one[string](t, f, "select state || ' ' || attempt from river.river_job where kind = 'mail_delivery'"); !strings.HasSuffix(got, " 2") {
		t.Errorf("the job is %s", got)
	}
}
