package detect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop"
)

// effects counts the steps of a stretch by what they brought.
type effects struct {
	all     int
	wasted  [unloop.NoOp + 1]int // by yield
	changes int
	news    int
	novelty float64 // the sum over all steps but the changes
}

// mostlyNew is the novelty from which content is not called known.
const mostlyNew = 0.5

// effectsSince counts the steps with a known outcome that ended at an event or later. The run keeps the latest 32 steps only.
func effectsSince(r *unloop.Run, first unloop.EventRef) (e effects) {
	for s := range latestSteps(r, recent) {
		if s.End.Number < first.Number {
			break
		}
		if s.NormalizedResult == 0 {
			continue // the run's meter does not count it
		}
		e.all++
		switch {
		case s.Effort.Yield == unloop.Content && s.Effort.Novelty >= mostlyNew:
			e.news++
		case s.Effort.Wasted > 0:
			e.wasted[s.Effort.Yield]++
		case s.Effort.Yield == unloop.Change:
			e.changes++
			continue
		default:
			e.news++
		}
		e.novelty += s.Effort.Novelty
	}
	return e
}

// text says how many steps failed, found nothing, returned known content, repeated an earlier change or were no-ops, how many in between
// changed something or returned something new, and the share of the text that was new. Equal effects are not counted:
// all failed. If the stretch has more steps than were counted, the text says how many it describes.
func (e effects) text(steps int) string {
	among := ""
	if e.all < steps {
		among = fmt.Sprintf(" of the latest %d", e.all)
	}
	var parts []string
	for _, part := range []struct {
		steps  int
		phrase string
	}{
		{e.wasted[unloop.Failure], "failed"},
		{e.wasted[unloop.NothingFound], "found nothing"},
		{e.wasted[unloop.Content], "returned known content"},
		{e.wasted[unloop.Change], "repeated an earlier change"},
		{e.wasted[unloop.NoOp], "had no effect"},
		{e.changes, "changed something"},
		{e.news, "returned something new"},
	} {
		if part.steps == 0 {
			continue
		}
		count := strconv.Itoa(part.steps)
		if part.steps == e.all {
			count = "all"
		}
		parts = append(parts, count+among+" "+part.phrase)
		among = "" // the first part has said it
	}
	return enumerate(parts) + "; " + e.share() + " of the returned text was new"
}

// share returns the share of the returned text that was new.
func (e effects) share() string {
	percent := fmt.Sprintf("%.0f %%", 100*e.novelty/float64(max(1, e.all-e.changes)))
	if percent == "0 %" {
		return "none"
	}
	return percent
}

// enumerate joins phrases to "a, b and c".
func enumerate(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
