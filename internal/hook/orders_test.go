package hook

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// order gives an order on the server of the desk.
func (s *fakeServer) order(e unloop.Event) {
	s.orders = append(s.orders, Order{Number: int64(len(s.orders) + 1), Event: &e})
}

func TestWhatAPersonOrdersHoldsInEveryMode(t *testing.T) {
	for _, mode := range Modes() {
		t.Run(string(mode), func(t *testing.T) {
			server := &fakeServer{action: policy.Allow}
			d := newDesk(t, Claude, mode)
			d.server, d.env["UNLOOP_ENDPOINT"] = server, "http://localhost"
			n := 0
			call := func() (before, after string) {
				n++
				return d.claudeCall("s", n, fmt.Sprint("cat file", n), fmt.Sprint("text ", n*n))
			}
			call()
			server.order(unloop.Event{Type: unloop.Control, Name: unloop.ControlNudge, Text: "Look into the archive."})
			before, after := call()
			if !strings.Contains(before, `"additionalContext":"[unloop] A person who watches this session says: Look into the archive."`) || after != "" {
				t.Errorf("after a nudge: %s, %s", before, after)
			}
			if before, _ := call(); before != "" {
				t.Errorf("the nudge comes again: %s", before)
			}
			server.order(unloop.Event{Type: unloop.Control, Name: unloop.ControlPause})
			if before, _ := call(); !strings.Contains(before, `"permissionDecision":"deny"`) || !strings.Contains(before, "A person paused this session") {
				t.Errorf("in a pause: %s", before)
			}
			server.order(unloop.Event{Type: unloop.Control, Name: unloop.ControlResume})
			if before, _ := call(); before != "" {
				t.Errorf("after a pause: %s", before)
			}
			server.order(unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt, Text: "Enough."})
			for range 2 {
				if before, _ := call(); !strings.Contains(before, `"deny"`) || !strings.Contains(before, "A person halted this session: Enough.") {
					t.Errorf("after a halt: %s", before)
				}
			}
			server.order(unloop.Event{Type: unloop.Override, Name: "it polls"})
			if before, _ := call(); before != "" {
				t.Errorf("after it was allowed: %s", before)
			}
			blocked, overrides := 0, 0
			for _, e := range server.sent {
				switch e.Type {
				case unloop.ToolCallBlocked:
					blocked++
				case unloop.Override:
					overrides++
				}
			}
			if blocked != 3 || overrides != 0 {
				t.Errorf("sent %d blocked calls and %d overrides, want 3 and none", blocked, overrides)
			}
			d.noFaults()
		})
	}
}

func TestAHaltByAPersonEndsTheTurnWhereAHookCan(t *testing.T) {
	server := &fakeServer{action: policy.Allow}
	d := newDesk(t, Claude, Nudge)
	d.server, d.env["UNLOOP_ENDPOINT"] = server, "http://localhost"
	server.order(unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt})
	batch := `{"session_id":"s","prompt_id":"p","hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Bash","tool_input":{},"tool_use_id":"a","tool_response":"x"}]}`
	if got := d.run(batch); !strings.Contains(got, `"continue":false`) || !strings.Contains(got, "A person halted this session.") {
		t.Errorf("at the end of a batch: %s", got)
	}
	if got := d.run(`{"session_id":"s","hook_event_name":"Stop"}`); got != "" {
		t.Errorf("the agent may not stop: %s", got)
	}
}

func TestOrdersOutliveADamagedStateAndAServerThatIsAway(t *testing.T) {
	server := &fakeServer{action: policy.Allow}
	d := newDesk(t, Claude, Nudge)
	d.server, d.env["UNLOOP_ENDPOINT"] = server, "http://localhost"
	server.order(unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt})
	d.claudeCall("s", 1, "ls", "a")
	t.Run("without the server the halt holds", func(t *testing.T) {
		server.err = os.ErrDeadlineExceeded
		if before, _ := d.claudeCall("s", 2, "ls", "a"); !strings.Contains(before, "A person halted this session.") {
			t.Errorf("answered %s", before)
		}
	})
	t.Run("with a new state the server tells again", func(t *testing.T) {
		server.err = nil
		if err := os.RemoveAll(d.folder.path("sessions")); err != nil {
			t.Fatal(err)
		}
		if before, _ := d.claudeCall("s", 3, "ls", "a"); !strings.Contains(before, "A person halted this session.") {
			t.Errorf("answered %s", before)
		}
	})
}

func TestANewMessageOfAPersonEndsAHaltAndAPause(t *testing.T) {
	for name, act := range map[string]string{"a halt": unloop.ControlHalt, "a pause": unloop.ControlPause} {
		t.Run(name, func(t *testing.T) {
			server := &fakeServer{action: policy.Allow}
			d := newDesk(t, Claude, Nudge)
			d.server, d.env["UNLOOP_ENDPOINT"] = server, "http://localhost"
			n := 0
			denied := func() bool {
				n++
				before, _ := d.claudeCall("s", n, fmt.Sprint("cat file", n), "a")
				return strings.Contains(before, `"deny"`)
			}
			says := func(text string) {
				if got := d.run(fmt.Sprintf(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":%q}`, text)); got != "" {
					t.Errorf("a prompt is answered with %s", got)
				}
			}
			server.order(unloop.Event{ID: "order-1", Type: unloop.Control, Name: act})
			if !denied() {
				t.Error("the order does not hold")
			}
			says("<task-notification>\n<status>completed</status>\n</task-notification>")
			if !denied() {
				t.Error("a notice of the agent ends the order")
			}
			server.err = os.ErrDeadlineExceeded
			says("look into the archive")
			server.err = nil
			if denied() {
				t.Error("the person's message does not end the order")
			}
			server.order(unloop.Event{ID: "order-2", Type: unloop.Control, Name: unloop.ControlHalt})
			if !denied() {
				t.Error("a halt behind the message does not hold")
			}
			var ended []string
			for _, e := range server.sent {
				if e.Type == unloop.Control {
					ended = append(ended, e.Name+" "+e.ParentEventID)
				}
			}
			// The first one is of the prompt that the server did not answer.
			if diff := cmp.Diff([]string{"resume order-1", "resume order-1"}, ended); diff != "" {
				t.Errorf("what the server knows of the end: %s", diff)
			}
		})
	}
}
