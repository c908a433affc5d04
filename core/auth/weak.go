package auth

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"example.com/loyalty/core"
)

const (
	minPassword = 12
	maxPassword = 1024
)

// Passwords that attackers try first; passwords/README.md names their source. They are checked here
// and not by a service, so that no part of a password leaves this process.
//
//go:embed passwords/common.txt.gz
var commonPasswords []byte

// common returns the set of common passwords, in lower case.
var common = sync.OnceValue(func() map[string]bool {
	list := map[string]bool{}
	unpacked, err := gzip.NewReader(bytes.NewReader(commonPasswords))
	if err != nil {
		panic(err) // the file is part of the program
	}
	for lines := bufio.NewScanner(unpacked); lines.Scan(); {
		list[lines.Text()] = true
	}
	return list
})

// CheckPassword adds what is wrong with a new password to a check. about are the person's name and
// e-mail address, the name of their business and its host: passwords made of these are easy to guess.
func CheckPassword(check *core.Check, password string, about ...string) {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		check.Add("password", core.MinLength(minPassword))
	case len(password) > maxPassword:
		check.Add("password", core.MaxLength(maxPassword))
	case isEasyToGuess(password, about):
		check.Add("password", core.Violation{Rule: "easy_password"})
	}
}

// CheckPassword is CheckPassword for a person of a tenant, or of the platform (no tenant).
func (s *Service) CheckPassword(check *core.Check, password string, p Person, t core.Tenant) {
	CheckPassword(check, password, p.Email, p.Name, t.Name, t.Slug, t.Slug+"."+s.Host)
}

// checkPassword refuses a password that is too weak.
func (s *Service) checkPassword(password string, p Person, t core.Tenant) error {
	check := core.NewCheck(nil)
	s.CheckPassword(check, password, p, t)
	return check.Err()
}

const (
	minWord    = 3 // shorter words of a name are ignored
	minCore    = 4 // shorter common passwords are part of many strong ones
	minUnnamed = 6 // letters that a password must have besides names
)

func isEasyToGuess(password string, about []string) bool {
	lower := strings.ToLower(password)
	if common()[lower] || fewCharacters(lower) {
		return true
	}
	plain := lettersAndDigits(lower)
	words := wordsOf(about)
	return words.make(plain) || words.make(reversed(plain)) || isPredictable(password, words.names)
}

const (
	maxMeasured = 40 // characters: the time grows with the square of the length, and no strong password begins with 40 weak ones
	minScore    = 2  // of 4
)

// isPredictable reports whether a password follows a pattern that guessing programs try: neighbours on a keyboard,
// "abcd", dates, and common words with digits for letters.
func isPredictable(password string, names []string) bool {
	measured := []rune(password)
	return zxcvbn.PasswordStrength(string(measured[:min(len(measured), maxMeasured)]), names).Score < minScore
}

// easyWords are what a password must not consist of.
type easyWords struct {
	names   []string // words of names and addresses, the longest first
	endings []string // of domains: easy beside a name
}

// wordsOf returns the words of names, addresses and hosts, each also without the signs within.
func wordsOf(about []string) (w easyWords) {
	for _, text := range append(about, "loyalty") {
		local, domain, isAddress := cutLast(text, "@")
		if !isAddress {
			local = ""
			if strings.ContainsAny(text, " ") || !strings.Contains(text, ".") {
				w.addName(text)
				continue
			}
			domain = text
		}
		w.addName(local)
		for _, d := range domainForms(domain) {
			host, ending, _ := cutLast(d, ".")
			w.addName(host)
			w.names = append(w.names, lettersAndDigits(d), lettersAndDigits(local+d))
			w.endings = append(w.endings, lettersAndDigits(ending))
		}
	}
	w.names = longestFirst(w.names, minWord)
	w.endings = longestFirst(w.endings, minUnnamed) // shorter ones are not what makes a password long enough
	return w
}

func (w *easyWords) addName(text string) {
	text = withoutMarks(text)
	w.names = append(w.names, lettersAndDigits(text))
	w.names = append(w.names, strings.FieldsFunc(text, func(r rune) bool { return !isLetterOrDigit(r) })...)
	w.names = append(w.names, strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })...)
}

// make reports whether a text of letters and digits consists of these words, or of these words and a common password.
func (w easyWords) make(text string) bool {
	unnamed := without(text, w.names)
	left := withoutRepetition(strings.TrimFunc(unnamed, func(r rune) bool { return !unicode.IsLetter(r) }))
	if len(left) >= minCore && common()[left] {
		return true
	}
	return unnamed != text && letters(without(unnamed, w.endings)) < minUnnamed
}

func without(text string, words []string) string {
	for _, word := range words {
		text = strings.ReplaceAll(text, word, "")
	}
	return text
}

func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// domainForms returns a domain in letters of any script and as mail servers know it ("xn--…").
func domainForms(domain string) []string {
	forms := []string{domain}
	for _, convert := range []func(string) (string, error){idna.ToUnicode, idna.ToASCII} {
		if form, err := convert(domain); err == nil && form != domain {
			forms = append(forms, form)
		}
	}
	return forms
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// longestFirst returns the words of a minimum length, the longest first and each once.
func longestFirst(words []string, least int) []string {
	words = slices.DeleteFunc(words, func(word string) bool { return utf8.RuneCountInString(word) < least })
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(words)
}

// lettersAndDigits returns a text without signs, spaces, accents and differences of case and width.
func lettersAndDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if !isLetterOrDigit(r) {
			return -1
		}
		return r
	}, withoutMarks(s))
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// withoutMarks returns a text in lower case without accents, which people leave out of passwords, and wide letters as
// ordinary ones.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(s)))
}

func reversed(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// withoutRepetition returns "summer" for "summersummer".
func withoutRepetition(s string) string {
	for size := 1; size <= len(s)/2; size++ {
		if len(s)%size == 0 && strings.Repeat(s[:size], len(s)/size) == s {
			return s[:size]
		}
	}
	return s
}

// fewCharacters reports whether a text repeats three characters or fewer: "abcabcabcabc".
func fewCharacters(s string) bool {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen) < 4
}
