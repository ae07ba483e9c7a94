package policy

import (
	"encoding/json"

	"github.com/unloop-ai/unloop/internal/findings"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// maxNext bounds the targets that a ladder blocks. Findings of package detect have at most unloop.MaxPeriod of them.
const maxNext = 1024

// restore replaces a state by the one in data, which it checks. On an error, the state is unchanged.
func restore[State interface{ validate() error }](state *State, data []byte) error {
	var kept State
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	if err := kept.validate(); err != nil {
		return err
	}
	*state = kept
	return nil
}

// validate reports the first value that no Ladder can have written.
func (s ladderState) validate() error {
	var c snapshot.Check
	c.Count("Level", s.Level, len(levels)-1)
	c.Count("Held", s.Held, snapshot.MaxCount)
	c.Count("Novelty", s.Novelty, noveltyPerLevel-1)
	c.Count("number of targets", len(s.Next), maxNext)
	c.Part("Finding", findings.Validate(&s.Finding))
	return c.Err()
}

// validate reports the first value that no Escalation can have written.
func (d detections) validate() error {
	var c snapshot.Check
	c.Count("number of patterns", len(d), maxPatterns)
	for _, n := range d {
		c.That(n > 0, "a pattern was detected %d times", n)
		c.Count("detections of a pattern", n, snapshot.MaxCount)
	}
	return c.Err()
}
