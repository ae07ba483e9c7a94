package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/mask"
)

// transcript is the new lines of a session's transcript. It has the model's messages, which hooks do not contain, and results of
// calls without a hook.
type transcript struct {
	items  []item
	next   int64  // offset of the next reading
	latest string // the model's latest message
}

// item is a relevant line of a transcript.
type item struct {
	text   string // of a model message
	call   *Call  // outcome; only ID, Result, Failed and Error are set
	id     string // of the model message
	tokens int
}

// maxTranscript is the maximum number of bytes of a transcript that one hook reads. If there are more, it reads the end.
const maxTranscript = 1 << 20

// readTranscript reads the lines that were added to a transcript after an offset. An incomplete line is left for the next time. A
// missing file, or one shorter than the offset, has no new lines.
func readTranscript(path string, from int64) (*transcript, error) {
	t := &transcript{next: from}
	file, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil // agents name it before they create it
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || size <= from {
		return t, err
	}
	begin := max(from, size-maxTranscript)
	data, err := io.ReadAll(io.NewSectionReader(file, begin, size-begin))
	if err != nil {
		return nil, err
	}
	if begin > from {
		_, data, _ = bytes.Cut(data, []byte("\n")) // the first line is incomplete
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	t.next = size - int64(len(data)-whole)
	for line := range bytes.Lines(data[:whole]) {
		t.readLine(line)
	}
	return t, nil
}

// line is a line of a transcript of Codex, or of Claude Code and agents with the same format.
type line struct {
	Type      string          `json:"type"`
	Sidechain bool            `json:"isSidechain"`
	APIError  bool            `json:"isApiErrorMessage"`
	Message   json.RawMessage `json:"message"`
	Payload   *struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		CallID  string          `json:"call_id"`
		Output  json.RawMessage `json:"output"`
		Content json.RawMessage `json:"content"`
	} `json:"payload"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Usage   struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ToolID  string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

func (t *transcript) readLine(raw []byte) {
	var l line
	if json.Unmarshal(raw, &l) != nil || l.Sidechain || l.APIError {
		return
	}
	if p := l.Payload; p != nil && l.Type == "response_item" {
		switch {
		case p.Type == "message" && p.Role == unloop.RoleAssistant:
			t.say(textOf(p.Content))
		case strings.HasSuffix(p.Type, "_call_output"):
			t.items = append(t.items, item{call: &Call{ID: p.CallID, Result: plainText(p.Output)}})
		}
		return
	}
	var m message
	if l.Type != "assistant" && l.Type != "user" || json.Unmarshal(l.Message, &m) != nil || m.Model == "<synthetic>" {
		return
	}
	if l.Type == "assistant" {
		u := &m.Usage
		t.items = append(t.items, item{id: m.ID, tokens: u.Input + u.Output + u.CacheRead + u.CacheWrite})
		t.say(textOf(m.Content))
		return
	}
	var blocks []block
	if json.Unmarshal(m.Content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if b.Type != "tool_result" || b.ToolID == "" {
			continue
		}
		c := &Call{ID: b.ToolID, Result: plainText(b.Content), Failed: b.IsError}
		if c.Failed {
			c.Error = textOf(b.Content)
		}
		t.items = append(t.items, item{call: c})
	}
}

// mask masks the read lines.
func (t *transcript) mask(m *mask.Masker) {
	for k := range t.items {
		i := &t.items[k]
		i.text, i.id = m.Text(i.text), m.ID(i.id)
		if i.call != nil {
			i.call.ID = m.ID(i.call.ID)
			i.call.Result, i.call.Error = m.Raw(i.call.Result), m.Text(i.call.Error)
		}
	}
	t.latest = m.Text(t.latest)
}

func (t *transcript) say(text string) {
	if strings.TrimSpace(text) != "" {
		t.items = append(t.items, item{text: text})
		t.latest = text
	}
}

// textOf returns the text of a string, or of the text blocks in a list.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" || b.Type == "output_text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// foldTranscript folds the transcript: messages, and ends of open calls without a hook. It skips calls that wait for their batch.
func (j *judge) foldTranscript(t *transcript) {
	if t == nil {
		return
	}
	j.Read = t.next
	for _, i := range t.items {
		switch {
		case i.text != "":
			j.text(unloop.RoleAssistant, i.text)
		case i.call != nil:
			j.foldMissed(*i.call)
		default:
			j.countTokens(i)
		}
	}
}

func (j *judge) foldMissed(c Call) {
	for k := range j.Open {
		if j.Open[k].ID != c.ID || j.event.Kind == Batch {
			continue
		}
		c.Tool = j.Open[k].Tool
		for _, w := range j.Waiting {
			if w.ID == c.ID {
				c.Took = w.Took
			}
		}
		j.end(c)
		return
	}
}

// countTokens counts the tokens of a model call. Several lines of one message repeat or increase its usage.
func (j *judge) countTokens(i item) {
	if i.id == j.LastID && i.id != "" {
		j.Tokens += max(0, i.tokens-j.LastN)
		j.LastN = max(j.LastN, i.tokens)
		return
	}
	j.Tokens += i.tokens
	j.LastID, j.LastN = i.id, i.tokens
}
