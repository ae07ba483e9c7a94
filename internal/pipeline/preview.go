package pipeline

import (
	"cmp"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// manyWarnings is the number of warnings from which a run with health 0 is assumed to stay at 0 until it ends. Without this
// limit, each event at which a warning grows would compute the penalty of all warnings again.
const manyWarnings = 16

// preview updates the fields of the row that the list of runs shows, with the event that was folded last.
func (f *fold) preview(e *unloop.Event) {
	s := &f.s
	if e.Latency != nil && *e.Latency > s.MaxLatency {
		s.MaxLatency, s.SlowestEvent = *e.Latency, e.ID
	}
	if e.Type == unloop.ToolCallCompleted || e.Type == unloop.ToolCallFailed {
		if step := f.session.Run().Current().Step; step != nil && step.NormalizedResult != 0 { // otherwise its novelty is unknown
			s.Novelty.add(step.Novel)
		}
	}
	ended := e.Type == unloop.RunFailed || e.Type == unloop.RunCompleted
	staysAtZero := s.Health[len(s.Health)-1].Score == 0 && len(s.Warnings) > manyWarnings
	grade := f.session.Verdict().Grade
	if ended || grade != f.grade || len(f.session.Grown()) > 0 && !staysAtZero {
		f.grade = grade
		f.addHealth()
	}
}

// addHealth adds a point to the history of the health if the health has changed. When the history is full, it changes the last
// point.
func (f *fold) addHealth() {
	s := &f.s
	last := len(s.Health) - 1
	now := store.HealthAt{Number: s.Events - 1, Score: f.session.Health().Score}
	if now.Score == s.Health[last].Score {
		return
	}
	room := min(last+1, store.MaxHealth-1)
	s.Health = append(s.Health[:room:room], now) // a new array, because rows share the old one
}

// busiest returns the tools with the most calls, in descending order.
func (f *fold) busiest() (tools []store.ToolCalls) {
	for _, name := range f.s.Tools {
		if t := f.session.Run().Tool(name); t != nil {
			tools = append(tools, store.ToolCalls{Name: store.Key(name), Calls: t.Calls})
		}
	}
	slices.SortStableFunc(tools, func(a, b store.ToolCalls) int { return cmp.Compare(b.Calls, a.Calls) })
	return slices.Clip(tools[:min(len(tools), store.MaxBusiest)])
}

// novelty counts the steps of a run and the novel ones among them, in stretches of equal length. When there are too many
// stretches, each two become one.
type novelty struct {
	Steps        int
	StretchSteps int   // steps of a stretch; the last one may have fewer
	NovelSteps   []int // of each stretch
}

func (n *novelty) add(fresh bool) {
	if n.Steps == n.StretchSteps*store.MaxNovelty {
		n.mergeStretches()
	}
	at := n.Steps / n.StretchSteps
	if at == len(n.NovelSteps) {
		n.NovelSteps = append(n.NovelSteps, 0)
	}
	if fresh {
		n.NovelSteps[at]++
	}
	n.Steps++
}

// mergeStretches doubles the length of the stretches.
func (n *novelty) mergeStretches() {
	n.StretchSteps = max(2*n.StretchSteps, 1)
	for k := range len(n.NovelSteps) / 2 {
		n.NovelSteps[k] = n.NovelSteps[2*k] + n.NovelSteps[2*k+1]
	}
	n.NovelSteps = n.NovelSteps[:len(n.NovelSteps)/2]
}

// fractions returns the fraction of novel steps of each stretch.
func (n *novelty) fractions() (shares []float64) {
	for k, fresh := range n.NovelSteps {
		shares = append(shares, store.Round(float64(fresh)/float64(min(n.StretchSteps, n.Steps-k*n.StretchSteps)), 2))
	}
	return shares
}

// mean returns the fraction of novel steps of the run; 1 if no novelty is known.
func (n *novelty) mean() float64 {
	if n.Steps == 0 {
		return 1
	}
	fresh := 0
	for _, k := range n.NovelSteps {
		fresh += k
	}
	return store.Round(float64(fresh)/float64(n.Steps), 4)
}

// worstWarning returns the rule of the most severe warning, or "" without warnings. Of equal severity the longest loop counts, then the
// first raised.
func (r *run) worstWarning() string {
	best := -1
	for k := range r.warnings {
		if best < 0 || r.compareWarnings(&r.warnings[k], &r.warnings[best]) > 0 {
			best = k
		}
	}
	if best < 0 {
		return ""
	}
	return store.Text(r.warnings[best].Rule)
}

func (r *run) compareWarnings(a, b *store.Warning) int {
	rank := func(w *store.Warning) int {
		return slices.Index([]unloop.Severity{unloop.SeverityInfo, unloop.SeverityWarning, unloop.SeverityCritical}, unloop.Severity(w.Severity))
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(r.loopSteps(a), r.loopSteps(b)), b.Created.Compare(a.Created))
}

// loopSteps returns the number of steps that a warning's loop has taken.
func (r *run) loopSteps(w *store.Warning) int {
	f, _ := r.fold.session.Warning(w.Rule, w.Subject)
	return w.Count * max(f.Period, 1)
}
