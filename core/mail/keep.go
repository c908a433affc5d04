package mail

import (
	"bytes"
	"encoding/base64"
	"strings"

	"example.com/loyalty/core/db"
)

// Keep queues the storing of a mail that can't be sent without a mail server, with its pictures in its
// HTML.
func Keep(tx *db.Tx, m Mail) error {
	m.HTML = Embedded(m.HTML, m.Inline)
	return insert(tx, m, "kept")
}

// Embedded returns HTML with its pictures inside, because browsers don't support cid: URLs.
func Embedded(html string, pictures []Inline) string {
	for _, p := range pictures {
		var url bytes.Buffer
		url.WriteString("data:" + p.Type + ";base64,")
		url.WriteString(base64.StdEncoding.EncodeToString(p.Bytes))
		html = strings.ReplaceAll(html, "cid:"+p.Name, url.String())
	}
	return html
}
