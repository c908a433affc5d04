package tenant

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gosimple/slug"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

const (
	minSlug = 3
	maxSlug = 40
)

// reserved slugs are kept for the platform's own host names.
var reserved = []string{
	"admin", "api", "app", "assets", "auth", "billing", "blog", "cdn", "docs", "help", "login", "mail", "platform",
	"static", "status", "support", "test", "www",
}

var slugPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])+$`)

func isSlug(s string) bool {
	return len(s) >= minSlug && len(s) <= maxSlug && slugPattern.MatchString(s) && !slices.Contains(reserved, s)
}

func readSlug(check *core.Check, v *string) string {
	s := check.Text("slug", v, maxSlug)
	if check.OK("slug") && !isSlug(s) {
		check.Add("slug", core.InvalidChoice)
	}
	return s
}

// ProposeSlug returns a free slug that resembles a business's name, or "" if there is none, for super-admins.
func (s *Service) ProposeSlug(ctx context.Context, by core.Actor, name string) (string, error) {
	if err := by.RequireAdmin(); err != nil {
		return "", err
	}
	proposals := slugsFor(name)
	if len(proposals) == 0 {
		return "", nil
	}
	free, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (string, error) {
		return db.Value[string](ctx, tx, freeSlugSQL, db.Args{"slugs": proposals})
	})
	if errors.Is(err, core.ErrNotFound) {
		return "", nil
	}
	return free, err
}

const maxProposals = 50

const freeSlugSQL = `
	select proposed.slug
	from unnest(@slugs::text[]) with ordinality proposed (slug, place)
	where not exists (
		select
		from loyalty.tenant t
		where t.slug = proposed.slug
	)
	order by proposed.place
	limit 1`

// slugsFor returns slugs that resemble a name, the best first: "cafe-aro", "cafe-aro-2" and so on.
func slugsFor(name string) (slugs []string) {
	base := slug.Make(name)
	for n := 1; n <= maxProposals && len(base) >= minSlug; n++ {
		end := ""
		if n > 1 {
			end = "-" + strconv.Itoa(n)
		}
		if s := strings.TrimRight(base[:min(len(base), maxSlug-len(end))], "-") + end; isSlug(s) {
			slugs = append(slugs, s)
		}
	}
	return slugs
}
