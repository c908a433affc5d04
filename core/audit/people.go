package audit

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Person is a person or a token to filter by.
type Person struct {
	Actor string // as in Filter
	Name  string
}

// People returns the staff, including former staff, and the tokens in use, by name. Other actors
// are found in the lines that name them.
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
