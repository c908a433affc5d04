package coupons

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// SendForm is the page that sends a coupon.
type SendForm struct {
	panel.Frame
	Path    string // of the form; its parts are refreshed from paths below it
	Cancel  string
	FormKey string
	Problem *ui.Problem

	Segments []ChoiceCard
	Segment  []string // violations of the choice
	Counted  string   // "Counted at 14:18"; "" before
	Chooser  Chooser

	Now, Later ChoiceCard
	Date, Time ui.Field
	MinDate    string
	MaxDate    string
	When       []string // violations of date and time
	Validity   string

	Subject, Message ui.Field
	Mail             string // the address of the preview
	Test             SendTest

	Summary SendSummary
}

// ChoiceCard is a card with a radio button.
type ChoiceCard struct {
	ID, Name, Value string
	Label, Help     string
	Count           string // customers; "" before they are counted
	Selected        bool
	Disabled        bool
}

// Unsendable says why a coupon can't be sent and what to do about it.
type Unsendable struct {
	panel.Frame
	Path, Name   string // of the coupon
	Title, Words string
	Activate     bool // offers to activate it
	Edit         bool // offers to edit it
}

// Chooser picks the customers of a manual send.
type Chooser struct {
	Path      string // of the send's form
	Customers string // the ULIDs, for the form
	Count     string // "12 customers chosen"
	Number    string // "12"
	Rows      []ChosenRow
	ShowAll   string // label of the button; "" if all are shown
	All       bool   // all are shown
	Errors    []string

	Search  ui.Field
	Found   []ChosenRow
	Nothing string // says that no customer matches

	Top   ui.Field
	Paste ui.Field

	Said    string   // result of the last step
	Focus   bool     // the last step's button is gone, so the focus moves
	Unknown []string // ULIDs that weren't found
	More    string   // "and 31 more"
	Limit   string   // why customers weren't added
}

// ChosenRow is a customer who is or can be chosen.
type ChosenRow struct {
	ID, Name, Contact string
	Path              string
	Chosen            bool
}

// SendSummary is what a send would do.
type SendSummary struct {
	Path  string // of the form
	State SummaryState
	Words string // why there are no figures
	Said  string // for screen readers

	Receive, Audience            string
	Mails, NoEmail, Unsubscribed string
	Skipped, AtLimit, Inactive   string // AtLimit and Inactive: "" for none
	Bar                          ui.Bar
	Later                        bool
	Left, Refused, RaiseLimit    string // of the warning; Left "" for none
	Button, Disabled             string // Disabled: why; "" if enabled
	Seen                         string // the audience of the figures
	Validity                     string // shown outside of the summary
	Fragment                     bool
}

// trigger lists the events that refresh the summary.
func (v SendSummary) trigger() string {
	on := "change from:.send-counts, chosen from:body"
	if v.State == SummaryPending {
		on = "load, " + on
	}
	return on
}

// SummaryState is how much of a summary is known.
type SummaryState int

// The states.
const (
	SummaryPending SummaryState = iota // not counted yet
	SummaryCounted
	SummaryUnknown // counting failed, or there is nothing to count
)

// SendTest is the result of sending a test e-mail.
type SendTest struct {
	Sent    string // "Test sent to maja@example.com at 14:18"
	Problem string
}

// SendDetail is the page of a send.
type SendDetail struct {
	panel.Frame
	Actions  SendActions
	Progress SendProgress
	Lists    SendLists
}

// SendActions are the possible actions on a send.
type SendActions struct {
	Path                           string // of the send
	Cancel, Stop, Resume, Continue bool
}

// SendProgress is the part of the page that polls.
type SendProgress struct {
	Poll    string // the polled address; "" when the send is over
	Every   string // "2s"
	Refresh string
	Said    string // for screen readers
	Steps   []SendStep
	Figures []SendFigure
	Notice  *SendNotice
}

// SendStep is one of the three steps.
type SendStep struct {
	Number       string
	Title        string
	Words        string
	Left         string // "About 2 minutes left"
	Done, Active bool
	Bar          ui.Bar
}

// SendFigure is a number of a send.
type SendFigure struct {
	Label, Value string
	Bad          bool
}

// SendNotice says that a send was stopped or cancelled, or failed.
type SendNotice struct {
	Icon         string
	Title, Words string
	Path, Label  string // a link; "" for none
}

// SendLists are the parts of the page that change with the send's status.
type SendLists struct {
	Facts    []ui.Pair
	Problems *MailProblems // nil: none, or hidden from this role
	Sends    []SendRow
	Note     string        // says that not all sends are shown
	Vouchers *SentVouchers // nil: none were created
	Fragment bool
}

// MailProblems is a page of the e-mails of a send that failed or are being retried.
type MailProblems struct {
	Path   string // of the send
	Title  string
	Failed string // how many; "" if all are being retried
	Retry  string // "Retry 3 e-mails"; "" for nothing to retry
	Rows   []MailProblem
	Pager  ui.Pager
}

// MailProblem is a line of the list.
type MailProblem struct {
	Voucher, Customer, CustomerPath string
	Email, Reason, Reply            string // Reply: the mail server's words, if Reason is ours
	Retry                           bool
	Edit                            string // the customer's edit page
	Again                           string // "Next try: 14:35"
}

// SentVouchers is a page of the vouchers of a send.
type SentVouchers struct {
	Rows    []SentVoucher
	Pager   ui.Pager
	Exports *panel.Exports
}

// SentVoucher is a line of the list.
type SentVoucher struct {
	Path                   string
	Customer, CustomerPath string
	Status, Mail           ui.Badge
	Redeemed               string
}

// SendRow is a send in a list.
type SendRow struct {
	Path, Segment, By       string
	When                    string
	Sent, Redeemed, Skipped string
	Status                  ui.Badge
	Current                 bool // this page's send
}
