package detect

import (
	"fmt"

	"github.com/unloop-ai/unloop"
)

// Global returns the finding global_doom_loop, a loop of a whole swarm. The argument at is the start of the call at which it was
// detected. The counts are in the store of the swarm and not in a run, so the rule has no Detector.
func Global(tool string, calls, workers int, at unloop.EventRef) unloop.Finding {
	doc := ruleDocs()["global_doom_loop"]
	return unloop.Finding{
		Rule: doc.Rule, Severity: unloop.SeverityCritical, Subject: tool, Count: calls, Event: at, First: at,
		What: fmt.Sprintf("%s was called %d times by %d workers", tool, calls, workers),
		Why:  doc.Why, Try: doc.Try, Evidence: []unloop.EventRef{at}, Workers: workers,
	}
}
