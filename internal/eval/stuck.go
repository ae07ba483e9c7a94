package eval

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/unloop-ai/unloop/policy"
)

// Stuck are the stretches of a run in which readers judged the agent to be stuck. A run that was not read has no Stuck.
type Stuck struct {
	Agreed     []Stretch `json:"agreed"`     // according to all readers
	Borderline []Stretch `json:"borderline"` // according to some of them; a flag is neither right nor false there
}

// Stretch is a part of a run in which a reader judged the agent to be stuck.
type Stretch struct {
	Onset     int     `json:"onset"`               // index of the first event
	End       int     `json:"end"`                 // index of the last event
	Kind      string  `json:"kind,omitempty"`      // in the reader's words
	Severity  string  `json:"severity,omitempty"`  // mild: a nudge would help; clear: anyone would call it a loop; severe: it should be stopped
	Certainty float64 `json:"certainty,omitempty"` // of the readers, from 0 to 1
}

// How late a flag may be, in events after the end of a stretch.
const (
	foundWithin  = 3 // a flag up to here finds the stretch
	excuseWithin = 6 // a flag up to here is not false
)

// mistake returns the first invalid field for a run with the given number of events, and the reason; "" if all are valid.
func (s *Stuck) mistake(events int) (field, reason string) {
	for _, list := range [...]struct {
		name      string
		stretches []Stretch
	}{{"agreed", s.Agreed}, {"borderline", s.Borderline}} {
		for k, at := range list.stretches {
			if at.Onset < 0 || at.Onset > at.End || at.End >= events {
				return fmt.Sprintf("labels.stuck.%s.%d", list.name, k), fmt.Sprintf("from event %d to %d is no stretch of a run of %d events", at.Onset, at.End, events)
			}
		}
	}
	return "", ""
}

// excuses reports whether a flag at the event is not false, because it is in a stretch or shortly after it.
func (s *Stuck) excuses(event int) bool {
	for _, list := range [...][]Stretch{s.Agreed, s.Borderline} {
		for _, at := range list {
			if event >= at.Onset && event <= at.End+excuseWithin {
				return true
			}
		}
	}
	return false
}

// Judged compares decisions with the stretches of readers.
type Judged struct {
	Found      Proportion `json:"found"`       // of the agreed stretches, those with a flag
	Stopped    Proportion `json:"stopped"`     // of the agreed stretches, those with a block or halt
	FalseFlags Proportion `json:"false_flags"` // of the clean runs, those with a flag
	FalseStops Proportion `json:"false_stops"` // of the clean runs, those with a block or halt
	Elsewhere  Proportion `json:"elsewhere"`   // of the runs with stretches, those with a flag outside of all of them
	Delays     Delays     `json:"delay"`       // of the stretches found, in events from the onset
}

// Score returns precision and recall. Recall is of the agreed stretches. Precision is of the stretches found and of the runs with a false
// flag, each once.
func (j *Judged) Score() Score {
	return Score{Precision: Proportion{j.Found.Count, j.Found.Count + j.FalseFlags.Count + j.Elsewhere.Count}, Recall: j.Found}
}

// MarshalJSON writes the measures and their score.
func (j *Judged) MarshalJSON() ([]byte, error) {
	type measures Judged // without this method
	return json.Marshal(struct {
		*measures
		Score Score `json:"score"`
	}{(*measures)(j), j.Score()})
}

func (j *Judged) add(s *Stuck, t *replay) {
	for _, at := range s.Agreed {
		flag, found := t.first(at.Onset, at.End+foundWithin, policy.Warn)
		_, stopped := t.first(at.Onset, at.End+foundWithin, policy.Block)
		j.Found.add(found)
		j.Stopped.add(stopped)
		if found {
			j.Delays = append(j.Delays, flag-at.Onset)
		}
	}
	if len(s.Agreed)+len(s.Borderline) == 0 {
		_, flagged := t.first(0, math.MaxInt, policy.Warn)
		j.FalseFlags.add(flagged)
		j.FalseStops.add(t.stop)
		return
	}
	elsewhere := false
	for _, f := range t.flags {
		elsewhere = elsewhere || !s.excuses(f.index)
	}
	j.Elsewhere.add(elsewhere)
}
