package coupons

import (
	"time"

	"github.com/a-h/templ"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// SendForm is the page that sends a coupon.
type SendForm struct {
	panel.Frame
	Coupon  coupon.WithCounts
	Form    ui.Form
	FormKey string
	Counted bool                     // else the audiences are counted after the page is shown
	Sizes   map[coupon.Segment]int64 // of the audiences; nil: not known
	Chooser Chooser
	Test    SendTest
	Summary SendSummary
}

// size is the number of customers in an audience; "" if it isn't known.
func (v SendForm) size(s coupon.Segment) string {
	if s == coupon.Manual {
		return v.Chooser.number()
	}
	if n, known := v.Sizes[s]; known {
		return v.Number(n)
	}
	return ""
}

// days limit the day of a send.
func (v SendForm) days() templ.Attributes {
	from := v.Now.In(v.Zone())
	until := from.AddDate(1, 0, 0)
	if v.Coupon.State == coupon.StateUpcoming {
		from = v.Coupon.StartsAt.In(v.Zone())
	}
	return templ.Attributes{"min": from.Format(time.DateOnly), "max": until.Format(time.DateOnly)}
}

// Unsendable says why a coupon can't be sent and what to do about it.
type Unsendable struct {
	panel.Frame
	Coupon coupon.WithCounts
}

// Chooser picks the customers of a manual send.
type Chooser struct {
	Coupon core.ID
	Form   ui.Form
	Chosen []core.ID
	Listed []core.ID                     // the chosen ones that are shown
	Known  map[core.ID]customer.Customer // those of them who exist
	Found  []customer.Customer           // by the search

	Said    string   // result of the last step
	Focus   bool     // the last step's button is gone, so the focus moves
	Unknown []string // ULIDs that weren't found
	TooMany int64    // customers who weren't added, because of the limit
}

func (v Chooser) number() string { return format.Number(int64(len(v.Chosen))) }

// SendSummary is what a send would do.
type SendSummary struct {
	format.Reader
	Coupon coupon.WithCounts
	At     *time.Time // the time of the form; nil: now
	Moved  string     // says that clocks skip that time; else ""

	State    SummaryState
	Preview  coupon.Preview // if it is counted
	Refusal  string         // what must be corrected first, if it is refused
	Later    bool
	Seen     string // the audience of the figures
	Fragment bool
}

// SummaryState is how much of a summary is known.
type SummaryState int

// The states.
const (
	SummaryPending   SummaryState = iota // not counted yet
	SummaryCounted                       // Preview has the figures
	SummaryEmpty                         // no customers were chosen yet
	SummaryRefused                       // this form can't be sent
	SummaryUncounted                     // counting failed
)

// SendTest is the result of sending a test e-mail.
type SendTest struct {
	Address string // that it was sent to; "" if it wasn't
	Problem string
}

// SendDetail is the page of a send.
type SendDetail struct {
	panel.Frame
	Send     coupon.SendDetail
	Poll     string        // the address of the progress; "" when the send is over
	Every    string        // how often it is polled: "2s"
	Refresh  string        // the address of the page, without scripts
	Left     time.Duration // until all e-mails are sent; 0: unknown
	History  core.List[coupon.SendDetail]
	Problems MailProblems
	Vouchers SentVouchers
}

// MailProblems is a page of the e-mails of a send that failed or are being retried. It is empty for those who may not
// see addresses.
type MailProblems struct {
	List      []coupon.MailProblem
	Pager     ui.Pager
	Retryable int64 // e-mails of all pages
}

// None reports whether there are none on any page.
func (v MailProblems) None() bool { return len(v.List) == 0 && v.Pager.Prev == "" }

// SentVouchers is a page of the vouchers of a send.
type SentVouchers struct {
	List    []coupon.SentVoucher
	Pager   ui.Pager
	Exports *panel.Exports
}
