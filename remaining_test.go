package unloop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

func TestACountOfWhatRemainsFalls(t *testing.T) {
	for says, c := range map[string]struct {
		outcomes []string
		want     bool // at the last one
	}{
		"twice in a row":                 {[]string{"left: 922 of 1647", "left: 433 of 1647", "left: 168 of 1647"}, true},
		"once":                           {[]string{"left: 922 of 1647", "left: 433 of 1647"}, false},
		"twice, and stays":               {[]string{"left: 922", "left: 433", "left: 168", "left: 168"}, false},
		"once after it grew":             {[]string{"left: 922", "left: 433", "left: 500", "left: 168"}, false},
		"it grows, as a version does":    {[]string{"revision 4", "revision 5", "revision 6"}, false},
		"together with another number":   {[]string{"left: 922 of 1647", "left: 433 of 1640", "left: 168 of 1630"}, false},
		"it is no whole number":          {[]string{"took: 9.5", "took: 8.5", "took: 7.5"}, false},
		"it has another number of parts": {[]string{"left: 922", "left: 433 of 1647", "left: 168"}, false},
	} {
		t.Run(says, func(t *testing.T) {
			var m remaining
			got := false
			for k, text := range c.outcomes {
				var w fingerprint.Words
				w.Reset()
				w.Add([]byte(`"` + text + `"`))
				got = m.falls(&w, k > 0)
			}
			if got != c.want {
				t.Errorf("it falls: %t, want %t", got, c.want)
			}
		})
	}
}

func TestChangesThatLeaveLessAreNotWasted(t *testing.T) {
	formats := []string{"day month year", "month day year", "year month day", "year day month", "day year month", "month year day"}
	for says, c := range map[string]struct {
		left        []string
		least, most float64
	}{
		"less remains each time": {[]string{"922", "433", "168", "35", "11", "0"}, 0, 1},
		"as much remains":        {[]string{"922", "922", "922", "922", "922", "922"}, 2, 4},
	} {
		t.Run(says, func(t *testing.T) {
			got := wasted(len(formats), func(n int) []Event {
				return []Event{call("convert_column", `{"mode":"coerce","code":"fill the empty dates of the column in format `+formats[n]+` and save"}`,
					`"The column was updated: `+c.left[n]+` of 1647 dates are empty"`)}
			})
			if got < c.least || got > c.most {
				t.Errorf("%.2f are wasted, want %.2f to %.2f", got, c.least, c.most)
			}
		})
	}
}

// The same button removes the first row of a list. The page that comes back is known, and shorter each time.
func TestAListThatGetsShorterIsProgress(t *testing.T) {
	rows := []string{"amber shirt, size M", "birch coat, size L", "cedar hat, size S", "delta scarf, blue", "ember gloves, red", "fjord boots, size 41"}
	for says, c := range map[string]struct {
		from     func(n int) int // the first row of the page after click n
		progress bool
	}{
		"the first row leaves the list":  {func(n int) int { return n }, true},
		"the list stays":                 {func(int) int { return 0 }, false},
		"samples are longer and shorter": {func(n int) int { return []int{0, 0, 1, 0, 2}[n] }, false},
		"one row leaves and comes back":  {func(n int) int { return n % 2 }, false},
	} {
		t.Run(says, func(t *testing.T) {
			r := NewRun("r", measured)
			for n := range 5 {
				page, _ := json.Marshal("Page: your cart\n" + strings.Join(rows[c.from(n):], ", one piece\nbutton: Remove\n") + "\nlink: go to the till, or look at other articles")
				r.Add(&Event{Type: ToolCallStarted, Tool: "click", Input: fmt.Appendf(nil, `{"element":"Remove","ref":"e%d"}`, 83+7*n)})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "click", Output: page})
			}
			if got := r.StepAt(0).Effort.Novelty >= onwardNovelty; got != c.progress {
				t.Errorf("the latest page has a novelty of %.2f, progress = %t", r.StepAt(0).Effort.Novelty, c.progress)
			}
		})
	}
}
