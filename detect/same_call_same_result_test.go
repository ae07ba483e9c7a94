package detect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestAnEqualCallIsWeakEvidenceWhileAnotherCallReturnsSomethingNew(t *testing.T) {
	d := SameCallSameResult{Weight: 2.3, Failures: 4}
	for _, c := range []struct {
		says     string
		status   func(k int) string
		advisory bool
	}{
		{"the status is new each time", func(k int) string { return fmt.Sprint("weight ", 5*k, " of the new version, step ", k) }, true},
		{"the status is the same", func(int) string { return "paused" }, false},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs})
			var found []unloop.Finding
			call := func(tool, output string) {
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, Input: json.RawMessage(`{"name":"checkout"}`)})
				text, _ := json.Marshal(output)
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, Output: text})
				if f, ok := d.Check(r); ok && tool == "promote" {
					found = append(found, f)
				}
			}
			for k := range 6 {
				call("promote", "promoted")
				call("get_rollout", c.status(k))
			}
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			if last := found[len(found)-1]; last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", last.Advisory, c.advisory, last.What)
			}
		})
	}
}
