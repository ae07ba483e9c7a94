package detect

import (
	"fmt"

	"github.com/unloop-ai/unloop"
)

// Global makes the finding of a loop of a whole swarm, at the call with which it was seen. What counts is not in a run but in
// the swarm's store, so this is no detector.
func Global(tool string, calls, workers int, at unloop.EventRef) unloop.Finding {
	page := ruleDocs["global_doom_loop"]
	return unloop.Finding{
		Rule: page.Rule, Severity: unloop.SeverityCritical, Subject: tool, Count: calls, Event: at, First: at,
		What: fmt.Sprintf("%s was called %d times by %d workers", tool, calls, workers),
		Why:  page.Why, Try: page.Try, Evidence: []unloop.EventRef{at}, Workers: workers,
	}
}
