package hook

import (
	"testing"
	"time"
)

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
