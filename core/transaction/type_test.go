package transaction_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// An edit changes only the fields that are set; null removes the maximum.
func TestEditType(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	want := s.kind
	for _, c := range []struct {
		name string
		edit transaction.EditType
		then func(*transaction.Type)
	}{
		{"nothing", transaction.EditType{}, func(*transaction.Type) {}},
		{"name", transaction.EditType{Name: core.Set(" Lunch ")}, func(k *transaction.Type) { k.Name = "Lunch" }},
		{"rule", transaction.EditType{
			PointsPerUnit: core.Set(int64(3)), UnitCents: core.Set(int64(250)), MinSpendCents: core.Set(int64(500)), MaxAward: core.Set(int64(20)),
		}, func(k *transaction.Type) {
			k.PointsPerUnit, k.UnitCents, k.MinSpendCents, k.MaxAward = 3, 250, 500, new(int64(20))
		}},
		{"unit", transaction.EditType{RuleType: core.Set("stamps"), StampsPerTransaction: core.Set(int64(2))}, func(k *transaction.Type) {
			k.RuleType, k.StampsPerTransaction = ledger.Stamps, 2
		}},
		{"cap", transaction.EditType{MaxAward: core.Optional[int64]{Set: true}}, func(k *transaction.Type) { k.MaxAward = nil }},
		{"active", transaction.EditType{Active: core.Set(false)}, func(k *transaction.Type) { k.Active = false }},
	} {
		c.then(&want)
		got, err := s.Sales.EditType(t.Context(), s.By, s.kind.ID, c.edit)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
		if found, err := s.Sales.FindType(t.Context(), s.By, s.kind.ID); err != nil || !cmp.Equal(found, want) {
			t.Errorf("%s: found %+v, %v", c.name, found, err)
		}
	}
}

// "Every failing field is reported at once", and nothing changes.
func TestEditTypeReportsEveryWrongField(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	null := core.Optional[int64]{Set: true}
	for _, c := range []struct {
		edit transaction.EditType
		want core.Fields
	}{
		{transaction.EditType{
			Name: core.Optional[string]{Set: true}, RuleType: core.Set("miles"), Active: core.Optional[bool]{Set: true}, PointsPerUnit: null, UnitCents: core.Set(int64(0)),
			StampsPerTransaction: core.Set(int64(-1)), MinSpendCents: null, MaxAward: core.Set(int64(0)),
		}, core.Fields{
			"name":                   {core.Required},
			"rule_type":              {core.InvalidChoice},
			"active":                 {core.Required},
			"points_per_unit":        {core.Required},
			"unit_cents":             {core.Min(1)},
			"stamps_per_transaction": {core.Min(0)},
			"min_spend_cents":        {core.Required},
			"max_award":              {core.Min(1)},
		}},
		{transaction.EditType{
			Name: core.Set(strings.Repeat("å", 101)), RuleType: core.Optional[string]{Set: true},
			MaxAward:  core.Set(int64(ledger.MaxAward + 1)),
			Malformed: core.Fields{"unit_cents": {core.MustBeInteger}},
		}, core.Fields{
			"max_award":  {core.Max(1000000000000)},
			"name":       {core.MaxLength(100)},
			"rule_type":  {core.Required},
			"unit_cents": {core.MustBeInteger},
		}},
	} {
		_, err := s.Sales.EditType(t.Context(), s.By, s.kind.ID, c.edit)
		shoptest.WantFields(t, err, c.want)
	}
	if found, err := s.Sales.FindType(t.Context(), s.By, s.kind.ID); err != nil || !cmp.Equal(found, s.kind) {
		t.Errorf("a refused edit left %+v, %v", found, err)
	}
}

// A type's unit is fixed after its first sale, even if that is voided.
func TestTheRuleTypeStaysOnceThereAreSales(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.void(s.sale(100).ID)
	_, err := s.Sales.EditType(t.Context(), s.By, s.kind.ID, transaction.EditType{RuleType: core.Set("stamps")})
	want := core.Fields{"rule_type": {core.Violation{Rule: "fixed_after_sales"}}}
	shoptest.WantFields(t, err, want)
	if _, err := s.Sales.EditType(t.Context(), s.By, s.kind.ID, transaction.EditType{RuleType: core.Set("points"), PointsPerUnit: core.Set(int64(2))}); err != nil {
		t.Errorf("its rule = %v, want it changed", err)
	}
}

// "A resource that belongs to another tenant is reported as nonexistent."
func TestAnotherTenantsTypesDoNotExist(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	for name, err := range map[string]error{
		"find":         second(stranger.Sales.FindType(t.Context(), stranger.By, s.kind.ID)),
		"edit":         second(stranger.Sales.EditType(t.Context(), stranger.By, s.kind.ID, transaction.EditType{Name: core.Set("Mine")})),
		"edit wrongly": second(stranger.Sales.EditType(t.Context(), stranger.By, s.kind.ID, transaction.EditType{Name: core.Set("")})),
		"switch off":   second(stranger.Sales.SetTypeActive(t.Context(), stranger.By, s.kind.ID, false)),
		"switch on":    second(stranger.Sales.SetTypeActive(t.Context(), stranger.By, s.kind.ID, true)),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", name, err)
		}
	}
	if found, err := s.Sales.FindType(t.Context(), s.By, s.kind.ID); err != nil || !cmp.Equal(found, s.kind) {
		t.Errorf("the type is %+v, %v", found, err)
	}
}

// "A live `what would 24.50 earn?` preview" of a rule that is being edited.
func TestPreview(t *testing.T) {
	t.Parallel()
	points := transaction.NewType{RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 2, UnitCents: 100}}
	for _, c := range []struct {
		name  string
		draft transaction.NewType
		spend int64
		award int64
		unit  transaction.RuleType
	}{
		{"24.50", points, 2450, 48, ledger.Points},
		{"for each whole 1.00 unless it says so", transaction.NewType{RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1}}, 2450, 24, ledger.Points},
		{"a stamp", transaction.NewType{RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 1}}, 2450, 1, ledger.Stamps},
		{"below the least spend", transaction.NewType{RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 1, MinSpendCents: 2451}}, 2450, 0, ledger.Stamps},
		{"capped", transaction.NewType{RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 2, MaxAward: new(int64(30))}}, 2450, 30, ledger.Points},
	} {
		if award, unit, err := c.draft.Preview(&c.spend); err != nil || award != c.award || unit != c.unit {
			t.Errorf("%s: %d %s, %v, want %d %s", c.name, award, unit, err, c.award, c.unit)
		}
	}

	wrong := transaction.NewType{RuleType: "miles", Rule: transaction.Rule{PointsPerUnit: -1, MaxAward: new(int64(0))}}
	wrong.Malformed = core.Fields{"unit_cents": {core.MustBeInteger}}
	_, _, err := wrong.Preview(nil)
	want := core.Fields{
		"rule_type":          {core.InvalidChoice},
		"points_per_unit":    {core.Min(0)},
		"unit_cents":         {core.MustBeInteger},
		"max_award":          {core.Min(1)},
		"spend_amount_cents": {core.Required},
	}
	shoptest.WantFields(t, err, want)
	points.PointsPerUnit, points.UnitCents = 1_000_000_000, 1
	_, unit, err := points.Preview(new(int64(1001)))
	if diff := cmp.Diff(tooMuch(1000), shoptest.Fields(t, err)); diff != "" || unit != ledger.Points {
		t.Errorf("too large, of %q (-want +got):\n%s", unit, diff)
	}
	if _, _, err := points.Preview(new(int64(math.MaxInt64))); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("more than may be spent = %v", err)
	}
}

// Pages have the types, the oldest first.
func TestPagesOfTypes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	newShop(t)
	for _, name := range []string{"Lunch", "Catering", "Beans"} {
		s.Must(core.Result(s.Sales.AddType(t.Context(), s.By, transaction.NewType{Name: name, RuleType: ledger.Points}, nil)))
	}
	want, err := s.Sales.Types(t.Context(), s.By)
	s.Check(err)
	for _, size := range []int{1, 3, 15} {
		got := shoptest.Walk(t, size, func(p core.Page) (core.List[transaction.Type], error) { return s.Sales.ListTypes(t.Context(), s.By, p) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d a page (-want +got):\n%s", size, diff)
		}
	}
}
