package sink

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// state is the state of a due notice. The run and the warning are read again before it is sent.
type state struct {
	Decision *store.Decision `json:"decision,omitempty"` // that the level is about
}

// due returns the notices to record for a warning: those for the levels that it has reached since the last ones.
func (w *worker) due(n *pending) (notices []store.Notice) {
	t := w.target(n)
	if t == nil {
		return nil
	}
	known, to := w.memory.stageOf(n.warning.ID), n.stage()
	if known.covers(to) {
		return nil
	}
	any, now := false, time.Now()
	for _, level := range known.levels(to) {
		row := store.Notice{Endpoint: w.key, Run: n.run.Number, Warning: n.warning.ID, Level: level, Holder: w.holder, At: now}
		if t.tells(n, level) {
			any, row.State = true, stateOf(n, level)
		}
		notices = append(notices, row)
	}
	if !any {
		return nil
	}
	if !w.memory.admits(n.warning.ID) {
		w.dropped()
		return nil
	}
	return notices
}

// tells reports whether the target is notified of a level of a warning. A level by count needs a warning that has reached it.
func (t *Target) tells(n *pending, level string) bool {
	if count, err := strconv.Atoi(level); err == nil && (t.OncePerRun || count != n.stage().count || count > n.warning.Count) {
		return false
	}
	return rank(level) >= rank(t.Least)
}

func stateOf(n *pending, level string) []byte {
	var s state
	if n.decision != nil && slices.Contains([]string{Block, Halt}, level) {
		d := *n.decision
		d.Message, s.Decision = "", &d
	}
	text, _ := json.Marshal(s) // its members are numbers and strings
	return text
}

// dropped counts a dropped warning and logs the count now and then.
func (w *worker) dropped() {
	n := w.counts.dropped.Add(1)
	w.logDrops.Do(func() { w.log.Warn("the queue is full, warnings are dropped", "dropped", n) })
}
