package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest/ingesttest"
	"github.com/unloop-ai/unloop/internal/ingest/labelled"
	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// claudeSession writes the hooks' inputs and the transcript that Claude Code would have written in a run.
type claudeSession struct {
	t          *testing.T
	folder     Folder
	profile    *profile.Profile
	masker     *mask.Masker
	session    string
	transcript *os.File
	now        time.Time
	open       []string
	args       map[string]json.RawMessage
	tools      map[string]string
	calls      int
	decisions  []string
}

// said writes a decision in a line.
func said(action policy.Action, code string, count int) string {
	return fmt.Sprintf("%v %s %d", action, code, count)
}

// hook runs one hook, as Hook.Run does it, and keeps the decisions.
func (c *claudeSession) hook(name string, more map[string]any) {
	c.t.Helper()
	input := map[string]any{"session_id": c.session, "prompt_id": "p", "hook_event_name": name, "transcript_path": c.transcript.Name()}
	for k, v := range more {
		input[k] = v
	}
	e, err := Read([]byte(raw(input)), Claude)
	if err != nil {
		c.t.Fatal(err)
	}
	maskEvent(c.masker, &e)
	s, err := c.folder.load(&e, c.profile, func() time.Time { return c.now })
	if err != nil {
		c.t.Fatal(err)
	}
	s.Mode = Shadow
	h := Hook{Folder: c.folder, Now: time.Now}
	j := &judge{session: s, event: &e, mode: Shadow, profile: c.profile}
	j.fold(h.transcript(&e, s, c.masker))
	for _, step := range j.steps {
		if r := step.Ruling; r.Action != policy.Allow {
			c.decisions = append(c.decisions, said(r.Action, r.Code, r.Count))
		}
	}
	if err := c.folder.save(s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *claudeSession) say(text string) {
	line := map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}}
	if _, err := c.transcript.WriteString(raw(line) + "\n"); err != nil {
		c.t.Fatal(err)
	}
}

// play tells one event of a run. A call without an id ends the oldest open one of its tool.
func (c *claudeSession) play(e *unloop.Event) {
	c.now = e.Time
	switch e.Type {
	case unloop.MessageSent:
		if e.Role == unloop.RoleAssistant {
			c.say(e.Text)
		}
		if e.Role == unloop.RoleUser {
			c.hook("UserPromptSubmit", map[string]any{"prompt": e.Text})
		}
	case unloop.ToolCallStarted:
		c.calls++
		id := e.CallID
		if id == "" {
			id = fmt.Sprint("toolu_", c.calls)
		}
		c.open = append(c.open, id)
		c.tools[id], c.args[id] = e.ToolName(), e.Input
		c.hook("PreToolUse", c.about(id))
	case unloop.ToolCallCompleted, unloop.ToolCallFailed:
		c.end(e)
	}
}

func (c *claudeSession) about(id string) map[string]any {
	return map[string]any{"tool_name": c.tools[id], "tool_input": c.args[id], "tool_use_id": id}
}

func (c *claudeSession) end(e *unloop.Event) {
	id := e.CallID
	for _, open := range c.open {
		if id == "" && (e.ToolName() == "" || c.tools[open] == e.ToolName()) {
			id = open
		}
	}
	c.open = slices.DeleteFunc(c.open, func(open string) bool { return open == id })
	if id == "" {
		return
	}
	call, name := c.about(id), "PostToolUse"
	text := json.RawMessage(e.Output)
	if e.Type == unloop.ToolCallFailed {
		name, text = "PostToolUseFailure", e.Error
		call["error"] = e.Error
	}
	if text != nil {
		call["tool_response"] = text
	}
	c.hook(name, call)
	delete(call, "error")
	c.hook("PostToolBatch", map[string]any{"tool_calls": []any{call}})
}

// ofScan returns the decisions of a scan of the run with its secrets masked, as "unloop import" and a server store a run.
func ofScan(p *profile.Profile, events []*unloop.Event, masker *mask.Masker) (decisions []string) {
	s := p.NewSession("run")
	for k := range events {
		e := *events[k]
		e.Text = masker.Text(e.Text)
		e.Input, e.Output, e.Error = masker.Raw(e.Input), masker.Raw(e.Output), masker.Raw(e.Error)
		if d := s.Add(&e); d.Action != policy.Allow {
			decisions = append(decisions, said(d.Action, d.Code, d.Count))
		}
	}
	return decisions
}

// ofBoth returns the decisions of a scan and of the hooks in the run. A message at the end of the run is told when the agent stops.
func ofBoth(t *testing.T, p *profile.Profile, events []*unloop.Event) (scan, hooks []string) {
	t.Helper()
	folder := Folder(t.TempDir())
	if err := folder.make(); err != nil {
		t.Fatal(err)
	}
	transcript, err := os.Create(filepath.Join(string(folder), "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer transcript.Close()
	masker, err := (&Hook{Folder: folder}).masker()
	if err != nil {
		t.Fatal(err)
	}
	c := claudeSession{t: t, folder: folder, profile: p, masker: masker, session: "s", transcript: transcript, args: map[string]json.RawMessage{}, tools: map[string]string{}}
	for k := range events {
		c.play(events[k])
	}
	c.hook("Stop", map[string]any{"stop_hook_active": false})
	return ofScan(p, events, masker), c.decisions
}

// relevant returns the events that an agent has a hook or a line of its transcript for.
func relevant(events []*unloop.Event) (kept []*unloop.Event) {
	for k := range events {
		switch e := *events[k]; e.Type {
		case unloop.ToolCallStarted, unloop.ToolCallCompleted, unloop.ToolCallFailed, unloop.MessageSent:
			if e.Type != unloop.MessageSent || e.Role != unloop.RoleSystem && strings.TrimSpace(e.Text) != "" {
				e.Agent, e.Latency, e.Hints, e.Tokens, e.Cost = "", nil, nil, 0, 0
				if e.Type == unloop.ToolCallFailed {
					e.Output = nil // Claude Code has one text of a failed call
				}
				var compact bytes.Buffer
				if json.Compact(&compact, e.Input) == nil {
					e.Input = compact.Bytes() // as it writes arguments
				}
				kept = append(kept, &e)
			}
		}
	}
	return kept
}

func shadowed(t *testing.T) *profile.Profile {
	t.Helper()
	p, err := profile.Load(profile.Source{Sets: []string{"shadow=true"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestASessionThroughTheHookGetsTheDecisionsOfAScan(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "replay", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no runs: %v", err)
	}
	p := shadowed(t)
	some := 0
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(file)) {
			events, _, err := ingesttest.Decode(labelled.Format(), []byte(line))
			if err != nil {
				t.Fatal(err)
			}
			events = relevant(events)
			want, got := ofBoth(t, p, events)
			some += len(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.60s: -scan +hook:\n%s", line, diff)
			}
		}
	}
	if some == 0 {
		t.Error("no run has a decision, so that nothing was compared")
	}
}

// TestReplayOf compares the decisions for the runs in the file that UNLOOP_REPLAY names, of the source that UNLOOP_REPLAY_SOURCE names a
// part of. Without the variable it compares none.
func TestReplayOf(t *testing.T) {
	path := os.Getenv("UNLOOP_REPLAY")
	if path == "" {
		return
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := shadowed(t)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	runs, equal, flagged := 0, 0, 0
	for lines.Scan() {
		var about struct{ ID, Source string }
		if err := json.Unmarshal(lines.Bytes(), &about); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(about.Source, os.Getenv("UNLOOP_REPLAY_SOURCE")) {
			continue
		}
		events, _, err := ingesttest.Decode(labelled.Format(), append(lines.Bytes(), '\n'))
		if err != nil {
			t.Fatalf("%s: %v", about.ID, err)
		}
		events = relevant(events)
		want, got := ofBoth(t, p, events)
		runs++
		if len(want) > 0 {
			flagged++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Logf("%s: -scan +hook:\n%s", about.ID, diff)
			continue
		}
		equal++
	}
	t.Logf("%d of %d runs have equal decisions; %d have any", equal, runs, flagged)
	if err := lines.Err(); err != nil || equal < runs {
		t.Errorf("%d of %d runs differ (%v)", runs-equal, runs, err)
	}
}
