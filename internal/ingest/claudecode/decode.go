// Package claudecode reads the output of Claude Code: the session files under ~/.claude/projects, one JSON object per line, and
// the lines that it prints with --output-format stream-json. Both contain messages of Anthropic's Messages API in different
// envelopes. One decoder reads both, and each format has its own sniff function.
//
// An event's Index counts the non-blank lines, from 0. The run is the session. If a file continues with the id of another
// session, another run begins.
//
// Special cases:
//
//   - One message of the model is on several lines with one message.id, one content block each. Its usage is repeated on
//     each line or grows from line to line; the maximum is correct. The first line sends the model call. A line with more
//     tokens sends another completion with the difference. The sum is then correct, and the started calls are counted once.
//   - A broken stream is sent again: its calls occur twice with one id, first without a result. Each is one call.
//   - A resumed session begins with a copy of earlier lines. A uuid counts once.
//   - toolUseResult repeats the result in the message and is not read.
//   - A rewind leaves the abandoned lines in the file, and the parentUuid of the next line refers to a line before them.
//     They stay in the run, because the steps happened, and repeating them is what loop detection looks for.
//   - Some texts of type user are not from the user: see entry.injected.
//   - The lines of a sub-agent belong to the agent agentId, else "sidechain", or in a stream to the id of the tool call that
//     started it. A file of a sub-agent only is the run "session/agent", because otherwise its events would have the ids of
//     the main file's.
//   - The result of a stream ends the run of this process. Its cost and its usage per model are totals of the process, so
//     the second result of a process includes the first one. The end of the run has the additional cost, and the tokens that
//     the messages did not have, because a stream prints messages before their output is counted.
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

// sniffSession looks for a line of the conversation. Earlier lines are metadata, which name the session or have their own form.
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
	case "system":
		return m["subtype"] != "" && (m["subtype"] != "init" || has(m, "tools")) // Cursor's has no tools
	case "result":
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

// decoder keeps the facts of earlier lines that later lines need: a uuid for each line of the conversation, and two numbers for
// each message of the model.
type decoder struct {
	in   *ingest.Input
	emit ingest.Emit

	index int // of the current line
	seen  map[string]bool
	runs  map[string]*run
	agent string // the sub-agent of the whole file
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

// entry sends the events of a line of the conversation, unless an earlier line had them.
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
		return r.addMessage(at, e, blocks)
	}
	return r.answered(at, e, blocks)
}

// run returns the run of the session, a new or an existing one.
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
