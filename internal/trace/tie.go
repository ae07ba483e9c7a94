package trace

import (
	"cmp"
	"math"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Ranks of events of the same time.
const (
	rankEnd    = iota // of what began before
	rankModel         // starts of model calls, and ends of those that took no time, each after its start
	rankMoment        // the same of all else
	rankRunEnd
)

// Tie orders events of the same time that spans and log records gave, whatever order these came in: a smaller one is
// first. What ends comes before what begins, so that calls one after another stay so, and of several ends the shorter
// call's first, for it may be within the longer. Of what begins, a model call comes before the tools that it may have asked
// for. But no end comes before its own start, and the end of a run comes last. For the rest a hash of the id decides. It is
// not negative. Where two are equal, as they hardly ever are, the ids of the events decide.
func Tie(e *unloop.Event) int64 {
	base, isEnd := strings.CutSuffix(e.ID, EndSuffix)
	if !isEnd {
		base = strings.TrimSuffix(base, StartSuffix)
	}
	h := Hash(base)
	switch {
	case e.Type == unloop.RunCompleted || e.Type == unloop.RunFailed:
		return rankRunEnd<<61 | int64(h>>4)
	case isEnd && e.Latency != nil && *e.Latency > 0:
		took := int64(math.Float64bits(*e.Latency) >> 34) // 29 bits that order as the number does
		return rankEnd<<61 | took<<32 | int64(h>>32)
	}
	rank, end := int64(rankMoment), int64(0)
	switch e.Type {
	case unloop.LLMCallStarted, unloop.LLMCallCompleted, unloop.LLMCallFailed:
		rank = rankModel
	}
	if isEnd {
		end = 1
	}
	return rank<<61 | int64(h>>4)<<1 | end
}

// Before is the order of events: time, tie, id.
func Before(a, b *unloop.Event) int {
	if c := a.Time.Compare(b.Time); c != 0 {
		return c // which it hardly ever is not, and ties take longer
	}
	return cmp.Or(cmp.Compare(Tie(a), Tie(b)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.TraceID, b.TraceID))
}

// Hash is FNV-1a with a finish that spreads what differs at the end of the text over all bits.
func Hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}
