package api_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"
)

// raw sends bytes that a decent client would not. The head lacks Host and
// Authorization.
func (s *shop) raw(t *testing.T, head, body string) answer {
	t.Helper()
	conn, err := tls.Dial("tcp", s.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.must(nil, conn.SetDeadline(time.Now().Add(20*time.Second)))
	s.must(io.WriteString(conn, head+"Host: "+domain+"\r\nAuthorization: Bearer "+s.token+"\r\n\r\n"+body))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.100s: %v", head, err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}
}
