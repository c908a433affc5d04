package coupons

import (
	"regexp"
	"strings"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/mail"
)

// Reasons that a new e-mail address resolves.
const (
	noSuchAddress = "No such address"
	badAddress    = "Not a valid address"
)

// erasedReply replaces the reply about a customer who was erased.
const erasedReply = "Erased"

var (
	replyCode    = regexp.MustCompile(`^([245]\d\d)\b`)
	enhancedCode = regexp.MustCompile(`\b([245])\.(\d{1,3})\.(\d{1,3})\b`)
)

// mailFailure says in plain words why an e-mail was not delivered, with the mail server's reply if it
// adds something. The enhanced code (RFC 3463) is more precise than the reply code.
func mailFailure(p coupon.MailProblem) (reason, reply string) {
	reply = strings.TrimSpace(p.Reply)
	code, enhanced := replyCode.FindString(reply), enhancedCode.FindStringSubmatch(reply)
	class := ""
	if enhanced != nil {
		class = enhanced[2] + "." + enhanced[3]
	}
	switch {
	case reply == erasedReply:
		return "Customer erased", ""
	case strings.HasPrefix(reply, mail.Unwritten):
		return mail.Unwritten, strings.TrimPrefix(reply, mail.Unwritten+": ")
	case code == "" && enhanced == nil && p.Permanent:
		return badAddress, reply
	case code == "" && enhanced == nil:
		return "The mail server didn't answer", ""
	case class == "1.1", class == "" && code == "550":
		return noSuchAddress, ""
	case class == "2.2", class == "" && (code == "452" || code == "552"):
		return "Mailbox is full", ""
	case enhanced != nil && enhanced[1] == "5" && enhanced[2] == "7":
		return "Rejected as spam or unwanted", reply
	case strings.HasPrefix(code, "4"), enhanced != nil && enhanced[1] == "4":
		return "The mail server asked to try later", reply
	}
	return reply, ""
}

// needsAddress reports whether the e-mail can only be sent to another address of the customer.
func needsAddress(p coupon.MailProblem) bool {
	reason, _ := mailFailure(p)
	return reason == noSuchAddress || reason == badAddress || p.Email == nil && p.Reply != erasedReply
}
