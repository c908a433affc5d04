package audit

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Person is a person or a token that a filter can pick.
type Person struct {
	Actor string // as in Filter
	Name  string
}

// People returns what a filter can offer: the staff, whether they still work here or
// not, and the tokens that are in use, each by name. Others who act are found in the
// lines that name them. One round trip.
func (s *Service) People(ctx context.Context, by core.Actor) ([]Person, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.ReadAll[Person](ctx, s.db, by, peopleSQL, nil)
}

const peopleSQL = `
	select actor, name
	from (
		select 'staff' as kind, 'staff:' || id as actor, name
		from loyalty.staff
		where tenant_id = @tenant_id
		union all
		select 'token', 'token:' || t.id, t.name
		from loyalty.staff s
		join loyalty.token t on t.staff_id = s.id
		where s.tenant_id = @tenant_id
			and t.tenant_id = @tenant_id
			and t.revoked_at is null
	) person
	order by kind, name, actor`
