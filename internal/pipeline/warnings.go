package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func policyAction(a uint8) policy.Action { return policy.Action(a) }

// details is what a warning says beside the fields that every warning has.
type details struct {
	Subject    string     `json:"subject"`
	Count      *int       `json:"count"`
	Score      float64    `json:"score,omitempty"`
	Why        string     `json:"why"`
	Try        string     `json:"try"`
	FirstEvent string     `json:"first_event_id"`
	Evidence   []evidence `json:"evidence"`
	Repeated   []string   `json:"repeated,omitempty"`
	Changed    string     `json:"changed,omitempty"`
	FirstError string     `json:"first_error,omitempty"`
	Period     int        `json:"period,omitempty"`
}

type evidence struct {
	EventID string `json:"event_id"`
	Number  int    `json:"number"` // of the event in the run, from 0
}

// warningsOf returns the run's warnings as they are to be recorded.
func warningsOf(r *run) []store.Warning {
	found := r.fold.session.Warnings()
	warnings := make([]store.Warning, 0, len(found))
	for k := range found {
		warnings = append(warnings, warningOf(r, &found[k]))
	}
	r.fold.grew = false
	return warnings
}

func warningOf(r *run, f *unloop.Finding) store.Warning {
	at := r.fold.s.Warnings[warningKey(f.Rule, f.Subject)]
	w := store.Warning{
		ID: warningID(r.row.ID, f.Rule, f.Subject), Run: r.row.Number, Rule: f.Rule, Subject: f.Subject,
		Severity: string(f.Severity), Count: f.Count, EventID: f.Event.ID, Message: f.What,
		Details: detailsOf(f), Created: at.Created, Updated: at.Updated,
	}
	if r.bare {
		w.Message, w.Details = bareMessage(f.Rule, f.Subject, f.Count), detailsOf(bareFinding(f))
	}
	if f.Subject != "" && r.fold.session.Run().Tool(f.Subject) != nil {
		w.Tool = f.Subject
	}
	return w
}

func detailsOf(f *unloop.Finding) json.RawMessage {
	d := details{
		Subject: f.Subject, Score: f.Score, Why: f.Why, Try: f.Try, FirstEvent: f.First.ID, Evidence: []evidence{},
		Repeated: f.Repeated, Changed: f.Changed, FirstError: f.FirstError, Period: f.Period,
	}
	if f.Count != 0 {
		d.Count = &f.Count
	}
	for _, e := range f.Evidence {
		d.Evidence = append(d.Evidence, evidence{e.ID, e.Number})
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("the details of a warning are strings and numbers: %v", err))
	}
	return text
}

// warningID makes the same id of the same run, rule and subject.
func warningID(run, rule, subject string) string {
	sum := sha256.Sum256([]byte(run + "\x00" + rule + "\x00" + subject))
	return "wrn_" + hex.EncodeToString(sum[:12])
}

// decisionOf returns a decision at the run's last event as it is to be recorded.
func decisionOf(r *run, d *policy.Decision, at store.Position, event string) store.Decision {
	message := d.Message
	if r.bare {
		message = bareMessage(d.Rule, d.Subject, d.Count)
	}
	return store.Decision{
		Run: r.row.Number, Position: at, EventID: event, Number: r.fold.s.Events - 1, Action: d.Action, Code: d.Code, Message: message,
		Warning: warningID(r.row.ID, d.Rule, d.Subject),
	}
}

// changes says which of the warnings are new against those before, and which have grown.
func changes(before, now []store.Warning) (raised, grown []int) {
	known := make(map[string]*store.Warning, len(before))
	for k := range before {
		known[before[k].ID] = &before[k]
	}
	for k := range now {
		old := known[now[k].ID]
		switch {
		case old == nil:
			raised = append(raised, k)
		case now[k].Count > old.Count:
			grown = append(grown, k)
		}
	}
	return raised, grown
}
