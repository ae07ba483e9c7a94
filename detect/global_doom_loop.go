package detect

import (
	"fmt"

	"github.com/unloop-ai/unloop"
)

// Global returns the finding global_doom_loop: a loop of a whole swarm, detected at the call that started at the event at. The
// counts are in the store of the swarm and not in a run, so the rule has no Detector.
func Global(tool string, calls, workers int, at unloop.EventRef) unloop.Finding {
	page := ruleDocs()["global_doom_loop"]
	return unloop.Finding{
		Rule: page.Rule, Severity: unloop.SeverityCritical, Subject: tool, Count: calls, Event: at, First: at,
		What: fmt.Sprintf("%s was called %d times by %d workers", tool, calls, workers),
		Why:  page.Why, Try: page.Try, Evidence: []unloop.EventRef{at}, Workers: workers,
	}
}
