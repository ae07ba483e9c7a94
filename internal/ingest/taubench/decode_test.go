package taubench

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) { ingesttest.Golden(t, Format(), "*.json") }

func FuzzDecode(f *testing.F) { ingesttest.Fuzz(f, Format(), "*.json") }

func TestOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    unloop.EventType
	}{
		"an error's text is a failure":          {"Error: no such flight", unloop.ToolCallFailed},
		"a tool that is not there is a failure": {"Unknown action fly", unloop.ToolCallFailed},
		"a text that speaks of errors is none":  {"No Error: all is well", unloop.ToolCallCompleted},
		"an empty text is none":                 {"", unloop.ToolCallCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			data := fmt.Sprintf(`[{"task_id":1,"trial":0,"traj":[{"role":"tool","content":%q}]}]`, tc.content)
			events, _, err := ingesttest.Decode(Format(), []byte(data))
			if err != nil {
				t.Fatal(err)
			}
			if len(events) != 1 || events[0].Type != tc.want {
				t.Errorf("got %v, want one %s", events, tc.want)
			}
		})
	}
}

func TestEventsDoNotContainTheReward(t *testing.T) {
	const data = `[{"task_id":"a","trial":2,"reward":%s,"info":{"reward_info":{"reward":%[1]s}},"traj":[{"role":"user","content":"hi"}]}]`
	won, _, err := ingesttest.Decode(Format(), fmt.Appendf(nil, data, "1.0"))
	if err != nil {
		t.Fatal(err)
	}
	lost, _, err := ingesttest.Decode(Format(), fmt.Appendf(nil, data, "0.0"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(won, lost); diff != "" {
		t.Errorf("the reward changed the events (-1 +0):\n%s", diff)
	}
	if want := "run/a-2"; won[0].RunID != want {
		t.Errorf("the run is %s, want %s", won[0].RunID, want)
	}
}

func TestBadInput(t *testing.T) {
	for name, tc := range map[string]struct{ results, want string }{
		"a role that is a number":   {`[{"task_id":0,"traj":[]},{"task_id":1,"traj":[{"role":"user"},{"role":1}]}]`, "input: 1.traj.1.role: a JSON number does not fit here, want a string"},
		"a traj that is no list":    {`[{"traj":{}}]`, "input: 0.traj: a JSON object does not fit here, want an array"},
		"a result that is a number": {`[5]`, "input: 0: a JSON number does not fit here, want an object"},
		"a result without a task":   {`[{"traj":[]},{"traj":[],"task_id":null}]`, "input: 0.task_id: a result needs a number or a name"},
		"a task that is an object":  {`[{"task_id":{}}]`, "input: 0.task_id: a result needs a number or a name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ingesttest.Decode(Format(), []byte(tc.results))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if diff := cmp.Diff(tc.want, bad.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("a file that is cut gives what is whole", func(t *testing.T) {
		events, _, err := ingesttest.Decode(Format(), []byte(`[{"task_id":0,"trial":0,"traj":[{"role":"user","content":"hi"}]},{"task_id":1,`))
		var bad *ingest.BadInput
		if !errors.As(err, &bad) {
			t.Fatalf("got %v, want a BadInput", err)
		}
		if len(events) != 1 {
			t.Errorf("got %d events, want 1", len(events))
		}
	})
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head string
		want bool
	}{
		"results":                     {`[{"task_id":0,"reward":0.0,"info":{"task":{"user_id":"u","act`, true},
		"one result":                  {`{"task_id":0,"reward":0.0,"info":{},"traj":[]}`, false},
		"chat messages":               {`[{"role":"user","content":"hi"}]`, false},
		"a list of labelled runs":     {`[{"id":"r","source":"s","labels":{},"events":[]}]`, false},
		"results of some other bench": {`[{"task_id":0,"score":1}]`, false},
		"nothing":                     {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniff([]byte(tc.head)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
