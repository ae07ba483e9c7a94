package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// hostile is a name that moves the cursor, sets a window's title, turns the text round and pretends to be another message.
const hostile = "a\x1b[2J\x1b]0;owned\x07\u202e\u009b31m\nunloop: all is well\r##[error]b"

func TestNamesOfFilesAndRunsAreEscapedForTheTerminal(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	quotedName := `"a\u001b[2J\u001b]0;owned\u0007\u202e\u009b31m\nunloop: all is well\r##[error]b"`
	var stuck strings.Builder
	for range 12 {
		stuck.WriteString(`{"run_id":` + quotedName + `,"type":"tool_call_started","agent":` + quotedName + `,"tool":` + quotedName + `,"input":{"a":` + quotedName + `}}` + "\n" +
			`{"run_id":` + quotedName + `,"type":"tool_call_failed","tool":` + quotedName + `,"error":` + quotedName + "}\n")
	}
	loops := write(hostile+".jsonl", stuck.String())
	broken := write(hostile+"-broken.jsonl", `{"run_id":"r","type":"message"}`+"\n{broken\n{}\n")
	labelled := write(hostile+"-labelled.jsonl", `{"id":`+quotedName+`,"source":"s","outcome":"failure","labels":{"loop":{"kind":`+quotedName+
		`,"onset":0,"end":1}},"events":[{"kind":"tool_call","agent":null,"tool":"a","args":{},"result":"b","error":null},{"kind":"tool_call","agent":null,"tool":"a","args":{},"result":"b","error":null}]}`+"\n")
	missing := filepath.Join(folder, hostile+"-missing")
	for _, args := range [][]string{
		{"scan", loops},
		{"scan", broken},
		{"scan", missing},
		{"scan", "--profile", hostile, loops},
		{"scan", "--input", hostile, loops},
		{"scan", "--format", "sarif", loops},
		{"scan", "--format", "github", loops},
		{"scan", "--format", "junit", loops},
		{"scan", "--format", "json", loops},
		{"eval", labelled},
		{"eval", broken},
		{"eval", missing},
		{"eval", "make", broken},
		{"watch", "--endpoint", "http://127.0.0.1:1", missing},
		{"import", "--endpoint", "http://127.0.0.1:1", loops},
		{"export", "--endpoint", "http://127.0.0.1:1", hostile},
		{"explain", hostile},
		{"profile", "show", hostile},
		{hostile},
		{"scan", "--" + hostile},
		{"config", "check", missing},
		{"doctor", "--endpoint", hostile},
		{"guard", "--config", missing},
		{"serve", "--config", missing},
	} {
		var out, errs bytes.Buffer
		Main(args, strings.NewReader(""), &out, &errs)
		for _, text := range []string{out.String(), errs.String()} {
			if strings.ContainsAny(text, "\x1b\x07\r\u202e\u009b") || strings.Contains(text, "##[") || strings.Contains(text, "\nunloop: all is well") {
				t.Errorf("%q prints\n%q", args, text)
			}
		}
		if out.Len()+errs.Len() == 0 {
			t.Errorf("%q prints nothing, so the test checks nothing", args)
		}
	}
}

func TestASecondInterruptEndsACommandThatReadsItsConfiguration(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	guard := exec.Command("unloop", "guard", "--config", pipe)
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the guard opens it
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ended := make(chan error)
	go func() { ended <- guard.Wait() }()
	for guard.Process.Signal(os.Interrupt) == nil { // fails when the process has ended
		runtime.Gosched()
	}
	if err := <-ended; err == nil {
		t.Error("the guard ended without an error")
	}
}

func TestASignalEndsAScanThatIsWaitingForInput(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	event := `{"run_id":"r","event_id":"1","type":"message","text":"` + strings.Repeat("a", 200_000) + `"}` + "\n"
	for _, tc := range []struct {
		path   string
		signal syscall.Signal
	}{{pipe, syscall.SIGINT}, {pipe, syscall.SIGTERM}, {"-", syscall.SIGINT}, {"-", syscall.SIGTERM}} {
		scan := exec.Command("unloop", "scan", tc.path)
		in, err := scan.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := scan.Start(); err != nil {
			t.Fatal(err)
		}
		if tc.path == pipe {
			if in, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil {
				t.Fatal(err)
			}
		}
		// More than a pipe holds: once it is written, the scan is reading, and signals are heeded.
		if _, err := io.WriteString(in, event); err != nil {
			t.Fatal(err)
		}
		if err := scan.Process.Signal(tc.signal); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := scan.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitBreak {
			t.Errorf("%s, %v: %v", tc.path, tc.signal, err)
		}
		in.Close()
	}
}
