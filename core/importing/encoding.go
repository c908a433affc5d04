package importing

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	unicodetext "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding says which bytes of a file are which letters.
type Encoding string

// The encodings that are read.
const (
	UTF8        Encoding = "utf-8"
	UTF16       Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	Windows1250 Encoding = "windows-1250"
	Windows1251 Encoding = "windows-1251"
	Windows1252 Encoding = "windows-1252"
	Windows1253 Encoding = "windows-1253"
	Windows1254 Encoding = "windows-1254"
	Windows1257 Encoding = "windows-1257"
	MacRoman    Encoding = "macintosh"
)

// Encodings lists them in the order of a selection.
var Encodings = []Encoding{
	UTF8, UTF16, UTF16BE, Windows1252, Windows1250, Windows1251, Windows1253, Windows1254, Windows1257, MacRoman,
}

// oneByte has the encodings in which each byte is a character, and the lower half is ASCII.
var oneByte = map[Encoding]*charmap.Charmap{
	Windows1250: charmap.Windows1250, Windows1251: charmap.Windows1251, Windows1252: charmap.Windows1252,
	Windows1253: charmap.Windows1253, Windows1254: charmap.Windows1254, Windows1257: charmap.Windows1257,
	MacRoman: charmap.Macintosh,
}

// ofCountry has the Windows encoding of a country's language where it isn't Windows-1252.
var ofCountry = func() map[string]Encoding {
	known := map[string]Encoding{}
	for e, countries := range map[Encoding]string{
		Windows1250: "AL BA CZ HR HU ME PL RO SI SK",
		Windows1251: "BG BY KG KZ MK MN RS RU TJ UA",
		Windows1253: "CY GR",
		Windows1254: "AZ TR",
		Windows1257: "EE LT LV",
	} {
		for country := range strings.FieldsSeq(countries) {
			known[country] = e
		}
	}
	return known
}()

// isUTF16 reports whether a character is two bytes, so that even a comma is no single byte.
func (e Encoding) isUTF16() bool { return e == UTF16 || e == UTF16BE }

// mark returns the byte order mark with which a file may begin.
func (e Encoding) mark() string {
	return map[Encoding]string{UTF8: "\xEF\xBB\xBF", UTF16: "\xFF\xFE", UTF16BE: "\xFE\xFF"}[e]
}

// decoder returns what turns the encoding into UTF-8; nil for UTF-8, whose invalid bytes stay as they are.
func (e Encoding) decoder() *encoding.Decoder {
	switch {
	case e == UTF16:
		return unicodetext.UTF16(unicodetext.LittleEndian, unicodetext.IgnoreBOM).NewDecoder()
	case e == UTF16BE:
		return unicodetext.UTF16(unicodetext.BigEndian, unicodetext.IgnoreBOM).NewDecoder()
	case oneByte[e] != nil:
		return oneByte[e].NewDecoder()
	}
	return nil
}

// decode turns a file into UTF-8 while it is read.
func (e Encoding) decode(file io.Reader) io.Reader {
	if d := e.decoder(); d != nil {
		return transform.NewReader(file, d)
	}
	return file
}

// size returns how many bytes of the file a decoded text was.
func (e Encoding) size(decoded []byte) int64 {
	switch {
	case e.isUTF16():
		n := int64(0)
		for _, r := range string(decoded) {
			n += int64(2 * utf16.RuneLen(r))
		}
		return n
	case oneByte[e] != nil:
		return int64(utf8.RuneCount(decoded))
	}
	return int64(len(decoded))
}

// fits reports whether a file that was recognised as one encoding may be read as the other: UTF-16 as nothing
// else, and nothing else as UTF-16.
func (e Encoding) fits(other Encoding) bool { return e.isUTF16() == other.isUTF16() }

// guessUTF16 recognises UTF-16 by its mark, or by the zeros in every other byte of separators and digits. "" is
// something else.
func guessUTF16(beginning []byte) Encoding {
	beginning = beginning[:min(len(beginning), 64<<10)&^1]
	zeros := [2]int{}
	for i, b := range beginning {
		if b == 0 {
			zeros[i%2]++
		}
	}
	often := 16*(zeros[0]+zeros[1]) > len(beginning) // a single one may be a fault in a text of another encoding
	var guess Encoding
	switch {
	case bytes.HasPrefix(beginning, []byte(UTF16.mark())), often && zeros[1] > zeros[0]:
		guess = UTF16
	case bytes.HasPrefix(beginning, []byte(UTF16BE.mark())), often && zeros[0] > zeros[1]:
		guess = UTF16BE
	default:
		return ""
	}
	decoded, err := guess.decoder().Bytes(beginning)
	if err != nil || bytes.ContainsFunc(decoded, isNoText) {
		return ""
	}
	return guess
}

func isNoText(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\v\f\r\x1a\u0085", r)
}

// letters counts what tells the encoding of a file whose commas are single bytes.
type letters struct {
	marked   bool
	sequence int64 // letters of several bytes, as in UTF-8
	invalid  int64 // bytes that are no UTF-8
	mac      int64 // bytes that are letters on a Mac, and hardly any on Windows
	windows  int64
	rest     []byte // the beginning of a letter that the next piece may complete
}

// add counts a piece of the file.
func (l *letters) add(piece []byte, isFirst bool) {
	l.marked = l.marked || isFirst && bytes.HasPrefix(piece, []byte(UTF8.mark()))
	for _, b := range piece {
		switch {
		case 0x80 < b && b < 0xA0 && b != 0x85 && (b < 0x91 || 0x97 < b): // on Windows these are rare, except for €, … and quotation marks
			l.mac++
		case b >= 0xC0:
			l.windows++
		}
	}
	if len(l.rest) > 0 {
		piece = slices.Concat(l.rest, piece)
	}
	for l.rest = nil; len(piece) > 0; {
		if piece[0] < utf8.RuneSelf {
			piece = piece[1:]
			continue
		}
		if !utf8.FullRune(piece) {
			l.rest = slices.Clone(piece)
			return
		}
		r, size := utf8.DecodeRune(piece)
		if r == utf8.RuneError && size == 1 {
			l.invalid++
		} else {
			l.sequence++
		}
		piece = piece[size:]
	}
}

// encoding returns the likely encoding of the whole file. Text of another encoding hardly ever has what is a letter
// of several bytes in UTF-8, so some broken bytes among many of these are broken rows of a file in UTF-8. A letter
// that breaks off at the end of the file says nothing: a file may be cut there.
func (l *letters) encoding(country string) Encoding {
	if l.marked || l.invalid == 0 || l.sequence > l.invalid {
		return UTF8
	}
	guess, known := ofCountry[country]
	switch {
	case known:
		return guess
	case l.mac > l.windows:
		return MacRoman
	}
	return Windows1252
}
