package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func moreFilters(t *testing.T, s Store) {
	a, b, c := run(1, "a"), run(2, "b"), run(3, "c")
	a.Agents, a.Models, a.Guard.By, a.WorstAction = []string{"coder", "reviewer"}, []string{"m-1"}, "Go", policy.Halt
	a.Health = policy.Health{Score: 20, Status: policy.GradeStuck}
	a.Metadata = []byte(`{"prompt":"v1","try":2,"nested":{"prompt":"v9"}}`)
	b.Agents, b.Models, b.WorstAction, b.Health = []string{"code"}, []string{"m-1", "m-2"}, policy.Warn, policy.Health{Score: 60, Status: policy.GradeRepeated}
	b.Metadata = []byte(`{"prompt":"v10"}`)
	c.Health = policy.Health{Score: 100, Status: policy.GradeHealthy}
	commit(t, s, store.Batch{Runs: []store.Run{a, b, c}, Warnings: []store.Warning{{Run: 2, ID: "1", Rule: "same_call_same_result"}}})
	guarded, observed := true, false
	for _, q := range []struct {
		says   string
		filter store.Filter
		want   []string
	}{
		{"agent", store.Filter{Agent: "code"}, []string{"b"}},
		{"model", store.Filter{Model: "m-1"}, []string{"b", "a"}},
		{"a member of the metadata", store.Filter{Label: "prompt=v1"}, []string{"a"}},
		{"a number in the metadata", store.Filter{Label: "try=2"}, []string{"a"}},
		{"a member within another", store.Filter{Label: "prompt=v9"}, []string{}},
		{"guarded", store.Filter{Guarded: &guarded}, []string{"a"}},
		{"observed", store.Filter{Guarded: &observed}, []string{"c", "b"}},
		{"one decision", store.Filter{Decisions: []policy.Action{policy.Halt}}, []string{"a"}},
		{"any decision but allow", store.Filter{Decisions: []policy.Action{policy.Warn, policy.Block, policy.Halt}}, []string{"b", "a"}},
		{"health", store.Filter{Health: []string{string(policy.GradeStuck), string(policy.GradeHealthy)}}, []string{"c", "a"}},
		{"text in an agent, in other letters", store.Filter{Text: "REVIEW"}, []string{"a"}},
		{"text in a model", store.Filter{Text: "m-2"}, []string{"b"}},
		{"a rule by its name", store.Filter{Text: "same_call"}, []string{"b"}},
		{"a rule by its title", store.Filter{Text: "Same call same result"}, []string{"b"}},
		{"all at once", store.Filter{
			Agent: "coder", Model: "m-1", Label: "prompt=v1", Guarded: &guarded, Decisions: []policy.Action{policy.Halt}, Health: []string{string(policy.GradeStuck)}, Text: "coder",
		}, []string{"a"}},
	} {
		t.Run(q.says, func(t *testing.T) {
			if diff := gocmp.Diff(q.want, listed(t, s, q.filter)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// listed returns the ids of the runs that the filter chooses, and fails if CountRuns gives another number.
func listed(t *testing.T, s Store, f store.Filter) []string {
	t.Helper()
	runs, next, err := s.Runs(t.Context(), f, store.Order{}, store.Page{Limit: 1000})
	if err != nil || next != "" {
		t.Fatalf("then %q, error %v", next, err)
	}
	if n := must[int](t)(s.CountRuns(t.Context(), f)); n != len(runs) {
		t.Errorf("it counts %d of %d runs", n, len(runs))
	}
	return runIDs(runs)
}

func counts(t *testing.T, s Store) {
	var b store.Batch
	for k := range int64(30) {
		r := run(k+1, fmt.Sprint(k))
		r.Project = fmt.Sprint("p", k%3)
		b.Runs = append(b.Runs, r)
	}
	commit(t, s, b)
	for _, c := range []struct {
		says   string
		filter store.Filter
		want   int
	}{
		{"all", store.Filter{}, 30},
		{"of a project", store.Filter{Project: "p1"}, 10},
		{"with a text", store.Filter{Text: "P2"}, 10},
		{"of no project", store.Filter{Project: "q"}, 0},
	} {
		if n := must[int](t)(s.CountRuns(t.Context(), c.filter)); n != c.want {
			t.Errorf("%s: %d runs, want %d", c.says, n, c.want)
		}
	}
}

func sorted(t *testing.T, s Store) {
	var b store.Batch
	for k := range int64(23) {
		r := run(k+1, fmt.Sprint("r", k))
		r.Started, r.Updated = noon.Add(time.Duration(k*7%5)*time.Second), noon.Add(time.Duration(k*11%7)*time.Second)
		r.Name, r.Project = []string{"n.1", "n", "", "ü", "N", "s", "0"}[k%7], []string{"", "ü", "a.b", "B"}[k%4]
		r.Status = []string{store.Running, store.Failed, store.Completed}[k%3]
		r.Health.Score, r.Warnings, r.WorstAction = int(k*17%4)*25, int(k%3), policy.Action(k%4)
		r.MeanNovelty, r.Preview.Tools = float64(k*7%6)/3, nil
		if k%5 > 0 {
			r.Preview.Tools = []store.ToolCalls{{Name: []string{"b", "B", "ü", "a.b"}[k%4], Calls: 2}, {Name: "z", Calls: 1}}
		}
		m := &r.Metrics
		m.Events, m.Tokens, m.Cost, m.Duration = int(k*19%8), k*23%9*1e12, float64(k*5%6)/3e7, float64(k*3%7)*1e21
		b.Runs = append(b.Runs, r)
	}
	commit(t, s, b)
	for key, compare := range map[string]func(x, y *store.Run) int{
		store.ByStart:    func(x, y *store.Run) int { return x.Started.Compare(y.Started) },
		store.ByUpdate:   func(x, y *store.Run) int { return x.Updated.Compare(y.Updated) },
		store.ByName:     func(x, y *store.Run) int { return cmp.Compare(cmp.Or(x.Name, x.ID), cmp.Or(y.Name, y.ID)) },
		store.ByProject:  func(x, y *store.Run) int { return cmp.Compare(x.Project, y.Project) },
		store.ByStatus:   func(x, y *store.Run) int { return cmp.Compare(x.Status, y.Status) },
		store.ByHealth:   func(x, y *store.Run) int { return cmp.Compare(x.Health.Score, y.Health.Score) },
		store.ByDecision: func(x, y *store.Run) int { return cmp.Compare(x.WorstAction, y.WorstAction) },
		store.ByWarnings: func(x, y *store.Run) int { return cmp.Compare(x.Warnings, y.Warnings) },
		store.ByNovelty:  func(x, y *store.Run) int { return cmp.Compare(x.MeanNovelty, y.MeanNovelty) },
		store.ByTool:     func(x, y *store.Run) int { return cmp.Compare(x.Preview.MostCalled(), y.Preview.MostCalled()) },
		store.ByEvents:   func(x, y *store.Run) int { return cmp.Compare(x.Metrics.Events, y.Metrics.Events) },
		store.ByTokens:   func(x, y *store.Run) int { return cmp.Compare(x.Metrics.Tokens, y.Metrics.Tokens) },
		store.ByCost:     func(x, y *store.Run) int { return cmp.Compare(x.Metrics.Cost, y.Metrics.Cost) },
		store.ByDuration: func(x, y *store.Run) int { return cmp.Compare(x.Metrics.Duration, y.Metrics.Duration) },
	} {
		want := slices.Clone(b.Runs)
		slices.SortFunc(want, func(x, y store.Run) int { return cmp.Or(compare(&x, &y), cmp.Compare(x.Number, y.Number)) })
		for _, o := range []store.Order{{Key: key, Ascending: true}, {Key: key}} {
			for _, size := range []int{1, 5, 100} {
				var got []string
				page := store.Page{Limit: size}
				for first := true; first || page.Cursor != ""; first = false {
					runs, next, err := s.Runs(t.Context(), store.Filter{Text: "r"}, o, page)
					if err != nil {
						t.Fatalf("%+v: %v", o, err)
					}
					got, page.Cursor = append(got, runIDs(runs)...), next
				}
				if diff := gocmp.Diff(runIDs(want), got); diff != "" {
					t.Errorf("%+v by pages of %d (-want +got):\n%s", o, size, diff)
				}
			}
			slices.Reverse(want)
		}
	}
	if _, _, err := s.Runs(t.Context(), store.Filter{}, store.Order{Key: "cost; DROP TABLE runs"}, store.Page{Limit: 1}); err == nil {
		t.Error("an unknown key is an order")
	}
}
