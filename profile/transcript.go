package profile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Bounds of a transcript.
const (
	transcriptEntries = 24
	entryHead         = 300  // bytes of an entry from its beginning
	entryTail         = 150  // bytes from its end
	maskedBytes       = 4096 // bytes from either end that are masked before they are cut
)

// transcript keeps the latest calls, results and messages of a run as text, for second opinions.
type transcript struct {
	mask    func(string) string
	entries []string // oldest first
}

// KeepTranscript makes the session keep its latest 24 calls, results and messages for policy.Question. It keeps the first 300 and
// the last 150 bytes of each. The function mask hides secrets; nil means that the events contain none. Snapshots contain the
// transcript.
func (s *Session) KeepTranscript(mask func(string) string) {
	if s.transcript == nil {
		s.transcript = new(transcript)
	}
	s.transcript.mask = mask
}

// add adds an event. Events that do not show what the agent does are left out.
func (t *transcript) add(e *unloop.Event) {
	var entry string
	switch e.Type {
	case unloop.ToolCallStarted:
		entry = "call " + e.ToolName() + " " + t.excerpt(text(e.Input))
	case unloop.ToolCallCompleted:
		entry = "result " + t.excerpt(text(e.Output))
	case unloop.ToolCallFailed:
		failure := e.Error
		if failure == nil {
			failure = e.Output
		}
		entry = "error " + t.excerpt(text(failure))
	case unloop.ToolCallBlocked:
		entry = "blocked " + e.ToolName()
	case unloop.MessageSent:
		entry = e.Role + ": " + t.excerpt(e.Text)
	default:
		return
	}
	if len(t.entries) == transcriptEntries {
		t.entries = slices.Delete(t.entries, 0, 1)
	}
	t.entries = append(t.entries, entry)
}

// text returns the content of a JSON string, and other JSON unchanged.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// excerpt returns the masked beginning and end of a text. It masks before it cuts, because a cut secret is not recognised.
func (t *transcript) excerpt(s string) string {
	head, tail := s, ""
	if len(s) > 2*maskedBytes {
		head, tail = s[:maskedBytes], s[len(s)-maskedBytes:]
	}
	if t.mask != nil {
		head, tail = t.mask(head), t.mask(tail)
	}
	if tail == "" {
		tail = head
	}
	if len(head) <= entryHead+entryTail && len(s) <= 2*maskedBytes {
		return strings.ToValidUTF8(head, "")
	}
	head, tail = head[:min(len(head), entryHead)], tail[max(0, len(tail)-entryTail):]
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}

// size is the memory of the transcript in bytes.
func (t *transcript) size() int {
	if t == nil {
		return 0
	}
	bytes := 0
	for _, entry := range t.entries {
		bytes += len(entry) + 16
	}
	return bytes
}
