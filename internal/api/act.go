package api

import "github.com/unloop-ai/unloop/internal/store"

// NewAct is something that a person does.
type NewAct struct {
	Action  string `json:"action" enum:"label,acknowledge,unacknowledge,mute,unmute" doc:"label: say whether the run loops. acknowledge: a warning was seen and is not alerted again. mute: warnings of a rule are recorded and not alerted."`
	RunID   string `json:"run_id,omitempty" required:"false" maxLength:"1024" doc:"The run's id. Required for label, acknowledge and unacknowledge."`
	Warning string `json:"warning_id,omitempty" required:"false" maxLength:"512" doc:"The warning's id. Required for acknowledge and unacknowledge."`
	Rule    string `json:"rule,omitempty" required:"false" maxLength:"512" doc:"The rule to mute. Required for mute."`
	Tool    string `json:"tool,omitempty" required:"false" maxLength:"512" doc:"Mute the rule only for this tool. Default: for all."`
	Project string `json:"project,omitempty" required:"false" maxLength:"512" doc:"Mute the rule only in this project. Default: in all."`
	Value   string `json:"value,omitempty" required:"false" maxLength:"64" doc:"label: loop, not_a_loop or missed_loop, or empty to remove the label. unmute: the number of the act that muted."`
	Note    string `json:"note,omitempty" required:"false" maxLength:"1000" doc:"Why, in the person's words."`
}

// Act is something that a person did.
type Act struct {
	Number  int64  `json:"number" doc:"Number of the act, from 1, in the order of the audit log."`
	At      string `json:"at" format:"date-time" doc:"Time of the act."`
	Who     string `json:"who" doc:"Name of the token; local on a server without tokens."`
	Action  string `json:"action" enum:"label,acknowledge,unacknowledge,mute,unmute,delete,apply,add_alert,change_alert,delete_alert" doc:"The action. delete: a run was deleted. apply: settings were written to the configuration file."`
	RunID   string `json:"run_id" doc:"The run's id; empty for none."`
	Warning string `json:"warning_id" doc:"The warning's id; empty for none."`
	Rule    string `json:"rule" doc:"The rule; empty for none."`
	Tool    string `json:"tool" doc:"The tool; empty for none, or for all of a mute."`
	Project string `json:"project" doc:"The project; empty for none, or for all of a mute."`
	Value   string `json:"value" doc:"The label; the number of the act that muted; the settings that were applied; the host of an alert."`
	Note    string `json:"note" doc:"Why, in the person's words."`
}

// ActOf returns an act.
func ActOf(a *store.Act) Act {
	return Act{
		Number: a.Number, At: Timestamp(a.At), Who: a.Who, Action: a.Action, RunID: a.RunID, Warning: a.Warning, Rule: a.Rule, Tool: a.Tool,
		Project: a.Project, Value: a.Value, Note: a.Note,
	}
}

// ActsOf returns acts; never nil.
func ActsOf(acts []store.Act) []Act {
	all := make([]Act, 0, len(acts))
	for i := range acts {
		all = append(all, ActOf(&acts[i]))
	}
	return all
}

// Label is what a person says of a run.
type Label struct {
	RunID string `json:"run_id" doc:"The run's id."`
	Label string `json:"label" enum:"loop,not_a_loop,missed_loop" doc:"loop: the agent was stuck in a loop. not_a_loop: the warnings of the run are wrong. missed_loop: the agent was stuck in a loop without a warning."`
	Note  string `json:"note" doc:"Why, in the person's words."`
	Who   string `json:"who" doc:"Name of the token; local on a server without tokens."`
	At    string `json:"at" format:"date-time" doc:"Time when the label was given."`
}

// LabelOf returns a label.
func LabelOf(l *store.Label) Label {
	return Label{RunID: l.RunID, Label: l.Label, Note: l.Note, Who: l.Who, At: Timestamp(l.At)}
}

// Acknowledgement says that a person has seen a warning.
type Acknowledgement struct {
	Warning string `json:"warning_id" doc:"The warning's id."`
	Who     string `json:"who" doc:"Name of the token; local on a server without tokens."`
	At      string `json:"at" format:"date-time" doc:"Time of the acknowledgement."`
}

// Review is what people say of a run and its warnings.
type Review struct {
	Label        *Label            `json:"label" doc:"The label of the run; null for none."`
	Acknowledged []Acknowledgement `json:"acknowledged" doc:"The warnings that people have seen, the oldest first."`
	Mutes        []Act             `json:"mutes" doc:"The mutes that hold for the run's project, the oldest first."`
}
