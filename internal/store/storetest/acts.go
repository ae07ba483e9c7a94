package storetest

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/store"
)

// do does an act at a minute after noon, and returns its number.
func do(t *testing.T, s Store, minute int, a store.Act) int64 {
	t.Helper()
	a.At, a.Who = noon.Add(time.Duration(minute)*time.Minute), "ada"
	if err := s.Act(t.Context(), &a); err != nil {
		t.Fatalf("%s: %v", a.Action, err)
	}
	return a.Number
}

// warned commits runs with one warning each: of the rule "stall" for the tool "read", in a project named like the run.
func warned(t *testing.T, s Store, ids ...string) {
	t.Helper()
	var b store.Batch
	for k, id := range ids {
		r := run(int64(k+1), id)
		r.Project = "project of " + id
		b.Runs = append(b.Runs, r)
		b.Warnings = append(b.Warnings, store.Warning{Run: r.Number, ID: "w-" + id, Rule: "stall", Subject: "read", Tool: "read", Count: 3})
	}
	commit(t, s, b)
}

// alerted reports whether anybody is to be notified of a run's warning.
func alerted(t *testing.T, s Store, number int64, id string) bool {
	t.Helper()
	n := notice(number, "w-"+id, "raised")
	commit(t, s, store.Batch{Notices: []store.Notice{n}})
	_, silenced, err := s.DueLevels(t.Context(), store.DueWarning{Endpoint: "hook", Run: number, Warning: n.Warning}, "")
	if err != nil {
		t.Fatal(err)
	}
	return !silenced
}

func acknowledgedWarnings(t *testing.T, s Store) {
	warned(t, s, "a", "b")
	do(t, s, 1, store.Act{Action: store.ActAcknowledge, Run: 1, RunID: "a", Warning: "w-a"})
	if alerted(t, s, 1, "a") || !alerted(t, s, 2, "b") {
		t.Error("somebody is notified of an acknowledged warning, or nobody of another one")
	}
	want := []store.Acknowledgement{{Warning: "w-a", Who: "ada", At: noon.Add(time.Minute)}}
	if diff := cmp.Diff(want, must[[]store.Acknowledgement](t)(s.Acknowledged(t.Context(), 1))); diff != "" {
		t.Errorf("acknowledged (-want +got):\n%s", diff)
	}
	do(t, s, 2, store.Act{Action: store.ActUnacknowledge, Run: 1, RunID: "a", Warning: "w-a"})
	if !alerted(t, s, 1, "a") || len(must[[]store.Acknowledgement](t)(s.Acknowledged(t.Context(), 1))) != 0 {
		t.Error("the acknowledgement is not taken back")
	}
}

func mutedWarnings(t *testing.T, s Store) {
	warned(t, s, "a", "b")
	for _, c := range []struct {
		says string
		mute store.Act
		a, b bool // whether somebody is notified of the warning of the run
	}{
		{"a rule everywhere", store.Act{Rule: "stall"}, false, false},
		{"a rule for the tool", store.Act{Rule: "stall", Tool: "read"}, false, false},
		{"a rule in a project", store.Act{Rule: "stall", Project: "project of a"}, false, true},
		{"another rule", store.Act{Rule: "cycle"}, true, true},
		{"a rule for another tool", store.Act{Rule: "stall", Tool: "grep"}, true, true},
	} {
		c.mute.Action = store.ActMute
		number := do(t, s, 1, c.mute)
		if a, b := alerted(t, s, 1, "a"), alerted(t, s, 2, "b"); a != c.a || b != c.b {
			t.Errorf("%s: notified %v and %v, want %v and %v", c.says, a, b, c.a, c.b)
		}
		if mutes := must[[]store.Act](t)(s.Mutes(t.Context())); len(mutes) != 1 || mutes[0].Number != number || mutes[0].Rule != c.mute.Rule {
			t.Errorf("%s: mutes %+v", c.says, mutes)
		}
		do(t, s, 2, store.Act{Action: store.ActUnmute, Value: strconv.FormatInt(number, 10)})
		if !alerted(t, s, 1, "a") || !alerted(t, s, 2, "b") {
			t.Errorf("%s: still muted", c.says)
		}
	}
	for _, number := range []string{"999", "", "x"} {
		before, _, _ := s.Acts(t.Context(), store.Page{Limit: 1})
		err := s.Act(t.Context(), &store.Act{At: noon, Action: store.ActUnmute, Value: number})
		after, _, _ := s.Acts(t.Context(), store.Page{Limit: 1})
		if !errors.Is(err, store.ErrNoMute) || before[0].Number != after[0].Number {
			t.Errorf("unmuting %q: %v, and the log has %+v", number, err, after[0])
		}
	}
}

func labels(t *testing.T, s Store) {
	warned(t, s, "a", "b")
	do(t, s, 1, store.Act{Action: store.ActLabel, Run: 1, RunID: "a", Value: store.LabelLoop})
	do(t, s, 2, store.Act{Action: store.ActLabel, Run: 2, RunID: "b", Value: store.LabelMissedLoop})
	do(t, s, 3, store.Act{Action: store.ActLabel, Run: 1, RunID: "a", Value: store.LabelNotALoop, Note: "it waits for CI"})
	do(t, s, 4, store.Act{Action: store.ActLabel, Run: 99, RunID: "nobody", Value: store.LabelLoop})
	a := store.Label{Run: 1, RunID: "a", Label: store.LabelNotALoop, Note: "it waits for CI", Who: "ada", At: noon.Add(3 * time.Minute)}
	b := store.Label{Run: 2, RunID: "b", Label: store.LabelMissedLoop, Who: "ada", At: noon.Add(2 * time.Minute)}
	if diff := cmp.Diff([]store.Label{a, b}, must[[]store.Label](t)(s.Labels(t.Context(), 10))); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.Label{a}, must[[]store.Label](t)(s.Labels(t.Context(), 1))); diff != "" {
		t.Errorf("the latest label (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(b, must[store.Label](t)(s.LabelOf(t.Context(), 2))); diff != "" {
		t.Errorf("label of a run (-want +got):\n%s", diff)
	}
	do(t, s, 5, store.Act{Action: store.ActLabel, Run: 2, RunID: "b"})
	commit(t, s, store.Batch{Deleted: []int64{1}})
	if diff := cmp.Diff([]store.Label{}, must[[]store.Label](t)(s.Labels(t.Context(), 10)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("labels at the end (-want +got):\n%s", diff)
	}
}

func auditLog(t *testing.T, s Store) {
	warned(t, s, "a")
	for minute := range 5 {
		do(t, s, minute, store.Act{Action: store.ActLabel, Run: 1, RunID: "a", Value: store.LabelLoop, Note: strconv.Itoa(minute)})
	}
	do(t, s, 5, store.Act{Action: store.ActDelete, Run: 1, RunID: "a"})
	commit(t, s, store.Batch{Deleted: []int64{1}})
	var notes []string
	page := store.Page{Limit: 4}
	for {
		acts, next, err := s.Acts(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range acts {
			notes = append(notes, a.Action+a.Note+a.RunID)
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"deletea", "label4a", "label3a", "label2a", "label1a", "label0a"}, notes); diff != "" {
		t.Errorf("acts (-want +got):\n%s", diff)
	}
	if _, _, err := s.Acts(t.Context(), store.Page{Cursor: "nonsense", Limit: 1}); !errors.Is(err, store.ErrCursor) {
		t.Errorf("a cursor of no list: %v", err)
	}
}
