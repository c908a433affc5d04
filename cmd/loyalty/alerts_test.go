package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/mail/smtptest"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/shoptest"
)

const operationsDir = "../../docs/operations"

// alertGroup is a group of alerts.yml.
type alertGroup struct {
	Name  string
	Rules []struct {
		Alert, Expr, For string
		Labels           map[string]string
		Annotations      map[string]string
	}
}

func readYAML[T any](t *testing.T, path string) (content T) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(source)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&content); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return content
}

func alertGroups(t *testing.T) []alertGroup {
	t.Helper()
	return readYAML[struct{ Groups []alertGroup }](t, filepath.Join(operationsDir, "alerts.yml")).Groups
}

// alertStories are promtool's tests of the rules.
type alertStories struct {
	RuleFiles          []string `yaml:"rule_files"`
	EvaluationInterval string   `yaml:"evaluation_interval"`
	Tests              []alertStory
}

type alertStory struct {
	Name     string
	Interval string
	Series   []alertSeries   `yaml:"input_series"`
	Asked    []alertQuestion `yaml:"promql_expr_test"`
}

type alertSeries struct{ Series, Values string }

type alertQuestion struct {
	Expr    string
	Time    string        `yaml:"eval_time"`
	Samples []alertSample `yaml:"exp_samples"`
}

type alertSample struct {
	Labels string
	Value  float64
}

func storyFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(operationsDir, "alerts*_test.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the stories of the alerts: %v, %v", files, err)
	}
	return files
}

// Every alert has a story in which it fires, and its metrics are in one in which nothing does.
func TestEveryAlertHasItsStory(t *testing.T) {
	t.Parallel()
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, file := range storyFiles(t) {
		for _, story := range readYAML[alertStories](t, file).Tests {
			quiet := true
			for _, q := range story.Asked {
				for _, s := range q.Samples {
					quiet = false
					fires[s.Labels] = true
				}
			}
			for _, s := range story.Series {
				name, _, _ := strings.Cut(s.Series, "{")
				silent[name] = silent[name] || quiet
			}
		}
	}
	for _, group := range alertGroups(t) {
		for _, r := range group.Rules {
			if !fires[fmt.Sprintf(`{alertname="%s"}`, r.Alert)] {
				t.Errorf("%s fires in no story", r.Alert)
			}
			for _, name := range metricNames.FindAllString(r.Expr, -1) {
				if !silent[name] {
					t.Errorf("%s: no story in which nothing fires has %s", r.Alert, name)
				}
			}
		}
	}
}

// metricNames are the names of metrics in an expression.
var metricNames = regexp.MustCompile(`\b(loyalty|process|haproxy)_[a-z0-9_]+`)

// The rules tell their stories as Prometheus evaluates them.
func TestAlertStories(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", filepath.Join(operationsDir, "alerts.yml"))
	promtool(t, append([]string{"test", "rules"}, storyFiles(t)...)...)
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Prometheus: make test-long")
	}
	out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// aMinuteLater moves everything that is stored a minute into the past, and has due jobs taken.
const aMinuteLater = `
	update loyalty.mail
	set created_at = created_at - interval '1 min';
	update river.river_job
	set created_at = created_at - interval '1 min',
		scheduled_at = scheduled_at - interval '1 min',
		metadata = case
			when metadata ->> 'due' is null then metadata
			else metadata || jsonb_build_object('due', (metadata ->> 'due')::bigint - 60000)
		end,
		state = case
			when state in ('retryable', 'scheduled') and scheduled_at - interval '1 min' <= now() then 'available'
			else state
		end;
	select pg_notify('river.river_insert', '{"queue": "mail"}')`

const isBusy = "select exists (select from river.river_job where state = 'running' or state = 'available' and scheduled_at <= now())"

// An hour without a mail server, during which two e-mails wait: what /metrics really reports, minute by minute, makes the
// alerts fire until both are delivered. The server that works again ends the one, the last delivery the other.
func TestAlertsOfAnHourWithoutAMailServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Prometheus: make test-long")
	}
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	server := smtptest.New(t)
	client, err := mail.NewSMTP(server.URL, "Loyalty <loyalty@example.com>")
	if err != nil {
		t.Fatal(err)
	}
	mails := shoptest.Mails{Service: mail.New(d, jobs, client, log), Inbox: &shoptest.Inbox{}}
	figures := &backlogFigures{read: operation.NewService(d, jobs).Backlog, now: time.Now, log: log}
	m := monitored{metrics: &metrics{registry: prometheus.NewRegistry()}}
	m.registry.MustRegister(figures, localFigures{ready: newReadiness(d).check, live: live.NewHub(log), mail: client.Trouble})
	by := dbtest.Tenant(t, d)
	if err := jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := jobs.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	owner := dbtest.Owner(d)
	write := func() {
		email := mails.PasswordReset("anna@example.com", auth.ResetEmail{})
		if err := db.Run(t.Context(), d.Tenant(by), func(tx *db.Tx) error { return mails.Queue(t.Context(), tx, email) }); err != nil {
			t.Fatal(err)
		}
	}
	settle := func() {
		for deadline, busy := time.Now().Add(time.Minute), true; busy; time.Sleep(5 * time.Millisecond) {
			if err := owner.QueryRow(t.Context(), isBusy).Scan(&busy); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(deadline) {
				t.Fatal("waited in vain for the jobs")
			}
		}
	}
	const dead, works, end = 10, 70, 150 // minutes
	r := recording{}
	delivered := 0 // the minute by which all were
	for minute := range end {
		switch minute {
		case 2, dead + 1, dead + 2:
			write()
		case dead:
			server.Fails(true)
		case works:
			server.Fails(false)
		}
		settle()
		if client.Trouble() != "" {
			_ = client.Check(t.Context()) // as watchMailServer does
		}
		figures.at = time.Time{} // a minute is shorter here than readings are kept
		r.minute(m.read(t))
		if delivered == 0 && len(server.Mails()) == 3 {
			delivered = minute
		}
		if _, err := owner.Exec(t.Context(), aMinuteLater); err != nil {
			t.Fatal(err)
		}
	}
	if delivered <= works || delivered > end-10 {
		t.Fatalf("the e-mails were delivered by minute %d", delivered)
	}
	story := alertStory{Name: "an hour without a mail server", Interval: "1m", Series: r.series()}
	for minute := range end {
		story.ask("LoyaltyMailServerFailing", minute, minute <= dead || minute >= works+2, minute >= dead+7 && minute < works)
		story.ask("LoyaltyMailLate", minute, minute <= dead+6 || minute >= delivered+2, minute >= dead+13 && minute < delivered)
	}
	story.tell(t)
}

// recording is what /metrics said each minute: the values of each series.
type recording map[string][]string

// gauges are the lines of /metrics that rules about e-mails use.
var gauges = regexp.MustCompile(`(?m)^(loyalty_(?:jobs|mail|sends)_[a-z_]+(?:\{.*\})?) (\S+)$`)

func (r recording) minute(text string) {
	for _, line := range gauges.FindAllStringSubmatch(text, -1) {
		r[line[1]] = append(r[line[1]], line[2])
	}
}

func (r recording) series() (all []alertSeries) {
	for name, values := range r {
		all = append(all, alertSeries{name, strings.Join(values, " ")})
	}
	return all
}

// ask adds a question about an alert, if it must be silent or fire.
func (s *alertStory) ask(alert string, minute int, silent, fires bool) {
	q := alertQuestion{
		Expr: fmt.Sprintf(`count by (alertname) (ALERTS{alertname="%s", alertstate="firing"})`, alert),
		Time: fmt.Sprintf("%dm", minute),
	}
	if fires {
		q.Samples = []alertSample{{fmt.Sprintf(`{alertname="%s"}`, alert), 1}}
	}
	if silent != fires {
		s.Asked = append(s.Asked, q)
	}
}

// tell has promtool evaluate the rules in a story.
func (s *alertStory) tell(t *testing.T) {
	t.Helper()
	rules, err := filepath.Abs(filepath.Join(operationsDir, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(alertStories{[]string{rules}, "1m", []alertStory{*s}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "story.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
