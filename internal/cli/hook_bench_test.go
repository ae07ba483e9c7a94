package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	var memory int64
	n := 1000
	for b.Loop() {
		for _, name := range []string{"PreToolUse", "PostToolUse"} {
			c := exec.Command(program, "hook", "--agent", "codex")
			c.Args[0], c.Env, c.Stdin = "unloop", []string{"XDG_STATE_HOME=" + state, "HOME=" + state}, strings.NewReader(event(name, n))
			begun := time.Now()
			if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
				b.Fatalf("%v: %s", err, out)
			}
			ends = append(ends, time.Since(begun))
			cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			memory = max(memory, maxResident(c.ProcessState))
		}
		n++
	}
	slices.Sort(ends)
	b.ReportMetric(ms(ends[len(ends)/2]), "p50-ms")
	b.ReportMetric(ms(ends[len(ends)*99/100]), "p99-ms")
	b.ReportMetric(ms(cpu)/float64(len(ends)), "cpu-ms")
	b.ReportMetric(float64(memory)/(1<<20), "MiB")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
