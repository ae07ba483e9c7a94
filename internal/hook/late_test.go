package hook

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestADamagedLateEventDoesNotReplaceThatOfTheHook(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	late := Event{Agent: Claude, Name: "PreToolUse", Kind: Before, Session: "s", Calls: []Call{{ID: "a", Tool: "Bash"}}}
	damaged := filepath.Join(d.folder.path("late", key(Claude, "s", "")), "9.json")
	if err := errors.Join(d.folder.keepLate(&late, time.Unix(0, 0)), os.WriteFile(damaged, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.run(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{},"tool_use_id":"b"}`)
	g := d.folder.path("sessions", key(Claude, "s", "")+".state")
	data, err := os.ReadFile(g)
	if err != nil {
		t.Fatal(err)
	}
	about, _, err := split(data)
	if err != nil || len(about.Open) != 2 || about.Open[1].Tool != "Read" {
		t.Errorf("the open calls are %+v, want the late one of Bash and that of Read; %v", about.Open, err)
	}
}

func TestAnEventThatCouldNotHaveTheLockIsFoldedByTheNextHook(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		e := Event{Agent: Claude, Name: "PreToolUse", Kind: Before, Session: "s", Calls: []Call{{ID: string(rune('a' + n)), Tool: "Bash"}}}
		if err := d.folder.keepLate(&e, time.Unix(int64(n), 0)); err != nil {
			t.Fatal(err)
		}
	}
	d.run(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"c"}`)
	d.run(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"d"}`)
	about, _, err := d.folder.Find("s")
	if err != nil || about.Calls != 4 {
		t.Errorf("%+v, %v", about, err)
	}
	d.noFaults()
}

func TestLateEventsOfSessionsThatEndedAreRemoved(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	if err := d.folder.make(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, session := range []string{"ended", "idle"} {
		if err := d.folder.keepLate(&Event{Agent: Claude, Name: "PreToolUse", Kind: Before, Session: session}, now); err != nil {
			t.Fatal(err)
		}
	}
	ended := d.folder.path("late", key(Claude, "ended", ""))
	half := filepath.Join(ended, "1.json.next") // as a process that was killed leaves
	old := now.Add(-keptAge - time.Hour)
	if err := errors.Join(os.WriteFile(half, []byte("{"), 0o600), os.Chtimes(ended, old, old), d.folder.sweep(now)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(d.folder.path("late"))
	if err != nil || len(left) != 1 || left[0].Name() != key(Claude, "idle", "") {
		t.Errorf("left are %v, want the folder of the idle session; %v", left, err)
	}
}
