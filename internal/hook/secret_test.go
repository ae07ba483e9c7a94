package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// secret has the form of a token.
const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// keepsNoSecret fails the test for each file of the folder that contains the secret.
func (d *desk) keepsNoSecret() {
	d.t.Helper()
	if err := filepath.WalkDir(string(d.folder), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			d.t.Errorf("%s has the secret", path)
		}
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
}

func TestASecretIsMaskedInAllThatIsKept(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	for n := range 10 {
		d.claudeCall("s", n, "curl -H 'Authorization: Bearer "+secret+"' example.org", "403 for "+secret)
	}
	d.keepsNoSecret()
	if len(d.entries("nudge")) == 0 {
		t.Error("there was no nudge, so that nothing was shown")
	}
}

func TestASecretInAnyFieldOfAnEventIsMasked(t *testing.T) {
	d := newDesk(t, Claude, Guard)
	transcript := filepath.Join(t.TempDir(), "transcript.jsonl")
	lines := raw(map[string]any{"type": "assistant", "message": map[string]any{
		"id": secret, "content": []any{map[string]any{"type": "text", "text": secret}}, "usage": map[string]int{"output_tokens": 1},
	}})
	if err := os.WriteFile(transcript, []byte(lines+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, subAgent := range []string{"", secret} {
		for n := range 10 {
			for _, name := range []string{"PreToolUse", "PostToolUse", secret} {
				d.run(raw(map[string]any{
					"session_id": "s " + secret, "prompt_id": secret, "agent_id": subAgent, "cwd": filepath.Join(d.env["HOME"], secret), "hook_event_name": name,
					"transcript_path": transcript, "tool_name": "mcp__" + secret, "tool_use_id": fmt.Sprint(secret, n),
					"tool_input": map[string]any{secret: secret}, "tool_response": secret,
				}))
			}
		}
	}
	d.keepsNoSecret()
	if len(d.entries("nudge")) == 0 {
		t.Error("there was no nudge: the results did not join their calls")
	}
}
