package unloop

import (
	"encoding/json"
	"fmt"
	"testing"
)

// effortOf adds a call with its outcome, and returns what the step yields.
func effortOf(t *testing.T, r *Run, tool, input, output string) Effort {
	t.Helper()
	for _, e := range []Event{
		{Type: ToolCallStarted, Tool: tool, Input: json.RawMessage(input)},
		{Type: ToolCallCompleted, Tool: tool, Output: json.RawMessage(output)},
	} {
		r.Add(&e)
	}
	return r.StepAt(0).Effort
}

func TestNoveltyOfAnOutcome(t *testing.T) {
	type call struct{ input, output string }
	for name, tc := range map[string]struct {
		calls []call
		least float64 // of the novelty of the last outcome
		most  float64
	}{
		"a text that the run knows is not new": {calls: []call{
			{`{"query":"apples"}`, `"The orchard stands behind the old mill by the river"`},
			{`{"query":"where do they grow"}`, `"The orchard stands behind the old mill by the river"`},
		}},
		"the words of the call are not new": {calls: []call{
			{`{"query":"apples"}`, `"Nobody here has heard of apples so far, ask the gardener"`},
			{`{"query":"quinces"}`, `"Nobody here has heard of quinces so far, ask the gardener"`},
		}},
		"other words are": {least: 0.3, most: 1, calls: []call{
			{`{"query":"apples"}`, `"Nobody here has heard of apples so far, ask the gardener"`},
			{`{"query":"quinces"}`, `"Nobody here has heard of medlars so far, ask the gardener"`},
		}},
		"another order of the lines is not new": {calls: []call{
			{`{"query":"apples"}`, `"The orchard stands behind the mill\nThe garden lies before the house"`},
			{`{"query":"pears"}`, `"The garden lies before the house\nThe orchard stands behind the mill"`},
		}},
		"numbers in a sentence are novel in part": {least: 0.1, most: 0.5, calls: []call{
			{`{"query":"apples"}`, `"The orchard behind the mill has 40 trees and a well"`},
			{`{"query":"pears"}`, `"The orchard behind the mill has 60 trees and a well"`},
		}},
		"a page of words that the call has, too, is new": {least: 0.5, most: 1, calls: []call{
			{`{"query":"the orchard behind the old mill by the river has many trees"}`, `"here: the river behind the trees has the old orchard by many mill"`},
			{`{"query":"many trees has the river by the old mill behind the orchard"}`, `"there: the mill by the river has old trees behind the many orchard"`},
		}},
		"a number that answers is novel": {least: 0.4, most: 1, calls: []call{
			{`{"query":"apples"}`, `{"trees":40}`},
			{`{"query":"pears"}`, `{"trees":60}`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			var last Effort
			for _, c := range tc.calls {
				last = effortOf(t, r, "search_docs", c.input, c.output)
			}
			if last.Novelty < tc.least || last.Novelty > tc.most {
				t.Errorf("novelty %.2f, want %.2f to %.2f", last.Novelty, tc.least, tc.most)
			}
		})
	}
}

func TestItemOfACall(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second string
		item          bool
	}{
		"another address is another item":          {`{"to":"ada@x.example","text":"come to us"}`, `{"to":"ben@x.example","text":"come to us"}`, true},
		"the same address is not":                  {`{"to":"ada@x.example","text":"come to us"}`, `{"to":"ada@x.example","text":"do come to us"}`, false},
		"a phrase is no identifier":                {`{"to":"ada@x.example","why":"all new"}`, `{"to":"ada@x.example","why":"new year"}`, false},
		"a call of one member is all one question": {`{"title":"apples"}`, `{"title":"pears"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			effortOf(t, r, "post", tc.first, `"ok"`)
			if got := effortOf(t, r, "post", tc.second, `"ok"`); (got.Item != 0) != tc.item {
				t.Errorf("item %d, want one: %t", got.Item, tc.item)
			}
		})
	}
}

// An error word in what a command reads is content. In the output of a command that does something it is a failure.
func TestErrorWordsOfAShell(t *testing.T) {
	for command, want := range map[string]Yield{`grep -n denied auth.py`: Content, `python auth.py`: Failure} {
		r := NewRun("r", measured)
		input, _ := json.Marshal(map[string]string{"command": command})
		if got := effortOf(t, r, "bash", string(input), `"raise Error(permission denied for the user)"`); got.Yield != want {
			t.Errorf("%s: yield %d, want %d", command, got.Yield, want)
		}
	}
}

func TestWordsOfACallAreASet(t *testing.T) {
	var set wordSet
	for k := range uint32(echoedWords) {
		set.add(k * 0x9E3779B1)
	}
	wrong := 0
	for k := range uint32(10000) {
		h := k * 0x9E3779B1
		if k < echoedWords && !set.has(h) {
			t.Fatalf("word %d was added and is not in the set", k)
		}
		if k >= echoedWords && set.has(h) {
			wrong++
		}
	}
	if wrong > 600 {
		t.Errorf("%d of 10000 other words are members", wrong)
	}
}

// The name of a number says that it is an id or a duration, which are no content.
func TestNumbersAfterNamesOfIDsAndDurations(t *testing.T) {
	for output, known := range map[string]bool{
		`{"submission_id":%d}`:         true,
		`{"pid":%d}`:                   true,
		`{"duration_ms":%d}`:           true,
		`{"uptime_s":%d}`:              true,
		`{"elapsed":%d}`:               true,
		`{"tests_passed":%d}`:          false,
		`{"p95_ms":%d}`:                false,
		`{"duration":"all","left":%d}`: false,
	} {
		r := NewRun("r", measured)
		var last Effort
		for k, problem := range []string{"apples", "pears", "plums"} {
			last = effortOf(t, r, "get_result", `{"of":"`+problem+`"}`, fmt.Sprintf(output, 29374+811*k))
		}
		if got := last.Novelty < knownNovelty; got != known {
			t.Errorf("%s: novelty %.2f; known: %t, want %t", output, last.Novelty, got, known)
		}
	}
}

func TestAWordOnceMoreIsNoNewLine(t *testing.T) {
	r := NewRun("r", measured)
	holds, last := "0", Effort{}
	for range 4 {
		holds += "Oak Ltd"
		last = effortOf(t, r, "fill", `{"target":"Company","value":"Oak Ltd"}`, fmt.Sprintf(`{"title":"Your details","elements":["textbox Email","textbox Company %s","button Back"]}`, holds))
	}
	if last.Lines != 0 || last.Novelty >= 0.5 {
		t.Errorf("the field has the typed text once more: %+v", last)
	}
}
