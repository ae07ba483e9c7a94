package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/ingest/gemini"
)

// errNoEvent means that the input is not an event of a known agent.
var errNoEvent = errors.New("the input is not an event of a known agent")

// maxName is the maximum length in bytes of the ids and the name of an event. They are part of each entry of the log.
const maxName = 1 << 10

// Read reads the input of a hook. If named is "", the agent is detected by the form of the input. A certain form also takes
// precedence over the name, because some agents run the hooks of others: Cursor and Copilot CLI read Claude Code's settings. A
// field with an unexpected type is ignored, so that the rest is not lost.
func Read(data []byte, named string) (Event, error) {
	var in input
	var other *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &in); err != nil && !errors.As(err, &other) || other != nil && other.Field == "" {
		return Event{}, fmt.Errorf("read the event: %w", err)
	}
	agent := in.agent(named)
	switch agent {
	case Cline:
		in.fromCline()
	case Windsurf:
		in.fromWindsurf()
	}
	e := Event{
		Agent: agent, Name: cmp.Or(in.EventName, in.CrushEvent), SubAgent: in.AgentID, Dir: in.Dir,
		Session:    cmp.Or(in.SessionID, in.SessionIDCamel, in.ConversationID),
		Transcript: cmp.Or(in.TranscriptPath, in.TranscriptCamel),
	}
	if e.Dir == "" && len(in.Roots) > 0 {
		e.Dir = in.Roots[0]
	}
	if e.Name == "" && agent == Copilot {
		e.Name = in.copilotEvent()
	}
	if e.Session == "" || e.Name == "" {
		return e, errNoEvent
	}
	if n := max(len(e.Session), len(e.SubAgent), len(e.Name)); n > maxName {
		return Event{Agent: agent}, fmt.Errorf("an id or a name of the event has %d bytes, want at most %d", n, maxName)
	}
	e.Kind = kindOf(agent, e.Name)
	switch e.Kind {
	case Before, After:
		e.Calls = []Call{in.call(agent, e.Kind)}
		if e.Calls[0].Tool == "" {
			return e, errNoEvent
		}
	case Batch:
		for _, b := range in.Calls {
			e.Calls = append(e.Calls, Call{ID: b.ID, Tool: b.Tool, Args: b.Args, Result: plainText(b.Response)})
		}
	case Prompt:
		e.Text = in.Prompt
	case Stop:
		e.Text = cmp.Or(in.LastMessage, in.PromptResponse)
		e.Continued = in.StopActive || in.LoopCount > 0
	}
	return e, nil
}

// agent returns the agent that wrote the input.
func (in *input) agent(named string) string {
	switch {
	case in.HookName != "" && in.TaskID != "":
		return Cline
	case in.Action != "":
		return Windsurf
	case in.ConversationID != "":
		return Cursor
	case in.EventName == "" && in.SessionIDCamel != "":
		return Copilot
	case named == Claude && in.CallID == "" && in.TranscriptPath == "" && in.Timestamp != nil:
		return Copilot // it uses Claude Code's names if it runs the hooks in Claude Code's settings
	case named != "":
		return named
	case in.EventName == "" && in.CrushEvent != "":
		return Crush
	case openCodeKinds[in.EventName] != Ignored:
		return OpenCode
	case geminiKinds[in.EventName] != Ignored:
		return Gemini
	case ampKinds[in.EventName] != Ignored:
		return Amp
	case kiroKinds[in.EventName] != Ignored:
		return Kiro // Cursor, which has the same names, has a conversation_id
	case in.TurnID != "":
		return Codex
	}
	return Claude
}

// copilotEvent returns the event by its fields, because Copilot CLI does not name it.
func (in *input) copilotEvent() string {
	switch {
	case in.ToolCamel != "" && in.Error != nil:
		return "postToolUseFailure"
	case in.ToolCamel != "" && in.Result != nil:
		return "postToolUse"
	case in.ToolCamel != "":
		return "preToolUse"
	case in.Prompt != "":
		return "userPromptSubmitted"
	case in.TranscriptCamel != "":
		return "agentStop"
	}
	return ""
}

var claudeKinds = map[string]Kind{
	"PreToolUse": Before, "PostToolUse": After, "PostToolUseFailure": After, "PostToolBatch": Batch,
	"UserPromptSubmit": Prompt, "Stop": Stop, "SubagentStop": Stop, "SessionEnd": SessionEnds,
}

var geminiKinds = map[string]Kind{
	"BeforeTool": Before, "AfterTool": After, "BeforeAgent": Prompt, "AfterAgent": Stop,
}

var cursorKinds = map[string]Kind{
	"preToolUse": Before, "postToolUse": After, "postToolUseFailure": After, "beforeSubmitPrompt": Prompt, "stop": Stop, "sessionEnd": SessionEnds,
}

var copilotKinds = map[string]Kind{
	"preToolUse": Before, "postToolUse": After, "postToolUseFailure": After, "userPromptSubmitted": Prompt, "agentStop": Stop, "sessionEnd": SessionEnds,
}

var openCodeKinds = map[string]Kind{
	"tool.execute.before": Before, "tool.execute.after": After, "chat.message": Prompt, "session.idle": Stop,
}

// kiroKinds has the names of Kiro's documentation. Its IDE begins them with a capital letter, as Claude Code does.
var kiroKinds = map[string]Kind{
	"preToolUse": Before, "postToolUse": After, "userPromptSubmit": Prompt, "sessionEnd": SessionEnds,
}

var ampKinds = map[string]Kind{"tool.call": Before, "tool.result": After, "agent.start": Prompt}

func kindOf(agent, event string) Kind {
	switch agent {
	case Gemini:
		if kind, ok := geminiKinds[event]; ok {
			return kind
		}
	case Cursor:
		if kind, ok := cursorKinds[event]; ok {
			return kind
		}
	case Copilot:
		if kind, ok := copilotKinds[event]; ok {
			return kind
		}
	case OpenCode:
		return openCodeKinds[event]
	case Windsurf:
		return windsurfKinds[event]
	case Amp:
		return ampKinds[event]
	case Kiro:
		if kind, ok := kiroKinds[event]; ok {
			return kind
		}
	}
	return claudeKinds[event]
}

// call reads the single call of an event.
func (in *input) call(agent string, kind Kind) Call {
	c := Call{ID: in.CallID, Tool: cmp.Or(in.Tool, in.ToolCamel), Args: firstOf(in.Args, in.ArgsCamel)}
	c.Args = objectIn(c.Args)
	c.Took = time.Duration(max(0, min(cmp.Or(in.DurationMS, in.Duration), 1e12)) * float64(time.Millisecond))
	if kind == Before {
		return c
	}
	switch {
	case in.ErrorText != "" || in.FailedBy != "":
		c.Failed, c.Error = true, cmp.Or(in.ErrorText, in.FailedBy)
	case in.Error != nil && !bytes.Equal(in.Error, []byte("null")):
		c.Failed, c.Error = true, errorText(in.Error)
	default:
		c.Result = plainText(firstOf(in.Response, objectIn(in.Output), in.Result))
		if agent == Gemini {
			c.readGemini(in.Response)
		}
		if agent == Copilot {
			c.readCopilot(in.Result)
		}
	}
	return c
}

// readGemini reads the result that the model sees, without the number of the process group, which differs at each call.
func (c *Call) readGemini(response json.RawMessage) {
	var r struct {
		Content json.RawMessage `json:"llmContent"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(response, &r) != nil || r.Content == nil {
		return
	}
	c.Result = plainText(r.Content)
	if r.Error != nil && !bytes.Equal(r.Error, []byte("null")) {
		c.Failed, c.Error = true, errorText(r.Error)
	}
	c.Result = gemini.WithoutProcessGroup(c.Result)
}

func (c *Call) readCopilot(result json.RawMessage) {
	var r struct {
		Type string  `json:"resultType"`
		Text *string `json:"textResultForLlm"`
	}
	if json.Unmarshal(result, &r) != nil || r.Text == nil {
		return
	}
	c.Result = quote(*r.Text)
	if r.Type != "" && r.Type != "success" {
		c.Failed, c.Error = true, *r.Text
	}
}

func firstOf(all ...json.RawMessage) json.RawMessage {
	for _, raw := range all {
		if raw != nil {
			return raw
		}
	}
	return nil
}

// objectIn returns the JSON in a string that contains an object or a list. Some agents write arguments and results in this form.
func objectIn(raw json.RawMessage) json.RawMessage {
	var text string
	if len(raw) < 2 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return raw
	}
	if inner := strings.TrimSpace(text); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
		return json.RawMessage(inner)
	}
	return raw
}

// plainText returns a list of text blocks as one text, and other values unchanged.
func plainText(raw json.RawMessage) json.RawMessage {
	var blocks []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &blocks) != nil || len(blocks) == 0 {
		return raw
	}
	var texts []string
	for _, b := range blocks {
		if b.Type != "text" && b.Type != "" || b.Text == nil {
			return raw
		}
		texts = append(texts, *b.Text)
	}
	return quote(strings.Join(texts, "\n"))
}

func errorText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return cmp.Or(text, "failed")
	}
	var object struct{ Message string }
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// quote returns a text as JSON.
func quote(text string) json.RawMessage {
	raw, _ := plainJSON(text) // a string can always be encoded
	return raw
}

// plainJSON encodes a value as agents do, without the escapes for HTML of encoding/json.
func plainJSON(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
