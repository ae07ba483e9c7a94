package guard

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// State is a report of a guard about its run.
type State struct {
	Profile             string           `json:"profile"`
	Run                 string           `json:"run"`
	Calls               int              `json:"calls"`                 // calls so far
	StepsWithoutNovelty int              `json:"steps_without_novelty"` // consecutive outcomes without novelty
	LastTool            string           `json:"last_tool"`             // the tool of the latest call
	InARow              int              `json:"in_a_row"`              // consecutive calls with the same arguments
	Looping             bool             `json:"looping"`               // there are warnings
	Health              policy.Health    `json:"health"`
	Warnings            []unloop.Finding `json:"warnings"`
	Failed              string           `json:"failed,omitempty"` // why the guard has failed; "" if it has not
}

// State returns the current state of the run. If the guard has failed, only Profile, Run and Failed are set. A panic in a function of the
// profile fails the guard.
func (g *Guard) State() (s State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	run := g.session.Run()
	failed := func() State { return State{Profile: g.profile.Name(), Run: run.ID(), Failed: g.failed.Error()} }
	if g.failed != nil {
		return failed()
	}
	defer func() {
		if cause := recover(); cause != nil {
			g.fail(cause)
			s = failed()
		}
	}()
	s = State{Profile: g.profile.Name(), Run: run.ID()}
	s.Calls, s.StepsWithoutNovelty, s.Health, s.Warnings = run.Calls(), run.StepsWithoutNovelty(), g.session.Health(), g.session.Warnings()
	s.Looping = len(s.Warnings) > 0
	if step := run.StepAt(0); step != nil {
		s.LastTool, s.InARow = step.Tool, run.CallPeriods().Rounds(1)
	}
	return s
}

// guardSize is the approximate memory of a guard besides its session, in bytes.
const guardSize = 2 << 10

// Size estimates the memory of the guard in bytes.
func (g *Guard) Size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.session.Size() + guardSize
}
