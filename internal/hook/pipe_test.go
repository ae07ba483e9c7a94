package hook

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe without a writer would make the hook wait, and with it the agent and the other hooks of the session.
func TestAHookDoesNotWaitForAPipe(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	pipe := filepath.Join(d.env["HOME"], "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(fmt.Sprintf(`{"session_id":"s","prompt_id":"p","hook_event_name":"PreToolUse","transcript_path":%q,"tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`, pipe))
	if faults := d.entries("fault"); len(faults) != 1 {
		t.Errorf("faults %+v, want one about the transcript", faults)
	}
}
