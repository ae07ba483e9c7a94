package hook

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// events returns the events that were folded at this hook, for a server. Their ids derive from the call, so an event that is sent
// twice counts once.
func (j *judge) events(now time.Time) []unloop.Event {
	var all []unloop.Event
	for _, order := range j.Ended {
		e := unloop.Release(RunID(j.event), "hook: "+j.event.Agent, order)
		e.Time = now
		all = append(all, *e)
	}
	steps := j.steps
	if j.refused != nil {
		steps = append(slices.Clone(steps), *j.refused)
	}
	for k, s := range steps {
		if s.recorded {
			continue
		}
		e := unloop.Event{
			ID: fmt.Sprintf("%s-%d-%d", RunID(j.event), now.UnixNano(), k), RunID: RunID(j.event), Time: now, Agent: j.event.SubAgent,
			Metadata: j.metadata(s.Ruling),
		}
		switch s.Op {
		case "before":
			e.Type, e.CallID, e.Tool, e.Input = unloop.ToolCallStarted, s.Call.ID, s.Call.Tool, s.Call.Args
		case "after":
			e.Type, e.CallID, e.Tool, e.Output = unloop.ToolCallCompleted, s.Call.ID, s.Call.Tool, s.Call.Result
			if s.Call.Failed {
				e.Type, e.Output, e.Error = unloop.ToolCallFailed, nil, quote(s.Call.Error)
			}
			if s.Call.Took > 0 {
				ms := float64(s.Call.Took) / float64(time.Millisecond)
				e.Latency = &ms
			}
		case "text":
			e.Type, e.Role, e.Text = unloop.MessageSent, s.Role, s.Text
		case "allow":
			e.Type, e.Name = unloop.Override, s.Text
		}
		all = append(all, e)
		if s.Op == "before" && s.Ruling.Action >= policy.Block && (j.mode == Guard || s.Ruling.Code == policy.CodePerson) {
			all = append(all, unloop.Event{
				ID: e.ID + "-blocked", RunID: e.RunID, Time: now, Agent: e.Agent, Type: unloop.ToolCallBlocked,
				CallID: e.CallID, Tool: e.Tool,
			})
		}
	}
	return all
}

// metadata says where the event comes from, and what the hook decided at it.
func (j *judge) metadata(r Ruling) json.RawMessage {
	action := r.Action
	if j.mode == Nudge && r.Code != policy.CodePerson {
		action = min(action, policy.Warn) // it never denies
	}
	source := "hook: " + j.event.Agent
	report := policy.GuardReport(source, action, r.Code, r.Text, r.Count, r.Findings)
	report.Shadow = j.mode == Shadow
	raw, _ := json.Marshal(map[string]any{"source": source, "dir": j.event.Dir, "guard": report}) // texts and numbers always encode
	return raw
}
