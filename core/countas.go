package core

import "context"

type countAsKey struct{}

// CountAs makes the connections to the database that a request uses count as those of name, instead of
// the tenant that its transaction enters: a page looks up its session and its business before that.
func CountAs(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, countAsKey{}, name)
}

// CountedAs returns the name of CountAs, or "".
func CountedAs(ctx context.Context) string {
	name, _ := ctx.Value(countAsKey{}).(string)
	return name
}
