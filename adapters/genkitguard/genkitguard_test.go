package genkitguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/adapters/genkitguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adaptertest"
)

// agent is a Genkit with the tools of the works, and a model that wants the calls of one step after another and then gives up.
type agent struct {
	genkit *genkit.Genkit
	tools  []ai.ToolRef
	steps  [][]adaptertest.Call
	asked  int
	read   []string // the results that the model got
}

func newAgent(t *testing.T, steps [][]adaptertest.Call) *agent {
	t.Helper()
	a := &agent{genkit: genkit.Init(t.Context()), steps: steps}
	genkit.DefineModel(a.genkit, "test/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, a.answer)
	for _, tool := range adaptertest.Tools {
		run := func(_ *ai.ToolContext, args any) (string, error) {
			raw, err := json.Marshal(args)
			if err != nil {
				return "", err
			}
			return tool.Run(raw)
		}
		a.tools = append(a.tools, genkit.DefineTool(a.genkit, tool.Name, tool.Name, genkitguard.Tool(tool.Name, run)))
	}
	return a
}

func (a *agent) answer(ctx context.Context, request *ai.ModelRequest, chunk ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	for _, part := range request.Messages[len(request.Messages)-1].Content {
		if part.IsToolResponse() {
			raw, err := json.Marshal(part.ToolResponse.Output)
			if err != nil {
				return nil, err
			}
			a.read = append(a.read, string(raw))
		}
	}
	a.asked++
	parts := []*ai.Part{ai.NewTextPart("I give up.")}
	if a.asked <= len(a.steps) {
		parts = nil
		for i, c := range a.steps[a.asked-1] {
			var args any
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			parts = append(parts, ai.NewToolRequestPart(&ai.ToolRequest{Name: c.Tool, Ref: fmt.Sprint(a.asked, i), Input: args}))
		}
	}
	if chunk != nil {
		if err := chunk(ctx, &ai.ModelResponseChunk{Content: parts}); err != nil {
			return nil, err
		}
	}
	usage := &ai.GenerationUsage{InputTokens: adaptertest.InputTokens, OutputTokens: adaptertest.OutputTokens, CachedContentTokens: 4}
	return &ai.ModelResponse{Message: ai.NewModelMessage(parts...), Usage: usage}, nil
}

func (a *agent) run(ctx context.Context, options ...ai.GenerateOption) (string, error) {
	options = append(
		options,
		ai.WithModelName("test/scripted"), ai.WithPrompt("Find the lost letter."), ai.WithTools(a.tools...), ai.WithMaxTurns(50),
		ai.WithMiddleware(genkitguard.Model("scripted")),
	)
	response, err := genkit.Generate(ctx, a.genkit, options...)
	if err != nil {
		return "", err
	}
	return response.Text(), nil
}

func TestWorksHaveTheVerdictsOfTheGoldenTable(t *testing.T) {
	for name, options := range map[string][]ai.GenerateOption{
		"at once":  nil,
		"streamed": {ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil })},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Works(t, func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
				a := newAgent(t, steps)
				for range len(steps) + 1 { // a tool's error ends a generation
					if text, err := a.run(ctx, options...); err == nil {
						if text != "I give up." {
							t.Errorf("the agent said %q", text)
						}
						return
					}
				}
				t.Error("the agent did not come to an end")
			})
		})
	}
}

func endless(tool string) [][]adaptertest.Call {
	steps := make([][]adaptertest.Call, 50)
	for i := range steps {
		steps[i] = []adaptertest.Call{{Tool: tool, Args: json.RawMessage(`{"query":"a"}`)}}
	}
	return steps
}

func TestAnAgentIsNudgedThenBlockedThenHalted(t *testing.T) {
	g := adaptertest.NewGuard(t, "default", guard.Options{})
	a := newAgent(t, endless("search"))
	if _, err := a.run(guard.NewContext(t.Context(), g)); err == nil {
		t.Error("the agent was not halted")
	}
	var halt *guard.LoopError
	if !errors.As(g.Halted(), &halt) || halt.Tool != "search" {
		t.Errorf("the guard says %v", g.Halted())
	}
	all := strings.Join(a.read, "\n")
	nudged, blocked := strings.Index(all, "[loop-guard] You"), strings.Index(all, `"loop_blocked"`)
	if a.read[0] != `"one letter, of 1911"` || nudged < 0 || blocked < nudged {
		t.Errorf("the model read:\n%s", all)
	}
}

func TestTheErrorOfAToolCarriesTheNudge(t *testing.T) {
	ctx := guard.NewContext(t.Context(), adaptertest.NewGuard(t, "default", guard.Options{}))
	a := newAgent(t, endless("fetch"))
	for range 6 {
		if _, err := a.run(ctx); err != nil && strings.Contains(err.Error(), "the host does not answer [loop-guard] ") {
			return
		}
	}
	t.Error("six equal failures, and no nudge")
}

// record returns a guard, and the events that it records as lines.
func record(t *testing.T) (*guard.Guard, *[]string) {
	var lines []string
	return adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
		line := strings.Join([]string{string(e.Type), e.Model, e.Role, e.Text, e.Tool, string(e.Output), string(e.Error)}, " ")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
		if e.Usage != nil && *e.Usage != (unloop.Usage{Input: adaptertest.InputTokens, Output: adaptertest.OutputTokens, CachedInput: 4}) {
			t.Errorf("usage %+v", *e.Usage)
		}
	}}), &lines
}

func TestWhatIsRecorded(t *testing.T) {
	g, lines := record(t)
	if _, err := newAgent(t, endless("search")[:1]).run(guard.NewContext(t.Context(), g)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"message user Find the lost letter.",
		"llm_call_started scripted",
		"llm_call_completed scripted",
		"tool_call_started search",
		`tool_call_completed search "one letter, of 1911"`,
		"llm_call_started scripted",
		"llm_call_completed scripted",
		"message assistant I give up.",
	}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWithoutAGuardNothingIsGuarded(t *testing.T) {
	a := newAgent(t, endless("search")[:30])
	if text, err := a.run(t.Context()); err != nil || text != "I give up." {
		t.Errorf("%q, %v", text, err)
	}
	for _, result := range a.read {
		if result != `"one letter, of 1911"` {
			t.Errorf("a result is %s", result)
		}
	}
}

func TestACallThatInterruptsTheGenerationHasNoResult(t *testing.T) {
	g, lines := record(t)
	a := newAgent(t, endless("pay")[:1])
	a.tools = []ai.ToolRef{genkit.DefineTool(a.genkit, "pay", "Pays.", genkitguard.Tool("pay", func(ctx *ai.ToolContext, _ any) (string, error) {
		return "", ctx.Interrupt(&ai.InterruptOptions{Metadata: map[string]any{"why": "may I?"}})
	}))}
	if _, err := a.run(guard.NewContext(t.Context(), g)); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	if got := (*lines)[len(*lines)-1]; got != "tool_call_completed pay" {
		t.Errorf("the last event is %s", got)
	}
}

func TestAnAgentEndsWithItsContext(t *testing.T) {
	g, lines := record(t)
	ctx, cancel := context.WithCancel(guard.NewContext(t.Context(), g))
	a := newAgent(t, endless("wait"))
	a.tools = []ai.ToolRef{genkit.DefineTool(a.genkit, "wait", "Waits.", genkitguard.Tool("wait", func(ctx *ai.ToolContext, _ any) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}))}
	if _, err := a.run(ctx); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("the agent ended with %v", err)
	}
	if got := (*lines)[len(*lines)-1]; got != `tool_call_failed wait "context canceled"` {
		t.Errorf("the last event is %s", got)
	}
}

func TestThoughtsArePartOfTheOutput(t *testing.T) {
	for name, usage := range map[string]ai.GenerationUsage{
		"that counts them in it":     {InputTokens: 10, OutputTokens: 7, ThoughtsTokens: 3, TotalTokens: 17},
		"that counts them beside it": {InputTokens: 10, OutputTokens: 4, ThoughtsTokens: 3, TotalTokens: 17},
	} {
		t.Run(name, func(t *testing.T) {
			var got unloop.Usage
			g := adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
				if e.Usage != nil {
					got = *e.Usage
				}
			}})
			model := genkitguard.Model("m")(func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
				return &ai.ModelResponse{Usage: &usage}, nil
			})
			if _, err := model(guard.NewContext(t.Context(), g), &ai.ModelRequest{}, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(unloop.Usage{Input: 10, Output: 7, Reasoning: 3}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
