package unloop

import (
	"bytes"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Bounds of the state of tools.
const (
	maxTools     = 256     // tools; the least recently called is evicted
	maxInputs    = 128     // distinct inputs of one tool; the least recently used is evicted
	maxInputText = 1 << 20 // bytes of the inputs of all tools, with inputSize for each
	inputSize    = 192     // bytes of an input besides its text, approximately

	fullComparisons = 16 // full comparisons of the latest input with earlier ones
)

// Tool is the state that a run keeps for one tool.
type Tool struct {
	Name   string
	Effect Effect // from Options, its annotations or its name
	Shell  bool
	Calls  int // started calls
	Empty  int // calls that completed with an empty result; with NeedEmpty

	// MostRepeated is the input with the most calls. Ties: the earliest to reach the count.
	MostRepeated struct {
		ArgsHash Hash
		Count    int
		Event    EventRef // of the latest call
	}

	// Acknowledged is the outcome of the tool's latest change, without numbers and ids; with NeedEffort.
	Acknowledged Hash `json:",omitzero"`

	// Streak is the streak of the latest outcomes with equal Step.NormalizedResult; with NeedOutcomes.
	Streak Streak
	// NothingFound reports whether Streak has at least two outcomes and its result says that nothing was found.
	NothingFound bool
	// Errors is the streak of the latest outcomes that failed with the same class of error; with NeedOutcomes or
	// NeedExcerpts.
	Errors Streak
	// ErrorsSinceAdvance is the number of Errors since the answers of the tool last advanced: a number in them moved one way twice, or
	// a call that had failed succeeded; with NeedOutcomes.
	ErrorsSinceAdvance int `json:",omitzero"`
	// ChangesAtFirstError is the value of Run.Changes when Errors began.
	ChangesAtFirstError int
	// FirstError is the beginning of the first error in Errors, as from Run.Excerpt; with NeedExcerpts.
	FirstError string

	// Unchanged is the streak of the latest outcomes in the turn with equal Step.ResultHash; with NeedResults.
	Unchanged Streak

	toolState
}

// toolState is the part of a tool's state that only the fold reads. It is embedded so that a snapshot contains it.
type toolState struct {
	Waits               bool              `json:",omitzero"` // its calls only wait; with NeedEffort
	Thinks              bool              `json:",omitzero"` // its calls only record a thought; with NeedOutcomes
	Looks               bool              `json:",omitzero"` // its calls only look at something, according to its name; with NeedEffort
	Requested           [2]uint32         `json:",omitzero"` // words of outcomes that tell of no failure, because its name asks for them; with NeedOutcomes
	Distinct            bool              `json:",omitzero"` // Step.Question is ArgsHash, because an argument other than the primary ones changed an outcome
	Turn                int               // number of the turn with the latest call
	TurnCalls           int               // started calls in that turn
	ProgressAtFirstCall int               // state updates and memory writes of the run before the tool's first call
	Latest              int               // number of the latest call
	Hash                Hash              // of the name
	LastError           Hash              `json:",omitzero"` // the class of its latest error; with NeedEffort
	LeastWords          int               `json:",omitzero"` // the fewest words of its outcomes since the latest one with new content; with NeedEffort
	Shrinks             int               `json:",omitzero"` // outcomes since then that had fewer words than all before; with NeedEffort
	Keys                wordSet           `json:",omitzero"` // keys of its latest outcome with keys; with NeedEffort
	Given               Hash              `json:",omitzero"` // fingerprint.Words.Shape of its latest outcome, if that is short and has words, else 0; with NeedEffort
	Begins              Hash              `json:",omitzero"` // the Given of outcomes that say only that a command has begun; with NeedEffort
	Frame               fingerprint.Frame `json:",omitzero"` // what it writes around its outcomes; with NeedOutcomes
	Inputs              []*input          // distinct inputs, the latest last; with NeedInputs
}

// Streak is a series of consecutive equal elements: calls or outcomes.
type Streak struct {
	Of     Hash     // the fingerprint that is equal
	Count  int      // length
	Inputs int      // 1 plus the number of changes of the input within it
	First  EventRef // the first event
	Latest EventRef // the latest event

	streakState
}

// streakState is the part of a streak's state that only the fold reads. It is embedded so that a snapshot contains it.
type streakState struct {
	Last Hash // ArgsHash of the latest element
}

func (s *Streak) add(of, input Hash, at EventRef) {
	if of == 0 || of != s.Of || s.Count == 0 {
		*s = Streak{Of: of, First: at}
	}
	if of == 0 {
		return
	}
	s.Count++
	s.Latest = at
	if input != s.Last {
		s.Inputs++
	}
	s.Last = input
}

// input is a distinct input of a tool: the text that Similar compares, and how often it occurred.
type input struct {
	ArgsHash Hash
	Shape    fingerprint.Shape
	Text     []byte
	Count    int
}

// size returns the bytes that the input counts toward maxInputText.
func (in *input) size() int { return inputSize + len(in.Text) }

// tool returns the state of the tool, which is new if the run does not know the tool.
func (r *Run) tool(name string, hints *ToolHints) *Tool {
	if t := r.lastTool; t != nil && t.Name == name {
		return t
	}
	t, ok := r.s.Tools[name]
	if !ok {
		if len(r.s.Tools) >= maxTools {
			r.forgetTool()
		}
		t = &Tool{Name: name, Effect: r.options.effect(name, hints), Shell: r.options.shell(name), toolState: toolState{Hash: fingerprint.String(name), Waits: r.options.Needs&NeedEffort != 0 && waitsByName(name), Thinks: r.options.Needs&NeedOutcomes != 0 && thinksByName(name), Looks: r.options.Needs&NeedEffort != 0 && looksByName(name)}}
		if r.options.Needs&NeedOutcomes != 0 {
			t.Requested = fingerprint.Requested(Words(name))
		}
		r.s.Tools[name] = t
	}
	r.lastTool = t
	return t
}

func (r *Run) forgetTool() {
	oldest := r.oldestTool(func(*Tool) bool { return true })
	for _, in := range oldest.Inputs {
		r.s.InputText -= in.size()
	}
	delete(r.s.Tools, oldest.Name)
}

// oldestTool returns the least recently called tool among those that ok accepts, or nil.
func (r *Run) oldestTool(ok func(*Tool) bool) *Tool {
	var oldest *Tool
	for _, t := range r.s.Tools {
		if ok(t) && (oldest == nil || t.Latest < oldest.Latest || t.Latest == oldest.Latest && t.Name < oldest.Name) {
			oldest = t
		}
	}
	return oldest
}

// keepInput records the input of a call that has just started. The latest input is the last element.
func (r *Run) keepInput(t *Tool, exact Hash, canonical []byte) {
	for k := len(t.Inputs) - 1; k >= 0; k-- {
		if in := t.Inputs[k]; in.ArgsHash == exact {
			in.Count++
			copy(t.Inputs[k:], t.Inputs[k+1:])
			t.Inputs[len(t.Inputs)-1] = in
			return
		}
	}
	in := new(input)
	if len(t.Inputs) >= maxInputs {
		in = r.dropInput(t) // reuse its memory
	}
	in.ArgsHash, in.Count = exact, 1
	in.Text = fingerprint.Clip(in.Text[:0], canonical)
	if cap(in.Text) > 2*len(in.Text)+64 {
		in.Text = bytes.Clone(in.Text) // a short input must not retain the memory of a long one
	}
	in.Shape = fingerprint.ShapeOf(in.Text)
	t.Inputs = append(t.Inputs, in)
	r.s.InputText += in.size()
	for r.s.InputText > maxInputText {
		r.dropInput(r.oldestTool(func(o *Tool) bool { return len(o.Inputs) > 1 || o != t && len(o.Inputs) > 0 }))
	}
}

// dropInput evicts the least recently used input of the tool.
func (r *Run) dropInput(t *Tool) *input {
	oldest := t.Inputs[0]
	r.s.InputText -= oldest.size()
	copy(t.Inputs, t.Inputs[1:])
	t.Inputs = t.Inputs[:len(t.Inputs)-1]
	return oldest
}

// Similar returns the number of calls of the tool whose input has a similarity of at least threshold, from 0 to 1, to the
// input of its latest call. The latest call is included. The run must keep NeedInputs.
//
// The similarity of a and b is 2·LCS(a, b) / (len a + len b) over the characters of the canonical arguments, where LCS is
// the length of the longest common subsequence. It is computed with the bit-vector algorithm of Crochemore, Iliopoulos,
// Pinzon and Reid (2001). Of arguments over 4 KiB, the first and last 2 KiB are compared.
//
// The cost does not grow with the run. The latest input is compared with the 128 distinct inputs of the tool that were used
// last, each counted as often as it occurred. Bounds on lengths and letters decide most comparisons. At most 16 of the
// others are made in full.
func (t *Tool) Similar(threshold float64) int {
	if len(t.Inputs) == 0 {
		return 0
	}
	s := getScratch()
	defer s.put()
	latest := len(t.Inputs) - 1
	s.match.Reset(t.Inputs[latest].Text, fullComparisons)
	n := t.Inputs[latest].Count
	for k := latest - 1; k >= 0; k-- {
		if in := t.Inputs[k]; s.match.Similar(in.Text, &in.Shape, threshold) {
			n += in.Count
		}
	}
	return n
}

// remark reports whether an argument only says why the call is made. A description or a reason may be what a tool writes, or decides.
func (t *Tool) remark(name []byte) bool {
	switch string(name) {
	case "explanation", "rationale", "justification", "thought", "toolAction", "toolSummary", "security_risk":
		return !t.Thinks
	case "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "invocation_id", "trace_id", "span_id":
		return true
	}
	return false
}

// bounds reports whether an argument only limits the size or the time of an answer, or is a remark about a command. Of a tool that may
// change something, a limit may be what it sets.
func (t *Tool) bounds(name []byte) bool {
	switch string(name) {
	case "limit", "max_results", "maxResults", "num_results", "numResults", "top_k", "topK", "head_limit", "page_size", "pageSize", "per_page", "perPage",
		"timeout", "timeout_ms", "timeoutMs", "timeout_seconds":
		return t.Shell || t.Effect != Mutating
	case "description", "summary", "duration", "yield_time_ms", "max_output_tokens":
		return t.Shell
	}
	return false
}
