package store

import (
	"errors"
	"time"
)

// The labels that people give to runs.
const (
	LabelLoop       = "loop"        // the agent was stuck in a loop
	LabelNotALoop   = "not_a_loop"  // the warnings of the run are wrong
	LabelMissedLoop = "missed_loop" // the agent was stuck in a loop without a warning
)

// The actions of people that an audit log has.
const (
	ActLabel         = "label"         // Value is the label; "" removes it
	ActAcknowledge   = "acknowledge"   // of a warning: it is not alerted again
	ActUnacknowledge = "unacknowledge" // of a warning
	ActMute          = "mute"          // of a rule, for a tool and a project where they are set
	ActUnmute        = "unmute"        // Value is the number of the act that muted
	ActDelete        = "delete"        // of a run
	ActApply         = "apply"         // of settings; Value lists them
	ActAddAlert      = "add_alert"     // Value is the scheme and the host of the webhook, as for the next two
	ActChangeAlert   = "change_alert"
	ActDeleteAlert   = "delete_alert"
)

// Act is an action of a person in the audit log. Members that the action does not need are empty.
type Act struct {
	Number  int64 // from 1, in the order of the log; set by the store
	At      time.Time
	Who     string
	Action  string
	Run     int64  // number of the run; 0 for none
	RunID   string // stays in the log when the run is deleted
	Warning string // id of the warning
	Rule    string
	Tool    string
	Project string
	Value   string
	Note    string // why, in the person's words

	Alert   *Alert   // that the act adds, changes, or, by its number, deletes; the log does not have it
	Setting *Setting // that the act applies to all servers of a cluster; nil if it is in the configuration file of the server
}

// Setting is a value of a setting of a profile that a person applied.
type Setting struct {
	Profile string  `json:"profile"`
	Tool    string  `json:"tool,omitempty"` // "" for all
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
}

// Alert is a webhook that a person set up.
type Alert struct {
	Number   int64    `json:"-"` // of the act that added it
	URL      string   `json:"url"`
	Format   string   `json:"format"`
	Secret   string   `json:"secret,omitempty"`   // signs messages; "" for no signature
	Severity string   `json:"severity"`           // the minimum
	Level    string   `json:"level"`              // the minimum
	Projects []string `json:"projects,omitempty"` // empty for all
	Quiet    *Quiet   `json:"quiet,omitempty"`    // nil for none
}

// Quiet are the quiet hours of an alert.
type Quiet struct {
	From  string `json:"from"` // HH:MM
	Until string `json:"until"`
	Zone  string `json:"zone"` // of the IANA time zone database
}

// Label is what a person says of a run.
type Label struct {
	Run   int64
	RunID string
	Label string
	Note  string
	Who   string
	At    time.Time
}

// Acknowledgement says that a person has seen a warning.
type Acknowledgement struct {
	Warning string
	Who     string
	At      time.Time
}

// ErrNoAlert means that there is no alert with the number.
var ErrNoAlert = errors.New("there is no alert with this id")

// ErrNoMute means that there is no mute with the number.
var ErrNoMute = errors.New("there is no mute with this number")
