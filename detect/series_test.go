package detect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestASeriesIsNotInterrupted(t *testing.T) {
	for _, c := range []struct {
		says    string
		between string // the tool that is called before each call of the series
		input   string // of the series; %d stands for the item
		result  string
		want    bool
	}{
		{"one version after another is read", "", `{"version":%d}`, `"total of all rows"`, true},
		{"a file is read for each", "read_file", `{"version":%d}`, `"total of all rows"`, true},
		{"the agent submits each version itself", "submit_patch", `{"version":%d}`, `"total of all rows"`, false},
		{"one version is read again", "", `{"version":1,"timeout":%d}`, `"total of all rows"`, false},
		{"each version is refused", "", `{"version":%d}`, `"Error: permission denied"`, false},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: unloop.NeedEffort | unloop.NeedOutcomes | unloop.NeedExcerpts})
			add := func(tool, input, result string) {
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, Input: json.RawMessage(input)})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, Output: json.RawMessage(result)})
			}
			for n := 1; n <= leastSeries; n++ {
				if c.between != "" {
					add(c.between, fmt.Sprintf(`{"message":"attempt %d"}`, n), `"ok"`)
				}
				add("get_patch", fmt.Sprintf(c.input, n), c.result)
			}
			if got := goesThroughItems(r, r.StepAt(0), leastSeries); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
