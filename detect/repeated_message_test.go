package detect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestAMessageAboutTheStateOfEachNewItemIsWeakEvidence(t *testing.T) {
	d := RepeatedMessage{Times: 3}
	for _, c := range []struct {
		says     string
		file     func(size int) string
		advisory bool
	}{
		{"a smaller file each time", func(size int) string { return fmt.Sprintf("min-%d.bin", size) }, true},
		{"the same file each time", func(int) string { return "crash.bin" }, false},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			var last unloop.Finding
			for size := 2048; size > 4; size /= 2 {
				message := fmt.Sprintf("Still the overflow with %d bytes of the input file. Let me cut further.", size)
				r.Add(&unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleAssistant, Text: message})
				if f, ok := d.Check(r); ok {
					last = f
				}
				command, _ := json.Marshal(map[string]string{"command": "./target " + c.file(size)})
				failure, _ := json.Marshal("Running: " + c.file(size) + "\nERROR: AddressSanitizer: heap-buffer-overflow\n#0 in read_chunk at parser.c\n#1 in main at main.c")
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: command})
				r.Add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: "bash", Error: failure})
			}
			if last.Count < 3 {
				t.Fatalf("%d messages are found", last.Count)
			}
			if last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", last.Advisory, c.advisory, last.What)
			}
		})
	}
}
