package pipeline

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

func TestTheTitleOfARequestIsItsFirstLine(t *testing.T) {
	long := strings.Repeat("éclair ", 20)
	for _, c := range []struct{ says, text, want string }{
		{"one line", "Fix the failing checkout test", "Fix the failing checkout test"},
		{"the first of several", "\n\n  Fix   the\ttest\nIt fails since Monday.", "Fix the test"},
		{"lines without words are skipped", "---\n# Release 2.1\n", "# Release 2.1"},
		{"a long line is cut between words", long, strings.TrimSpace(strings.Repeat("éclair ", 11)) + "…"},
		{"a cut at the end of a sentence keeps one mark", "I would like to book a flight to the city of New York. " + strings.Repeat("x", 40), "I would like to book a flight to the city of New York…"},
		{"a long word is cut", strings.Repeat("x", 200), strings.Repeat("x", maxTitle-1) + "…"},
		{"characters that are not visible separate words", "Fix\x00\u202ethe test", "Fix the test"},
		{"a program's block of tags is none", "<environment_context>linux</environment_context>", ""},
		{"a note on missing content is none", NoContent.text("Fix the failing checkout test"), ""},
		{"nothing", " \n", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			if got := TitleOf(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMessageOfTheUserNamesARunThatNobodyNames(t *testing.T) {
	said := func(id, role, text string) *unloop.Event {
		return &unloop.Event{ID: id, RunID: "r", Type: unloop.MessageSent, Role: role, Text: text}
	}
	talk := []*unloop.Event{
		said("1", unloop.RoleSystem, "You are a helper."), said("2", unloop.RoleUser, "<reminder>x</reminder>"),
		said("3", unloop.RoleUser, "Fix the test."), said("4", unloop.RoleUser, "And the other one."),
	}
	for _, c := range []struct {
		says    string
		content Content
		more    []*unloop.Event
		want    string
	}{
		{"the first that is not a program's", FullContent, nil, "Fix the test."},
		{"an excerpt is enough", Excerpts, nil, "Fix the test."},
		{"no content is stored", NoContent, nil, ""},
		{"the run names itself at its end", FullContent, []*unloop.Event{{ID: "5", RunID: "r", Type: unloop.RunCompleted, Name: "nightly"}}, "nightly"},
		{"an agent of a trace has a name", FullContent, []*unloop.Event{{ID: "5", RunID: "r", Type: unloop.LLMCallStarted, SpanID: "s", Agent: "planner"}}, "planner"},
		{
			"a message in a trace is better than its agent, and only the first counts", FullContent, []*unloop.Event{
				{ID: "5", RunID: "r", Type: unloop.LLMCallStarted, SpanID: "s", Agent: "planner"},
				{ID: "6", RunID: "r", Type: unloop.MessageSent, SpanID: "s", Role: unloop.RoleUser, Text: "Plan the trip."},
				{ID: "7", RunID: "r", Type: unloop.MessageSent, SpanID: "s", Role: unloop.RoleUser, Text: "By train."},
				{ID: "8", RunID: "r", Type: unloop.RunCompleted, SpanID: "s", Name: "planner"},
			}, "Plan the trip.",
		},
		{
			"a name that was given at the start is better than a message in a trace", FullContent, []*unloop.Event{
				{ID: "5", RunID: "r", Type: unloop.RunStarted, Name: "nightly"},
				{ID: "6", RunID: "r", Type: unloop.MessageSent, SpanID: "s", Role: unloop.RoleUser, Text: "Plan the trip."},
			}, "nightly",
		},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := newMemory()
			p, stop := start(t, Options{Store: m, Content: c.content})
			submit(t, p, append(talk[:len(talk):len(talk)], c.more...)...)
			stop()
			if got := verdictOf(t, m, "r").Run.Name; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			p, stop = start(t, Options{Store: m, Content: c.content})
			submit(t, p, said("9", unloop.RoleUser, "One more."))
			stop()
			if row := verdictOf(t, m, "r").Run; row.Name != c.want || row.Status == store.Abandoned {
				t.Errorf("after a restart: got %q, want %q", row.Name, c.want)
			}
		})
	}
}
