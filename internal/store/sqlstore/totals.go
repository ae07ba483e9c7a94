package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// The bounds of the members of metadata that an overview names.
const (
	maxMembers = 20
	maxValues  = 50 // of each
)

// figures are the values of a run that an overview uses.
type figures struct {
	started                             int64
	status                              string
	warned, worst                       int64
	project, agents, models, labels     string
	guardedBy                           string
	calls, tokens, callsAfter, tokAfter int64
	callsStopped, tokensStopped         int64 // after the first stop
	cost, costAfter, costStopped        float64
	duration, latencyMS                 float64
}

// sums are sums over runs. The zero value is that of no runs.
type sums struct {
	totals    store.Totals
	durations []float64
	latency   float64
	latencies int // runs with a latency
}

func (s *sums) add(r *figures) {
	t := &s.totals
	t.Runs++
	if r.warned != 0 {
		t.Warned++
	}
	if policy.Action(r.worst) != policy.Allow {
		t.Looping++
	}
	t.Usage.Calls += int(r.calls)
	t.Usage.Tokens += r.tokens
	t.Usage.Cost += r.cost
	t.UsageAfterWarning.Calls += int(r.callsAfter)
	t.UsageAfterWarning.Tokens += r.tokAfter
	t.UsageAfterWarning.Cost += r.costAfter
	stopped := &t.Wasted
	if r.guardedBy != "" {
		t.Guarded++
		stopped = &t.Avoided
	}
	stopped.Calls += int(r.callsStopped)
	stopped.Tokens += r.tokensStopped
	stopped.Cost += r.costStopped
	if r.duration > 0 {
		s.durations = append(s.durations, r.duration)
	}
	if r.latencyMS > 0 {
		s.latency += r.latencyMS
		s.latencies++
	}
}

func (s *sums) result() store.Totals {
	t := s.totals
	slices.Sort(s.durations)
	t.MedianDuration, t.LongDuration = quantile(s.durations, 0.5), quantile(s.durations, 0.95)
	if s.latencies > 0 {
		t.Latency = s.latency / float64(s.latencies)
	}
	return t
}

// quantile returns the smallest of the sorted values that at least the given share of them does not exceed; 0 for none.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// summary is an overview in progress.
type summary struct {
	by              string
	whole, previous sums
	buckets         []sums
	groups          map[string]*sums
	members         map[string]map[string]bool // values of members of metadata
}

// sumUp sums up the rows of the period and of the period before.
func (s *Store) sumUp(ctx context.Context, tx *sql.Tx, f *store.Overview, q *store.OverviewQuery) error {
	for start := f.Since; start.Before(f.Until); start = start.Add(f.Step) {
		f.Buckets = append(f.Buckets, store.OverviewBucket{Start: start})
	}
	all := summary{by: q.By, buckets: make([]sums, len(f.Buckets)), groups: map[string]*sums{}, members: map[string]map[string]bool{}}
	both := q.Filter
	if before := f.Since.Add(-f.Until.Sub(f.Since)); !before.Before(earliest) {
		both.Since = before
	}
	chosen, err := s.filtered(ctx, &both)
	if err != nil {
		return err
	}
	query := "SELECT started, status, warned, worst, project, agents, models, labels, guarded_by"
	for _, column := range []string{"tool_calls", "tokens", "after_calls", "after_tokens", "stop_calls", "stop_tokens", "cost", "after_cost", "stop_cost", "duration", "mean_latency"} {
		query += ", " + sane(column)
	}
	var r figures
	err = eachRow(ctx, tx, query+" FROM runs"+chosen.String(), chosen.args, func(row scanner) error {
		err := row.Scan(&r.started, &r.status, &r.warned, &r.worst, &r.project, &r.agents, &r.models, &r.labels, &r.guardedBy,
			&r.calls, &r.tokens, &r.callsAfter, &r.tokAfter, &r.callsStopped, &r.tokensStopped, &r.cost, &r.costAfter, &r.costStopped, &r.duration, &r.latencyMS)
		if err != nil {
			return err
		}
		return all.add(f, &r)
	})
	if err != nil {
		return err
	}
	all.finish(f)
	return nil
}

// add adds a run to its bucket, its period and its groups.
func (all *summary) add(f *store.Overview, r *figures) error {
	if r.started < toNanos(f.Since) {
		all.previous.add(r)
		return nil
	}
	all.whole.add(r)
	at := int((r.started - toNanos(f.Since)) / int64(f.Step))
	all.buckets[at].add(r)
	countStatus(&f.Buckets[at], r.status)
	labels, err := listed(r.labels)
	if err != nil {
		return err
	}
	for _, label := range labels {
		name, value, _ := strings.Cut(label, "=")
		all.addMember(name, value)
	}
	names, err := all.groupsOf(r, labels)
	for _, name := range names {
		if all.groups[name] == nil {
			all.groups[name] = &sums{}
		}
		all.groups[name].add(r)
	}
	return err
}

func countStatus(b *store.OverviewBucket, status string) {
	switch status {
	case store.Running:
		b.Running++
	case store.Completed:
		b.Completed++
	case store.Failed:
		b.Failed++
	case store.Abandoned:
		b.Abandoned++
	}
}

func (all *summary) addMember(name, value string) {
	values := all.members[name]
	if values == nil && len(all.members) < maxMembers {
		values = map[string]bool{}
		all.members[name] = values
	}
	if values != nil && len(values) < maxValues {
		values[value] = true
	}
}

// groupsOf returns the names of the groups that a run is in. A run without a name is in the group "".
func (all *summary) groupsOf(r *figures, labels []string) (names []string, err error) {
	switch {
	case all.by == "":
		return nil, nil
	case all.by == store.ByProjects:
		return []string{r.project}, nil
	case all.by == store.ByAgents:
		names, err = listed(r.agents)
	case all.by == store.ByModels:
		names, err = listed(r.models)
	default:
		member := strings.TrimPrefix(all.by, store.ByMetadata) + "="
		for _, label := range labels {
			if value, found := strings.CutPrefix(label, member); found {
				names = append(names, value)
			}
		}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names, err
}

// finish sets the totals of the overview.
func (all *summary) finish(f *store.Overview) {
	f.Totals, f.Previous = all.whole.result(), all.previous.result()
	for k := range f.Buckets {
		f.Buckets[k].Totals = all.buckets[k].result()
	}
	for name, group := range all.groups {
		f.Groups = append(f.Groups, store.Group{Name: name, Totals: group.result()})
	}
	slices.SortFunc(f.Groups, func(a, b store.Group) int {
		return cmp.Or(cmp.Compare(b.Totals.Runs, a.Totals.Runs), cmp.Compare(a.Name, b.Name))
	})
	f.Groups = f.Groups[:min(len(f.Groups), store.MaxGroups)]
	for name, values := range all.members {
		m := store.Metadata{Name: name}
		for value := range values {
			m.Values = append(m.Values, value)
		}
		slices.Sort(m.Values)
		f.Metadata = append(f.Metadata, m)
	}
	slices.SortFunc(f.Metadata, func(a, b store.Metadata) int { return cmp.Compare(a.Name, b.Name) })
}
