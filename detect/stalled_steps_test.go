package detect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestEqualEffectsOfStalledStepsAreNotCounted(t *testing.T) {
	d := StalledSteps{Estimate: 0.75, Steps: 2, Certain: 4, Stuck: 12}
	for _, c := range []struct {
		says  string
		steps int
		found int // the number of the step that finds nothing; -1 for none
		want  string
	}{
		{"all that the run keeps failed", 40, -1, "The last 39 steps made little progress: all of the latest 32 failed; "},
		{"all but one failed", 40, 30, "The last 39 steps made little progress: 31 of the latest 32 failed and 1 found nothing; "},
		{"the run keeps all that failed", 20, -1, "The last 19 steps made little progress: all failed; "},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			var last string
			for k := range c.steps {
				input, _ := json.Marshal(map[string]string{"query": fmt.Sprintf("order %d", k%3)})
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "search", Input: input})
				if k == c.found {
					r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: "search", Output: json.RawMessage(`[]`)})
				} else {
					r.Add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: "search", Error: json.RawMessage(`"the index is locked"`)})
				}
				if f, ok := d.Check(r); ok {
					last = f.What
				}
			}
			if !strings.HasPrefix(last, c.want) {
				t.Errorf("got %q, want %q", last, c.want)
			}
		})
	}
}

func TestStalledStepsOfCallsThatNeverStarted(t *testing.T) {
	d := StalledSteps{Estimate: 0.75, Steps: 2, Certain: 4, Stuck: 12}
	r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
	for range 20 {
		r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: "search", Output: json.RawMessage(`[]`)})
	}
	if f, ok := d.Check(r); !ok || f.What != "The last 19 steps made little progress" {
		t.Errorf("got %q, want only the number of steps", f.What)
	}
}

func TestStalledStepsSayWhatTheStepsInBetweenBrought(t *testing.T) {
	d := StalledSteps{Estimate: 0.75, Steps: 2, Certain: 4, Stuck: 12}
	r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
	var last string
	for k := range 20 {
		input, _ := json.Marshal(map[string]string{"query": fmt.Sprintf("order %d", k%3)})
		end := unloop.Event{Type: unloop.ToolCallFailed, Tool: "search", Error: json.RawMessage(`"the index is locked"`)}
		switch k {
		case 15:
			end = unloop.Event{Type: unloop.ToolCallCompleted, Tool: "search", Output: json.RawMessage(`"parcel left Lisbon with a driver named Odete"`)}
		case 17:
			end = unloop.Event{Type: unloop.ToolCallCompleted, Tool: "search"}
		}
		r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "search", Input: input})
		r.Add(&end)
		if f, ok := d.Check(r); ok {
			last = f.What
		}
	}
	want := "The last 18 steps made little progress: 17 failed and 1 returned something new; 5 % of the returned text was new. The latest: the index is locked"
	if last != want {
		t.Errorf("got  %q\nwant %q", last, want)
	}
}
