package email

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/skip2/go-qrcode"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
)

const (
	qrModule = 8 // pixels of a QR code's module, drawn at half that size to be sharp on phones

	sampleNote = "This is a sample. In a customer's e-mail, the QR code and the links open their own voucher."
	sampleCode = "SAMPLE"
)

// headOf returns the head of an e-mail from a business; colour may be nil.
func headOf(name string, colour *string) (views.Business, error) {
	p, err := tenant.PaletteFor(colour)
	return views.Business{
		Name: line(name), Fill: p.Fill, OnFill: p.OnFill, Edge: p.Edge,
		Button: p.Light.Button, OnButton: p.Light.OnButton, Mark: p.Light.Mark,
	}, err
}

// voucher sends a customer their voucher. A sample has no voucher, so its links lead to
// the business's host.
func (p renderer) voucher(l coupon.VoucherEmail) (message, error) {
	worth := format.VoucherValueOf(l.Benefit, lineOf(l.RewardName), l.Tenant.Currency)
	business, err := headOf(l.Tenant.Name, l.Branding.Colour)
	if err != nil {
		return message{}, err
	}
	v := views.Voucher{
		Business: business, Subject: line(l.Subject),
		Greeting: greeting(line(l.FirstName)), Message: paragraphs(l.Message),
		Worth: worth.Amount(), What: worth.What, Preview: worth.String(),
	}
	if l.ExpiresAt != nil {
		v.Until = format.LastDay(*l.ExpiresAt, l.Tenant.TimeZone)
		v.Preview += ", valid until " + v.Until
	}
	host := p.names.Tenant(l.Tenant.Slug)
	oneClick := ""
	if l.Voucher == "" {
		v.Sample, v.Code, v.URL, v.Unsubscribe = sampleNote, sampleCode, host, host
	} else {
		oneClick = host + "/unsubscribe/" + l.Unsubscribe
		id, err := link.ParseID(l.Voucher)
		if err != nil {
			return message{}, fmt.Errorf("token of a voucher: %w", err)
		}
		v.Code = strings.Join(format.CodeGroups(id), " ")
		v.URL, v.Unsubscribe = host+"/v/"+l.Voucher, oneClick
	}
	pictures, err := pictures(&v, l.Branding)
	if err != nil {
		return message{}, err
	}
	return message{
		subject: v.Subject, text: voucherText(v), html: views.VoucherMail(v),
		from: v.Name, unsubscribe: oneClick, inline: pictures,
	}, nil
}

// pictures returns the pictures inside the e-mail: the QR code and the logo, if there is one.
func pictures(v *views.Voucher, look tenant.Branding) ([]mail.Inline, error) {
	code, err := qrcode.New(v.URL, qrcode.Medium)
	if err != nil {
		return nil, fmt.Errorf("QR code of a voucher: %w", err)
	}
	modules := code.Bitmap() // four empty ones on each side included
	qr, err := qrPicture(modules)
	if err != nil {
		return nil, fmt.Errorf("QR code of a voucher: %w", err)
	}
	v.QRSide = len(modules) * qrModule / 2
	list := []mail.Inline{{Name: views.QRName, Type: "image/png", Bytes: qr}}
	if look.Logo != nil {
		v.LogoWidth, v.LogoHasName = int(views.LogoHeight*look.Shape), look.Shape.HasName()
		list = append(list, mail.Inline{Name: views.LogoName, Type: look.Logo.Type, Bytes: look.Logo.Bytes})
	}
	return list, nil
}

// qrPicture returns a QR code as a PNG. The library's own encoder takes ten milliseconds,
// three times as long as the rest of the e-mail.
func qrPicture(modules [][]bool) ([]byte, error) {
	side := len(modules) * qrModule
	picture := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})
	for y, row := range modules {
		pixels := picture.Pix[y*qrModule*picture.Stride:][:side]
		for x, dark := range row {
			if dark {
				for i := range qrModule {
					pixels[x*qrModule+i] = 1
				}
			}
		}
		for i := 1; i < qrModule; i++ {
			copy(picture.Pix[(y*qrModule+i)*picture.Stride:], pixels)
		}
	}
	var file bytes.Buffer
	err := png.Encode(&file, picture)
	return file.Bytes(), err
}

// voucherText returns the plain form of the e-mail.
func voucherText(v views.Voucher) string {
	var t text
	if v.Sample != "" {
		t.paragraph(v.Sample)
	}
	t.paragraph(v.Subject)
	t.paragraph(v.Greeting)
	for _, lines := range v.Message {
		t.lines(lines)
	}
	worth := []string{v.Worth + " " + v.What}
	if v.Until != "" {
		worth = append(worth, "Valid until "+v.Until)
	}
	t.lines(worth)
	t.lines([]string{v.Code, "Show this at the till"})
	t.lines([]string{"Open voucher:", v.URL})
	t.signature(v.Name, "Unsubscribe:", v.Unsubscribe)
	return t.String()
}

// lineOf is line for an optional name.
func lineOf(name *string) *string {
	if name == nil {
		return nil
	}
	return new(line(*name))
}

// paragraphs splits a message at its empty lines, and cleans each line with line.
func paragraphs(typed string) (list [][]string) {
	var lines []string
	finish := func() {
		if len(lines) > 0 {
			list, lines = append(list, lines), nil
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
	return list
}
