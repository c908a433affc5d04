package tenant

import (
	"context"
	_ "embed"
	"errors"
	"regexp"
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

// Names that people or programs would take for the platform's own; reserved/README.md names their sources.
var (
	//go:embed reserved/usernames.txt
	reservedUsernames string
	//go:embed reserved/hosts.txt
	reservedHosts string

	usernames, hosts = readNames(reservedUsernames), readNames(reservedHosts)
)

func readNames(list string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(list) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") {
			names[name] = true
		}
	}
	return names
}

// isReserved reports whether a slug is a reserved name, or a host's with a number: "ns1", "mx02".
func isReserved(slug string) bool {
	return usernames[slug] || hosts[strings.TrimRight(slug, "0123456789")]
}

var slugPattern = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])+$`)

func isSlug(s string) bool {
	return len(s) >= minSlug && len(s) <= maxSlug && slugPattern.MatchString(s)
}

func readSlug(check *core.Check, v *string) string {
	s := check.Text("slug", v, maxSlug)
	switch {
	case !check.OK("slug"):
	case !isSlug(s):
		check.Add("slug", core.InvalidChoice)
	case isReserved(s):
		check.Add("slug", core.Violation{Rule: "reserved"})
	}
	return s
}

// CheckSlug refuses a slug that no business can have: core.KindInvalid.
func CheckSlug(slug string) error {
	check := core.NewCheck(nil)
	readSlug(check, &slug)
	return check.Err()
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
	free, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (string, error) {
		return db.One[string](ctx, tx, freeSlugSQL, db.Args{"slugs": proposals})
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
		if s := strings.TrimRight(base[:min(len(base), maxSlug-len(end))], "-") + end; isSlug(s) && !isReserved(s) {
			slugs = append(slugs, s)
		}
	}
	return slugs
}
