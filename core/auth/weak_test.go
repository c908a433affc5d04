package auth_test

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
)

// Common passwords, and those made of names and e-mail addresses, are refused.
func TestEasyPasswords(t *testing.T) {
	t.Parallel()
	if n := auth.CommonPasswords(); n < 10_000 {
		t.Errorf("%d common passwords", n)
	}
	about := []string{"Maja Sund", "maja.sund@cafearo.example.com", "Café Åro"}
	for password, easy := range map[string]bool{
		"1qaz2wsx3edc":                       true, // common
		"PassWordPassWord":                   true,
		"FinalFantasy":                       true,
		"abcabcabcabc":                       true,
		"Password2026":                       true, // common with additions
		"!!sunshine!2026!":                   true,
		"dragondragondragon":                 true,
		"2026-Liverpool-2026":                true,
		"CafeAro2026!":                       true, // the business's name
		"café åro café åro":                  true,
		"123-ÅRO-cafe-123":                   true,
		"ilovecafearo":                       true, // the business's name with few other letters
		"maja.sund@cafearo":                  true, // the person's name
		"MajaSundMajaSund":                   true,
		"sund123456789":                      true,
		"cafearo-password-1":                 true, // both names
		"loyalty12345":                       true, // the product's name
		"loyalty-loyalty":                    true,
		"maja.sund@cafearo.example.com":      true, // the whole address, with any sign or digit
		"majasundcafearoexamplecom":          true,
		"Maja_Sund@CafeAro-Example.Com":      true,
		"2026maja.sund@cafearo.example.com!": true,
		"moc.elpmaxe.oraefac@dnus.ajam":      true, // backwards
		"dnusajam-2026":                      true,
		"oråefac2026":                        true,
		"ｍａｊａ．ｓｕｎｄ＠ｃａｆｅａｒｏ": true, // wide letters
		"qwertyuiop[]":           true, // patterns
		"abcdefghijkl":           true,
		"P@ssw0rd-2026":          true,
		"January 2026!":          true,
		"pass-word-2026":         true,
		"correct horse battery":  false,
		"a shelf of old maps":    false,
		"battery staple horse":   false,
		"majas gula cykelpump":   false, // names among other words
		"Café full of old bikes": false,
		"839274650183":           false, // no word
		"påfågelsblå himmel":     false,
	} {
		check := core.NewCheck(nil)
		auth.CheckPassword(check, password, about...)
		if got := check.Err() != nil; got != easy {
			t.Errorf("%q: refused %t, want %t", password, got, easy)
		}
	}
	// Without names, other people's names are allowed.
	check := core.NewCheck(nil)
	auth.CheckPassword(check, "CafeAroMajaSund")
	if err := check.Err(); err != nil {
		t.Errorf("of another business: %v", err)
	}
}

// An e-mail address is no password, however its domain ends.
func TestAnEmailAddressIsNoPassword(t *testing.T) {
	t.Parallel()
	for _, email := range []string{
		"maja@cafearo.se", "maja@cafearo.museum", "maja@cafearo.photography", "maja@cafearo.co.uk", "maja@post.cafearo.international",
		"jo@ab.photography", "12345678901@ab.technology", "maja.sund+till@cafe-aro.restaurant", "maja77@xn--caf-ro-ouaz.example",
		"maja@café-åro.restaurant", "мая@кафе-арбат.онлайн", "maja@cafearo.xn--80asehdb", "info@restaurant.restaurant",
	} {
		local, domain, _ := strings.Cut(email, "@")
		ascii, err := idna.ToASCII(domain)
		if err != nil {
			t.Fatal(err)
		}
		letters := strings.Map(func(r rune) rune {
			if strings.ContainsRune("@.-+", r) {
				return -1
			}
			return r
		}, email)
		backwards := []rune(email)
		slices.Reverse(backwards)
		for _, password := range []string{
			email, strings.ToUpper(email), letters, string(backwards), "2026" + email + "2026", "1!" + letters + "?", local + " at " + domain,
			strings.ReplaceAll(email, ".", "_"), local + "@" + ascii, domain + "/" + local, domain + domain,
		} {
			check := core.NewCheck(nil)
			if auth.CheckPassword(check, password, email, "Bo"); check.Err() == nil && utf8.RuneCountInString(password) >= 12 {
				t.Errorf("%s may use %q", email, password)
			}
		}
	}
}

// Every way to set a password compares it with the person's name and address, and with their business's.
func TestEasyPasswordsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, dbtest.DB(t))
	s := newShop(t)
	want := core.Fields{"password": {core.Violation{Rule: "easy_password"}}}
	easyFor := func(person core.Actor) []string {
		return []string{s.Email(person), strings.ToUpper(s.Email(person)) + "1", s.By.Tenant.Name + " 2026", s.By.Tenant.Slug + "-2026", s.By.Tenant.Slug + ".loyalty.example"}
	}
	invited := s.As(core.Manager).By
	s.forgot(s.Email(invited))
	invitation := s.Inbox.To(s.Email(invited))[0].(auth.InvitationEmail)
	for _, easy := range easyFor(s.By) {
		_, err := s.ChangePassword(t.Context(), s.By, known, easy)
		shoptest.WantFields(t, err, want)
	}
	s.forgot(s.Email(s.By))
	link := s.link(s.By)
	for _, easy := range easyFor(s.By) {
		shoptest.WantFields(t, s.Reset(t.Context(), s.visitor, link, auth.NewPassword{Password: easy}), want)
	}
	for _, easy := range append(easyFor(invited), "Bo Zetterberg") {
		_, err := s.people.Join(t.Context(), s.visitor, invitation.Secret, staff.Joining{Name: "Bo Zetterberg", Password: easy})
		shoptest.WantFields(t, err, want)
	}

	operator := core.System(core.Tenant{}, "test")
	for _, easy := range []string{p.email, "2026" + p.email, "loyalty.example"} {
		_, err := p.SetAdminPassword(t.Context(), operator, p.email, easy)
		shoptest.WantFields(t, err, want)
		_, err = p.ChangePassword(t.Context(), p.By, known, easy)
		shoptest.WantFields(t, err, want)
	}
	email := "ada@" + strings.ToLower(rand.Text()[:12]) + ".technology"
	_, err := staff.CreateAdmin(t.Context(), p.DB, operator, staff.New{Name: "Ada", Email: email, Password: email})
	shoptest.WantFields(t, err, want)
}
