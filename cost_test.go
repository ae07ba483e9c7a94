package unloop

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/costtest"
)

// TestTheCostOfAnEventIsLinearInItsContent adds events with content of 16 times the length. Linear work takes 16 times as long, and
// quadratic work 256 times. Under 48 times passes. Processor time is measured, and the best of several attempts counts, so that other
// work on the machine hardly matters.
func TestTheCostOfAnEventIsLinearInItsContent(t *testing.T) {
	for _, unit := range []string{
		"word ", ".", "-", "~", "a", "1", "'", "`", `\\`, `\"`, "[", "{", "(", " ", `\n`, "/", "é", "界", "\xff", ";", "1m1.", "0 ", "no ",
		"error: ", `a: b\n`, "2024-01-01T10:00:00.1 ", "A=1 ", "<<a ", "tmp",
	} {
		t.Run(unit, func(t *testing.T) {
			short, long := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for range 12 {
				short = min(short, timeToAdd(strings.Repeat(unit, (4<<10)/len(unit))))
				long = min(long, timeToAdd(strings.Repeat(unit, (64<<10)/len(unit))))
				if long < 48*short {
					return
				}
			}
			t.Errorf("4 KiB take %v, 64 KiB %v", short, long)
		})
	}
}

// timeToAdd measures a call, its outcome, a call that fails and a message with this content, for a run that keeps all optional state.
func timeToAdd(content string) time.Duration {
	r := NewRun("r", Options{Needs: math.MaxUint16, Shells: []string{"bash"}})
	raw := json.RawMessage(`"` + content + `"`)
	input := json.RawMessage(`{"command":"` + content + `"}`)
	events := []*Event{
		{Type: ToolCallStarted, Tool: "bash", CallID: "1", Input: input},
		{Type: ToolCallCompleted, Tool: "bash", CallID: "1", Output: raw},
		{Type: ToolCallStarted, Tool: "bash", CallID: "2", Input: input},
		{Type: ToolCallFailed, Tool: "bash", CallID: "2", Error: raw},
		{Type: ToolCallStarted, Tool: "search", CallID: "3", Input: raw},
		{Type: ToolCallCompleted, Tool: "search", CallID: "3", Output: json.RawMessage(`{"result":` + string(raw) + `}`)},
		{Type: MessageSent, Role: RoleAssistant, Text: content},
	}
	return costtest.ThreadTime(func() {
		for _, e := range events {
			r.Add(e)
		}
	})
}
