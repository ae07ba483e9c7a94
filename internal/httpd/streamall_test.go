package httpd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/store"
)

// rows is a store of runs whose rows are brought up to date when they are asked for.
type rows struct {
	recorder
	unusedStore
	written, due map[string]int64 // by run, the arrival that its row has, and the one that it is due
	asked        func(times int)  // is called behind each question
	times        int
}

func (r *rows) RunsSince(_ context.Context, arrival int64, _ int) (runs []store.Run, _ error) {
	maps.Copy(r.written, r.due) // they are up to date when they are asked for
	clear(r.due)
	for id, at := range r.written {
		if at > arrival {
			runs = append(runs, *rowOf(id, at))
		}
	}
	slices.SortFunc(runs, func(a, b store.Run) int { return cmp.Compare(a.Arrival, b.Arrival) })
	r.times++
	if r.asked != nil {
		r.asked(r.times)
	}
	return runs, nil
}

func rowOf(id string, arrival int64) *store.Run {
	return &store.Run{ID: id, Number: int64(id[0]), Arrival: arrival, Status: store.Running}
}

func TestTheSwitchFromStoreToHubSendsEachEventOnce(t *testing.T) {
	for _, tc := range []struct {
		name    string
		latest  int64 // that the hub has published
		written map[string]int64
		due     map[string]int64
		then    [][2]any // behind the second question, which comes behind the subscription: what the hub publishes
		want    []string // run, arrival and id of the messages
	}{
		{
			"what the rows tell is not told again", 2,
			map[string]int64{"a": 1, "b": 2, "c": 3},
			nil,
			[][2]any{{"c", 3}, {"a", 4}},
			[]string{"a 1 id 1", "b 2 id 2", "c 3 id ", "a 4 id 4"},
		},
		{
			"a row that lags behind another is not lost", 2,
			map[string]int64{"a": 1, "b": 2, "c": 4},
			nil,
			[][2]any{{"a", 3}, {"c", 4}, {"b", 5}},
			[]string{"a 1 id 1", "b 2 id 2", "c 4 id ", "a 3 id 3", "b 5 id 5"},
		},
		{
			"rows that are due are written before they are read", 4,
			map[string]int64{"a": 1, "b": 2},
			map[string]int64{"a": 3, "b": 4},
			[][2]any{{"a", 5}},
			[]string{"a 3 id 3", "b 4 id 4", "a 5 id 5"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hub := live.New(live.Options{Arrival: tc.latest})
			r := &rows{written: tc.written, due: tc.due}
			r.asked = func(times int) {
				if times == 2 {
					for _, u := range tc.then {
						at := int64(u[1].(int))
						hub.Publish(&store.Update{Run: *rowOf(u[0].(string), at), Events: []store.Event{{Arrival: at}}})
					}
				}
			}
			s, err := New(Options{Pipeline: r, Store: r, Telemetry: &telemetry{}, Hub: hub, Judge: &fakeJudge{}, Tuner: &fakeTuner{}, Shadow: &fakeShadow{}, Guards: &echoGuards{}, Alerts: &fakeAlerts{}})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(s)
			defer server.Close()
			w := watch(t, server.URL+"/api/stream", "Last-Event-ID", "0")
			defer w.body.Close()
			var got []string
			for range tc.want {
				m := w.next()
				u := as[api.OverviewUpdate](t, m)
				got = append(got, fmt.Sprintf("%s %d id %s", u.RunID, u.Run.Arrival, m.id))
			}
			if d := diff.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
