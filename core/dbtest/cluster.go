package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/localpg"
	"example.com/loyalty/migrations"
)

// clusterVariable contains the URL of the test run's server, with a login that may create databases and roles. If the
// database there is distributed by tenant, tests get databases on the same nodes; then the login must be a superuser.
const clusterVariable = "LOYALTY_TEST_DATABASE_URL"

// owner is the login that owns the databases on a server whose login is a superuser: under a superuser, no policy holds.
const owner = "loyalty"

// cluster is a server with the tests' databases.
type cluster struct {
	own   *localpg.Cluster // nil: the test run has a shared one
	nodes []string         // URLs, of the coordinator first; a plain server is the only one
	owner *url.Userinfo    // the login of the databases' owner
}

// findCluster returns the test run's server, or starts one for this binary.
func findCluster(ctx context.Context) (*cluster, error) {
	if shared.cluster != nil {
		return shared.cluster, nil
	}
	c := &cluster{}
	address := os.Getenv(clusterVariable)
	if address == "" {
		var err error
		if c.own, err = localpg.Throwaway(ctx); err != nil {
			return nil, err
		}
		address = c.own.URL()
	}
	if err := c.inspect(ctx, address); err != nil {
		return nil, err
	}
	shared.cluster = c
	return c, nil
}

const (
	citusSQL   = "select exists (select from pg_extension where extname = 'citus')"
	workersSQL = "select nodename, nodeport from pg_dist_node where groupid > 0 and noderole = 'primary' order by 1, 2"
)

// inspect finds the nodes of a server.
func (c *cluster) inspect(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	coordinator, err := url.Parse(address)
	if err != nil {
		return err
	}
	c.nodes, c.owner = []string{address}, coordinator.User
	var isCitus bool
	if err := conn.QueryRow(ctx, citusSQL).Scan(&isCitus); err != nil || !isCitus {
		return err
	}
	rows, _ := conn.Query(ctx, workersSQL) // collecting returns its error
	workers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Name string
		Port int
	}])
	for _, w := range workers {
		node := *coordinator
		node.Host = net.JoinHostPort(w.Name, strconv.Itoa(w.Port))
		c.nodes = append(c.nodes, node.String())
	}
	c.owner = url.User(owner)
	return err
}

// isCitus reports whether the databases are distributed.
func (c *cluster) isCitus() bool { return len(c.nodes) > 1 }

// url returns the owner's URL of a database.
func (c *cluster) url(database string) string {
	u := c.at(c.nodes[0], database)
	u.User = c.owner
	return u.String()
}

func (c *cluster) at(node, database string) *url.URL {
	u, err := url.Parse(node)
	if err != nil {
		panic(err) // it was parsed before
	}
	u.Path = "/" + database
	return u
}

// exec runs statements on each node.
func (c *cluster) exec(ctx context.Context, statements ...string) error {
	for _, node := range c.nodes {
		if err := execAt(ctx, node, statements...); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) drop(ctx context.Context, name string) error {
	return c.exec(ctx, "drop database if exists "+name+" with (force)")
}

func execAt(ctx context.Context, address string, statements ...string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// findOrCreateTemplate returns the migrated database from which all others are copied. It gets its name when it is
// complete.
func (c *cluster) findOrCreateTemplate(ctx context.Context) (name string, err error) {
	name = fmt.Sprintf("loyalty_template_%04d", migrations.Newest())
	conn, err := pgx.Connect(ctx, c.nodes[0])
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	const oneAtATime = 4711
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", oneAtATime); err != nil {
		return "", err
	}
	defer conn.Exec(ctx, "select pg_advisory_unlock($1)", oneAtATime) //nolint:errcheck // the connection closes anyway
	var ready bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&ready)
	if err != nil || ready {
		return name, err
	}
	draft := name + "_draft"
	if c.isCitus() {
		err = c.createDistributed(ctx, draft)
	} else {
		err = c.exec(ctx, "drop database if exists "+draft+" with (force)", "create database "+draft)
	}
	if err != nil {
		return "", err
	}
	if _, err := db.Migrate(ctx, c.url(draft)); err != nil {
		return "", err
	}
	if _, err := db.Distribute(ctx, c.url(draft)); err != nil {
		return "", err
	}
	return name, c.finish(ctx, draft, name)
}

// createDistributed creates a database on all nodes and joins them.
func (c *cluster) createDistributed(ctx context.Context, name string) error {
	err := c.exec(ctx, "set citus.enable_create_role_propagation = off",
		"do $$ begin create role "+owner+" login createdb createrole; exception when duplicate_object then end $$",
		"do $$ begin create role "+db.Role+" login; create role loyalty_queue; create role loyalty_backup; exception when duplicate_object then end $$",
		"drop database if exists "+name+" with (force)", "create database "+name+" owner "+owner)
	err = errors.Join(err, c.configure(ctx, name))
	if err != nil {
		return err
	}
	var join []string
	for i, node := range c.nodes {
		address := c.at(node, name)
		if err := execAt(ctx, address.String(), "create extension citus"); err != nil {
			return err
		}
		add := "citus_add_node"
		if i == 0 {
			add = "citus_set_coordinator_host"
		}
		join = append(join, fmt.Sprintf("select %s('%s', %s)", add, address.Hostname(), address.Port()))
	}
	return execAt(ctx, c.at(c.nodes[0], name).String(), join...)
}

// configure makes the settings that a copy doesn't take over from its template.
func (c *cluster) configure(ctx context.Context, name string) error {
	if !c.isCitus() {
		return nil
	}
	return execAt(ctx, c.nodes[0], "alter database "+name+" set citus.propagate_set_commands = 'local'",
		"alter database "+name+" set citus.shard_count = 4")
}

// finish gives the template its name. It takes no connections then: a database in use can't be copied, and Citus keeps
// a connection to each of its databases.
func (c *cluster) finish(ctx context.Context, draft, name string) error {
	rename := "alter database " + draft + " rename to " + name
	if !c.isCitus() {
		return c.exec(ctx, rename)
	}
	err := c.exec(ctx, "alter database "+draft+" allow_connections false",
		"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '"+draft+"'")
	for _, node := range c.nodes[1:] {
		err = errors.Join(err, execAt(ctx, node, rename))
	}
	return errors.Join(err, execAt(ctx, c.nodes[0], rename))
}
