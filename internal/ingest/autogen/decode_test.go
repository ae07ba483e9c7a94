package autogen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
)

func TestGolden(t *testing.T) {
	ingesttest.Golden(t, Messages(), "messages_*.json*")
	ingesttest.Golden(t, Chat(), "chat_*.json")
}

func FuzzMessages(f *testing.F) { ingesttest.Fuzz(f, Messages(), "messages_*.json*") }

func FuzzChat(f *testing.F) { ingesttest.Fuzz(f, Chat(), "chat_*.json") }

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name   string
		format ingest.Format
		input  string
		want   []string // each event in short
	}{
		{
			"the summary of a call and the fragments of an answer repeat other messages", Messages(),
			`[{"source":"a","type":"ToolCallSummaryMessage","content":"x"},{"source":"a","type":"ModelClientStreamingChunkEvent","content":"y"},{"source":"a","type":"TextMessage","content":"z"}]`,
			[]string{"2 message a assistant z"},
		},
		{
			"messages of the first versions of 0.4", Messages(),
			`[{"source":"a","type":"ToolCallMessage","content":[{"id":"c","name":"x","arguments":"{}"}]},{"source":"a","type":"ToolCallResultMessage","content":[{"call_id":"c","content":"1"}]}]`,
			[]string{"0 tool_call_started a c x {}", `1 tool_call_completed a c "1"`},
		},
		{
			"a chat between named agents: only the task is a person's", Chat(),
			`[{"role":"user","name":"user_proxy","content":"Do it."},{"role":"assistant","name":"coder","content":"How?"},{"role":"user","name":"user_proxy","content":"Please continue."}]`,
			[]string{"0 message user_proxy user Do it.", "1 message coder assistant How?", "2 message user_proxy assistant Please continue."},
		},
		{
			"several results in one message", Chat(),
			`[{"role":"tool","name":"p","content":"1\n\n2","tool_responses":[{"tool_call_id":"a","role":"tool","content":"1"},{"tool_call_id":"b","role":"tool","content":"2"}]}]`,
			[]string{`0 tool_call_completed p a "1"`, `0 tool_call_completed p b "2"`},
		},
		{
			"an answer without code that is executed is the code", Chat(),
			`[{"role":"user","name":"p","content":"Go."},{"role":"assistant","name":"c","content":"ls"},{"role":"user","name":"p","content":"exitcode: 0 (execution succeeded)\nCode output: a"}]`,
			[]string{"0 message p user Go.", "1 message c assistant ls", `2 tool_call_started c execute_code {"code":"ls"}`, `2 tool_call_completed p execute_code "a"`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ingesttest.Short(t, tc.format, tc.input)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTheSecondConversationOfAFileIsARunOfItsOwn(t *testing.T) {
	events, _, err := ingesttest.Decode(Chat(), []byte(`{"chat_history":[{"role":"user","content":"a"}]}{"chat_history":[{"role":"user","content":"b"}]}`))
	var runs []string
	for _, e := range events {
		runs = append(runs, e.RunID)
	}
	if diff := cmp.Diff([]string{"run", "run", "run#2", "run#2"}, runs); err != nil || diff != "" {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
}

func TestBadInput(t *testing.T) {
	ingesttest.Refused(t, Messages(), `{"messages":[{"source":"a","type":"ToolCallRequestEvent","content":"x"}]}`, "messages.0.content", "a JSON string")
	ingesttest.Refused(t, Chat(), `{"chat_history":[{"role":7}]}`, "chat_history.0.role", "a JSON number")
}

func TestSniff(t *testing.T) {
	for name, tc := range map[string]struct {
		head           string
		messages, chat bool
	}{
		"the dump of a TaskResult":           {`{"messages":[{"source":"user","models_usage":null,"metadata":{},"content":"a`, true, false},
		"a message of a known type":          {`{"type":"TextMessage","source":"user"}`, true, false},
		"an event with a source":             {`{"type":"message","source":"user","content":"a"}`, false, false},
		"the dump of a ChatResult":           {`{"chat_id":1,"chat_history":[{"content":"a","role":"user"`, false, true},
		"results of several calls":           {`[{"role":"assistant","content":"a"},{"role":"tool","content":"b","tool_responses":[{"tool`, false, true},
		"two named agents":                   {`[{"role":"user","name":"a","content":"x"},{"role":"assistant","name":"b","content":"y"},{"role":"us`, false, true},
		"a person with a name and a model":   {`[{"role":"user","name":"a","content":"x"},{"role":"assistant","content":"y"}]`, false, false},
		"one name for all":                   {`[{"role":"user","name":"a","content":"x"},{"role":"assistant","name":"a","content":"y"}]`, false, false},
		"functions have names in chats, too": {`[{"role":"user","content":"x"},{"role":"function","name":"f","content":"y"}]`, false, false},
		"nothing":                            {``, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Messages().Sniff([]byte(tc.head)); got != tc.messages {
				t.Errorf("messages: got %v, want %v", got, tc.messages)
			}
			if got := Chat().Sniff([]byte(tc.head)); got != tc.chat {
				t.Errorf("chat: got %v, want %v", got, tc.chat)
			}
		})
	}
}
