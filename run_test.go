package unloop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// maxRunMemory is the bound in the comment of Run.
const maxRunMemory = 4 << 20

// TestMemoryOfALongRun folds 100,000 events, six times what the largest table holds, that have as little in common as possible, and
// measures the memory of the run. By then each table has been filled and has dropped its oldest entries several times: a run of 1,000,000
// events keeps no more, within a tenth, and takes ten times as long.
func TestMemoryOfALongRun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events int
		make   func(*hostile) *Event
	}{
		{"nothing comes twice", 100_000, (*hostile).varied},
		{"each tool has long inputs, then short ones", 2 * maxInputs * maxTools, (*hostile).longThenShort},
		{"each tool has many short inputs", maxInputs * maxTools, (*hostile).short},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := NewRun("run", Options{Needs: ^Needs(0), Shells: DefaultShells()})
			h := newHostile()
			for h.n < tc.events {
				run.Add(tc.make(h))
				h.n++
			}
			h.text = ""
			with := liveHeap()
			events := run.Metrics().Events
			run = nil
			if kept := with - liveHeap(); kept > maxRunMemory {
				t.Errorf("after %d events the run takes %d bytes, over the limit of %d", events, kept, maxRunMemory)
			} else {
				t.Logf("after %d events the run keeps %d bytes", events, kept)
			}
			if events != tc.events {
				t.Errorf("%d events were counted, want %d", events, tc.events)
			}
		})
	}
}

// liveHeap returns the bytes that are reachable. Pools give up their memory at the second collection.
func liveHeap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// hostile makes events.
type hostile struct {
	n      int
	random *rand.Rand
	text   string // what inputs, results and messages are cut from
}

func newHostile() *hostile {
	h := &hostile{random: rand.New(rand.NewPCG(3, 4))}
	var b strings.Builder
	for b.Len() < 1<<20 {
		for range 2 + h.random.IntN(8) {
			b.WriteByte(byte('a' + h.random.IntN(26)))
		}
		b.WriteByte(' ')
	}
	h.text = b.String()
	return h
}

// piece returns a text of up to most bytes, a quarter of that in the mean, which in all likelihood never came before.
func (h *hostile) piece(most int) string {
	u := h.random.Float64()
	size := int(u * u * u * float64(most))
	at := h.random.IntN(len(h.text) - size)
	return h.text[at : at+size]
}

// raw returns a JSON object with a text of up to most bytes.
func (h *hostile) raw(most int) json.RawMessage {
	return json.RawMessage(`{"n":` + strconv.Itoa(h.n) + `,"query":"` + h.piece(most) + `"}`)
}

func (h *hostile) label(of string) string {
	return fmt.Sprintf("%s-%d-0123456789abcdef0123456789abcdef", of, h.n)
}

// varied makes an event of any kind, with a name, an id and a content of its own. Of the calls, half stay open.
func (h *hostile) varied() *Event {
	e := &Event{ID: h.label("event"), Index: h.n, Agent: h.label("agent")}
	switch h.random.IntN(12) {
	case 0, 1, 2:
		e.Type, e.CallID, e.SpanID, e.Input = ToolCallStarted, h.label("call"), h.label("span"), h.raw(4000)
		e.Tool = [...]string{h.label("tool"), "tool-" + strconv.Itoa(h.random.IntN(300)), "bash"}[h.random.IntN(3)]
	case 3:
		e.Type, e.Output = ToolCallCompleted, h.raw(1000)
	case 4:
		e.Type, e.Tool, e.Output = ToolCallCompleted, h.label("tool"), h.raw(1000)
	case 5:
		e.Type, e.Error = ToolCallFailed, h.raw(1000)
	case 6:
		e.Type, e.Role, e.Text = MessageSent, RoleAssistant, h.piece(1000)
	default:
		e.Type = [...]EventType{HandoffStarted, StateUpdated, LLMCallCompleted, EventType(h.label("type"))}[h.random.IntN(4)]
	}
	return e
}

// longThenShort calls one tool after the other, each with as many long inputs as a run keeps of a tool, then with as many
// short ones.
func (h *hostile) longThenShort() *Event {
	e := h.short()
	e.Tool = "tool-" + strconv.Itoa(h.n/(2*maxInputs))
	if size := 4000; h.n/maxInputs%2 == 0 {
		at := h.random.IntN(len(h.text) - size)
		e.Input = json.RawMessage(`{"q":"` + h.text[at:at+size] + `"}`)
	}
	return e
}

// short calls one tool after the other, each with as many short inputs as a run keeps of a tool.
func (h *hostile) short() *Event {
	return &Event{
		ID: h.label("event"), Index: h.n, Type: ToolCallStarted, Tool: "tool-" + strconv.Itoa(h.n/maxInputs),
		Input: json.RawMessage(strconv.Itoa(h.n)),
	}
}

func TestARunHasRoomForTheStepsThatItKeepsAndNoMore(t *testing.T) {
	r := NewRun("", Options{})
	for range 3 * recentSteps {
		add(r, Event{Tool: "grep"})
	}
	if n := cap(r.s.Recent); n != recentSteps {
		t.Errorf("it has room for %d steps, want %d", n, recentSteps)
	}
}
