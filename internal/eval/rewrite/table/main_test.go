package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/eval/rewrite"
)

// looping is a judged run with one stretch: a command that fails in the same way six times.
func looping(t *testing.T) (path string) {
	t.Helper()
	const call = `,{"kind":"tool_call","tool":"bash","args":{"command":"make"},"result":"Exit code 2\nmake: no rule to make target all","error":"exit status 2"}`
	run := `{"id":"r","source":"s","outcome":"failure","labels":{"stuck":{"agreed":[{"onset":2,"end":6}],"borderline":[]}},"events":[{"kind":"message","role":"user","text":"Build it."}` +
		strings.Repeat(call, 6) + "]}\n"
	path = filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, []byte(run), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func printed(t *testing.T, form string, paths ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := write(bufio.NewWriter(&out), form, paths)
	return out.String(), err
}

func TestTheTableHasARowForEachForm(t *testing.T) {
	got, err := printed(t, "", looping(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != 2+len(rewrite.Forms()) {
		t.Fatalf("the table has %d lines:\n%s", len(lines), got)
	}
	if want := "| nothing else | 1 of 1 | 0 of 0 | 0 of 1 | 0 |"; lines[2] != want {
		t.Errorf("the first row is %s, want %s", lines[2], want)
	}
}

func TestTheRunsInOneForm(t *testing.T) {
	got, err := printed(t, "command_text", looping(t))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(got, "\n") != 1 || strings.Count(got, `"args":"make"`) != 6 || !strings.Contains(got, `"onset":2,"end":6`) {
		t.Errorf("the runs are %s", got)
	}
}

func TestErrorsOfTheTable(t *testing.T) {
	for name, tc := range map[string]struct{ form, path, want string }{
		"a form that does not exist": {"morse", looping(t), `unknown form "morse"`},
		"a file that does not exist": {"", "missing.jsonl", "open missing.jsonl: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := printed(t, tc.form, tc.path); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
