package trace

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
)

// Messages are the messages of a model call. Each call repeats the whole conversation, so Input has only what follows the latest
// answer of the model in it. Facts.Messages is their JSON.
type Messages struct {
	Opens  bool      `json:"opens,omitzero"`   // the input has no earlier answer
	Root   string    `json:"root,omitempty"`   // the first message of the user in the whole input, which RootText shortens
	Input  []Message `json:"input,omitempty"`  // at most MaxInput
	Answer string    `json:"answer,omitempty"` // the text of the model

	// RootHash replaces Root in a stored span without its content.
	RootHash string `json:"root_hash,omitempty"`
}

// Message is a message that the input of a model call adds to the conversation.
type Message struct {
	Role string `json:"role"` // system or user
	Text string `json:"text"`
	Nth  int    `json:"nth,omitzero"` // number of equal messages before it in the whole input

	// Hash is of the whole text and Nth in a stored span with a part of its content.
	Hash string `json:"hash,omitempty"`
}

// Limits of the messages of a model call.
const (
	MaxInput = 256      // messages of its input
	MaxText  = 32 << 10 // bytes of a text
	rootSize = 512      // bytes of the text that identifies a conversation
)

// Encode returns the messages as JSON, or "" if there are none.
func (m *Messages) Encode() string {
	if len(m.Input) == 0 && m.Answer == "" {
		return ""
	}
	data, err := json.Marshal(m)
	if err != nil {
		return "" // impossible: they are texts and numbers
	}
	return string(data)
}

// messages returns the messages of a span. It returns none for other JSON than that of Encode.
func (f *Facts) messages() (m Messages) {
	if f.Messages == "" || json.Unmarshal([]byte(f.Messages), &m) != nil {
		return Messages{}
	}
	m.Input = m.Input[:min(len(m.Input), MaxInput)]
	return m
}

// CutMessages returns encoded messages whose texts are replaced by cut. The events of the spans of a trace stay the same, apart from
// these texts.
func CutMessages(encoded string, cut func(string) string) string {
	f := Facts{Messages: encoded}
	m := f.messages()
	for i := range m.Input {
		in := &m.Input[i]
		in.Hash = strconv.FormatUint(in.hash(), 16)
		in.Text = cut(in.Text)
	}
	if root := m.root(); root != 0 {
		m.Root, m.RootHash = "", strconv.FormatUint(root, 16)
	}
	m.Answer = cut(m.Answer)
	return m.Encode()
}

func (m *Message) hash() uint64 {
	if h, err := strconv.ParseUint(m.Hash, 16, 64); err == nil {
		return max(h, firstHash)
	}
	return max(Hash(m.Role+"\x00"+strconv.Itoa(m.Nth)+"\x00"+m.Text), firstHash)
}

// root returns the hash of the first message of the user, or 0 if the input has none.
func (m *Messages) root() uint64 {
	if h, err := strconv.ParseUint(m.RootHash, 16, 64); err == nil {
		return h
	}
	if m.Root == "" {
		return 0
	}
	return max(Hash(m.Root), 1)
}

// RootText returns the part of a conversation's first message that identifies it.
func RootText(text string) string {
	if len(text) <= rootSize {
		return text
	}
	return Shorten(text, rootSize) + " " + strconv.Itoa(len(text))
}

// Shorten returns the first bytes of a text, at most the given number. It cuts after a space, so that no part of a secret remains
// that masks do not recognise. A text without a space becomes empty.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most-1] != ' ' && text[most-1] != '\n' && text[most-1] != '\t' {
		most--
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

const (
	inputSuffix  = ".input"  // a number follows
	answerSuffix = ".answer" // of a call that took some time
	replySuffix  = ".reply"  // of a call without a known duration, which has another place among events of the same time
)

// messages returns the events of the messages of a model call: those of the input at its start, and the answer at its end.
func (t *Trace) messages(n *node) (events []*unloop.Event) {
	from := n.speaker()
	if from == nil || n.canonical() != n || n.span.Deleted {
		return nil
	}
	m := from.span.messages()
	if !t.reads(&from.span, &m) {
		return nil
	}
	key := claimKey{run: from.span.Run, conversation: m.root()}
	for i := range m.Input {
		if key.message = m.Input[i].hash(); !t.speaksFor(n, key) {
			continue
		}
		e := t.event(n, &combined{}, unloop.MessageSent)
		e.ID, e.Time = n.base()+inputSuffix+strconv.Itoa(i), TimeOf(n.span.Start, n.span.End)
		e.Role, e.Text, e.Agent = m.Input[i].Role, m.Input[i].Text, ""
		events = append(events, e)
	}
	if m.Answer != "" && !n.span.Open {
		events = append(events, t.answer(n, m.Answer))
	}
	return events
}

func (t *Trace) answer(n *node, text string) *unloop.Event {
	whole := n.together()
	e := t.event(n, &whole, unloop.MessageSent)
	suffix := replySuffix
	if n.span.Start != 0 && n.span.End > n.span.Start {
		suffix = answerSuffix
	}
	e.ID, e.Time = n.base()+suffix, TimeOf(n.span.End, n.span.Start)
	e.Role, e.Text = unloop.RoleAssistant, text
	return e
}

// speaker returns the span that has the messages of the call that n represents, or nil.
func (n *node) speaker() *node {
	if n.span.Kind != Model {
		return nil
	}
	if n.span.Messages != "" {
		return n
	}
	for _, m := range n.others() {
		if m.span.Messages != "" {
			return m
		}
	}
	return nil
}
