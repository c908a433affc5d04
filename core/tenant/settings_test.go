package tenant_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

// shop is a tenant with an owner.
type shop struct {
	office
	owner core.Actor
}

func newShop(t *testing.T) shop {
	t.Helper()
	o := newOffice(t)
	return shop{o, dbtest.Tenant(t, o.DB)}
}

// theme is what pages of the business's host read.
func (s shop) theme() core.Theme {
	s.T.Helper()
	found, err := tenant.BySlug(s.T.Context(), s.DB, s.owner.Tenant.Slug)
	s.Check(err)
	return found.Theme
}

func (s shop) settings() tenant.Settings {
	s.T.Helper()
	got, err := s.Settings(s.T.Context(), s.owner)
	s.Check(err)
	return got
}

func (s shop) change(e tenant.SettingsEdit) tenant.Settings {
	s.T.Helper()
	edited, err := s.EditSettings(s.T.Context(), s.owner, e)
	s.Check(err)
	if diff := cmp.Diff(s.settings(), edited); diff != "" {
		s.T.Errorf("what is kept and what was answered (-kept +answered):\n%s", diff)
	}
	return edited
}

// changes returns the entries about settings in the tenant's audit log.
func (s shop) changes() (lines []string) {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), `
		select concat_ws(' ', action, actor_name, subject_id, old::text, new::text)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'tenant'
		order by id`, s.owner.Tenant.ID)
	s.Check(err)
	for rows.Next() {
		var line string
		s.Check(rows.Scan(&line))
		lines = append(lines, strings.Replace(line, fmt.Sprint(" ", s.owner.Tenant.ID, " "), " itself ", 1))
	}
	if rows.Err() != nil {
		s.T.Fatal(rows.Err())
	}
	return lines
}

func encoded(t *testing.T, width, height int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, width, height))
	picture.Set(0, 0, color.Gray{Y: 7})
	var b bytes.Buffer
	if err := encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }

func asJPEG(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }

func asGIF(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }

// cut returns a truncated file.
func cut(file []byte) []byte { return file[:len(file)*9/10] }

// A WebP picture of one pixel, which no library here can encode.
func webp(t *testing.T) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Owners change name, time zone, country, currency, colour and logo; the changes are in the
// business's audit log.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	before := s.settings()
	want := tenant.Settings{Name: s.owner.Tenant.Name, Slug: s.owner.Tenant.Slug, TimeZone: "Europe/Stockholm", Currency: "EUR", Country: new("SE"), ConfirmAboveCents: new(int64(100_000))}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	if same := s.change(tenant.SettingsEdit{Name: core.Set(before.Name)}); cmp.Diff(before, same) != "" || len(s.changes()) != 0 {
		t.Errorf("changed nothing: %+v, %v", same, s.changes())
	}
	logo := encoded(t, 20, 10, asPNG)
	edited := s.change(tenant.SettingsEdit{
		Name: core.Set(" Bar "), TimeZone: core.Set("Asia/Kathmandu"), Currency: core.Set("NPR"), Country: core.Set("NP"),
		ConfirmAboveCents: core.Set(int64(250_000)), Colour: core.Set("#5746D6"), Logo: core.Set(logo),
	})
	want = tenant.Settings{
		Name: "Bar", Slug: before.Slug, TimeZone: "Asia/Kathmandu", Currency: "NPR", Country: new("NP"), ConfirmAboveCents: new(int64(250_000)),
		Theme: core.Theme{Colour: new("#5746d6"), LogoHash: edited.LogoHash, LogoWidth: new(20), LogoHeight: new(10)},
	}
	if diff := cmp.Diff(want, edited); diff != "" || edited.LogoHash == nil {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	recoloured := s.change(tenant.SettingsEdit{Colour: core.Set("#000000")}) // the logo stays
	if *recoloured.LogoHash != *edited.LogoHash || recoloured.Logo() != 2 {
		t.Errorf("the logo is %s with the shape %v, was %s", *recoloured.LogoHash, recoloured.Logo(), *edited.LogoHash)
	}
	plain := s.change(tenant.SettingsEdit{
		Country: core.Optional[string]{Set: true}, Colour: core.Optional[string]{Set: true}, Logo: core.Optional[[]byte]{Set: true},
	})
	if plain.Country != nil || plain.Colour != nil || plain.LogoHash != nil {
		t.Errorf("cleared = %+v", plain)
	}
	hash := *edited.LogoHash
	log := []string{
		`tenant.edit A owner itself {"logo": null, "name": "` + before.Name + `", "colour": null, "country": "SE", "currency": "EUR", "timezone": "Europe/Stockholm", "confirm_above_cents": 100000} ` +
			`{"logo": "` + hash + `", "name": "Bar", "colour": "#5746d6", "country": "NP", "currency": "NPR", "timezone": "Asia/Kathmandu", "confirm_above_cents": 250000}`,
		`tenant.edit A owner itself {"colour": "#5746d6"} {"colour": "#000000"}`,
		`tenant.edit A owner itself {"logo": "` + hash + `", "colour": "#000000", "country": "NP"} {"logo": null, "colour": null, "country": null}`,
	}
	if diff := cmp.Diff(log, s.changes()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	served, err := db.FindTenant(t.Context(), s.DB, s.owner.Tenant.ID)
	if err != nil || served.Name != "Bar" || served.TimeZone.String() != "Asia/Kathmandu" || served.Currency != "NPR" || served.Country != "" {
		t.Errorf("served as %+v, %v", served, err)
	}
}

// Sales above the limit need confirmation; an owner can turn it off.
func TestConfirmationLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	confirms := func(cents int64) bool {
		t.Helper()
		served, err := db.FindTenant(t.Context(), s.DB, s.owner.Tenant.ID)
		s.Check(err)
		return served.Confirms(cents)
	}
	if confirms(100_000) || !confirms(100_001) {
		t.Errorf("at first it asks above 1,000.00: %t, and a cent more: %t", confirms(100_000), confirms(100_001))
	}
	s.change(tenant.SettingsEdit{ConfirmAboveCents: core.Set(int64(1))})
	if confirms(1) || !confirms(2) {
		t.Errorf("above one cent: %t, and a cent more: %t", confirms(1), confirms(2))
	}
	s.change(tenant.SettingsEdit{Name: core.Set("Bar")})
	if got := s.change(tenant.SettingsEdit{ConfirmAboveCents: core.Optional[int64]{Set: true}}); got.ConfirmAboveCents != nil || confirms(transaction.MaxSpendCents) {
		t.Errorf("switched off: %+v, %t", got, confirms(transaction.MaxSpendCents))
	}
	want := []string{
		`tenant.edit A owner itself {"confirm_above_cents": 100000} {"confirm_above_cents": 1}`,
		`tenant.edit A owner itself {"name": "` + s.owner.Tenant.Name + `"} {"name": "Bar"}`,
		`tenant.edit A owner itself {"confirm_above_cents": 1} {"confirm_above_cents": null}`,
	}
	if diff := cmp.Diff(want, s.changes()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// All invalid fields are reported at once, and nothing changes.
func TestSettingsRefuse(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	before := s.settings()
	null := core.Optional[string]{Set: true}
	notAColour := core.Violation{Rule: "colour"}
	for _, c := range []struct {
		e    tenant.SettingsEdit
		want core.Fields
	}{
		{tenant.SettingsEdit{Name: null, TimeZone: null, Currency: null}, core.Fields{
			"name": {core.Required}, "timezone": {core.Required}, "currency": {core.Required},
		}},
		{tenant.SettingsEdit{
			Name: core.Set(strings.Repeat("å", 101)), TimeZone: core.Set("Mars/Olympus"), Currency: core.Set("euro"), Country: core.Set("Sweden"),
			Colour: core.Set("blue"), Logo: core.Set([]byte("<svg/>")),
		}, core.Fields{
			"name": {core.MaxLength(100)}, "timezone": {core.InvalidChoice}, "currency": {core.InvalidChoice},
			"country": {core.InvalidChoice}, "colour": {notAColour}, "logo": {core.Violation{Rule: "picture_type"}},
		}},
		{tenant.SettingsEdit{ConfirmAboveCents: core.Set(int64(0))}, core.Fields{"confirm_above_cents": {core.Min(1)}}},
		{tenant.SettingsEdit{ConfirmAboveCents: core.Set(int64(1_000_000_000_001))}, core.Fields{
			"confirm_above_cents": {core.Max(1000000000000)},
		}},
		{tenant.SettingsEdit{Colour: core.Set("#fff")}, core.Fields{"colour": {notAColour}}},
		{tenant.SettingsEdit{Colour: core.Set("#5746d6;")}, core.Fields{"colour": {notAColour}}},
		{tenant.SettingsEdit{Colour: core.Set("5746d6")}, core.Fields{"colour": {notAColour}}},
		{tenant.SettingsEdit{Malformed: core.Fields{"logo": {core.MustBeString}}}, core.Fields{"logo": {core.MustBeString}}},
	} {
		_, err := s.EditSettings(t.Context(), s.owner, c.e)
		shoptest.WantFields(t, err, c.want)
	}
	if after := s.settings(); cmp.Diff(before, after) != "" || len(s.changes()) != 0 {
		t.Errorf("changed to %+v: %v", after, s.changes())
	}
}

// A logo is checked by its contents, written anew and scaled down, and found by its hash.
func TestLogos(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	other, large, wide := core.Violation{Rule: "picture_type"}, core.Violation{Rule: "max_kilobytes", Limit: 256}, core.Violation{Rule: "max_pixels", Limit: 2000}
	broken := core.Violation{Rule: "broken_picture"}
	full := append(encoded(t, 9, 9, asPNG), make([]byte, 256<<10)...)[:256<<10]
	for _, c := range []struct {
		name, kind string
		file       []byte
		want       core.Violation
	}{
		{"PNG", "image/png", encoded(t, 2000, 2000, asPNG), core.Violation{}},
		{"JPEG", "image/png", encoded(t, 30, 40, asJPEG), core.Violation{}},
		{"WebP", "image/png", webp(t), core.Violation{}},
		{"as large as may be", "image/png", full, core.Violation{}},
		{"a byte too large", "", append(full, 0), large},
		{"a pixel too wide", "", encoded(t, 2001, 1, asPNG), wide},
		{"a pixel too high", "", encoded(t, 1, 2001, asJPEG), wide},
		{"GIF", "", encoded(t, 9, 9, asGIF), other},
		{"SVG", "", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), other},
		{"HTML", "", []byte("<!doctype html>"), other},
		{"half a head", "", encoded(t, 9, 9, asPNG)[:20], other},
		{"a PNG that breaks off", "", cut(encoded(t, 90, 90, asPNG)), broken},
		{"a JPEG that breaks off", "", cut(encoded(t, 90, 90, asJPEG)), broken},
		{"a WebP that breaks off", "", cut(webp(t)), broken},
		{"nothing", "", []byte{}, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			edited, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Logo: core.Set(c.file)})
			if c.want != (core.Violation{}) {
				shoptest.WantFields(t, err, core.Fields{"logo": {c.want}})
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Logo(t.Context(), s.owner, *edited.LogoHash)
			if err != nil || got.Type != c.kind || bytes.Equal(got.Bytes, c.file) {
				t.Errorf("%s of %d bytes, %v", got.Type, len(got.Bytes), err)
			}
			stored, _, err := image.DecodeConfig(bytes.NewReader(got.Bytes))
			if uploaded, _, e := image.DecodeConfig(bytes.NewReader(c.file)); err != nil || e != nil || stored.Width != min(uploaded.Width, 1024) || stored.Height != min(uploaded.Height, 1024) {
				t.Errorf("%d × %d pixels are stored as %d × %d: %v, %v", uploaded.Width, uploaded.Height, stored.Width, stored.Height, e, err)
			}
			if theme := s.theme(); *theme.LogoHash != *edited.LogoHash || theme.LogoWidth == nil || theme.LogoHeight == nil {
				t.Errorf("theme = %+v", theme)
			}
			if _, err := s.Logo(t.Context(), stranger.owner, *edited.LogoHash); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("for a stranger: %v, want ErrNotFound", err)
			}
		})
	}
	for _, hash := range []string{"", "xyz", strings.Repeat("0", 64), *s.change(tenant.SettingsEdit{Logo: core.Set(webp(t))}).LogoHash + "0"} {
		if _, err := s.Logo(t.Context(), s.owner, hash); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("the logo %q: %v, want ErrNotFound", hash, err)
		}
	}
	if theme := stranger.theme(); theme != (core.Theme{}) {
		t.Errorf("of a business that chose nothing: %+v", theme)
	}
}

// Icons and the logo of e-mails are drawn once, when a logo is saved, and belong to it.
func TestDrawingsOfALogo(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	for name, c := range map[string]struct {
		file  []byte
		shape core.LogoShape
	}{
		"square": {encoded(t, 300, 300, asPNG), 1}, "wide": {encoded(t, 1200, 300, asJPEG), 4}, "one line": {encoded(t, 2000, 1, asPNG), 4}, "tall": {encoded(t, 30, 300, asPNG), 1},
	} {
		edited := s.change(tenant.SettingsEdit{Logo: core.Set(c.file)})
		for _, side := range tenant.IconSides {
			icon, err := s.Icon(t.Context(), s.owner, *edited.LogoHash, side)
			s.Check(err)
			if drawn, format, err := image.DecodeConfig(bytes.NewReader(icon.Bytes)); err != nil || format != "png" || drawn.Width != side || drawn.Height != side {
				t.Errorf("%s: the icon of %d pixels is %+v, %s, %v", name, side, drawn, format, err)
			}
			if _, err := s.Icon(t.Context(), stranger.owner, *edited.LogoHash, side); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("%s: a stranger's icon: %v, want ErrNotFound", name, err)
			}
		}
		look, err := tenant.BrandingOf(t.Context(), s.DB, s.owner)
		s.Check(err)
		if drawn, format, err := image.DecodeConfig(bytes.NewReader(look.Logo.Bytes)); err != nil || format != "png" || drawn.Width*drawn.Height != 120*120 || look.Shape != c.shape {
			t.Errorf("%s: in e-mails it is %+v, %s, %v with the shape %v", name, drawn, format, err, look.Shape)
		}
	}
	hash := *s.settings().LogoHash
	s.change(tenant.SettingsEdit{Logo: core.Optional[[]byte]{Set: true}})
	if _, err := s.Icon(t.Context(), s.owner, hash, tenant.TouchIcon); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the icon of a logo that was removed: %v, want ErrNotFound", err)
	}
	if look, err := tenant.BrandingOf(t.Context(), s.DB, s.owner); err != nil || look.Logo != nil {
		t.Errorf("in e-mails: %+v, %v", look, err)
	}
}

// A logo that an earlier build stored as it was uploaded is written anew by a job, or by the first e-mail that
// shows it; one that can't be decoded stays, and is tried once.
func TestLogosOfAnEarlierBuild(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	uploaded := append(encoded(t, 2000, 500, asPNG), "hidden"...)
	stored := func(file []byte) shop {
		s := shop{officeIn(t, d), dbtest.Tenant(t, d)}
		s.change(tenant.SettingsEdit{Logo: core.Set(encoded(t, 9, 9, asPNG))}) // which the earlier build's replaces
		_, err := dbtest.Owner(d).Exec(t.Context(), `
			update loyalty.tenant_look
			set logo = $2, logo_type = 'image/png', logo_hash = sha256($2), logo_width = 2000, logo_height = 500
			where tenant_id = $1`, s.owner.Tenant.ID, file)
		s.Check(err)
		return s
	}
	byJob, broken, byMail := stored(uploaded), stored([]byte("no picture")), stored(uploaded)
	look, err := tenant.BrandingOf(t.Context(), d, byMail.owner)
	if err != nil || look.Logo == nil || look.Shape != 4 {
		t.Errorf("the first e-mail has %+v, %v", look, err)
	}
	for range 2 {
		byJob.Check(byJob.RenewLogos(t.Context()))
	}
	for name, s := range map[string]shop{"by the job": byJob, "by the e-mail": byMail} {
		theme := s.theme()
		logo, err := s.Logo(t.Context(), s.owner, *theme.LogoHash)
		s.Check(err)
		if size, _, err := image.DecodeConfig(bytes.NewReader(logo.Bytes)); err != nil || size.Width != 1024 || bytes.Contains(logo.Bytes, []byte("hidden")) || *theme.LogoWidth != 1024 || *theme.LogoHeight != 256 {
			t.Errorf("%s: %+v, %v, %+v", name, size, err, theme)
		}
		if _, err := s.Icon(t.Context(), s.owner, *theme.LogoHash, tenant.LargeIcon); err != nil {
			t.Errorf("%s: its icon: %v", name, err)
		}
	}
	theme := broken.theme()
	if logo, err := broken.Logo(t.Context(), broken.owner, *theme.LogoHash); err != nil || string(logo.Bytes) != "no picture" {
		t.Errorf("what can't be decoded: %q, %v", logo.Bytes, err)
	}
	if _, err := broken.Icon(t.Context(), broken.owner, *theme.LogoHash, tenant.LargeIcon); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("its icon: %v, want ErrNotFound", err)
	}
}

// An owner who replaces the logo while it is renewed keeps the new one, and its drawings.
func TestALogoIsReplacedWhileItIsRenewed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stored := encoded(t, 1500, 300, asPNG)
	for i := range 5 {
		s.change(tenant.SettingsEdit{Logo: core.Set(encoded(t, 9, 9, asPNG))})
		_, err := dbtest.Owner(s.DB).Exec(t.Context(), "update loyalty.tenant_look set logo = $2, logo_hash = sha256($2) where tenant_id = $1", s.owner.Tenant.ID, stored)
		s.Check(err)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := tenant.BrandingOf(t.Context(), s.DB, s.owner); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() { s.change(tenant.SettingsEdit{Logo: core.Set(encoded(t, 20+i, 20, asPNG))}) })
		all.Wait()
		theme := s.theme()
		if *theme.LogoWidth != 20+i {
			t.Errorf("the logo is %d pixels wide: the owner's was lost", *theme.LogoWidth)
		}
		if _, err := s.Icon(t.Context(), s.owner, *theme.LogoHash, tenant.LargeIcon); err != nil {
			t.Errorf("the icon of the logo: %v", err)
		}
	}
}

// Only owners see the settings.
func TestSettingsAreForOwners(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		by := dbtest.Person(t, s.DB, s.owner, role)
		if _, err := s.Settings(t.Context(), by); !errors.Is(err, core.ErrRole) {
			t.Errorf("a %s reads: %v, want ErrRole", role, err)
		}
		if _, err := s.EditSettings(t.Context(), by, tenant.SettingsEdit{Name: core.Set("Mine")}); !errors.Is(err, core.ErrRole) {
			t.Errorf("a %s edits: %v, want ErrRole", role, err)
		}
	}
}

// Owners edit only their own business.
func TestOwnersEditOnlyTheirBusiness(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	before := stranger.settings()
	s.change(tenant.SettingsEdit{Name: core.Set("Mine"), Colour: core.Set("#112233")})
	if after := stranger.settings(); cmp.Diff(before, after) != "" {
		t.Errorf("a stranger's settings are %+v, were %+v", after, before)
	}
	touched, err := db.In(t.Context(), s.DB.Tenant(s.owner), func(tx *db.Tx) (int64, error) {
		return db.Exec(t.Context(), tx, "update loyalty.tenant set name = 'Mine too' where id = @id", db.Args{"id": stranger.owner.Tenant.ID})
	})
	if err != nil || touched != 0 {
		t.Errorf("a tenant's transaction touched %d rows of another: %v", touched, err)
	}
}

// The currency can't change after the first sale, because amounts are stored without it.
func TestCurrencyIsFixedAfterASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	neighbour := newShop(t)
	neighbour.sell()
	if edited := s.change(tenant.SettingsEdit{Currency: core.Set("SEK")}); edited.Currency != "SEK" || edited.HasSales {
		t.Errorf("before the first sale: %+v", edited)
	}
	s.sell()
	if !s.settings().HasSales {
		t.Error("the first sale is not seen")
	}
	_, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Name: core.Set("Bar"), Currency: core.Set("EUR")})
	shoptest.WantFields(t, err, core.Fields{"currency": {core.Violation{Rule: "currency_in_use", Other: "SEK"}}})
	if edited := s.change(tenant.SettingsEdit{Name: core.Set("Bar"), Currency: core.Set("SEK")}); edited.Name != "Bar" {
		t.Errorf("the same currency is no change: %+v", edited)
	}
	// The platform's edits don't change it.
	root := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	_, err = s.Edit(t.Context(), root, s.owner.Tenant.ID, tenant.Edit{Name: core.Set("Pub"), Currency: core.Set("EUR"), BillingCycle: core.Set("daily")})
	shoptest.WantFields(t, err, core.Fields{"currency": {core.Violation{Rule: "currency_in_use", Other: "SEK"}}, "billing_cycle": {core.InvalidChoice}})
	if edited, err := s.Edit(t.Context(), root, s.owner.Tenant.ID, tenant.Edit{Name: core.Set("Pub"), Currency: core.Set("SEK")}); err != nil || edited.Name != "Pub" {
		t.Errorf("the same currency is no change: %+v, %v", edited, err)
	}
	if edited, err := s.Edit(t.Context(), root, newShop(t).owner.Tenant.ID, tenant.Edit{Currency: core.Set("NOK")}); err != nil || edited.Currency != "NOK" {
		t.Errorf("before the first sale: %+v, %v", edited, err)
	}
}

func (s shop) sell() {
	s.T.Helper()
	owner := shoptest.Of(s.T, s.DB, s.owner)
	owner.Sale(owner.Customer().ID, owner.Points(100), 100)
}

// A change of the country changes all keys of phone numbers, or is refused if numbers collide.
func TestOwnerChangesCountry(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.welcome(s.owner.Tenant.ID, "070-174 06 05", "08-465 004 12")
	s.change(tenant.SettingsEdit{Country: core.Optional[string]{Set: true}})
	if got := s.keys(s.owner.Tenant.ID); got != "0701740605 0846500412" {
		t.Errorf("in no country the keys are %s", got)
	}
	s.welcome(s.owner.Tenant.ID, "+46 70 174 06 05")
	before, log := s.settings(), s.changes()
	_, err := s.EditSettings(t.Context(), s.owner, tenant.SettingsEdit{Name: core.Set("Bar"), Country: core.Set("SE"), Colour: core.Set("#112233")})
	shoptest.WantFields(t, err, core.Fields{"country": {s.samePhones(s.owner.Tenant.ID, "070-174 06 05", "+46 70 174 06 05")}})
	if after := s.settings(); cmp.Diff(before, after) != "" || cmp.Diff(log, s.changes()) != "" {
		t.Errorf("the refusal changed %+v to %+v", before, after)
	}
}

// Of two concurrent edits, each entry has the values that it replaced.
func TestConcurrentSettingsAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first := s.settings().Name
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			e := tenant.SettingsEdit{Name: core.Set(fmt.Sprint("Bar ", i)), Colour: core.Set(fmt.Sprintf("#%06x", i))}
			if _, err := s.EditSettings(t.Context(), s.owner, e); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	replaced := regexp.MustCompile(`"name": "([^"]*)".*"name": "([^"]*)"`)
	by := map[string]string{}
	for _, line := range s.changes() {
		names := replaced.FindStringSubmatch(line)
		by[names[1]] = names[2]
	}
	name, steps := first, 0
	for ; by[name] != "" && steps < 20; steps++ {
		name = by[name]
	}
	if last := s.settings().Name; steps != 10 || last != name {
		t.Errorf("the log leads to %s in %d steps, the name is %s: %v", name, steps, last, by)
	}
}

func TestSettingsInRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shop{officeIn(t, d), dbtest.Tenant(t, d)}
	colours := []string{"#000001", "#000002"}
	logo := encoded(t, 9, 9, asPNG)
	hash := *s.change(tenant.SettingsEdit{Logo: core.Set(logo)}).LogoHash
	for name, c := range map[string]struct {
		trips int
		ask   func(ctx context.Context, i int) error
	}{
		"settings": {1, func(ctx context.Context, _ int) error { _, err := s.Settings(ctx, s.owner); return err }},
		"theme": {1, func(ctx context.Context, _ int) error {
			_, err := tenant.BySlug(ctx, s.DB, s.owner.Tenant.Slug)
			return err
		}},
		"logo": {1, func(ctx context.Context, _ int) error { _, err := s.Logo(ctx, s.owner, hash); return err }},
		"edit": {2, func(ctx context.Context, i int) error {
			_, err := s.EditSettings(ctx, s.owner, tenant.SettingsEdit{Colour: core.Set(colours[i])})
			return err
		}},
	} {
		var before int
		for i := range 2 { // the first time, statements are prepared
			before = count()
			s.Check(c.ask(t.Context(), i))
		}
		if got := count() - before; got != c.trips {
			t.Errorf("%s makes %d round trips, want %d", name, got, c.trips)
		}
	}
}

// An owner lets customers be without a phone number, and requires one again. The change is in the log, and requests see it.
func TestPhoneOptional(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, on := range []bool{true, true, false} {
		if got := s.change(tenant.SettingsEdit{PhoneOptional: core.Set(on)}); got.PhoneOptional != on || s.settings().PhoneOptional != on {
			t.Errorf("set to %t: %t, stored %t", on, got.PhoneOptional, s.settings().PhoneOptional)
		}
		if served, err := db.FindTenant(t.Context(), s.DB, s.owner.Tenant.ID); err != nil || served.PhoneOptional != on {
			t.Errorf("set to %t, served as %t, %v", on, served.PhoneOptional, err)
		}
	}
	if s.change(tenant.SettingsEdit{Name: core.Set("Bar")}).PhoneOptional {
		t.Error("another change turned it on")
	}
	want := []string{
		`tenant.edit A owner itself {"phone_optional": false} {"phone_optional": true}`,
		`tenant.edit A owner itself {"phone_optional": true} {"phone_optional": false}`,
	}
	if diff := cmp.Diff(want, s.changes()[:2]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	manager := s.owner
	manager.Role = core.Manager
	if _, err := s.Tenants.EditSettings(t.Context(), manager, tenant.SettingsEdit{PhoneOptional: core.Set(true)}); err == nil || s.settings().PhoneOptional {
		t.Errorf("a manager changed it: %v", err)
	}
}
