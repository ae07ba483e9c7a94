package pipeline

import (
	"encoding/json"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// ask passes on the questions of a run whose events are recorded. A refold asks no questions, because they were asked when the
// events were new.
func (p *Pipeline) ask(t *runChange) {
	if p.opts.Ask == nil || t.deleted {
		return
	}
	for _, q := range t.questions {
		p.opts.Ask(t.row.ID, *q)
	}
}

// bareOpinion returns the stored form of an answer if content is not stored whole: the verdict without texts.
func bareOpinion(e *unloop.Event) json.RawMessage {
	o, err := policy.ReadOpinion(e)
	if err != nil {
		return nil
	}
	body, err := json.Marshal(policy.Opinion{Stuck: o.Stuck, Certainty: o.Certainty})
	if err != nil {
		return nil
	}
	return body
}
