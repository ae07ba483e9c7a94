package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// Some shells only start a command and return a key. Another tool, which only reads, sends the key and returns the output. Such a command and the
// first call that reads its output are one step, with the arguments of the command and the outcome of the read. A shell is known to start
// commands once the call after one of its commands has sent the key of its outcome. From then on an outcome with a key in the same words ends no
// step.

// startsCommands notes that the call that is starting sends the key of the command before it.
func (r *Run) startsCommands(t *Tool, canonical []byte) {
	before := r.StepAt(0)
	if before == nil || !t.readsOutputs() {
		return
	}
	shell := r.s.Tools[before.Tool]
	if shell == nil || !shell.Shell || shell.Given == 0 || shell.Begins == shell.Given {
		return
	}
	for key := range fingerprint.Keys(canonical) {
		if shell.Keys.has(key) {
			shell.Begins = shell.Given
			return
		}
	}
}

// begins reports whether the outcome of the current step says only that its command has begun, and then keeps the call open, for the call that
// sends the key. An equal command that nobody has read yet ends its step.
func (r *Run) begins(t *Tool, e *Event) bool {
	if t.Begins == 0 || e.Type != ToolCallCompleted {
		return false
	}
	s := getScratch()
	defer s.put()
	s.words.Reset()
	s.words.Add(fingerprint.Unwrap(fingerprint.Content(e.Output), &r.echo))
	if s.words.Shape != t.Begins {
		return false
	}
	for k := range r.s.Open {
		if o := &r.s.Open[k]; o.Key != 0 && o.Step.ArgsHash == r.step.ArgsHash {
			return false
		}
	}
	for key := range fingerprint.Keys(e.Output) {
		r.open("", "")
		k := len(r.s.Open) - 1
		r.s.Open[k].Key = max(key, 1)
		for ; k > 0 && r.s.Open[k-1].Step.Number > r.step.Number; k-- { // a later call is open, too
			r.s.Open[k-1], r.s.Open[k] = r.s.Open[k], r.s.Open[k-1]
		}
		return true
	}
	return false
}

// readsCommand reports whether a call that is starting reads the output of a command that has begun, and joins it to that command.
func (r *Run) readsCommand(t *Tool, e *Event) bool {
	if !t.readsOutputs() {
		return false
	}
	for k := range r.s.Open {
		o := &r.s.Open[k]
		if o.Key == 0 {
			continue
		}
		for key := range fingerprint.Keys(e.Input) {
			if max(key, 1) == o.Key {
				o.Call, o.Span, o.Reader, o.Key = e.CallID, e.SpanID, t.Name, 0
				return true
			}
		}
	}
	return false
}

// readsOutputs reports whether a call of the tool can read the output of a command that another tool started. A tool that polls has a patience
// of its own.
func (t *Tool) readsOutputs() bool { return t.Effect == ReadOnly && !t.Shell && !t.Thinks }
