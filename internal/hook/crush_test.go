package hook

import (
	"fmt"
	"strings"
	"testing"
)

func TestAnAgentThatShowsNoResultsIsJudgedByItsCalls(t *testing.T) {
	d := newDesk(t, Crush, Guard)
	said := ""
	for range 40 {
		answer := d.run(`{"event":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"bash","tool_input":{"command":"make"}}`)
		switch {
		case strings.Contains(answer, `"context"`):
			said += "n"
		case strings.Contains(answer, `"deny"`), strings.Contains(answer, `"halt"`):
			said += "d"
		}
	}
	if !strings.HasPrefix(said, "n") || !strings.Contains(said, "d") {
		t.Errorf("said %q", said)
	}
	d.noFaults()
	for n := range 40 {
		if answer := d.run(fmt.Sprintf(`{"event":"PreToolUse","session_id":"t","cwd":"/w","tool_name":"bash","tool_input":{"command":"make %d"}}`, n)); answer != "" {
			t.Fatalf("healthy work: %s", answer)
		}
	}
}
