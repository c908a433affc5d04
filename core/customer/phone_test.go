package customer_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/shoptest"
)

// A number is one customer, however spreadsheets, links, keyboards and people write it.
func TestOneNumberAsItIsCopied(t *testing.T) {
	t.Parallel()
	for country, numbers := range map[string]map[string][]string{
		"SE": {"+46705935836": {
			"00046705935836", "00000046705935836",
			"0705935836", "070-593 58 36", "705935836", "46705935836", "0046705935836", "+46 (0)70-593 58 36", "(+46) 705935836", "++46705935836",
			`="0705935836"`, `"0705935836"`, "'0705935836", "’0705935836", "‘0705935836’", "=+46705935836", "0705935836;", "0705935836.",
			"46705935836.0", "+46705935836.0", "705935836.00", "46705935836,0",
			"tel:0705935836", "tel:+46-70-593-58-36", "TEL: 070-593 58 36", "tel. 070 593 58 36", "callto:0705935836", "tel://+46705935836",
			"０７０５９３５８３６", "＋４６７０５９３５８３６", "٠٧٠٥٩٣٥٨٣٦", "070\u00a0593\u202f58\u200936", "070\u2011593\u2011583\u20116", "070–593–58–36", "070ー593ー5836",
			"\u202a+46705935836\u202c", "\ufeff0705935836", "07\u200b05935836", "070\u00ad5935836", "\t0705935836\n", "070/5935836", "070.593.58.36",
		}},
		"US": {"+14155550132": {
			"(415) 555-0132", "415.555.0132", "1-415-555-0132", "+1 415 555 0132", "14155550132", "001 415 555 0132", `="4155550132"`,
		}},
		"JP": {"+46705935836": {"010 46 70 593 58 36", "0046705935836", "+46705935836"}},
		"AU": {"+46705935836": {"0011 46 70 593 58 36", "0046705935836"}},
		"DE": {"+49301234567": {"030/1234567", "030 / 123 45 67", "(030) 1234567", "004930 1234567", "+49 (30) 1234567"}},
		"IT": {"+390612345678": {"06 1234 5678", "+39 06 12345678", "0039 06 12345678"}},
		"":   {"+46705935836": {"0046705935836", "00046705935836", "+46 70 593 58 36", `="+46705935836"`, "'0046 70 593 58 36"}},
	} {
		for key, written := range numbers {
			s := newShop(t).in(country)
			first := s.made(key, nil)
			for _, phone := range written {
				got, err := core.Result(s.Customers.Upsert(t.Context(), s.By, described(phone, nil), nil))
				if err != nil || got.Created || got.ID != first.ID {
					t.Errorf("in %q: %q is not %s: %v", country, phone, key, err)
					continue
				}
				found, err := s.Customers.List(t.Context(), s.By, customer.Filter{Phone: &phone}, core.Page{Size: 10})
				if s.Check(err); len(found.Items) != 1 {
					t.Errorf("in %q: the filter finds %d by %q", country, len(found.Items), phone)
				}
				if atTill, _, err := s.Customers.FindAtTill(t.Context(), s.By, phone); err != nil || len(atTill) != 1 {
					t.Errorf("in %q: the till finds %d by %q: %v", country, len(atTill), phone, err)
				}
			}
		}
	}
}

// A text that is no number, or more than one, is refused and never becomes a key of its own.
func TestTextsThatAreNoNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule    core.Violation
		country string
		phones  []string
	}{
		{core.MustBePhone, "SE", []string{
			"0000705935836", "000123456", "+0705935836", "+46", "+4670", "12", "0705935836 12345", "+46 70 593 58 36 12345", "070+5935836", "0705935836+",
			"07O5935836", "abc123", "Anna 0705935836", "0705935836 mobil", "1-800-FLOWERS", "0705935836@example.com", "070*5935836",
			`=HYPERLINK("0705935836")`, "#REF!", "n/a", "070-593 58 36 ext", "２０２６年１月２３日",
		}},
		{core.MustBePhone, "", []string{"000123456", "+46", "+0123456789", "abc123"}},
		{customer.RoundedPhone, "SE", []string{"4.67E+10", "4,67012E+11", "4.67e10", "4E+10", "4.67059E10", "4.67 E+10", "4٫67E+10", "=4.67E+10", "'4.67E+10", "４．６７Ｅ＋１０"}},
		{customer.OnePhone, "SE", []string{
			"0705935836/0701112233", "0705935836, 0701112233", "0705935836; 0701112233", "0705935836|0701112233", "0705935836\n0701112233",
			"0705935836 eller 0701112233", "0705935836 or 08-123 456 78", "0705935836 0701112233", "+46705935836 +46701112233", "070-593 58 36 / 12",
			"070-593 58 36, 070-111 22 33 (hem)", "+46 70 593 58 36 / +46 70 111 22 33",
		}},
	} {
		s := newShop(t).in(c.country)
		for _, phone := range c.phones {
			_, err := core.Result(s.Customers.Upsert(t.Context(), s.By, described(phone, nil), nil))
			if got := shoptest.Fields(t, err)["phone"]; len(got) != 1 || got[0] != c.rule {
				t.Errorf("in %q: %q = %v, want %v", c.country, phone, err, c.rule)
			}
			_, err = s.Customers.List(t.Context(), s.By, customer.Filter{Phone: &phone}, core.Page{Size: 10})
			if got := shoptest.Fields(t, err)["phone"]; len(got) != 1 || got[0] != c.rule {
				t.Errorf("in %q: the filter %q = %v, want %v", c.country, phone, err, c.rule)
			}
		}
		if n := s.Count("customer"); n != 0 {
			t.Errorf("%d customers were made", n)
		}
	}
}

// A number that is longer than its country's is one number all the same, however it is written.
func TestLongNumbers(t *testing.T) {
	t.Parallel()
	for country, written := range map[string][]string{
		"SE": {"+467000000012112", "0046-70-000000-12112", "07000000012112", "070-00 00 00 12 112"},
		"US": {"+1415555013299", "001 415 555 0132 99", "1415555013299"},
		"":   {"+4670000001211", "004670000001211"},
	} {
		s := newShop(t).in(country)
		first := s.made(written[0], nil)
		for _, phone := range written[1:] {
			if got := s.upsert(phone, nil); got.ID != first.ID {
				t.Errorf("in %q: %s is not %s", country, phone, written[0])
			}
		}
	}
}

// A number without a country, and one that can't be a phone number, is compared by its digits.
func TestDigitsOfOtherNumbers(t *testing.T) {
	t.Parallel()
	for country, numbers := range map[string][2]string{"SE": {"6012 3456 7890 1234 5", "60123456789012345"}, "FI": {"+1 999 0000 1111 2222 333", "19990000111122223 33"}, "DK": {"000 000 000", "000000000"}, "": {"070-593 58 36", "0705935836"}, "NO": {"1 1 2", "112"}} {
		s := newShop(t).in(country)
		first := s.made(numbers[0], nil)
		if got := s.upsert(numbers[1], nil); got.ID != first.ID {
			t.Errorf("in %q: %s is not %s", country, numbers[1], numbers[0])
		}
	}
}

// Two people of one switchboard are two customers. The number alone finds both at the till.
func TestTwoExtensionsAreTwoCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first, second, plain := s.made("08-123 456 78 ext 101", nil), s.made("08-123 456 78 ext 102", nil), s.made("08-123 456 78", nil)
	for phone, want := range map[string]core.ID{
		"+46812345678;ext=101": first.ID, "08-12345678 x101": first.ID, "0812345678#101": first.ID, "08-123 456 78, ankn. 101": first.ID,
		"tel:+46-8-123-456-78;ext=102": second.ID, "(08) 123 456 78 Ext.102": second.ID, "08-123 456 78 extension: 102": second.ID,
		"+46812345678": plain.ID,
	} {
		if got := s.upsert(phone, nil); got.ID != want {
			t.Errorf("%q is another customer", phone)
		}
	}
	for typed, want := range map[string]int{"08-123 456 78": 3, "0812345678 ext 101": 1, "5678": 1} {
		if found, _, err := s.Customers.FindAtTill(t.Context(), s.By, typed); err != nil || len(found) != want {
			t.Errorf("%q finds %d at the till, want %d: %v", typed, len(found), want, err)
		}
	}
	if s.Check(s.move("NO")); s.keys()["08-123 456 78 ext 101"] != "+46812345678;ext=101" {
		t.Errorf("after the change of the country: %v", s.keys())
	}
}

// A stored text that is refused by now stays with its key when something else is edited.
func TestAnUnreadableNumberStays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("0701740605", nil)
	s.Exec("update loyalty.customer set phone = '4.67E+10', phone_key = '46710' where tenant_id = $1 and id = $2", s.By.Tenant.ID, c.ID)
	_, err := s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{FirstName: core.Set("Anna"), Phone: core.Set("4.67E+10")})
	s.Check(err)
	if got := s.keys()["4.67E+10"]; got != "46710" {
		t.Errorf("the key is %s", got)
	}
	_, err = s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{Phone: core.Set("4.68E+10")})
	shoptest.WantFields(t, err, core.Fields{"phone": {customer.RoundedPhone}})
}
