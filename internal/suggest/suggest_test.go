package suggest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

var read = Pair{"same_error", "read_file"}

// counted are runs whose agent failed so many times in a row with read_file, each with a label.
type counted []struct {
	id, label string
	errors    float64
}

// options replays the runs: a warning of same_error comes with the fourth error, or with that of same_errors.
func (c counted) options(t *testing.T) Options {
	t.Helper()
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Profile: p, Valid: func(c Change) bool { return c.Value >= 2 && c.Value <= 63 }}
	for _, r := range c {
		run := Run{ID: r.id, Label: r.label}
		if r.errors >= 4 {
			run.Warnings = []Pair{read}
		}
		o.Runs = append(o.Runs, run)
	}
	o.Replay = func(_ context.Context, run int, change *Change) ([]Pair, error) {
		least := 4.0
		if change != nil && change.Setting == "same_errors" && (change.Tool == "" || change.Tool == "read_file") {
			least = change.Value
		}
		if c[run].errors >= least {
			return []Pair{read}, nil
		}
		return nil, nil
	}
	return o
}

func TestSuggestions(t *testing.T) {
	for name, c := range map[string]struct {
		runs counted
		want []Suggestion
	}{
		"a higher threshold drops false alarms and keeps loops": {
			counted{{"wait", store.LabelNotALoop, 5}, {"retry", store.LabelNotALoop, 4}, {"stuck", store.LabelLoop, 9}, {"new", "", 5}},
			[]Suggestion{{Change: Change{"read_file", "same_errors", 6}, Rule: "same_error", Present: 4, Kept: []string{"stuck"}, Dropped: []string{"wait", "retry"}, Others: []string{"new"}}},
		},
		"a threshold that loses a loop is not suggested, and a lower one that drops some is": {
			counted{{"wait", store.LabelNotALoop, 5}, {"retry", store.LabelNotALoop, 4}, {"stuck", store.LabelLoop, 5}},
			[]Suggestion{{Change: Change{"read_file", "same_errors", 5}, Rule: "same_error", Present: 4, Kept: []string{"stuck"}, Dropped: []string{"retry"}, Remain: []string{"wait"}}},
		},
		"a lower threshold catches a missed loop": {
			counted{{"missed", store.LabelMissedLoop, 3}, {"fine", store.LabelNotALoop, 2}},
			[]Suggestion{{Change: Change{"", "same_errors", 3}, Rule: "same_error", Present: 4, Caught: []string{"missed"}}},
		},
		"a lower threshold that raises a false alarm is not suggested": {
			counted{{"missed", store.LabelMissedLoop, 3}, {"fine", store.LabelNotALoop, 3}}, nil,
		},
		"nothing is suggested without labels": {counted{{"a", "", 9}, {"b", "", 5}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, complete, err := Find(t.Context(), c.runs.options(t))
			if err != nil || !complete {
				t.Fatalf("complete %v, error %v", complete, err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Suggestion{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("suggestions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASearchThatRunsOutOfTimeReturnsWhatItFound(t *testing.T) {
	o := counted{{"wait", store.LabelNotALoop, 5}, {"missed", store.LabelMissedLoop, 3}}.options(t)
	ctx, cancel := context.WithCancel(t.Context())
	replay := o.Replay
	o.Replay = func(ctx context.Context, run int, change *Change) ([]Pair, error) {
		if change != nil && change.Setting == "cycle_rounds" {
			cancel()
		}
		return replay(ctx, run, change)
	}
	found, complete, err := Find(ctx, o)
	if err != nil || complete || len(found) != 1 || found[0].Value != 6 {
		t.Errorf("%+v, complete %v, error %v", found, complete, err)
	}
	failed := errors.New("the store is away")
	o.Replay = func(context.Context, int, *Change) ([]Pair, error) { return nil, failed }
	if _, complete, err := Find(t.Context(), o); !errors.Is(err, failed) || complete {
		t.Errorf("complete %v, error %v", complete, err)
	}
}
