package store

import (
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
)

// Allow is the act of a person who lets an agent continue. The other acts are the names of events of the type unloop.Control.
const Allow = "allow"

// MaxControls is the maximum number of acts of people that a run keeps, the latest.
const MaxControls = 64

// Control is what a person did with a run.
type Control struct {
	Number  int64     `json:"number"` // within the run, from 1
	EventID string    `json:"event_id"`
	Act     string    `json:"act"`
	Tool    string    `json:"tool,omitempty"` // of Allow: whose calls are allowed from now on; "" for those that were stopped
	Text    string    `json:"text,omitempty"` // for the agent
	By      string    `json:"by"`
	Why     string    `json:"why,omitempty"`
	At      time.Time `json:"at"`
	Ends    int64     `json:"ends,omitempty"` // of a resume that a guard reports: the number of the pause or the halt that a new message of a person ended
}

// Standing returns the acts in force: a pause or a halt that was not revoked, and the tools that are allowed.
func Standing(acts []Control) (standing []Control) {
	drop := func(act string) {
		standing = slices.DeleteFunc(standing, func(c Control) bool { return c.Act == act })
	}
	end := func(last int64) {
		standing = slices.DeleteFunc(standing, func(c Control) bool { return c.Act != Allow && c.Number <= last })
	}
	for _, c := range acts {
		switch {
		case c.Ends > 0:
			end(c.Ends)
			continue
		case c.Act == unloop.ControlResume:
			drop(unloop.ControlPause)
			drop(unloop.ControlHalt)
			continue
		case c.Act == Allow:
			drop(unloop.ControlPause)
			drop(unloop.ControlHalt)
			if c.Tool == "" {
				continue
			}
		case c.Act == unloop.ControlHalt:
			drop(unloop.ControlPause)
		case c.Act != unloop.ControlPause:
			continue
		}
		standing = append(standing, c)
	}
	return standing
}
