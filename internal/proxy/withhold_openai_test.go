package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/profile"
)

// streamedChunks is an answer of Chat Completions as a stream. The arguments come in pieces.
func streamedChunks(commands ...string) string {
	var s stream
	chunk := func(delta map[string]any, finish any) {
		s.data(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "m", "created": 7, "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	chunk(map[string]any{"role": "assistant", "content": "on it"}, nil)
	for k, command := range commands {
		arguments := fmt.Sprintf(`{"command":%q}`, command)
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": k, "id": fmt.Sprint("new_", k), "type": "function", "function": map[string]string{"name": "bash", "arguments": ""},
		}}}, nil)
		for _, piece := range []string{arguments[:4], arguments[4:]} {
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": k, "function": map[string]string{"arguments": piece}}}}, nil)
		}
		s.raw(": ping\r\n\r\n")
	}
	chunk(map[string]any{}, "tool_calls")
	s.raw(`data: {"id":"c","choices":[],"usage":{"prompt_tokens":12345678901234567890}}` + "\n\ndata: [DONE]\n\n")
	return s.b.String()
}

// wholeChunks is the same with each call, and with all calls, in one chunk, as some servers send them.
func wholeChunks(together bool, commands ...string) string {
	var s stream
	calls := []any{}
	chunk := func(calls []any, finish any) {
		s.data(map[string]any{"id": "c", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "tool_calls": calls}, "finish_reason": finish}}})
	}
	for k, command := range commands {
		calls = append(calls, map[string]any{
			"index": k, "id": fmt.Sprint("new_", k), "type": "function",
			"function": map[string]string{"name": "bash", "arguments": fmt.Sprintf(`{"command":%q}`, command)},
		})
		if !together {
			chunk(calls[k:], nil)
		}
	}
	if together {
		chunk(calls, "tool_calls")
	} else {
		chunk(nil, "tool_calls")
	}
	return s.b.String()
}

// streamedItems is an answer of the Responses API as a stream. Reasoned names the calls that follow an item of reasoning.
func streamedItems(reasoned string, commands ...string) string {
	s := responsesStream{stream: &stream{}}
	response := func(status string, output []any) map[string]any {
		return map[string]any{"response": map[string]any{"id": "r", "status": status, "output": output, "big": jsontext.Value("12345678901234567890")}}
	}
	s.send("response.created", response("in_progress", []any{}))
	output := []any{}
	item := func(i map[string]any) {
		s.send("response.output_item.done", map[string]any{"output_index": len(output), "item": i})
		output = append(output, i)
	}
	for k, command := range commands {
		if strings.Contains(reasoned, command) {
			s.send("response.output_item.added", map[string]any{"output_index": len(output), "item": map[string]any{"type": "reasoning", "id": "rs"}})
			item(map[string]any{"type": "reasoning", "id": "rs", "summary": []any{}})
		}
		arguments := fmt.Sprintf(`{"command":%q}`, command)
		call := map[string]any{"type": "function_call", "id": fmt.Sprint("fc_", k), "call_id": fmt.Sprint("new_", k), "name": "bash", "arguments": ""}
		place := map[string]any{"item_id": call["id"], "output_index": len(output)}
		s.send("response.output_item.added", map[string]any{"output_index": len(output), "item": call})
		for _, piece := range []string{arguments[:4], arguments[4:]} {
			s.send("response.function_call_arguments.delta", place, map[string]any{"delta": piece})
		}
		s.send("response.function_call_arguments.done", place, map[string]any{"arguments": arguments})
		s.raw(": ping\n\n")
		call["arguments"] = arguments
		item(call)
	}
	s.send("response.completed", response("completed", output))
	return s.b.String()
}

// heardCall is a call that a client has read from a stream.
type heardCall struct{ ID, Arguments string }

// hearChunks reads a stream of Chat Completions as clients do.
func hearChunks(t testing.TB, sent string) (calls []heardCall, text string) {
	for _, data := range eventsOf(t, sent) {
		var e struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []chunkCall `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		for _, c := range e.Choices {
			text += c.Delta.Content
			for _, piece := range c.Delta.Calls {
				if piece.Index == len(calls) {
					calls = append(calls, heardCall{ID: piece.ID})
				}
				calls[piece.Index].Arguments += piece.Function.Arguments
			}
		}
	}
	return calls, text
}

// hearItems reads a stream of the Responses API as clients do. It holds that events and items are numbered without gaps, that each item
// is the same in its own event and at the end, and that each piece belongs to an open item.
func hearItems(t testing.TB, sent string) (calls []heardCall, text string) {
	var items []jsontext.Value
	for number, data := range eventsOf(t, sent) {
		var e struct {
			Type     string
			Number   int `json:"sequence_number"`
			Output   int `json:"output_index"`
			Item     jsontext.Value
			Delta    string
			Response struct{ Output []jsontext.Value }
		}
		if err := json.Unmarshal(data, &e); err != nil || e.Number != number {
			t.Fatalf("event %d is %s, %v", number, data, err)
		}
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.output_item.done":
			items = append(items, e.Item)
			var c struct {
				ID        string `json:"call_id"`
				Arguments string
			}
			if err := json.Unmarshal(e.Item, &c); err != nil {
				t.Fatal(err)
			}
			if c.ID != "" {
				calls = append(calls, heardCall(c))
			}
		case "response.completed":
			if diff := cmp.Diff(items, e.Response.Output); diff != "" {
				t.Fatalf("the items at the end differ: %s", diff)
			}
			continue
		}
		if e.Type != "response.output_item.done" && e.Output != len(items) {
			t.Fatalf("event %d belongs to the item %d, want %d: %s", number, e.Output, len(items), data)
		}
	}
	return calls, text
}

// eventsOf returns the data of the events of a stream, without the end of Chat Completions.
func eventsOf(t testing.TB, sent string) (all []jsontext.Value) {
	for rest := []byte(sent); len(rest) > 0; {
		end := eventEnd(rest)
		if end < 0 {
			t.Fatalf("the stream ends with %q", rest)
		}
		if _, data, _, ok := eventData(rest[:end]); ok && string(data) != "[DONE]" {
			v := jsontext.Value(data).Clone()
			_ = v.Canonicalize() // an invalid value is found later
			all = append(all, v)
		}
		rest = rest[end:]
	}
	return all
}

func TestACallIsTakenOutOfAStreamOfOpenAIWhereverTheChunksEnd(t *testing.T) {
	const notMade = "[unloop] The call of bash was not made."
	both := []heardCall{{"new_0", `{"command":"ls"}`}, {"new_2", `{"command":"pwd"}`}}
	second := []heardCall{{"new_1", `{"command":"pwd"}`}}
	for _, tc := range []struct {
		name string
		api  withholder
		sent string
		hear func(testing.TB, string) ([]heardCall, string)
		want []heardCall
		text string
	}{
		{"chunks", chat{}, streamedChunks("ls", "make", "pwd"), hearChunks, both, "on it\n\n" + notMade},
		{"chunks, the first call", chat{}, streamedChunks("make", "pwd"), hearChunks, second, "on it\n\n" + notMade},
		{"chunks, the first call of all in a chunk", chat{}, wholeChunks(true, "make", "pwd"), hearChunks, second, notMade},
		{"chunks, the last call", chat{}, streamedChunks("ls", "make"), hearChunks, both[:1], "on it\n\n" + notMade},
		{"a chunk for each call", chat{}, wholeChunks(false, "ls", "make", "pwd"), hearChunks, both, notMade},
		{"all calls in a chunk", chat{}, wholeChunks(true, "ls", "make", "pwd"), hearChunks, both, notMade},
		{"items", responses{}, streamedItems("", "ls", "make", "pwd"), hearItems, both, notMade},
		{"items, the first call", responses{}, streamedItems("", "make", "pwd"), hearItems, second, notMade},
		{"items, the first call, and reasoning", responses{}, streamedItems("pwd", "make", "pwd"), hearItems, second, notMade},
		{"items, the last call", responses{}, streamedItems("", "ls", "make"), hearItems, both[:1], notMade},
		{"items with reasoning", responses{}, streamedItems("ls pwd", "ls", "make", "pwd"), hearItems, both, notMade},
		{"items, three repeated calls", responses{}, streamedItems("", "ls", "make", "make", "make"), hearItems, both[:1], strings.Repeat(notMade, 3)},
		{"chunks, three repeated calls", chat{}, streamedChunks("ls", "make", "make", "make"), hearChunks, both[:1], "on it\n\n" + strings.Repeat(notMade, 3)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			read := reader(t, tc.api)
			for _, sizes := range chunkSizes {
				got, blocked := read(t, tc.sent, sizes)
				calls, text := tc.hear(t, got)
				if diff := cmp.Diff(tc.want, calls); diff != "" || blocked != strings.Count(tc.text, notMade) || strings.Count(text, notMade) != blocked || !strings.HasPrefix(text, tc.text[:min(len(tc.text), len(notMade))]) {
					t.Fatalf("%d blocked, %q, %s\n%s", blocked, text, diff, got)
				}
				if strings.Count(got, "12345678901234567890") != strings.Count(tc.sent, "12345678901234567890") || strings.Contains(got, "data: [DONE]") != strings.Contains(tc.sent, "data: [DONE]") {
					t.Fatalf("the end is lost: %s", got)
				}
			}
		})
	}
}

func TestAStreamWithoutACallToTakeOutPassesAsItIs(t *testing.T) {
	several := strings.Replace(streamedChunks("ls", "make"), `"index":0,"delta":{"content"`, `"index":1,"delta":{"content"`, 1)
	several = strings.ReplaceAll(several, `[{"delta":{},"finish_reason":"tool_calls","index":0}]`, `[{"delta":{},"finish_reason":"tool_calls","index":1}]`)
	begunTwice := strings.ReplaceAll(streamedCalls("ls", "pwd", "make"), `"index":2`, `"index":1`)
	begunTwice = strings.Replace(begunTwice, `{"index":1,"type":"content_block_stop"}`, `{"type":"ping"}`, 1)
	for name, tc := range map[string]struct {
		api  withholder
		sent string
	}{
		"chunks, if no call is blocked":                         {chat{}, streamedChunks("ls", "pwd", "cat x")},
		"chunks, if all calls are blocked":                      {chat{}, streamedChunks("make", "make")},
		"chunks, without calls":                                 {chat{}, streamedChunks()},
		"chunks that end early":                                 {chat{}, streamedChunks("ls", "make")[:1000]},
		"chunks of several answers":                             {chat{}, several},
		"chunks of calls with the same number":                  {chat{}, strings.ReplaceAll(streamedChunks("ls", "make"), `"index":1`, `"index":0`)},
		"chunks of calls with a gap":                            {chat{}, strings.ReplaceAll(streamedChunks("ls", "make"), `"index":1`, `"index":2`)},
		"items, if no call is blocked":                          {responses{}, streamedItems("", "ls", "pwd", "cat x")},
		"items, if all calls are blocked":                       {responses{}, streamedItems("", "make", "make")},
		"items, without calls":                                  {responses{}, streamedItems("")},
		"items that end early":                                  {responses{}, streamedItems("", "ls", "make")[:1400]},
		"items, if the call is reasoned":                        {responses{}, streamedItems("make", "ls", "make")},
		"items, if the first call is reasoned":                  {responses{}, streamedItems("make", "make", "ls")},
		"items of a call of 600 KB":                             {responses{}, streamedItems("", "ls", strings.Repeat("make ", 120<<10))},
		"items of calls that the API has made":                  {responses{}, strings.ReplaceAll(streamedItems("", "ls", "make"), `"type":"function_call"`, `"type":"mcp_call"`)},
		"items of calls with the same number":                   {responses{}, strings.ReplaceAll(streamedItems("", "ls", "make"), `"output_index":1`, `"output_index":0`)},
		"blocks of calls with the same number":                  {anthropic{}, strings.ReplaceAll(streamedCalls("ls", "make"), `"index":1`, `"index":0`)},
		"blocks of a number that begin before the earlier ends": {anthropic{}, begunTwice},
		"no events": {responses{}, "event: x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			read := reader(t, tc.api)
			for _, sizes := range chunkSizes {
				if got, blocked := read(t, tc.sent, sizes); got != tc.sent || blocked != 0 {
					t.Fatalf("%d blocked, and\n%s\nbecame\n%s", blocked, tc.sent, got)
				}
			}
		})
	}
}

// chunkSizes are sizes of the pieces in which a stream is read, in turn.
var chunkSizes = [][]int{{1}, {7, 64, 3}, {700, 1}, {1 << 20}}

// reader returns a function that reads a stream in pieces, as an answer to an agent whose call of make is blocked.
func reader(t *testing.T, a withholder) func(t testing.TB, sent string, sizes []int) (got string, blocked int) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	state := blocking(t, p)
	return func(t testing.TB, sent string, sizes []int) (string, int) {
		blocked := 0
		session, err := p.Restore(state)
		if err != nil {
			t.Fatal(err)
		}
		w := newWithholdStream(io.NopCloser(nettest.NewChunks(sent, sizes...)), &trial{a, p, session, verdict{run: "r"}}, func(*withheld) { blocked++ })
		got, err := io.ReadAll(w)
		if err != nil {
			t.Fatal(err)
		}
		return string(got), blocked
	}
}

func TestAStoredStreamOfTheResponsesAPIKeepsItsCalls(t *testing.T) {
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprint("stored ", stored), func(t *testing.T) {
			u := newUpstream(t)
			s, p := start(t, u, nil)
			d := dialects["responses"]
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("fix the build")}}
			a.body = func(items []string, stream bool) string {
				return strings.Replace(d.body(items, stream), `"store":false`, fmt.Sprintf(`"store":%v`, stored), 1)
			}
			sent := streamedItems("", "ls", "make")
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, sent)
			}
			for a.n < 40 && p.Stats().Blocked+p.Stats().Halted == 0 {
				a.call("make", "make: *** no rule to make target all")
				if _, got := a.ask(); p.Stats().Halted == 0 && stored != (got == sent) && p.Stats().Blocked > 0 {
					t.Errorf("%s", got)
				}
			}
			if got := p.Stats(); got.Blocked > 0 == stored {
				t.Errorf("stats are %+v", got)
			}
		})
	}
}
