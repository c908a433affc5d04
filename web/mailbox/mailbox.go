// Package mailbox shows the e-mails of an installation without a mail server, so that invitations can
// be tried out.
//
// Its surprising rule: only a browser on the machine itself sees the pages, and only with a key from the
// start-up screen. Other people may use the machine, programs on it may forward requests, and the links
// in the e-mails open accounts.
package mailbox

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/mailbox"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

// Pages are the pages of one installation.
type Pages struct {
	mails   *mail.Service
	names   host.Names
	address func(*http.Request) string // of the client
	zone    *time.Location             // of the machine, which is the reader's

	lock     *lock
	announce func(address string)
}

// New returns the pages. announce is called with the address for the next browser when a key was used.
func New(
	mails *mail.Service, names host.Names, address func(*http.Request) string, zone *time.Location, announce func(address string),
) *Pages {
	return &Pages{mails: mails, names: names, address: address, zone: zone, lock: newLock(), announce: announce}
}

const listPath = "/mail"

// Mount registers the pages on the base host.
func (p *Pages) Mount(e *echo.Echo) {
	onlyHere := page.Local(p.names.Slug, p.address)
	for path, handler := range map[string]echo.HandlerFunc{
		listPath:           p.list,
		"/mail/:ulid":      p.show,
		"/mail/:ulid/html": p.html,
		"/mail/:ulid/file": p.file,
	} {
		e.Match([]string{http.MethodGet, http.MethodHead}, path, handler, onlyHere, p.keyed)
	}
}

const pageSize = 25

func (p *Pages) list(c echo.Context) error {
	position := core.Page{Size: pageSize}
	if text := c.QueryParam("cursor"); text != "" {
		cursor, err := core.ParseCursor(text)
		if err != nil {
			return echo.ErrNotFound
		}
		position.Cursor = &cursor
	}
	mails, err := p.mails.List(c.Request().Context(), position)
	if err != nil {
		return err
	}
	v := views.List{Frame: frame("Mail"), Newer: pageLink(mails.Prev), Older: pageLink(mails.Next)}
	for _, m := range mails.Items {
		v.Mails = append(v.Mails, views.Row{
			Link: "/mail/" + m.ID.String(), Subject: m.Subject, To: m.Recipient, Written: p.moment(m.CreatedAt),
		})
	}
	return render(c, views.ListPage(v))
}

func pageLink(to *core.Cursor) string {
	if to == nil {
		return ""
	}
	return "/mail?cursor=" + url.QueryEscape(to.String())
}

// showPolicy is that of every page, and lets this one have a frame and the script that fits it to the mail.
const showPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (p *Pages) show(c echo.Context) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, showPolicy)
	v := views.Mail{
		Frame: frame(m.Subject), Subject: m.Subject, To: m.Recipient, Written: p.moment(m.CreatedAt),
		HTML: "/mail/" + m.ID.String() + "/html", Text: linkSpans(m.Text),
	}
	v.Script = static.Path("js/mailbox.js")
	if m.AttachmentName != nil {
		v.File, v.FileName = "/mail/"+m.ID.String()+"/file", *m.AttachmentName
	}
	return render(c, views.MailPage(v))
}

// file answers with what is attached to a mail.
func (p *Pages) file(c echo.Context) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	if m.AttachmentName == nil {
		return echo.ErrNotFound
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": *m.AttachmentName}))
	return c.Blob(http.StatusOK, echo.MIMEOctetStream, m.Attachment)
}

// htmlPolicy lets the mail be drawn and do nothing: no script, no form, nothing loaded. It has the origin of
// the page, which reads its height. Its links open in a new tab, so that people can follow them.
const htmlPolicy = "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

func (p *Pages) html(c echo.Context) error {
	m, err := p.find(c)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentSecurityPolicy, htmlPolicy)
	h.Set(echo.HeaderXFrameOptions, "SAMEORIGIN")
	return c.HTML(http.StatusOK, strings.Replace(m.HTML, "<head>", `<head><base target="_blank">`, 1))
}

func (p *Pages) find(c echo.Context) (mail.Mail, error) {
	id, err := core.ParseID(c.Param("ulid"))
	if err != nil {
		return mail.Mail{}, echo.ErrNotFound
	}
	m, err := p.mails.Find(c.Request().Context(), id)
	if core.IsKind(err, core.KindNotFound) {
		return mail.Mail{}, echo.ErrNotFound
	}
	return m, err
}

func (p *Pages) moment(at time.Time) views.Moment {
	return views.Moment{Text: at.In(p.zone).Format("2 January 2006, 15:04:05"), Machine: at.Format(time.RFC3339)}
}

// address of a page, as far as no punctuation of the sentence around it belongs to it.
var address = regexp.MustCompile(`https://[^\s<>"]*[^\s<>".,;:!?)]`)

// linkSpans splits a text at the addresses in it.
func linkSpans(text string) (spans []views.Span) {
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		if found[0] > at {
			spans = append(spans, views.Span{Text: text[at:found[0]]})
		}
		link := text[found[0]:found[1]]
		spans = append(spans, views.Span{Text: link, Link: link})
		at = found[1]
	}
	if at < len(text) {
		spans = append(spans, views.Span{Text: text[at:]})
	}
	return spans
}

func frame(title string) views.Frame {
	return views.Frame{
		Title:       title + " · Loyalty",
		Stylesheets: []string{static.Path("css/frame.css"), static.Path("css/docs.css"), static.Path("css/mailbox.css")},
		Icon:        static.Path("img/icon.svg"),
	}
}

// render finishes the page before the first byte leaves, so that one that fails can
// still be answered with an error.
func render(c echo.Context, whole templ.Component) error {
	var b bytes.Buffer
	if err := whole.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	return c.HTMLBlob(http.StatusOK, page.Isolated(b.Bytes()))
}
