package scan

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/profile"
)

// TestOneLoopHasOneVerdictInEveryFormat scans fixtures of one work: an agent asks a tool the same question six times and gets the same
// answer. Each model call has 1,200 tokens of input, 800 of them cached, and 40 of output, as far as the format has tokens.
func TestOneLoopHasOneVerdictInEveryFormat(t *testing.T) {
	const loop = "6 steps, same_call_same_result 6, warn"
	for fixture, want := range map[string]string{
		"autogen/testdata/messages_loop.json": loop + ", 7440 tokens",
		"autogen/testdata/chat_loop.json":     loop + ", 7440 tokens, 0.012 USD",
		"cline/testdata/history_loop.json":    loop + ", 7440 tokens, 0.012 USD",
		"cline/testdata/ui_loop.json":         loop + ", 7440 tokens, 0.012 USD",
		"copilot/testdata/loop.jsonl":         loop + ", 7440 tokens",
		"cursor/testdata/stream_loop.jsonl":   loop + ", 7440 tokens",
		"langsmith/testdata/loop.jsonl":       loop + ", 7440 tokens, 0.012 USD",
		"langfuse/testdata/loop.json":         loop + ", 7440 tokens, 0.012 USD",
		"openaiagents/testdata/loop.jsonl":    loop + ", 7440 tokens",

		// A transcript has no results, so the rules about them do not hold.
		"cursor/testdata/transcript.jsonl": "6 steps, allow",
	} {
		t.Run(fixture, func(t *testing.T) {
			p, err := profile.New(profile.Default)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			s := Scanner{
				Profile: p,
				Verdict: func(r *report.Run) error {
					text := fmt.Sprintf("%d steps", r.Steps)
					for _, w := range r.Warnings {
						if w.Rule == "stalled_steps" {
							continue // its estimate depends on messages between calls, which not every format has
						}
						text += fmt.Sprintf(", %s %d", w.Rule, w.Count)
					}
					text += ", " + r.Worst().String()
					if m := r.Metrics; m.Tokens > 0 {
						text += fmt.Sprintf(", %d tokens", m.Tokens)
					}
					if m := r.Metrics; m.Cost > 0 {
						text += fmt.Sprintf(", %.3f USD", m.Cost)
					}
					got = append(got, text)
					return nil
				},
				Warn: func(err error) { t.Error(err) },
			}
			if _, err := s.Run(context.Background(), []string{"../ingest/" + fixture}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{want}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
