// Package smtptest is a mail server for tests: it speaks SMTP on a local port, stores the mails it
// receives, and refuses, defers, delays or drops mails as told. Only tests import it.
package smtptest

import (
	"io"
	"net"
	"net/mail"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// Mail is a received mail.
type Mail struct {
	From, To string
	*mail.Message
	Body string
}

// Server is a mail server.
type Server struct {
	URL string // smtp://127.0.0.1:…

	mu      sync.Mutex
	fails   bool
	replies map[string]*smtp.SMTPError // by recipient
	drops   map[string]bool
	delay   time.Duration
	taken   []Mail
	tries   map[string]int
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		URL:     "smtp://" + listener.Addr().String(),
		replies: map[string]*smtp.SMTPError{}, drops: map[string]bool{}, tries: map[string]int{},
	}
	daemon := smtp.NewServer(smtp.BackendFunc(s.newSession))
	daemon.Domain = "mail.example.com"
	go func() { _ = daemon.Serve(listener) }() // it returns an error when it is closed
	t.Cleanup(func() { _ = daemon.Close() })
	return s
}

// Fails has the server accept nothing, or work again.
func (s *Server) Fails(fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return nil, &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "Not accepting mails"}
	}
	return &session{server: s, conn: c}, nil
}

// Replies sets the server's reply to mails to a recipient: 550 refuses, 450 defers, 0 accepts.
func (s *Server) Replies(recipient string, code int, enhanced [3]int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.replies, recipient)
	if code != 0 {
		s.replies[recipient] = &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: text}
	}
}

// Drops has the server close the connection during the next mail to a recipient.
func (s *Server) Drops(recipient string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops[recipient] = true
}

// Delays sets how long the server takes for each mail.
func (s *Server) Delays(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// Mails returns the mails received so far.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// Tries returns how often a mail to a recipient was started.
func (s *Server) Tries(recipient string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries[recipient]
}

// session is a client's connection.
type session struct {
	server   *Server
	conn     *smtp.Conn
	from, to string
}

// Mail starts a mail.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt adds its recipient.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.to = to
	s.server.tries[to]++
	if reply := s.server.replies[to]; reply != nil {
		return reply
	}
	return nil
}

// Data receives its content.
func (s *session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	delay := s.server.delay
	s.server.mu.Unlock()
	time.Sleep(delay)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.drops[s.to] {
		delete(s.server.drops, s.to)
		_ = s.conn.Conn().Close()
		return io.ErrUnexpectedEOF
	}
	s.server.taken = append(s.server.taken, Mail{s.from, s.to, m, string(body)})
	return nil
}

// Reset ends a mail.
func (s *session) Reset() {}

// Logout ends the session.
func (s *session) Logout() error { return nil }
