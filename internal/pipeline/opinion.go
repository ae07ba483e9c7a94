package pipeline

import (
	"encoding/json"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// newFold returns the fold of a run without events.
func (p *Pipeline) newFold(id string) *fold {
	f := newFold(p.opts.Profile, id)
	p.keepTranscript(f)
	return f
}

// keepTranscript makes a fold keep what questions contain, if there is somebody to ask. Events are masked before they are folded.
func (p *Pipeline) keepTranscript(f *fold) {
	if p.opts.Ask != nil {
		f.session.KeepTranscript(nil)
	}
}

// ask hands out the questions of a run whose events are recorded. A run that is folded again asks nothing: what was found then was
// asked about when it was new.
func (p *Pipeline) ask(t *runChange) {
	if p.opts.Ask == nil || t.deleted {
		return
	}
	for _, q := range t.questions {
		p.opts.Ask(t.row.ID, *q)
	}
}

// bareOpinion returns what is stored of an answer where content is not stored whole: the verdict, and no texts.
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
