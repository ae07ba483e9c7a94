package unloop_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect/detecttest"
)

// fold reads the lines of a golden trace and adds its events to a run that keeps everything. After each, it calls see.
func fold(t *testing.T, lines string, see func(*unloop.Run)) *unloop.Run {
	t.Helper()
	trace, err := detecttest.Parse("lines", []byte("# "+t.Name()+"\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	r := unloop.NewRun("run", unloop.Options{Needs: ^unloop.Needs(0), Shells: unloop.DefaultShells()})
	for _, entry := range trace.Entries {
		r.Add(entry.Event)
		if see != nil {
			see(r)
		}
	}
	return r
}

// TestJoin checks, for each outcome, the event that started its call, or the outcome itself if no start is known.
func TestJoin(t *testing.T) {
	for _, tc := range []struct{ name, lines, want string }{
		{"the oldest open call of the tool", `
			call   read a
			call   grep x
			call   read b
			result read 1
			result read 2
			fail   grep 3`, "e4 ends e1, e5 ends e3, e6 ends e2"},
		{"the call with the same id, whatever its age and tool", `
			event tool_call_started tool=read call_id="a"
			event tool_call_started tool=read call_id="b"
			event tool_call_completed tool=read call_id="b" output=1
			event tool_call_completed call_id="a" output=1`, "e3 ends e2, e4 ends e1"},
		{"the call in the same span", `
			event tool_call_started tool=read span_id="a"
			event tool_call_started tool=read span_id="b"
			event tool_call_completed tool=read span_id="b" output=1`, "e3 ends e2"},
		{"the call that is the parent", `
			call  read a
			call  read b
			event tool_call_failed tool=read parent_event_id=e2 error=no`, "e3 ends e2"},
		{"an outcome without a name is that of the oldest open call", `
			call  read a
			call  grep x
			event tool_call_completed output=1
			event tool_call_completed output=2`, "e3 ends e1, e4 ends e2"},
		{"an id that no call has takes one without an id", `
			event tool_call_started tool=read call_id="a"
			call  read b
			event tool_call_completed tool=read call_id="c" output=1`, "e3 ends e2"},
		{"an id that no call has takes none with another id", `
			event tool_call_started tool=read call_id="a"
			event tool_call_completed tool=read call_id="c" output=1`, "e2 ends e2"},
		{"an id is used again", `
			event tool_call_started tool=read call_id="a"
			event tool_call_completed tool=read call_id="a" output=1
			event tool_call_started tool=grep call_id="a"
			event tool_call_completed tool=grep call_id="a" output=1`, "e2 ends e1, e4 ends e3"},
		{"two open calls have one id: the older first", `
			event tool_call_started tool=read call_id="a"
			event tool_call_started tool=read call_id="a"
			event tool_call_completed tool=read call_id="a" output=1
			event tool_call_completed tool=read call_id="a" output=1`, "e3 ends e1, e4 ends e2"},
		{"an outcome without a start", `
			result read 1
			call   grep x
			result read 2`, "e1 ends e1, e3 ends e3"},
		{"a second outcome has no call left", `
			call   read a
			result read 1
			result read 1`, "e2 ends e1, e3 ends e3"},
		{"a blocked call has ended", `
			call   read a
			block  read
			call   read b
			result read 1`, "e2 ends e1, e4 ends e3"},
		{"a name replaces a missing tool", `
			event tool_call_started name=read
			event tool_call_started name=grep
			event tool_call_completed tool=grep output=1`, "e3 ends e2"},
		{"beyond 256 open calls the oldest is evicted", `
			repeat 257
			call   read {i}
			end
			result read 1`, "e258 ends e2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			fold(t, tc.lines, func(r *unloop.Run) {
				if now := r.Current(); now.Type.Kind() == unloop.AtEnd {
					got = append(got, fmt.Sprintf("%s ends %s", now.Step.End.ID, now.Step.Start.ID))
				}
			})
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnOutcomeIsJoinedToItsStep(t *testing.T) {
	r := fold(t, `
		call   read a
		call   grep x
		call   edit_file b
		call   bash ls
		result grep no matches
		fail   read gone
		block  edit_file`, nil)
	type outcome struct {
		Tool  string
		How   unloop.Outcome
		Empty bool
		Known bool
	}
	var got []outcome
	for k := r.Calls() - 1; k >= 0; k-- {
		s := r.StepAt(k)
		got = append(got, outcome{s.Tool, s.Outcome, s.Empty, s.NormalizedResult != 0})
	}
	want := []outcome{
		{"read", unloop.Failed, false, true},
		{"grep", unloop.Completed, true, true},
		{"edit_file", unloop.Blocked, false, false},
		{"bash", unloop.Pending, false, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnOutcomeWithoutAStartIsNotCountedAsACall(t *testing.T) {
	r := fold(t, "result read package a", nil)
	if r.Calls() != 0 || r.Metrics().ToolCalls != 0 || r.StepAt(0) != nil {
		t.Errorf("%d calls, %d counted, the latest is %+v", r.Calls(), r.Metrics().ToolCalls, r.StepAt(0))
	}
	if step := r.Current().Step; step.Tool != "read" || step.Outcome != unloop.Completed || !step.Novel {
		t.Errorf("the step is %+v", step)
	}
}

func TestOldStepsAreEvicted(t *testing.T) {
	r := fold(t, "repeat 100\ncall read {i}\nend", nil)
	k := 0
	for r.StepAt(k) != nil {
		if want := 99 - k; r.StepAt(k).Number != want {
			t.Errorf("Back(%d) is call %d, want %d", k, r.StepAt(k).Number, want)
		}
		k++
	}
	if k != 32 {
		t.Errorf("%d steps are remembered, want 32", k)
	}
	if r.StepAt(-1) != nil {
		t.Error("there is a step after the latest")
	}
}

func TestOldToolsAreEvicted(t *testing.T) {
	r := fold(t, `
		call first a
		call second a
		call first a
		repeat 255
		call other{i} a
		end`, nil)
	if r.Tool("first") == nil || r.Tool("first").Calls != 2 {
		t.Errorf("first was called after second, and is %+v", r.Tool("first"))
	}
	if r.Tool("second") != nil {
		t.Error("257 tools are remembered")
	}
}

func TestTheSumOfTokensSaturates(t *testing.T) {
	run := unloop.NewRun("run", unloop.Options{})
	for _, tc := range []struct{ tokens, want int64 }{{math.MaxInt64 - 1, math.MaxInt64 - 1}, {1, math.MaxInt64}, {7, math.MaxInt64}, {-7, math.MaxInt64 - 7}} {
		run.Add(&unloop.Event{Type: "x", Tokens: tc.tokens})
		if got := run.Metrics().Tokens; got != tc.want {
			t.Errorf("after %d more: %d, want %d", tc.tokens, got, tc.want)
		}
	}
	run = unloop.NewRun("run", unloop.Options{})
	for range 2 {
		run.Add(&unloop.Event{Type: "x", Tokens: math.MinInt64})
	}
	if got := run.Metrics().Tokens; got != math.MinInt64 {
		t.Errorf("the smallest twice: %d", got)
	}
}
