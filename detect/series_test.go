package detect

import (
	"encoding/json"
	"fmt"
	"strings"
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

const longPage = `"Since %s, the reading room is open on weekdays, and the reserve shelf is behind the desk of the library on the first floor of the building."`

func TestCallsOfASeriesDifferInOneItem(t *testing.T) {
	for _, c := range []struct {
		says   string
		inputs [leastSeries]string
		result string // %s stands for the word of outputs
		said   [leastSeries]string
		want   bool
	}{
		{
			"a host is named twice in each command",
			[...]string{
				`{"command":"nc -zv amber.lan 22 && ssh-keyscan amber.lan"}`, `{"command":"nc -zv birch.lan 22 && ssh-keyscan birch.lan"}`,
				`{"command":"nc -zv cobalt.lan 22 && ssh-keyscan cobalt.lan"}`, `{"command":"nc -zv dune.lan 22 && ssh-keyscan dune.lan"}`,
			},
			`"port 22 is open"`,
			[leastSeries]string{},
			true,
		},
		{
			"one host is called by other names",
			[...]string{
				`{"command":"nc -zv amber.lan 22 && ssh-keyscan amber.lan"}`, `{"command":"nc -zv www.amber.lan 22 && ssh-keyscan amber.lan"}`,
				`{"command":"nc -zv amber 22 && ssh-keyscan amber.lan"}`, `{"command":"nc -zv amber.home.lan 22 && ssh-keyscan amber.home.lan"}`,
			},
			`"port 22 is open"`,
			[leastSeries]string{},
			false,
		},
		{
			"the names of titles have several words, and an attribute goes with each",
			[...]string{
				`{"title":"Night Ferries","branch":"North","copies":1}`, `{"title":"Salt","branch":"Harbour","copies":1}`,
				`{"title":"Owls of Winter","branch":"North","copies":1}`, `{"title":"Glass Orchard","branch":"Mill","copies":1}`,
			},
			`{"reserved":[],"total":0}`,
			[leastSeries]string{},
			true,
		},
		{
			"the words of one title are put in another order",
			[...]string{
				`{"title":"Night Ferries","branch":"North","copies":1}`, `{"title":"Ferries Nightly","branch":"Harbour","copies":1}`,
				`{"title":"Night Ferry","branch":"North","copies":1}`, `{"title":"Night","branch":"Mill","copies":1}`,
			},
			`{"reserved":[],"total":0}`,
			[leastSeries]string{},
			false,
		},
		{
			"the name is what is searched for",
			[...]string{
				`{"query":"Night Ferries","branch":"North","copies":1}`, `{"query":"Salt","branch":"Harbour","copies":1}`,
				`{"query":"Owls of Winter","branch":"North","copies":1}`, `{"query":"Glass Orchard","branch":"Mill","copies":1}`,
			},
			`{"reserved":[],"total":0}`,
			[leastSeries]string{},
			false,
		},
		{
			"each loan ends at another date",
			[...]string{`{"loan":"amber","user":7}`, `{"loan":"birch","user":7}`, `{"loan":"cobalt","user":7}`, `{"loan":"dune","user":7}`},
			`"lent to the reader until %s"`,
			[...]string{"4 Mar", "19 Apr", "22 Feb", "1 Apr"},
			true,
		},
		{
			"each page is long and differs in a date",
			[...]string{`{"page":"amber","user":7}`, `{"page":"birch","user":7}`, `{"page":"cobalt","user":7}`, `{"page":"dune","user":7}`},
			longPage,
			[...]string{"4 Mar", "19 Apr", "22 Feb", "1 Apr"},
			true,
		},
		{
			"one long page is scrolled by other numbers",
			[...]string{`{"pixels":400,"user":7}`, `{"pixels":512,"user":7}`, `{"pixels":90,"user":7}`, `{"pixels":733,"user":7}`},
			longPage,
			[...]string{"4 Mar", "19 Apr", "22 Feb", "1 Apr"},
			false,
		},
		{
			"the loans have two states in turn",
			[...]string{`{"loan":"amber","user":7}`, `{"loan":"birch","user":7}`, `{"loan":"cobalt","user":7}`, `{"loan":"dune","user":7}`},
			`"lent to the reader until %s"`,
			[...]string{"the desk calls", "the next strike", "the desk calls", "the next strike"},
			false,
		},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: unloop.NeedEffort | unloop.NeedOutcomes | unloop.NeedExcerpts, Shells: []string{"bash"}})
			for n, input := range c.inputs {
				tool := "bash"
				if c.inputs[0][2] != 'c' {
					tool = "list_entries"
				}
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, Input: json.RawMessage(input)})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, Output: json.RawMessage(strings.ReplaceAll(c.result, "%s", c.said[n]))})
			}
			if got := goesThroughItems(r, r.StepAt(0), leastSeries); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
