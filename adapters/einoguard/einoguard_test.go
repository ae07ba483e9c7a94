package einoguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/adapters/einoguard"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/adaptertest"
)

var question = []*schema.Message{schema.UserMessage("Find the lost letter.")}

func toolsConfig(all []tool.BaseTool) compose.ToolsNodeConfig {
	return compose.ToolsNodeConfig{Tools: all, ToolCallMiddlewares: []compose.ToolMiddleware{einoguard.Tools()}}
}

// Tools with parts are not streamed here: in eino 0.7.36, two such calls at the same time are a data race of its ToolsNode.
func TestWorksHaveTheVerdictsOfTheGoldenTable(t *testing.T) {
	for name, agent := range map[string]adaptertest.Agent{
		"at once":          byHand(invokable, generate, invoke),
		"streamed":         byHand(streamable, stream, streamTools),
		"tools with parts": byHand(withParts, generate, invoke),
	} {
		t.Run(name, func(t *testing.T) { adaptertest.Works(t, agent) })
	}
}

// byHand is an agent that tells the model of failures: those of eino end with them.
func byHand(form func(archive) tool.BaseTool,
	ask func(context.Context, model.BaseChatModel, []*schema.Message) (*schema.Message, error),
	call func(context.Context, *compose.ToolsNode, *schema.Message) ([]*schema.Message, error),
) adaptertest.Agent {
	return func(t *testing.T, ctx context.Context, steps [][]adaptertest.Call) {
		m := einoguard.Model("scripted", &script{steps: steps})
		config := toolsConfig(tools(form))
		node, err := compose.NewToolNode(ctx, &config)
		if err != nil {
			t.Fatal(err)
		}
		for messages := question; ; {
			answer, err := ask(ctx, m, messages)
			if err != nil {
				t.Fatal(err)
			}
			if len(answer.ToolCalls) == 0 {
				return
			}
			results, err := call(ctx, node, answer)
			if err != nil {
				results = []*schema.Message{schema.ToolMessage(err.Error(), answer.ToolCalls[0].ID)}
			}
			messages = append(append(messages, answer), results...)
		}
	}
}

func generate(ctx context.Context, m model.BaseChatModel, messages []*schema.Message) (*schema.Message, error) {
	return m.Generate(ctx, messages)
}

func stream(ctx context.Context, m model.BaseChatModel, messages []*schema.Message) (*schema.Message, error) {
	s, err := m.Stream(ctx, messages)
	if err != nil {
		return nil, err
	}
	return schema.ConcatMessageStream(s)
}

func invoke(ctx context.Context, node *compose.ToolsNode, answer *schema.Message) ([]*schema.Message, error) {
	return node.Invoke(ctx, answer)
}

func streamTools(ctx context.Context, node *compose.ToolsNode, answer *schema.Message) ([]*schema.Message, error) {
	s, err := node.Stream(ctx, answer)
	if err != nil {
		return nil, err
	}
	var chunks [][]*schema.Message
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return schema.ConcatMessageArray(chunks)
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk)
	}
}

func endless() [][]adaptertest.Call {
	steps := make([][]adaptertest.Call, 50)
	for i := range steps {
		steps[i] = []adaptertest.Call{{Tool: "search", Args: json.RawMessage(`{"query":"a"}`)}}
	}
	return steps
}

// asked returns all that a model was asked, as text.
func asked(s *script) string {
	var all []string
	for _, m := range s.asked[len(s.asked)-1] {
		all = append(all, m.Content)
		for _, part := range m.UserInputMultiContent {
			all = append(all, part.Text)
		}
	}
	return strings.Join(all, "\n")
}

func TestAnAgentIsNudgedThenBlockedThenHalted(t *testing.T) {
	type agent func(*testing.T, context.Context, model.ToolCallingChatModel, []tool.BaseTool) error
	for name, run := range map[string]agent{
		"react": func(t *testing.T, ctx context.Context, m model.ToolCallingChatModel, all []tool.BaseTool) error {
			_, err := newReact(t, ctx, m, all).Generate(ctx, question)
			return err
		},
		"react that streams": func(t *testing.T, ctx context.Context, m model.ToolCallingChatModel, all []tool.BaseTool) error {
			s, err := newReact(t, ctx, m, all).Stream(ctx, question)
			if err == nil {
				_, err = schema.ConcatMessageStream(s)
			}
			return err
		},
		"adk":              runADK(false),
		"adk that streams": runADK(true),
	} {
		for form, make := range map[string]func(archive) tool.BaseTool{"invokable": invokable, "streamable": streamable, "with parts": withParts} {
			t.Run(name+", "+form, func(t *testing.T) {
				ctx := guard.NewContext(t.Context(), adaptertest.NewGuard(t, "default", guard.Options{}))
				s := &script{steps: endless()}
				err := run(t, ctx, einoguard.Model("scripted", s), tools(make))
				var halt *guard.LoopError
				if !errors.As(err, &halt) {
					t.Fatalf("the agent ended with %v", err)
				}
				text := asked(s)
				nudged, blocked := strings.Index(text, "[loop-guard] You"), strings.Index(text, "loop_blocked")
				if nudged < 0 || blocked < nudged || !strings.Contains(text, "one letter, of 1911") {
					t.Errorf("the model read:\n%s", text)
				}
			})
		}
	}
}

func newReact(t *testing.T, ctx context.Context, m model.ToolCallingChatModel, all []tool.BaseTool) *react.Agent {
	t.Helper()
	agent, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: m, ToolsConfig: toolsConfig(all), MaxStep: 100})
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func runADK(streaming bool) func(*testing.T, context.Context, model.ToolCallingChatModel, []tool.BaseTool) error {
	return func(t *testing.T, ctx context.Context, m model.ToolCallingChatModel, all []tool.BaseTool) error {
		agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
			Name: "archivist", Description: "Finds letters.", Model: m, MaxIterations: 50, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: toolsConfig(all)},
		})
		if err != nil {
			t.Fatal(err)
		}
		events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming}).Query(ctx, "Find the lost letter.")
		for {
			event, ok := events.Next()
			if !ok {
				return nil
			}
			if event.Err != nil {
				return event.Err
			}
			if o := event.Output; o != nil && o.MessageOutput != nil && o.MessageOutput.IsStreaming {
				o.MessageOutput.MessageStream.Close()
			}
		}
	}
}

// record returns a guard, and the events that it records as lines. It checks the usage of model calls.
func record(t *testing.T) (*guard.Guard, *[]string) {
	return adaptertest.Record(t, func(e *unloop.Event) {
		if e.Usage != nil && *e.Usage != (unloop.Usage{Input: adaptertest.InputTokens, Output: adaptertest.OutputTokens, CachedInput: 4}) {
			t.Errorf("usage %+v", *e.Usage)
		}
	})
}

func TestWhatIsRecorded(t *testing.T) {
	g, lines := record(t)
	ctx := guard.NewContext(t.Context(), g)
	s := &script{steps: [][]adaptertest.Call{{{Tool: "search", Args: json.RawMessage(`{"query":"a"}`)}}}}
	if _, err := newReact(t, ctx, einoguard.Model("scripted", s), tools(invokable)).Generate(ctx, question); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"message user Find the lost letter.",
		"llm_call_started scripted",
		"llm_call_completed scripted",
		`tool_call_started search {"query":"a"}`,
		`tool_call_completed search {"query":"a"} "one letter, of 1911"`,
		"llm_call_started scripted",
		"llm_call_completed scripted",
		"message assistant I give up.",
	}
	if diff := cmp.Diff(want, *lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestACallThatInterruptsTheAgentHasNoResult(t *testing.T) {
	g, lines := record(t)
	ctx := guard.NewContext(t.Context(), g)
	approve, err := utils.InferTool("pay", "Pays.", func(ctx context.Context, _ struct{}) (string, error) {
		return "", tool.Interrupt(ctx, "may I?")
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &script{steps: [][]adaptertest.Call{{{Tool: "pay", Args: json.RawMessage(`{}`)}}}}
	_, err = newReact(t, ctx, einoguard.Model("scripted", s), []tool.BaseTool{approve}).Generate(ctx, question)
	if _, interrupted := compose.ExtractInterruptInfo(err); !interrupted {
		t.Errorf("the agent ended with %v", err)
	}
	if got := (*lines)[len(*lines)-1]; got != "tool_call_completed pay {}" {
		t.Errorf("the last event is %s", got)
	}
}

func TestAFailingToolEndsTheAgentWithItsError(t *testing.T) {
	g, lines := record(t)
	ctx := guard.NewContext(t.Context(), g)
	down := errors.New("the host is down")
	fetch, err := utils.InferTool("fetch", "Fetches.", func(context.Context, struct{}) (string, error) { return "", down })
	if err != nil {
		t.Fatal(err)
	}
	s := &script{steps: [][]adaptertest.Call{{{Tool: "fetch", Args: json.RawMessage(`{}`)}}}}
	if _, err := newReact(t, ctx, einoguard.Model("scripted", s), []tool.BaseTool{fetch}).Generate(ctx, question); !errors.Is(err, down) {
		t.Errorf("the agent ended with %v", err)
	}
	if got := (*lines)[len(*lines)-1]; !strings.HasPrefix(got, "tool_call_failed fetch") {
		t.Errorf("the last event is %s", got)
	}
}

func TestWithoutAGuardNothingIsGuarded(t *testing.T) {
	s := &script{steps: endless()[:30]}
	answer, err := newReact(t, t.Context(), einoguard.Model("scripted", s), tools(streamable)).Generate(t.Context(), question)
	if err != nil || answer.Content != "I give up." || strings.Contains(asked(s), "loop-guard") {
		t.Errorf("%v, %v", answer, err)
	}
}

func TestAnAgentEndsWithItsContext(t *testing.T) {
	g, lines := record(t)
	ctx, cancel := context.WithCancel(guard.NewContext(t.Context(), g))
	wait, err := utils.InferTool("wait", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &script{steps: [][]adaptertest.Call{{{Tool: "wait", Args: json.RawMessage(`{}`)}}}}
	if _, err := newReact(t, ctx, einoguard.Model("scripted", s), []tool.BaseTool{wait}).Generate(ctx, question); !errors.Is(err, context.Canceled) {
		t.Errorf("the agent ended with %v", err)
	}
	if len(*lines) < 3 {
		t.Errorf("events %q", *lines)
	}
}

func TestAStreamThatIsClosedEarlyIsRecordedAsFarAsItWasRead(t *testing.T) {
	ended := make(chan string, 1)
	g := adaptertest.NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
		if e.Type == unloop.MessageSent && e.Role == unloop.RoleAssistant {
			ended <- e.Text
		}
	}})
	s, err := einoguard.Model("scripted", &script{}).Stream(guard.NewContext(t.Context(), g), question)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if text := <-ended; text != "I give up." {
		t.Errorf("recorded %q", text)
	}
}
