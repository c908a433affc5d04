package mailbox

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/mailbox"
)

// keyCookie tells a browser that opened the page with a key from others on this machine.
const keyCookie = "__Host-mail"

// lock admits browsers by keys that work once.
type lock struct {
	mu     sync.Mutex
	key    string // the one that works now
	cookie string // of the browsers that were let in, until the process ends
}

func newLock() *lock { return &lock{key: rand.Text(), cookie: rand.Text()} }

// current is the key that works now.
func (l *lock) current() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.key
}

// use reports whether key is the current key, which is then replaced by a new one.
func (l *lock) use(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(key), []byte(l.key)) != 1 {
		return false
	}
	l.key = rand.Text()
	return true
}

func (l *lock) knows(r *http.Request) bool {
	cookie, err := r.Cookie(keyCookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(l.cookie)) == 1
}

// Address is that of the list of mails with the key that lets the next browser in.
func (p *Pages) Address() string { return p.names.Base() + listPath + "?key=" + p.lock.current() }

// keyed admits browsers that have used a key. Others are told where the key is.
func (p *Pages) keyed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		key := c.QueryParam("key")
		switch {
		case p.lock.knows(r) && key == "":
			return next(c)
		case p.lock.knows(r): // opened once more, from the browser's history
		case key != "" && r.Method == http.MethodGet && p.lock.use(key):
			c.SetCookie(&http.Cookie{
				Name: keyCookie, Value: p.lock.cookie, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
			p.announce(p.Address())
		default:
			var b bytes.Buffer
			if err := views.KeyPage(frame("Mail")).Render(r.Context(), &b); err != nil {
				return err
			}
			return c.HTMLBlob(http.StatusForbidden, b.Bytes())
		}
		return c.Redirect(http.StatusSeeOther, listPath)
	}
}
