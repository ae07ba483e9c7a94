package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/hook"
)

// BenchmarkHook measures the process that an agent starts at a hook, in a session of 1,000 calls: from its start to its end, which
// is after its answer, its time on the processor, and its memory. UNLOOP_BIN names the program; without it, the test's own program runs, which is larger.
func BenchmarkHook(b *testing.B) {
	program, err := os.Executable()
	if bin := os.Getenv("UNLOOP_BIN"); bin != "" {
		program, err = filepath.Abs(bin)
	}
	if err != nil {
		b.Fatal(err)
	}
	state := b.TempDir()
	event := func(name string, n int) string {
		var text strings.Builder
		for k := range 40 {
			fmt.Fprintf(&text, "line %d of file %d with words like alpha%d beta%d gamma%d\\n", k, n, n*k%1000, (n+k)%777, n%321)
		}
		return fmt.Sprintf(`{"session_id":"s","turn_id":"t","cwd":%q,"hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"go test ./p%d -run Test%d"},"tool_use_id":"c%d","tool_response":"%s"}`,
			state, name, n%97, n, n, text.String())
	}
	h := hook.Hook{Folder: hook.Folder(filepath.Join(state, "unloop", "hooks")), Agent: hook.Codex, Env: func(string) string { return "" }, Now: time.Now}
	for n := range 1000 {
		h.Run(b.Context(), strings.NewReader(event("PreToolUse", n)), io.Discard, io.Discard)
		h.Run(b.Context(), strings.NewReader(event("PostToolUse", n)), io.Discard, io.Discard)
	}
	var ends []time.Duration
	var cpu time.Duration
	n := 1000
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(program, append(args, "hook", "--agent", "codex")...)
		c.Env, c.Stdin = []string{"XDG_STATE_HOME=" + state, "HOME=" + state}, strings.NewReader(event(name, n))
		return c
	}
	for b.Loop() {
		for _, name := range []string{"PreToolUse", "PostToolUse"} {
			c := run(name)
			c.Args[0] = "unloop"
			begun := time.Now()
			if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
				b.Fatalf("%v: %s", err, out)
			}
			ends = append(ends, time.Since(begun))
			cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		}
		n++
	}
	slices.Sort(ends)
	b.ReportMetric(ms(ends[len(ends)/2]), "p50-ms")
	b.ReportMetric(ms(ends[len(ends)*99/100]), "p99-ms")
	b.ReportMetric(ms(cpu)/float64(len(ends)), "cpu-ms")
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := run("PostToolUse", program)
	c.Path, c.Args[0] = self, "resident"
	out, err := c.Output()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(mebibytes(b, out), "MiB")
}

func mebibytes(b *testing.B, out []byte) float64 {
	b.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		b.Fatal(err)
	}
	return float64(n) / (1 << 20)
}

// printResident runs a program as unloop and prints its maximum of resident memory in bytes. Linux counts what the parent of a process
// had when it started it, so the parent must be a small one.
func printResident() {
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Args[0], c.Stdin = "unloop", os.Stdin
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		fmt.Fprintln(os.Stderr, err, string(out))
		os.Exit(1)
	}
	fmt.Println(maxResident(c.ProcessState))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
