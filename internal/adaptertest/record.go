package adaptertest

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
)

// Record returns a guard, and the events that it records as lines: type, model, role, text, tool, input, output and error. The function
// check, if it is not nil, is called with each event.
func Record(t *testing.T, check func(*unloop.Event)) (*guard.Guard, *[]string) {
	var lines []string
	return NewGuard(t, "default", guard.Options{Run: "r", Events: func(e *unloop.Event, _ guard.Decision) {
		line := strings.Join([]string{string(e.Type), e.Model, e.Role, e.Text, e.Tool, string(e.Input), string(e.Output), string(e.Error)}, " ")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
		if check != nil {
			check(e)
		}
	}}), &lines
}
