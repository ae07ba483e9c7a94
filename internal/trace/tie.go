package trace

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop"
)

// Ranks of events of the same time.
const (
	rankEnd    = iota // ends of what began before
	rankAnswer        // the messages with which these end
	rankInput         // messages to the model
	rankModel         // starts of model calls, and ends of those without duration, each after its start
	rankReply         // the messages with which these end
	rankMoment        // the same as rankModel for all other events
	rankRunEnd

	rankShift = 60 // a rank is the highest 3 bits of 63
)

// Tie returns an order of events with equal times, from spans and log records. It does not depend on the order of arrival. A
// smaller tie is first. Ends come before starts, so that sequential calls stay sequential. Of several ends, the one of the
// shorter call is first, because it may be inside the longer one. Of several starts, model calls are first, because they may have
// requested the tools. Messages to a model come before its call, and its answer comes after it. No end comes before its own start,
// and the end of a run is last. A hash of the id decides the rest. The tie is not negative. If two are equal, which is very rare,
// the ids of the events decide.
func Tie(e *unloop.Event) int64 {
	if e.Type == unloop.MessageSent {
		return tieOfMessage(e)
	}
	base, isEnd := strings.CutSuffix(e.ID, EndSuffix)
	if !isEnd {
		base = strings.TrimSuffix(base, StartSuffix)
	}
	h := Hash(base)
	switch {
	case e.Type == unloop.RunCompleted || e.Type == unloop.RunFailed:
		return rankRunEnd<<rankShift | int64(h>>4)
	case isEnd && e.Latency != nil && *e.Latency > 0:
		took := int64(math.Float64bits(*e.Latency) >> 34) // 29 bits with the same order as the number
		return rankEnd<<rankShift | took<<31 | int64(h>>33)
	}
	rank, end := int64(rankMoment), int64(0)
	switch e.Type {
	case unloop.LLMCallStarted, unloop.LLMCallCompleted, unloop.LLMCallFailed:
		rank = rankModel
	}
	if isEnd {
		end = 1
	}
	return rank<<rankShift | int64(h>>5)<<1 | end
}

// tieOfMessage is Tie for a message. Those to one model call stay in their order.
func tieOfMessage(e *unloop.Event) int64 {
	at := strings.LastIndexByte(e.ID, '.')
	if at < 0 { // of a log record
		return rankMoment<<rankShift | int64(Hash(e.ID)>>5)<<1
	}
	base, suffix := e.ID[:at], e.ID[at:]
	rank, place := int64(rankMoment), 0
	switch {
	case suffix == answerSuffix:
		rank = rankAnswer
	case suffix == replySuffix:
		rank = rankReply
	case strings.HasPrefix(suffix, inputSuffix):
		rank = rankInput
		place, _ = strconv.Atoi(suffix[len(inputSuffix):]) // 0 for an id of another kind
	}
	return rank<<rankShift | int64(Hash(base)>>12)<<8 | int64(place&(MaxInput-1))
}

// Before compares events by time, tie and id.
func Before(a, b *unloop.Event) int {
	if c := a.Time.Compare(b.Time); c != 0 {
		return c // usually decides, and ties take longer
	}
	return cmp.Or(cmp.Compare(Tie(a), Tie(b)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.TraceID, b.TraceID))
}

// Hash is FNV-1a with a final mix, so that a difference at the end of the text affects all bits.
func Hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}
