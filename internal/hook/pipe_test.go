package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// An agent reads the status 2 of a process without memory as a denial, and waits for one that waits for a pipe.
func TestNoFileOfTheFolderStopsAHook(t *testing.T) {
	const event = `{"session_id":"s","prompt_id":"p","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t","tool_response":{"stdout":"x"}}`
	for name, damage := range map[string]func(path string) error{
		"a pipe":                        func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"a file larger than the memory": func(path string) error { return os.Truncate(path, 1<<40) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Claude, Guard)
			d.run(event)
			for _, name := range []string{"log.jsonl", "server"} {
				if err := os.WriteFile(d.folder.path(name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range d.files() {
				if err := damage(file); err != nil {
					t.Fatal(err)
				}
			}
			d.run(event)
		})
	}
}

// files returns the regular files in the folder.
func (d *desk) files() (all []string) {
	d.t.Helper()
	err := filepath.WalkDir(string(d.folder), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) < 6 {
		d.t.Fatalf("%d files, error %v", len(all), err)
	}
	return all
}
