package staff

import (
	"context"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

const (
	// The key of an address in ASCII has always been the same.
	foreignEmailsSQL = `
	select id, email, email_key
	from loyalty.staff
	where email ~ '[^[:ascii:]]' or email ~* '@(.*\.)?xn--'
	order by id`

	// A key that another person has stays theirs.
	renewSQL = `
	update loyalty.staff p
	set email_key = given.key
	from unnest(@ids::bigint[], @keys::text[]) given (id, key)
	where p.id = given.id
		and not exists (
			select
			from loyalty.staff o
			where o.email_key = given.key
				and o.tenant_id is not distinct from p.tenant_id
		)`
)

// RenewKeys computes the keys again of e-mail addresses with letters outside ASCII, which an earlier build wrote, and
// returns how many changed. Of two people whose addresses are the same by now, the second keeps the old key and is
// counted as same. For the platform.
func RenewKeys(ctx context.Context, tx *db.Tx) (done, same int64, err error) {
	people, err := db.All[struct {
		ID              int64
		Email, EmailKey string
	}](ctx, tx, foreignEmailsSQL, nil)
	if err != nil {
		return 0, 0, err
	}
	var ids []int64
	var keys []string
	wanted := map[string]bool{} // one at a time: two that want one key are decided by the next batch
	for _, p := range people {
		if key := auth.EmailKey(p.Email); key != "" && key != p.EmailKey && !wanted[key] {
			wanted[key] = true
			ids, keys = append(ids, p.ID), append(keys, key)
		}
	}
	if len(ids) == 0 {
		return 0, 0, nil
	}
	done, err = db.Exec(ctx, tx, renewSQL, db.Args{"ids": ids, "keys": keys})
	return done, int64(len(ids)) - done, err
}
