package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for quiet hours; containers and Windows may have no time zone database

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/sink/webhook"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// alerts keeps the webhooks of the configuration file and those that people set up, and the sink that sends to them.
type alerts struct {
	store  *sqlstore.Store
	sink   *sink.Sink
	common webhook.Options // of the webhooks that people set up; without endpoints
	file   []fileAlert

	mu    sync.Mutex       // held during a change, so that changes reach the sink in order
	known map[int64]string // the JSON of the alerts that the sink sends to, by number
}

// maxAlerts is the maximum number of alerts that people set up. Each has a goroutine and a queue.
const maxAlerts = 100

// fileAlert is a webhook of the configuration file.
type fileAlert struct {
	webhook.Endpoint
	sink.Target
}

// fileID is the prefix of the ids of alerts in the configuration file.
const fileID = "file-"

// load makes the sink send to the alerts of the store only. Alerts without a change keep their waiting messages.
func (a *alerts) load(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, err := a.store.Alerts(ctx)
	if err != nil {
		return err
	}
	left := maps.Clone(a.known)
	for i := range all {
		s := &all[i]
		delete(left, s.Number)
		if a.known[s.Number] == textOf(s) {
			continue
		}
		target, err := a.target(s)
		if err != nil {
			return fmt.Errorf("alert %d: %w", s.Number, err)
		}
		a.set(s, target)
	}
	for number := range left {
		a.remove(number)
	}
	return nil
}

// set makes the sink send to an alert as it is now. The caller holds the lock.
func (a *alerts) set(s *store.Alert, t sink.Target) {
	t.Key = alertKey(s.Number)
	a.sink.Set(t)
	a.known[s.Number] = textOf(s)
}

// textOf returns the JSON of an alert. Equal alerts have equal texts.
func textOf(s *store.Alert) string {
	text, _ := json.Marshal(s) // its members are strings
	return string(text)
}

// remove stops the sending to an alert. The caller holds the lock.
func (a *alerts) remove(number int64) {
	a.sink.Remove(alertKey(number))
	delete(a.known, number)
}

// List returns all alerts, those of the configuration file first.
func (a *alerts) List(ctx context.Context) (list []api.Alert, err error) {
	all, err := a.store.Alerts(ctx)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]sink.Stats)
	for _, c := range a.sink.Stats() {
		counts[c.Key] = c
	}
	for i := range a.file {
		f := &a.file[i]
		row := alertOf(fileID+strconv.Itoa(i+1), f.URL, counts[f.Key])
		row.InFile, row.Signed, row.Level = true, f.Secret != "", sink.Raised
		row.Format, row.Severity = cmp.Or(f.Format, webhook.FormatJSON), string(cmp.Or(f.Endpoint.Severity, unloop.SeverityInfo))
		row.Rules, row.Projects = append(row.Rules, f.Endpoint.Rules...), append(row.Projects, f.Endpoint.Projects...)
		list = append(list, row)
	}
	for i := range all {
		list = append(list, *shown(&all[i], counts[alertKey(all[i].Number)]))
	}
	return list, nil
}

// alertOf returns the members that all alerts have.
func alertOf(id, address string, c sink.Stats) api.Alert {
	return api.Alert{
		ID: id, Endpoint: webhook.PublicPart(address), Rules: []string{}, Projects: []string{}, Sent: c.Sent, Failed: c.Failed, Waiting: c.Waiting,
	}
}

func shown(s *store.Alert, c sink.Stats) *api.Alert {
	row := alertOf(strconv.FormatInt(s.Number, 10), s.URL, c)
	row.Signed, row.Format, row.Severity, row.Level = s.Secret != "", s.Format, s.Severity, s.Level
	row.Projects = append(row.Projects, s.Projects...)
	if q := s.Quiet; q != nil {
		row.Quiet = &api.Quiet{From: q.From, Until: q.Until, Zone: q.Zone}
	}
	return &row
}

// Add adds an alert and begins to send to it.
func (a *alerts) Add(ctx context.Context, by store.Act, n *api.NewAlert) (*api.Alert, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, err := a.store.Alerts(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) >= maxAlerts {
		return nil, &httpd.BadAlert{Field: "url", Reason: fmt.Sprintf("there are %d alerts, which is the maximum; delete one first", maxAlerts)}
	}
	s := &store.Alert{Format: webhook.FormatJSON, Severity: string(unloop.SeverityInfo), Level: sink.Raised}
	by.Action = store.ActAddAlert
	return a.write(ctx, by, s, n)
}

// Change changes the members of an alert that n has.
func (a *alerts) Change(ctx context.Context, by store.Act, id string, n *api.NewAlert) (*api.Alert, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	by.Action = store.ActChangeAlert
	return a.write(ctx, by, s, n)
}

// write merges n into an alert, checks and stores the alert, and makes the sink send to it.
func (a *alerts) write(ctx context.Context, by store.Act, s *store.Alert, n *api.NewAlert) (*api.Alert, error) {
	merge(s, n)
	target, err := a.target(s)
	if err != nil {
		return nil, err
	}
	by.Alert, by.Value = s, webhook.PublicPart(s.URL)
	if err := a.store.Act(ctx, &by); err != nil {
		return nil, err
	}
	a.set(s, target) // storing an alert sets its number
	return shown(s, sink.Stats{}), nil
}

// Delete deletes an alert.
func (a *alerts) Delete(ctx context.Context, by store.Act, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.stored(ctx, id)
	if err != nil {
		return err
	}
	by.Action, by.Alert, by.Value = store.ActDeleteAlert, s, webhook.PublicPart(s.URL)
	if err := a.store.Act(ctx, &by); err != nil {
		return err
	}
	a.remove(s.Number)
	return nil
}

// Test sends a message and waits for the answer.
func (a *alerts) Test(ctx context.Context, id string) (result api.AlertTest, err error) {
	notifier, err := a.notifier(ctx, id)
	if err != nil {
		return result, err
	}
	begin := time.Now()
	if err := notifier.Send(ctx, sink.TestNotice(begin)); err != nil {
		result.Reason = err.Error()
	}
	result.Delivered = result.Reason == ""
	result.Milliseconds = float64(time.Since(begin).Microseconds()) / 1000
	return result, nil
}

func (a *alerts) notifier(ctx context.Context, id string) (sink.Notifier, error) {
	if number, ok := strings.CutPrefix(id, fileID); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(a.file) {
			return nil, store.ErrNoAlert
		}
		return a.file[n-1].Notifier, nil
	}
	s, err := a.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	t, err := a.target(s)
	return t.Notifier, err
}

// stored returns the alert with the id.
func (a *alerts) stored(ctx context.Context, id string) (*store.Alert, error) {
	if strings.HasPrefix(id, fileID) {
		return nil, &httpd.BadAlert{Field: "id", Reason: "this webhook is in the configuration file; change it there"}
	}
	all, err := a.store.Alerts(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(s store.Alert) bool { return strconv.FormatInt(s.Number, 10) == id })
	if at < 0 {
		return nil, store.ErrNoAlert
	}
	return &all[at], nil
}

// merge sets the members of s that n has.
func merge(s *store.Alert, n *api.NewAlert) {
	set(&s.URL, n.URL)
	set(&s.Secret, n.Secret)
	set(&s.Format, n.Format)
	set(&s.Severity, n.Severity)
	set(&s.Level, n.Level)
	set(&s.Projects, n.Projects)
	if q := n.Quiet; q != nil {
		s.Quiet = &store.Quiet{From: q.From, Until: q.Until, Zone: q.Zone}
		if *q == (api.Quiet{}) {
			s.Quiet = nil
		}
	}
}

func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// target returns the target of an alert. The error is a *httpd.BadAlert if a person has to change a member.
func (a *alerts) target(s *store.Alert) (sink.Target, error) {
	o := a.common
	o.Endpoints = []webhook.Endpoint{{
		URL: s.URL, Format: s.Format, Secret: s.Secret, Severity: unloop.Severity(s.Severity), Projects: s.Projects,
	}}
	quiet, err := quietHours(s.Quiet)
	if err != nil {
		return sink.Target{}, err
	}
	targets, err := webhook.Targets(o)
	if err != nil {
		return sink.Target{}, &httpd.BadAlert{Field: "url", Reason: "want an address with http:// or https:// and a host"} // the schema checks the rest
	}
	t := targets[0]
	t.Least, t.OncePerRun, t.Quiet = s.Level, true, quiet
	return t, nil
}

// alertKey identifies an alert in the claims of the sink, also when its address changes.
func alertKey(number int64) string { return "alert-" + strconv.FormatInt(number, 10) }

// quietHours returns nil for none.
func quietHours(q *store.Quiet) (*sink.QuietHours, error) {
	if q == nil {
		return nil, nil
	}
	from, err := time.Parse("15:04", q.From)
	until, err2 := time.Parse("15:04", q.Until)
	if err := errors.Join(err, err2); err != nil || from.Equal(until) {
		return nil, &httpd.BadAlert{Field: "quiet_hours", Reason: "want two different times of day, such as 22:00 and 07:00"}
	}
	zone, err := time.LoadLocation(q.Zone)
	if err != nil || q.Zone == "" || q.Zone == "Local" {
		return nil, &httpd.BadAlert{Field: "quiet_hours.time_zone", Reason: fmt.Sprintf("unknown time zone %q; want a name such as Europe/Berlin or UTC", q.Zone)}
	}
	midnight := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	return &sink.QuietHours{From: from.Sub(midnight), Until: until.Sub(midnight), Zone: zone}, nil
}
