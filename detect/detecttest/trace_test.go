package detecttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestParseReadsEachKindOfLine(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tc := range []struct {
		line string
		want unloop.Event
	}{
		{"call read", unloop.Event{Type: unloop.ToolCallStarted, Tool: "read"}},
		{`call read { "path": "a b" }`, unloop.Event{Type: unloop.ToolCallStarted, Tool: "read", Input: raw(`{ "path": "a b" }`)}},
		{"call read [1]", unloop.Event{Type: unloop.ToolCallStarted, Tool: "read", Input: raw(`[1]`)}},
		{"call   search what's  new?", unloop.Event{Type: unloop.ToolCallStarted, Tool: "search", Input: raw(`{"input":"what's  new?"}`)}},
		{`call bash echo "a" > b && ls`, unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: raw(`{"command":"echo \"a\" > b && ls"}`)}},
		{"call fetch https://example.org//want", unloop.Event{Type: unloop.ToolCallStarted, Tool: "fetch", Input: raw(`{"input":"https://example.org//want"}`)}},
		{"result read package a", unloop.Event{Type: unloop.ToolCallCompleted, Tool: "read", Output: raw(`"package a"`)}},
		{`result read "two\nlines"`, unloop.Event{Type: unloop.ToolCallCompleted, Tool: "read", Output: raw(`"two\nlines"`)}},
		{"result read null", unloop.Event{Type: unloop.ToolCallCompleted, Tool: "read", Output: raw(`null`)}},
		{"result read {oops", unloop.Event{Type: unloop.ToolCallCompleted, Tool: "read", Output: raw(`"{oops"`)}},
		{"result read", unloop.Event{Type: unloop.ToolCallCompleted, Tool: "read"}},
		{"fail read no such file", unloop.Event{Type: unloop.ToolCallFailed, Tool: "read", Error: raw(`"no such file"`)}},
		{"block read", unloop.Event{Type: unloop.ToolCallBlocked, Tool: "read"}},
		{"say I am done.", unloop.Event{Type: unloop.MessageSent, Role: "assistant", Text: "I am done."}},
		{"say planner: I am done.", unloop.Event{Type: unloop.MessageSent, Role: "assistant", Agent: "planner", Text: "I am done."}},
		{`say "note: I am\ndone."`, unloop.Event{Type: unloop.MessageSent, Role: "assistant", Text: "note: I am\ndone."}},
		{`say planner: "I am\ndone."`, unloop.Event{Type: unloop.MessageSent, Role: "assistant", Agent: "planner", Text: "I am\ndone."}},
		{"user note: go on", unloop.Event{Type: unloop.MessageSent, Role: "user", Text: "note: go on"}},
		{"handoff writer", unloop.Event{Type: unloop.HandoffStarted, Agent: "writer"}},
		{"event retry_triggered", unloop.Event{Type: unloop.RetryTriggered}},
		{
			`event tool_call_completed tool=read call_id="7" latency_ms=30.5 cost=0.5 tokens=9 output=[1]`,
			unloop.Event{
				Type: unloop.ToolCallCompleted, Tool: "read", CallID: "7", Latency: new(30.5), Cost: 0.5, Tokens: 9, Output: raw(`[1]`),
			},
		},
	} {
		t.Run(tc.line, func(t *testing.T) {
			trace, err := Parse("x.trace", []byte("# one\n"+tc.line))
			if err != nil {
				t.Fatal(err)
			}
			tc.want.ID = "e1"
			if diff := cmp.Diff([]Entry{{Event: &tc.want, Line: 2}}, trace.Entries); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseReadsAWholeTrace(t *testing.T) {
	trace, err := Parse("x.trace", []byte(`
# The empty line above
# counts for nothing.

call read a   // want rule "once, \"twice\""
# A comment in between.
repeat 2
  # And one in a block.

  call read {i}{i}   // want rule `+"`round {i}`"+`
  result read {i}
end
say done
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for k, e := range trace.Entries {
		want := ""
		if e.Want != nil {
			want = e.Want.Rule + "|" + e.Want.What
		}
		got = append(got, fmt.Sprintf("%d %s %s round %d: %s%s%s %s", e.Event.Index, e.Event.ID, trace.place(&trace.Entries[k]), e.Round,
			e.Event.Type, e.Event.Input, e.Event.Output, want))
	}
	want := []string{
		`0 e1 x.trace:5 round 0: tool_call_started{"input":"a"} rule|once, "twice"`,
		`1 e2 x.trace:10 (round 1) round 1: tool_call_started{"input":"11"} rule|round 1`,
		`2 e3 x.trace:11 (round 1) round 1: tool_call_completed1 `,
		`3 e4 x.trace:10 (round 2) round 2: tool_call_started{"input":"22"} rule|round 2`,
		`4 e5 x.trace:11 (round 2) round 2: tool_call_completed2 `,
		`5 e6 x.trace:13 round 0: message `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := "The empty line above counts for nothing."; trace.About != want {
		t.Errorf("the subject is %q, want %q", trace.About, want)
	}
}

func TestParseErrorsNameReasonAndLine(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"nothing at all", "", "x.trace:1: a trace begins with a comment"},
		{"no comment at the beginning", "call read\n# late", "x.trace:1: a trace begins with a comment"},
		{"no events", "# nothing happens", "x.trace: no events"},
		{"an unknown word", "# x\n\ncal read", `x.trace:3: unknown word "cal"; want call, result,`},
		{"no tool", "# x\ncall", `x.trace:2: "call" is incomplete`},
		{"broken JSON", "# x\ncall read {oops", "x.trace:2: the arguments {oops are not JSON"},
		{"a message without a text", "# x\nsay planner:", "x.trace:2: the message has no text"},
		{"a broken quotation", "# x\nuser \"oops", "x.trace:2: the message \"oops is not a JSON string"},
		{"words behind an agent", "# x\nhandoff writer now", `x.trace:2: unexpected "now"`},
		{"words behind a block", "# x\nblock read a.txt", `x.trace:2: unexpected "a.txt"`},
		{"a field without a value", "# x\nevent retry_triggered cost=", `x.trace:2: "cost=": a field of an event is written NAME=VALUE`},
		{"an unknown field", "# x\nevent retry_triggered price=1", `x.trace:2: invalid fields of an event: json: unknown field "price"`},
		{"a field of another kind", "# x\nevent retry_triggered cost=much", "x.trace:2: invalid fields of an event"},
		{"a want without quotes", "# x\ncall read // want cycle twice", `x.trace:2: "// want cycle twice": a finding is wanted as // want RULE "part of what it says"`},
		{"a want without a rule", "# x\ncall read //want \"twice\"", "x.trace:2: \"//want \\\"twice\\\"\": a finding is wanted as"},
		{"a want that any words fulfil", "# x\ncall read // want cycle \"\"", "a finding is wanted as"},
		{"a want without an event", "# x\n// want cycle \"twice\"", `x.trace:2: "" is incomplete`},
		{"no number of rounds", "# x\nrepeat often\ncall read\nend", `x.trace:2: repeat "often": a number from 1`},
		{"too many rounds", "# x\nrepeat 1000000\ncall read\nend", `x.trace:2: repeat "1000000"`},
		{"a want behind a repeat", "# x\nrepeat 2 // want cycle \"twice\"\nend", `x.trace:2: repeat "2 // want cycle`},
		{"a repeat within a repeat", "# x\nrepeat 2\nrepeat 2", "x.trace:3: repeat within the repeat of line 2"},
		{"a repeat without an end", "# x\ncall read\nrepeat 2\ncall read", "x.trace:3: repeat without end"},
		{"an end without a repeat", "# x\ncall read\nend", "x.trace:3: end"},
		{"a mistake within a repeat", "# x\nrepeat 2\ncall read\ncall\nend", `x.trace:4: in round 1: "call" is incomplete`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			trace, err := Parse("x.trace", []byte(tc.data))
			if err == nil {
				t.Fatalf("Parse returns %d events and no error", len(trace.Entries))
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not contain %q", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# x\nrepeat 3\ncall bash ls -l // want cycle \"round {i}\"\nend\nevent tool_call_completed cost=0.5 call_id=\"7\"")
	f.Add("# x\nsay planner: \"a\\nb\"\nuser hello\nresult read {}\nfail read\nblock read\nhandoff a")
	f.Fuzz(func(t *testing.T, data string) {
		if strings.Contains(data, "repeat") && len(data) > 200 {
			return // it may multiply
		}
		trace, err := Parse("x.trace", []byte(data))
		if err != nil {
			return
		}
		if len(trace.Entries) == 0 || trace.About == "" {
			t.Fatalf("%d events about %q", len(trace.Entries), trace.About)
		}
		for k, entry := range trace.Entries {
			if entry.Event.Index != k || entry.Line < 1 {
				t.Fatalf("entry %d is %+v", k, entry)
			}
			for _, part := range []json.RawMessage{entry.Event.Input, entry.Event.Output, entry.Event.Error} {
				if part != nil && !json.Valid(part) {
					t.Fatalf("entry %d has %s, which is not JSON", k, part)
				}
			}
		}
	})
}
