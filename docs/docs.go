// Package docs holds the documents that the product answers to, and finds which of
// their sentences the quotations in its tests leave out. How a text is broken into
// lines makes no difference.
package docs

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed specification.md decisions.md
var files embed.FS

// documents are what may be quoted.
var documents = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"specification", "decisions"} {
		raw, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(err) // it is part of the program
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

// Plain makes texts comparable that differ in their line breaks.
func Plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// Source is the document that says so, "" where none does.
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

// Sentences are those below a heading ("## 2.") and the rows of its tables, up to the
// next heading of its kind. Headings and the heads of tables say nothing.
func Sentences(document, heading string) (sentences []string) {
	_, part, _ := strings.Cut(documents()[document], "\n"+heading)
	part, _, _ = strings.Cut(part, "\n## ")
	_, part, _ = strings.Cut(part, "\n") // the rest of the heading
	var prose strings.Builder
	end := func() {
		if text := Plain(prose.String()); text != "" {
			marker := item.FindString(text) // no sentence of its own
			text = marker + ends.ReplaceAllString(text[len(marker):], ".\n$1")
			sentences = append(sentences, strings.Split(text, "\n")...)
		}
		prose.Reset()
	}
	lines := strings.Split(part, "\n")
	for i, line := range lines {
		if line == "" || line[0] == '|' || line[0] == '#' || item.MatchString(line) {
			end()
		}
		switch {
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "|---"), i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---"):
		case strings.HasPrefix(line, "|"):
			sentences = append(sentences, line)
		default:
			prose.WriteString(line + " ")
		}
	}
	end()
	return sentences
}

var words = regexp.MustCompile(`\pL\pL`)

// Unquoted is what is left of sentences without the quotations in them, where there
// are words left. A quotation may be of several sentences in a row.
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
