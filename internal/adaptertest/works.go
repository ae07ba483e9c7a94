// Package adaptertest is the test suite for adapters of Go frameworks. The works of the golden table come from sdk/testdata/works.json,
// which the Python and the TypeScript package use as well. An adapter has a scripted model do each work, and its guard must give the
// verdicts of the table.
package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

// Call is a tool call that the scripted model wants.
type Call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// InputTokens and OutputTokens are the usage of each model call of a work.
const (
	InputTokens  = 10
	OutputTokens = 5
)

// verdict is what a profile says of a run.
type verdict struct {
	Warnings  [][3]any `json:"warnings"` // rule, subject and count
	ToolCalls int      `json:"total_tool_calls"`
	LLMCalls  int      `json:"total_llm_calls"`
	Handoffs  int      `json:"total_handoffs"`
	Tokens    int64    `json:"total_tokens"`
}

type work struct {
	Name     string             `json:"name"`
	Steps    [][]Call           `json:"steps"` // the calls of a step are made at once
	Verdicts map[string]verdict `json:"verdicts"`
}

// meter is the rule that also weighs texts, which not all adapters record. The table leaves it out.
const meter = "stalled_steps"

// Agent does a work: it makes one model call for each step and a last one without tool calls. Its context has the guard.
type Agent func(t *testing.T, ctx context.Context, steps [][]Call)

// Works has the agent do each work of the golden table, and compares the verdicts of its guard, which never stops a call.
func Works(t *testing.T, agent Agent) {
	t.Helper()
	for _, w := range readWorks(t) {
		w.judge(t, agent)
	}
}

// WorksWithoutFailures is Works without those whose tools fail, for an API that does not say which results are failures.
func WorksWithoutFailures(t *testing.T, agent Agent) {
	t.Helper()
	for _, w := range readWorks(t) {
		if tool := w.Steps[0][0].Tool; tool != "fetch" && tool != "borrow" {
			w.judge(t, agent)
		}
	}
}

func (w *work) judge(t *testing.T, agent Agent) {
	t.Helper()
	for name, want := range w.Verdicts {
		t.Run(w.Name+", by "+name, func(t *testing.T) {
			counts := unloop.NewRun("work", unloop.Options{})
			g := NewGuard(t, name, guard.Options{Run: "work", Events: func(e *unloop.Event, _ guard.Decision) { counts.Add(e) }}, "shadow=true")
			agent(t, guard.NewContext(t.Context(), g), w.Steps)
			got := verdict{Warnings: [][3]any{}}
			for _, f := range g.State().Warnings {
				if f.Rule != meter {
					got.Warnings = append(got.Warnings, [3]any{f.Rule, f.Subject, float64(f.Count)})
				}
			}
			slices.SortFunc(got.Warnings, func(a, b [3]any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			m := counts.Metrics()
			got.ToolCalls, got.LLMCalls, got.Handoffs, got.Tokens = m.ToolCalls, m.LLMCalls, m.Handoffs, m.Tokens
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func readWorks(t *testing.T) (works []work) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), "sdk/testdata/works.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &works); err != nil {
		t.Fatal(err)
	}
	if len(works) == 0 {
		t.Fatal("there are no works")
	}
	return works
}

// root returns the folder of the repository. The working folder of a test is that of its package.
func root(t *testing.T) string {
	t.Helper()
	folder := ".."
	for range 5 {
		if _, err := os.Stat(filepath.Join(folder, "ARCHITECTURE.md")); err == nil {
			return folder
		}
		folder = filepath.Join(folder, "..")
	}
	t.Fatal("found no ARCHITECTURE.md in the folders above")
	return ""
}

// NewGuard returns a guard of a profile with settings, which is closed at the end of the test.
func NewGuard(t *testing.T, name string, o guard.Options, sets ...string) *guard.Guard {
	t.Helper()
	p, err := profile.Load(profile.Source{Name: name, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(p, o)
	t.Cleanup(g.Close)
	return g
}

// Tools are the tools of the works. Each has one parameter.
var Tools = []Tool{
	{"search", "query", func(json.RawMessage) (string, error) { return "one letter, of 1911", nil }},
	{"read", "page", readPage},
	{"fetch", "url", func(json.RawMessage) (string, error) {
		return "", errors.New("ConnectionError: the host does not answer")
	}},
	{"find_letter", "query", func(json.RawMessage) (string, error) { return "No results found.", nil }},
	{"borrow", "book", func(json.RawMessage) (string, error) { return "", errors.New("the library is closed") }},
}

// Tool is a tool of the works.
type Tool struct {
	Name      string
	Parameter string
	Run       func(args json.RawMessage) (string, error)
}

func readPage(args json.RawMessage) (string, error) {
	var in struct{ Page int }
	if err := json.Unmarshal(args, &in); err != nil {
		return "", err
	}
	text := fmt.Sprintf("page %d:", in.Page)
	for n := range 12 {
		text += fmt.Sprintf(" word%d", in.Page*31+n)
	}
	return text, nil
}

// ToolFuncs returns the tools of the works for guard.Wrap.
func ToolFuncs() map[string]guard.ToolFunc {
	funcs := make(map[string]guard.ToolFunc)
	for _, tool := range Tools {
		funcs[tool.Name] = func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			text, err := tool.Run(args)
			if err != nil {
				return nil, err
			}
			return json.Marshal(text)
		}
	}
	return funcs
}
