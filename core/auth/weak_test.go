package auth_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
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
		"1qaz2wsx3edc":           true, // common
		"PassWordPassWord":       true,
		"FinalFantasy":           true,
		"abcabcabcabc":           true,
		"Password2026":           true, // common with additions
		"!!sunshine!2026!":       true,
		"dragondragondragon":     true,
		"2026-Liverpool-2026":    true,
		"CafeAro2026!":           true, // the business's name
		"café åro café åro":      true,
		"123-ÅRO-cafe-123":       true,
		"ilovecafearo":           true, // the business's name with few other letters
		"maja.sund@cafearo":      true, // the person's name
		"MajaSundMajaSund":       true,
		"sund123456789":          true,
		"cafearo-password-1":     true, // both names
		"loyalty12345":           true, // the product's name
		"loyalty-loyalty":        true,
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

// Every way to set a password compares it with the person's names.
func TestEasyPasswordsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	easy := s.By.Tenant.Name + " 2026"
	_, err := s.ChangePassword(t.Context(), s.By, known, easy)
	want := core.Fields{"password": {core.Violation{Rule: "easy_password"}}}
	shoptest.WantFields(t, err, want)
	s.forgot(s.Email(s.By))
	shoptest.WantFields(t, s.Reset(t.Context(), s.visitor, s.link(s.By), auth.NewPassword{Password: easy}), want)

	invited := s.As(core.Manager).By
	s.forgot(s.Email(invited))
	sent := s.Inbox.To(s.Email(invited))[0].(auth.InvitationEmail)
	_, err = s.people.Join(t.Context(), s.visitor, sent.Secret, staff.Joining{Name: "Bo", Password: easy})
	shoptest.WantFields(t, err, want)
}
