// Package docs has the specification and the decisions, and finds the sentences in them that no
// test quotes. Line breaks don't matter.
package docs

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed specification.md decisions.md
var files embed.FS

// documents returns the texts, by name.
var documents = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"specification", "decisions"} {
		raw, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(err) // the files are embedded
		}
		texts[name] = string(raw)
	}
	return texts
})

var plainDocuments = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for name, text := range documents() {
		texts[name] = Plain(text)
	}
	return texts
})

// Plain replaces line breaks and repeated spaces by single spaces.
func Plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// Source returns the name of the document that has a passage, or "".
func Source(passage string) string {
	for name, text := range plainDocuments() {
		if strings.Contains(text, Plain(passage)) {
			return name
		}
	}
	return ""
}

var (
	item = regexp.MustCompile(`^(?:-|\d+\.) `)
	ends = regexp.MustCompile("\\. ([A-Z`])")
)

// Sentences returns the sentences and table rows below a heading ("## 2."), up to the next one of
// its level, without headings and header rows.
func Sentences(document, heading string) (sentences []string) {
	_, part, _ := strings.Cut(documents()[document], "\n"+heading)
	part, _, _ = strings.Cut(part, "\n## ")
	_, part, _ = strings.Cut(part, "\n") // the rest of the heading
	var prose strings.Builder
	finish := func() {
		if text := Plain(prose.String()); text != "" {
			marker := item.FindString(text) // not a sentence of its own
			text = marker + ends.ReplaceAllString(text[len(marker):], ".\n$1")
			sentences = append(sentences, strings.Split(text, "\n")...)
		}
		prose.Reset()
	}
	lines := strings.Split(part, "\n")
	for i, line := range lines {
		if line == "" || line[0] == '|' || line[0] == '#' || item.MatchString(line) {
			finish()
		}
		switch {
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "|---"), i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---"):
		case strings.HasPrefix(line, "|"):
			sentences = append(sentences, line)
		default:
			prose.WriteString(line + " ")
		}
	}
	finish()
	return sentences
}

var words = regexp.MustCompile(`\pL\pL`)

// Unquoted removes quotations from sentences and returns the rest, if it has words. A quotation
// may span several sentences.
func Unquoted(sentences []string, quotations map[string]bool) (rest []string) {
	text := Plain(strings.Join(sentences, " "))
	bare := []byte(text)
	for quotation := range quotations {
		quotation = Plain(quotation)
		for at := 0; quotation != ""; {
			found := strings.Index(text[at:], quotation)
			if found < 0 {
				break
			}
			for i := range len(quotation) {
				bare[at+found+i] = 0
			}
			at += found + len(quotation)
		}
	}
	for left := range strings.SplitSeq(string(bare), "\x00") {
		if words.MatchString(left) {
			rest = append(rest, Plain(left))
		}
	}
	return rest
}
