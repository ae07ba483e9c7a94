package unloop

import (
	"bytes"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// Bounds of what a run keeps of its tools.
const (
	maxTools     = 256     // tools at once; the one that was called longest ago is forgotten
	maxInputs    = 128     // distinct inputs of one tool; the one that came longest ago is forgotten
	maxInputText = 1 << 20 // bytes of inputs of all tools together, with inputSize for each
	inputSize    = 192     // bytes of an input beside its text, about

	fullComparisons = 16 // of the latest input with those before it
)

// Tool is what a run keeps of one of its tools.
type Tool struct {
	Name   string
	Effect Effect // by its name or as the profile says
	Shell  bool
	Calls  int // started
	Empty  int // completed with nothing

	Distinct bool `json:",omitzero"` // its calls differ by all of their arguments, since one that was thought beside the point changed an outcome

	// MostRepeated is the exact input that came most often: how often, and at which event last. Of equals it is the first.
	MostRepeated struct {
		Exact Hash
		Count int
		Event EventRef
	}

	// Streak is the row of this tool's latest outcomes that are the same but for volatile parts.
	Streak Streak
	// NothingFound tells that the outcome of which Streak is a row, if it is one of two or more, says that nothing was found.
	NothingFound bool
	// Errors is the row of this tool's latest outcomes that failed with the same class of error.
	Errors Streak
	// ChangesAtFirstError is how often calls had changed something when the row of Errors began: see Run.Changes.
	ChangesAtFirstError int
	// FirstError is the beginning of the error with which the row of Errors began; kept with NeedExcerpts.
	FirstError string

	// Unchanged is the row of this tool's latest outcomes in the turn that are the same to the byte.
	Unchanged Streak

	Turn                int      // in which it was called last
	TurnCalls           int      // in that turn
	ProgressAtFirstCall int      // the run's progress at the tool's first call
	Latest              int      // number of the latest call
	Hash                Hash     // of its name
	Inputs              []*input // the latest last
}

// Streak is a row of equal outcomes.
type Streak struct {
	Of     Hash     // what is equal
	Count  int      // how long the row is
	Inputs int      // how often the input changed within it, and 1
	First  EventRef // where it began
	Latest EventRef // where it goes on
	Last   Hash     // the latest input
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

// input is a distinct input of a tool: the text that similarity compares, and how often it came.
type input struct {
	ArgsHash Hash
	Shape    fingerprint.Shape
	Text     []byte
	Count    int
}

// size returns how much the input counts against maxInputText.
func (in *input) size() int { return inputSize + len(in.Text) }

// tool returns what the run keeps of the tool, beginning anew with one that it does not know.
func (r *Run) tool(name string, hints *ToolHints) *Tool {
	if t := r.lastTool; t != nil && t.Name == name {
		return t
	}
	t, ok := r.s.Tools[name]
	if !ok {
		if len(r.s.Tools) >= maxTools {
			r.forgetTool()
		}
		t = &Tool{Name: name, Effect: r.options.effect(name, hints), Shell: r.options.shell(name), Hash: fingerprint.String(name)}
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

// oldestTool returns the tool that was called longest ago, of those that ok accepts.
func (r *Run) oldestTool(ok func(*Tool) bool) *Tool {
	var oldest *Tool
	for _, t := range r.s.Tools {
		if ok(t) && (oldest == nil || t.Latest < oldest.Latest || t.Latest == oldest.Latest && t.Name < oldest.Name) {
			oldest = t
		}
	}
	return oldest
}

// keepInput notes the input of a call that has just started. The latest stands last.
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
		in = r.dropInput(t) // its memory serves again
	}
	in.ArgsHash, in.Count = exact, 1
	in.Text = fingerprint.Clip(in.Text[:0], canonical)
	if cap(in.Text) > 2*len(in.Text)+64 {
		in.Text = bytes.Clone(in.Text) // a short input must not hold on to the memory of a long one
	}
	in.Shape = fingerprint.ShapeOf(in.Text)
	t.Inputs = append(t.Inputs, in)
	r.s.InputText += in.size()
	for r.s.InputText > maxInputText {
		r.dropInput(r.oldestTool(func(o *Tool) bool { return len(o.Inputs) > 1 || o != t && len(o.Inputs) > 0 }))
	}
}

// dropInput forgets the tool's input that came longest ago.
func (r *Run) dropInput(t *Tool) *input {
	oldest := t.Inputs[0]
	r.s.InputText -= oldest.size()
	copy(t.Inputs, t.Inputs[1:])
	t.Inputs = t.Inputs[:len(t.Inputs)-1]
	return oldest
}

// Similar returns how many calls of the tool had an input at least threshold alike (0 to 1) to that of its latest
// call, this one included. The run must keep NeedInputs. So that a call of a long run costs no more than one of a short
// run, it compares with the 128 distinct inputs of the tool that came last, each counted as often as it came; where
// lengths and letters do not tell, it compares in full with the 16 latest of them. Compared is the canonical form; its
// first and last 2 KiB stand for one over 4 KiB.
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
