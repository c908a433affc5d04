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
// e-mail address and the name of their business: passwords made of these are easy to guess.
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

// checkPassword refuses a password that is too weak.
func checkPassword(password string, about ...string) error {
	check := core.NewCheck(nil)
	CheckPassword(check, password, about...)
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
	plain := withoutAccents(lower)
	unnamed := plain
	for _, word := range forbiddenWords(about) {
		unnamed = strings.ReplaceAll(unnamed, word, "")
	}
	left := withoutRepetition(strings.TrimFunc(unnamed, func(r rune) bool { return !unicode.IsLetter(r) }))
	if len(left) >= minCore && common()[left] {
		return true
	}
	letters := 0
	for _, r := range unnamed {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return unnamed != plain && letters < minUnnamed
}

// forbiddenWords returns the words that a password must not consist of, the longest first: words of
// names and addresses, and each name without spaces.
func forbiddenWords(about []string) (words []string) {
	for _, text := range append(about, "loyalty") {
		text = withoutAccents(strings.ToLower(text))
		if before, domain, isAddress := strings.Cut(text, "@"); isAddress {
			if end := strings.LastIndexByte(domain, '.'); end >= 0 {
				domain = domain[:end] // without "com"
			}
			text = before + " " + domain
		}
		parts := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, word := range append(parts, strings.Join(parts, "")) {
			if utf8.RuneCountInString(word) >= minWord {
				words = append(words, word)
			}
		}
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(words)
}

// withoutAccents removes accents, which people leave out of passwords.
func withoutAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
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
