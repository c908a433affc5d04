package walkin

import (
	"context"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
)

// Mails with the link to a card, an hour. Those that anyone can request are counted by customer, and since strangers
// type addresses that aren't theirs, by mailbox and domain at all businesses together, and by business. The staff have
// their own, so that strangers can't use up a customer's.
const (
	mailsPerCustomer = 3
	mailsPerMailbox  = 3
	mailsPerDomain   = 60
	mailsPerBusiness = 60
	mailsByStaff     = 3 // to a customer
	mailsPerPerson   = 60
)

// mailings count mails with the link to a card.
type mailings struct {
	customers  *limit.Window
	mailboxes  *limit.Window
	domains    *limit.Window
	businesses *limit.Window
	byStaff    *limit.Window // by customer
	people     *limit.Window // of the staff
}

func newMailings(now func() time.Time) mailings {
	window := func(n int) *limit.Window { return limit.NewWindow(n, time.Hour, now) }
	return mailings{
		customers: window(mailsPerCustomer), mailboxes: window(mailsPerMailbox), domains: window(mailsPerDomain),
		businesses: window(mailsPerBusiness), byStaff: window(mailsByStaff), people: window(mailsPerPerson),
	}
}

func (m mailings) share(r *limit.Redis) {
	m.customers.Shared(r, "card-mail")
	for name, w := range map[string]*limit.Window{
		"mailbox": m.mailboxes, "domain": m.domains, "business": m.businesses, "staff": m.byStaff, "person": m.people,
	} {
		w.Shared(r, "card-mail-"+name)
	}
}

// admit counts a mail to a customer, or reports which time to wait.
func (m mailings) admit(by core.Actor, to customer.Customer) limit.Verdict {
	business := strconv.FormatInt(int64(by.Tenant.ID), 10)
	if by.Kind != core.ByCustomer {
		return takeAll([]count{{m.byStaff, to.ID.String()}, {m.people, business + " " + string(by.Kind) + " " + by.ID}})
	}
	mailbox, domain := mailboxOf(*to.Email)
	counts := []count{{m.customers, to.ID.String()}, {m.mailboxes, mailbox}, {m.businesses, business}}
	if !isPublic(domain) {
		counts = append(counts, count{m.domains, domain})
	}
	return takeAll(counts)
}

// takeAll counts in all windows, or in none.
func takeAll(counts []count) limit.Verdict {
	for i, c := range counts {
		if v := c.Take(c.key); !v.Allowed {
			refund(counts[:i])
			return v
		}
	}
	return limit.Verdict{Allowed: true}
}

// mailboxOf returns the mailbox of an address, without a "+tag", and its domain.
func mailboxOf(email string) (mailbox, domain string) {
	key := core.EmailKey(email)
	at := strings.LastIndexByte(key, '@')
	local, domain := key[:max(at, 0)], key[at+1:]
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain, domain
}

// publicDomains are the large providers of mailboxes, whose customers have nothing in common. A dot at the end stands for any ending.
var publicDomains = []string{
	"gmail.com", "googlemail.com", "outlook.", "hotmail.", "live.", "msn.com", "yahoo.", "ymail.com", "rocketmail.com", "icloud.com", "me.com", "mac.com",
	"aol.com", "gmx.", "web.de", "t-online.de", "freenet.de", "mail.de", "posteo.de", "mailbox.org", "proton.me", "protonmail.com", "pm.me", "fastmail.com",
	"mail.com", "zoho.com", "hey.com", "tuta.com", "tutanota.com", "yandex.", "mail.ru", "bk.ru", "inbox.ru", "list.ru", "rambler.ru",
	"qq.com", "163.com", "126.com", "sina.com", "foxmail.com", "naver.com", "daum.net", "hanmail.net", "docomo.ne.jp", "ezweb.ne.jp", "softbank.ne.jp", "rediffmail.com",
	"orange.fr", "wanadoo.fr", "free.fr", "sfr.fr", "laposte.net", "libero.it", "virgilio.it", "tiscali.it", "alice.it", "tin.it", "wp.pl", "o2.pl", "onet.pl", "interia.pl",
	"seznam.cz", "centrum.cz", "ukr.net", "i.ua", "abv.bg", "freemail.hu", "citromail.hu", "telia.com", "comhem.se", "bredband.net", "spray.se", "online.no",
	"bluewin.ch", "a1.net", "aon.at", "ziggo.nl", "kpnmail.nl", "planet.nl", "telenet.be", "skynet.be", "btinternet.com", "sky.com", "virginmedia.com", "ntlworld.com", "talktalk.net",
	"comcast.net", "verizon.net", "att.net", "sbcglobal.net", "bellsouth.net", "cox.net", "charter.net", "shaw.ca", "rogers.com", "bell.net", "videotron.ca",
	"bigpond.com", "optusnet.com.au", "xtra.co.nz", "uol.com.br", "bol.com.br", "terra.com.br", "terra.com",
}

// isPublic reports whether a domain is a large provider's.
func isPublic(domain string) bool {
	for _, known := range publicDomains {
		ending, begins := strings.CutPrefix(domain, known)
		if domain == known || begins && strings.HasSuffix(known, ".") && isEnding(ending) {
			return true
		}
	}
	return false
}

// isEnding reports whether a text is the ending of a domain such as "de" or "co.uk".
func isEnding(text string) bool {
	labels := strings.Split(text, ".")
	return len(labels) <= 2 && len(labels[len(labels)-1]) <= 3 && len(labels[0]) <= 3
}

// mailCard queues the mail with a card's link. It reports false if there is no address, or the budget is used up.
func (s *Service) mailCard(ctx context.Context, tx *db.Tx, by core.Actor, c customer.Customer, isNew bool) (mailed bool, err error) {
	if c.Email == nil || c.Status != customer.Active || !s.cardMails.admit(by, c).Allowed {
		return false, nil
	}
	return true, s.queueCard(ctx, tx, by, c, isNew)
}

func (s *Service) queueCard(ctx context.Context, tx *db.Tx, by core.Actor, c customer.Customer, isNew bool) error {
	theme, err := tenant.ThemeIn(ctx, tx)
	if err != nil {
		return err
	}
	token, err := s.CardToken(tx.Tenant, c)
	if err != nil {
		return err
	}
	e := CardEmail{
		BusinessName: by.Tenant.Name, Slug: by.Tenant.Slug, Colour: theme.Colour, FirstName: c.FirstName, CardToken: token, New: isNew,
	}
	if c.UncheckedSince != nil {
		e.FirstName = "" // a stranger may have typed both the name and the address
	}
	return s.mails.QueueToCustomer(ctx, tx, s.mails.Card(*c.Email, e))
}

// Mails queues this package's e-mail. Its words are in web/email.
type Mails interface {
	QueueToCustomer(ctx context.Context, tx *db.Tx, e mail.Email) error
	Card(to string, e CardEmail) mail.Email
}

// CardEmail is the mail with the link to a customer's card.
type CardEmail struct {
	BusinessName string
	Slug         string  // of the business's host
	Colour       *string // "#165c47"; nil: the product's own
	FirstName    string  // "": they joined online, and their phone number is unchecked
	CardToken    string
	New          bool // they have just joined
}
