package unloop

import (
	"fmt"
	"testing"
)

// A call that sends the key of the page before follows a list. An empty page is progress while it gives another key.
func TestAListGoesOnWhileItGivesOtherKeys(t *testing.T) {
	key := func(n int) string { return fmt.Sprintf("%08x-5541-43df-ae6b-b19e6b9300c0", 0xa1b2c3d4*uint32(n+1)) }
	empty := func(next string) string { return fmt.Sprintf(`{"documents":[],"nextPageToken":%q}`, next) }
	for name, c := range map[string]struct {
		sent    func(n int) string
		page    func(n int) string
		further bool
	}{
		"each empty page has another key": {
			func(n int) string { return key(n - 1) }, func(n int) string { return empty(key(n)) }, true,
		},
		"the keys return": {
			func(n int) string { return key((n - 1) % 3) }, func(n int) string { return empty(key(n % 3)) }, false,
		},
		"the call does not send the key": {
			func(int) string { return "" }, func(n int) string { return empty(key(n)) }, false,
		},
		"the call sends a key of its own": {
			func(n int) string { return key(n + 50) }, func(n int) string { return empty(key(n)) }, false,
		},
		"each page has the same documents": {
			func(n int) string { return key(n - 1) },
			func(n int) string {
				return fmt.Sprintf(`{"documents":[{"title":"Orchard renewal","state":"open","owner":"aiko"},{"title":"Harbour pilot","state":"waiting","owner":"ben"},`+
					`{"title":"Timber upgrade","state":"open","owner":"chloe"}],"nextPageToken":%q}`, key(n))
			}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			for n := range 8 {
				sent := ""
				if n > 0 {
					sent = c.sent(n)
				}
				r.Add(&Event{Type: ToolCallStarted, Tool: "list_documents", Input: fmt.Appendf(nil, `{"collection":"ledger-audit","where":{"country":"charge"},"pageToken":%q}`, sent)})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "list_documents", Output: []byte(c.page(n))})
			}
			last := r.StepAt(0).Effort
			if got := last.Wasted == 0 && last.Novelty >= onwardNovelty; got != c.further {
				t.Errorf("the last page is progress: %v, want %v (novelty %.2f, wasted %.2f)", got, c.further, last.Novelty, last.Wasted)
			}
		})
	}
}

// A command that may change something follows a list, too, if it is like the one before.
func TestACommandFollowsAList(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		further bool
	}{
		"the same command with another key": {"aws dynamodb scan --table-name orders --filter-expression 'kind = late' --max-items 1000 --starting-token %s", true},
		"another command for each key":      {"%[2]s %[1]s", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", Options{Needs: measured.Needs, Shells: DefaultShells()})
			for n := range 6 {
				command := fmt.Sprintf(c.command, fmt.Sprintf("key-%08x", 77*n), cities[n])
				if c.further {
					command = fmt.Sprintf(c.command, fmt.Sprintf("key-%08x", 77*n))
				}
				r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: fmt.Appendf(nil, `{"command":%q}`, command)})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: fmt.Appendf(nil, `"{ \"Items\": [], \"Count\": 0, \"NextToken\": \"key-%08x\" }"`, 77*(n+1))})
			}
			if got := r.StepAt(0).Effort.Follows; got != c.further {
				t.Errorf("the call follows a list: %v, want %v", got, c.further)
			}
		})
	}
}
