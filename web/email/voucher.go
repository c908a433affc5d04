package email

import (
	"errors"
	"fmt"
	"strings"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
)

const (
	sampleNote = "This is a sample. In a customer's e-mail, the QR code and the links open their own voucher."
	sampleCode = "SAMPLE"
)

// Voucher sends a customer their voucher.
func (m Mails) Voucher(to string, e coupon.VoucherEmail) mail.Email {
	links, err := m.voucherLinks(e)
	if err != nil {
		return message{err: err}
	}
	worth := format.VoucherValueOf(e.Benefit, lineOf(e.RewardName), e.Tenant.Currency)
	v := views.Voucher{
		Worth: worth.Amount(), What: worth.What, QRText: "QR code of this voucher", Code: links.code, Hint: "Show this at the till",
		Open: views.Button{Label: "Open voucher", URL: links.open},
	}
	preview := worth.String()
	if e.ExpiresAt != nil {
		lastDay := format.LastDay(*e.ExpiresAt, e.Tenant.TimeZone)
		v.Until = "Valid until " + lastDay
		preview += ", valid until " + lastDay
	}
	if e.LevelName != nil {
		v.For = format.ForLevel(line(*e.LevelName))
	}
	business, colourErr := senderOf(e.Tenant.Name, e.Branding.Colour)
	pictures, pictureErr := addPictures(&v, &business, e.Branding)

	subject, oneClick := line(e.Subject), links.unsubscribe
	var blocks []views.Block
	if e.Voucher == "" {
		blocks, oneClick = append(blocks, views.Sample(sampleNote)), ""
	}
	blocks = append(blocks, views.Title(subject), greeting(e.FirstName))
	blocks = append(blocks, paragraphs(e.Message)...)
	words := views.Email{
		Subject: subject, Preview: preview, Business: &business, Blocks: append(blocks, v),
		Footer: views.Footer{Lines: []string{business.Name}, Label: "Unsubscribe", Unsubscribe: links.unsubscribe},
	}
	return message{
		words:    words,
		envelope: mail.Rendered{To: to, From: business.Name, Unsubscribe: oneClick, Inline: pictures},
		err:      errors.Join(colourErr, pictureErr),
	}
}

// voucherLinks are a voucher's code, and the URLs that open it and unsubscribe its customer.
type voucherLinks struct{ code, open, unsubscribe string }

// voucherLinks returns the links of an e-mail. A sample has no voucher, so its links lead to the business's host.
func (m Mails) voucherLinks(e coupon.VoucherEmail) (voucherLinks, error) {
	host := m.names.Tenant(e.Tenant.Slug)
	if e.Voucher == "" {
		return voucherLinks{sampleCode, host, host}, nil
	}
	id, err := link.ParseID(e.Voucher)
	if err != nil {
		return voucherLinks{}, fmt.Errorf("token of a voucher: %w", err)
	}
	return voucherLinks{strings.Join(format.CodeGroups(id), " "), host + "/v/" + e.Voucher, host + "/unsubscribe/" + e.Unsubscribe}, nil
}

// lineOf is line for an optional name.
func lineOf(name *string) *string {
	if name == nil {
		return nil
	}
	return new(line(*name))
}

// paragraphs splits a message at its empty lines, and cleans each line with line.
func paragraphs(typed string) (blocks []views.Block) {
	var lines views.Lines
	finish := func() {
		if len(lines) > 0 {
			blocks, lines = append(blocks, lines), nil
		}
	}
	for l := range strings.SplitSeq(strings.ReplaceAll(typed, "\r\n", "\n"), "\n") {
		if words := line(l); words != "" {
			lines = append(lines, words)
		} else {
			finish()
		}
	}
	finish()
	return blocks
}
