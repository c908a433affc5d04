package admin

import "example.com/loyalty/views/ui"

// SendForm sends a coupon.
type SendForm struct {
	Frame
	Path    string // of the form; what refreshes its parts lies below it
	Cancel  string
	FormKey string
	Problem *ui.Problem

	Segments []ChoiceCard
	Segment  []string // what is wrong with the choice
	Counted  string   // "Counted at 14:18"; "" before
	Chooser  Chooser

	Now, Later ChoiceCard
	Date, Time ui.Field
	MinDate    string
	MaxDate    string
	When       []string // what is wrong with date and time
	Validity   string

	Subject, Message ui.Field
	Mail             string // the address of the preview
	Test             SendTest

	Summary SendSummary
}

// ChoiceCard is a radio button on a card.
type ChoiceCard struct {
	ID, Name, Value string
	Label, Help     string
	Count           string // customers; "" before they are counted
	Selected        bool
	Disabled        bool
}

// Unsendable says why a coupon can't be sent, and what to do about it.
type Unsendable struct {
	Frame
	Path, Name   string // of the coupon
	Title, Words string
	Activate     bool // offered: activating it
	Edit         bool // offered: editing it
}

// Chooser picks the customers of a manual send.
type Chooser struct {
	Path      string // of the send's form
	Customers string // the ULIDs, as they travel in the form
	Count     string // "12 customers chosen"
	Number    string // "12"
	Rows      []ChosenRow
	ShowAll   string // a button's label; "" where all are shown
	All       bool   // all are shown, however many
	Errors    []string

	Search  ui.Field
	Found   []ChosenRow
	Nothing string // no customer matches this

	Top   ui.Field
	Paste ui.Field

	Said    string   // what the last step did
	Focus   bool     // the button of the last step is gone
	Unknown []string // ULIDs that weren't found
	More    string   // "and 31 more"
	Limit   string   // why customers weren't added
}

// ChosenRow is a customer who is chosen, or can be.
type ChosenRow struct {
	ID, Name, Contact string
	Path              string
	Chosen            bool
}

// SendSummary says what a send would do.
type SendSummary struct {
	Path  string // of the form
	State SummaryState
	Words string // why it isn't counted
	Said  string // for screen readers, when it changes

	Receive, Audience            string
	Mails, NoEmail, Unsubscribed string
	Skipped, AtLimit, Inactive   string // AtLimit and Inactive: "" for none
	Bar                          ui.Bar
	Later                        bool
	Left, Refused, RaiseLimit    string // of the warning; Left "" for none
	Button, Disabled             string // why the button is disabled; "" where it isn't
	Seen                         string // what the figures are of
	Validity                     string // for the page outside of the summary
	Fragment                     bool
}

// trigger is what refreshes the summary: everything that its figures depend on.
func (v SendSummary) trigger() string {
	on := "change from:.send-counts, chosen from:body"
	if v.State == SummaryPending {
		on = "load, " + on
	}
	return on
}

// SummaryState says how much of a summary is known.
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

// SendDetail is a send and how far it is.
type SendDetail struct {
	Frame
	Actions  SendActions
	Progress SendProgress
	Lists    SendLists
}

// SendActions are what can be done with a send.
type SendActions struct {
	Path                 string // of the send
	Cancel, Stop, Resume bool
}

// SendProgress is the part of the page that moves by itself.
type SendProgress struct {
	Poll    string // what it asks; "" when it is over
	Every   string // "2s"
	Refresh string
	Said    string // for screen readers, when it changes
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

// SendNotice says what is special about a send: it was stopped, cancelled, it failed.
type SendNotice struct {
	Icon         string
	Title, Words string
	Path, Label  string // what leads on; "" for nothing
}

// SendLists are the parts of the page that change with the send's status.
type SendLists struct {
	Facts    []ui.Pair
	Problems *MailProblems // nil: none, or not for this role
	Sends    []SendRow
	Note     string        // where not all sends are shown
	Vouchers *SentVouchers // nil: none were created
	Fragment bool
}

// MailProblems is a page of the e-mails of a send that failed or are tried again later.
type MailProblems struct {
	Path   string // of the send
	Title  string
	Failed string // how many; "" where all are tried again
	Retry  string // "Retry 3 e-mails"; "" for nothing to retry
	Rows   []MailProblem
	Pager  ui.Pager
}

// MailProblem is a line of them.
type MailProblem struct {
	Voucher, Customer, CustomerPath string
	Email, Reason, Reply            string // Reply: what the mail server said, where Reason says it in other words
	Retry                           bool
	Edit                            string // the customer's edit page
	Again                           string // "Next try: 14:35"
}

// SentVouchers is a page of the vouchers of a send.
type SentVouchers struct {
	Rows  []SentVoucher
	Pager ui.Pager
}

// SentVoucher is a line of them.
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
	Current                 bool // the one whose page this is
}
