package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
	"github.com/unloop-ai/unloop/profile"
)

// Strange is content of which no piece may be found in the store.
const strange = "Zwetschgenknödel"

// wordy returns an event of a run that repeats itself in ways that only its content tells: the same results but for a time, the
// same questions but for a word, errors of one kind, messages that are nearly the same.
func wordy(t *rapid.T, n int) *unloop.Event {
	e := &unloop.Event{ID: fmt.Sprint("e", n), RunID: "r", Sequence: int64(n + 1), Time: begin.Add(time.Duration(n) * time.Second)}
	long := strings.Repeat(strange+" and more of the same, ", 20)
	call, kind := fmt.Sprint("c", n/2), rapid.IntRange(0, 3).Draw(t, "kind")
	tool := []string{"search", "bash", "read_file", "job_status"}[kind]
	if rapid.IntRange(0, 5).Draw(t, "message") == 0 {
		e.Type, e.Role, e.Agent = unloop.MessageSent, unloop.RoleAssistant, "a"
		e.Text = fmt.Sprintf("I will now look at the parser and fix the failing test, attempt %d. %s", n%3, long)
		return e
	}
	e.Tool, e.CallID = tool, call
	if n%2 == 0 {
		e.Type = unloop.ToolCallStarted
		e.Input = json.RawMessage(fmt.Sprintf(`{"command":"grep -n %s file%d.go","q":%q}`, strange, rapid.IntRange(0, 2).Draw(t, "file"), long))
		return e
	}
	e.Type = unloop.ToolCallCompleted
	switch rapid.IntRange(0, 3).Draw(t, "outcome") {
	case 0:
		e.Output = json.RawMessage(fmt.Sprintf(`"no match for %s at 2026-05-01T12:00:%02dZ, %s"`, strange, n%60, long))
	case 1:
		e.Output = json.RawMessage(`[]`)
	case 2:
		e.Type = unloop.ToolCallFailed
		e.Error = json.RawMessage(fmt.Sprintf(`"Error: cannot open /tmp/%s/%d: no such file %s"`, strange, n, long))
	default:
		e.Output = json.RawMessage(fmt.Sprintf(`"%s file %d"`, long, rapid.IntRange(0, 3).Draw(t, "result")))
	}
	return e
}

// TestTheStoredPartOfContentDoesNotChangeVerdicts sends one run to a server that stores all and to one that stores less, in batches, late
// ones among them, and ends the second one between batches.
func TestTheStoredPartOfContentDoesNotChangeVerdicts(t *testing.T) {
	t.Parallel()
	judges := make(map[string]*profile.Profile)
	for _, name := range []string{profile.Default, "looplens", "attocode"} {
		judge, err := profile.New(name)
		if err != nil {
			t.Fatal(err)
		}
		judges[name] = judge
	}
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { // a bubble has no deadline to ask for
			name := rapid.SampledFrom(slices.Sorted(maps.Keys(judges))).Draw(rt, "profile")
			judge := judges[name]
			content := rapid.SampledFrom([]Content{Excerpts, NoContent}).Draw(rt, "content")
			var events []*unloop.Event
			for n := range rapid.IntRange(1, 40).Draw(rt, "events") {
				events = append(events, wordy(rt, n))
			}
			late := rapid.Bool().Draw(rt, "late")
			all, less := newMemory(), newMemory()
			whole, stopWhole := start(t, Options{Profile: judge, Store: all})
			cut, stop := start(t, Options{Profile: judge, Store: less, Content: content})
			for batch := range slices.Chunk(events, rapid.IntRange(1, 20).Draw(rt, "batch")) {
				if late {
					batch = slices.Clone(batch)
					slices.Reverse(batch)
					for _, e := range batch { // one by one, so that each but the first is late
						submit(t, whole, e)
						submit(t, cut, e)
					}
					continue
				}
				submit(t, whole, batch...)
				submit(t, cut, batch...)
				if rapid.Bool().Draw(rt, "restart") {
					stop()
					cut, stop = start(t, Options{Profile: judge, Store: less, Content: content})
				}
			}
			settle(whole)
			settle(cut)
			stop()
			stopWhole()
			want, got := verdictOf(t, all, "r"), verdictOf(t, less, "r")
			ignored := cmp.Options{cmpopts.IgnoreFields(store.Run{}, "Arrival", "Updated", "Bytes"), cmpopts.IgnoreFields(store.Decision{}, "Position")}
			if content == NoContent {
				ignored = append(ignored, cmpopts.IgnoreFields(store.Warning{}, "Message", "Details"), cmpopts.IgnoreFields(store.Decision{}, "Message"))
				for _, w := range got.Warnings {
					if strings.Contains(w.Message+string(w.Details), strange) {
						rt.Fatalf("a warning quotes content: %s %s", w.Message, w.Details)
					}
				}
				for _, d := range got.Decisions {
					if strings.Contains(d.Message, strange) {
						rt.Fatalf("a decision quotes content: %s", d.Message)
					}
				}
			}
			if diff := cmp.Diff(want, got, ignored); diff != "" {
				rt.Fatalf("%s, %s, -all +less:\n%s", name, content, diff)
			}
			for _, e := range less.sorted(1) {
				if n := bytes.Count(e.Body, []byte(strange)); n > 0 && (content == NoContent || len(e.Body) > 1500) {
					rt.Fatalf("of %s is stored: %s", content, e.Body)
				}
			}
		})
	})
}

func TestOmittedContentIsReplacedByANote(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, tc := range []struct {
		content     Content
		input, want string
	}{
		{Excerpts, `{"q":"short"}`, `{"q":"short"}`},
		{NoContent, `[]`, `[]`},
		{NoContent, `null`, `null`},
		{NoContent, `"a"`, `"Content not stored: 1 bytes, `},
		{NoContent, `{"q":"short"}`, `"Content not stored: 13 bytes, `},
		{Excerpts, `"` + long + `"`, `"` + long[:256] + `… Content not stored: 500 bytes, `},
		{Excerpts, `"` + strings.Repeat("é", 300) + `"`, `"` + strings.Repeat("é", 128) + `… Content not stored: 600 bytes, `},
	} {
		got := tc.content.raw(json.RawMessage(tc.input))
		if !strings.HasPrefix(string(got), tc.want) || !json.Valid(got) {
			t.Errorf("%s of %s is %s", tc.content, tc.input, got)
		}
		if again := tc.content.raw(got); string(again) != string(got) {
			t.Errorf("what was cut is cut again: %s", again)
		}
	}
	one, other := NoContent.text("one"), NoContent.text("other")
	if one == other || one != NoContent.text("one") {
		t.Errorf("%q and %q", one, other)
	}
	said := trace.Messages{Root: "a word", Input: []trace.Message{{Role: "user", Text: "a word"}}, Answer: "another word"}
	s := NoContent.span(&trace.Span{
		ID: "s", Facts: trace.Facts{Input: `{"a":1}`, Output: long, Tool: "t", Messages: said.Encode()}, Reason: "it failed",
	})
	if again := NoContent.span(s); again.Messages != s.Messages || !strings.Contains(s.Messages, notStored) {
		t.Errorf("of messages is stored: %s, and then %s", s.Messages, again.Messages)
	}
	if text := fmt.Sprintf("%+v", s); strings.Contains(text, "word") || strings.Contains(text, "failed") || s.Tool != "t" {
		t.Errorf("of a span is stored: %s", text)
	}
	body, err := NoContent.encode(&unloop.Event{ID: "e", Type: "x", Metadata: json.RawMessage(`{"a":1}`)})
	if err != nil || !store.Marked(body) || strings.Contains(string(body), "metadata") {
		t.Errorf("an event whose metadata are not stored: %s, %v", body, err)
	}
	if body, err = NoContent.encode(&unloop.Event{ID: "e", Type: "x"}); err != nil || store.Marked(body) {
		t.Errorf("an event without content: %s, %v", body, err)
	}
}
