// Package claudecode reads what Claude Code writes: the session files under ~/.claude/projects, one JSON object a line,
// and the lines that it prints with --output-format stream-json. Both wrap messages of Anthropic's Messages API and
// differ in what stands around them, so that one decoder reads both; a sniff each tells them apart.
//
// An event's Index counts the lines that are not blank, from 0. The run is the session; when a file goes on under
// another session's id, another run begins.
//
// Special cases:
//
//   - One message of the model stands on several lines, a content block each, with one message.id. Its usage is
//     repeated on each line or grows from line to line; the largest is right. The first line sends the model call, and
//     a line that tells more sends a further completion with the difference: the sum is right and the calls that
//     started are counted once.
//   - A stream that broke is sent again: its calls come twice under one id, the first time without a result. Each is one call.
//   - A resumed session begins with a copy of earlier lines. A uuid counts once.
//   - toolUseResult beside a message repeats the result that the message holds, and is not read.
//   - A rewind leaves the lines that were given up in the file, and the next line's parentUuid points back beyond them.
//     They stay in the run: the steps were taken, and to have taken them again is what loop detection is for.
//   - Not all that is of type user was said by the user: see entry.injected.
//   - The lines of a sub-agent are the agent's by whose id they go: agentId, else "sidechain", or in a stream the id
//     of the tool call that started it. A file that holds nothing but a sub-agent is a run of its own,
//     "session/agent", or its events would have the ids of the main file's.
//   - A stream's result ends the run as far as this process goes. Its cost and its usage per model are totals of the
//     process, so that the second result of a process repeats the first one's. The run's end carries the cost that is
//     new, and the tokens that the messages did not tell: a stream prints messages before their output is counted.
//
// Lines of other types (system, summary, attachment, file-history-snapshot, progress, stream_event …) are skipped.
package claudecode

import (
	"bytes"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// Sessions is the format of session files.
func Sessions() ingest.Format {
	return ingest.Format{
		Name:   "claude-code",
		Title:  "Claude Code session (~/.claude/projects/…/*.jsonl)",
		Sniff:  sniffSession,
		Decode: decode,
		Whole:  true,
		Grows:  true,
	}
}

// Stream is the format of claude --output-format stream-json.
func Stream() ingest.Format {
	return ingest.Format{
		Name:   "claude-stream",
		Title:  "Claude Code headless output (--output-format stream-json)",
		Sniff:  sniffStream,
		Decode: decode,
		Whole:  true,
		Grows:  true,
	}
}

// sniffSession looks for a line of the conversation. What may stand before it is bookkeeping, which names the session
// or has a shape of its own.
func sniffSession(head []byte) bool {
	bookkeeping := false
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m, list := ingest.Members(line)
		if list || m["type"] == "" || hasAny(m, "session_id", "run_id", "event_id", "payload") {
			return false
		}
		if has(m, "sessionId") && hasAny(m, "uuid", "parentUuid") {
			return true
		}
		own := has(m, "leafUuid") || has(m, "snapshot") && has(m, "messageId")
		if !own && !has(m, "sessionId") {
			return false
		}
		bookkeeping = bookkeeping || own
	}
	return bookkeeping
}

func sniffStream(head []byte) bool {
	m, list := ingest.Members(head)
	if list || !has(m, "session_id") || hasAny(m, "sessionId", "run_id", "event_id") {
		return false
	}
	switch m["type"] {
	case "system", "result":
		return has(m, "subtype")
	case "user", "assistant":
		return has(m, "message")
	case "stream_event":
		return has(m, "event")
	}
	return false
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}

func hasAny(m map[string]string, names ...string) bool {
	for _, name := range names {
		if has(m, name) {
			return true
		}
	}
	return false
}

// decoder holds what later lines need to know of earlier ones: a uuid for each line of the conversation, and two
// numbers for each message of the model.
type decoder struct {
	in   *ingest.Input
	emit ingest.Emit

	index int // of the line at hand
	seen  map[string]bool
	runs  map[string]*run
	agent string // the sub-agent that the whole file belongs to
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	d := &decoder{in: in, emit: emit, index: -1, seen: make(map[string]bool), runs: make(map[string]*run)}
	return in.EachLine(d.line)
}

func (d *decoder) line(line ingest.Line) error {
	d.index++
	var kind struct {
		Type string `json:"type"`
	}
	if err := d.in.Unmarshal(line.Number, line.Bytes, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case "user", "assistant":
		var e entry
		if err := d.in.Unmarshal(line.Number, line.Bytes, &e); err != nil {
			return err
		}
		return d.entry(line.Number, &e)
	case "result":
		var r result
		if err := d.in.Unmarshal(line.Number, line.Bytes, &r); err != nil {
			return err
		}
		return d.run(r.Session).end(ingest.Location{Index: d.index}, &r)
	}
	return nil
}

// entry sends what a line of the conversation tells, unless an earlier one told it.
func (d *decoder) entry(line int, e *entry) error {
	if d.seen[e.UUID] {
		return nil
	}
	if e.UUID != "" {
		d.seen[e.UUID] = true
	}
	blocks, err := d.in.Blocks(line, "message.content", e.Message.Content)
	if err != nil {
		return err
	}
	if len(d.runs) == 0 && e.Sidechain {
		d.agent = e.AgentID
	}
	at := ingest.Location{Index: d.index, Time: ingest.Time(e.Time), Agent: e.agent()}
	r := d.run(e.session())
	if e.Type == "user" {
		return r.said(at, e, blocks)
	}
	return r.answered(at, e, blocks)
}

// run returns the session's run, new or as it was.
func (d *decoder) run(session string) *run {
	id := session
	if id == "" {
		id = d.in.Run
	}
	if d.agent != "" {
		id += "/" + d.agent
	}
	r := d.runs[id]
	if r == nil {
		r = &run{trail: ingest.NewEventBuilder(id, d.emit), spent: make(map[string]spending), open: make(map[string]bool)}
		d.runs[id] = r
	}
	return r
}
