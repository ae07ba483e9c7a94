package store

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
)

// Analysis is the result of folding one event: the facts about repeats and novelty that a page draws. Its JSON is stored with the
// event and is part of the event on the wire. A new figure is a new member.
type Analysis struct {
	// Call identifies a call within its run: two calls are equal if they have the same tool and the same arguments, as far as the
	// arguments decide the result. For an assistant's message it identifies the text, without volatile parts. 0 means none.
	Call unloop.Hash
	// Result identifies the result of a call, without volatile parts such as times and ids. 0 means none.
	Result unloop.Hash
	// CallEvent is the id of the event that started the call that this event ended. "" means none, or that the run no longer has it.
	CallEvent string
	// Novelty is whether the result was new in the run.
	Novelty Novelty
	// Failing is whether the call completed with a result that describes a failure, such as an exit status.
	Failing bool
	// Repeats is the number of times that the call had this result, this time included; for a message, the number of nearly equal
	// messages among the latest ones. 0 means unknown.
	Repeats int
	// RepeatsEvent is the id of the latest earlier event that this one repeats; for a message, of the earliest. "" means none, or
	// that the run no longer has it.
	RepeatsEvent string
}

// Novelty is whether the result of a call is new.
type Novelty uint8

// The values of Novelty. The novelty of a call is unknown until its result is captured.
const (
	NoveltyUnknown Novelty = iota
	Novel
	NotNovel
)

// JSON returns the stored object, of about 25 to 150 bytes, or nil for an empty analysis.
func (a *Analysis) JSON() []byte {
	if *a == (Analysis{}) {
		return nil
	}
	var buffer [160]byte
	to := append(buffer[:0], '{')
	to = appendIdentity(to, "call", a.Call)
	to = appendIdentity(to, "result", a.Result)
	to = appendEvent(to, "call_event_id", a.CallEvent)
	switch a.Novelty {
	case Novel:
		to = append(to, `"novel":true,`...)
	case NotNovel:
		to = append(to, `"novel":false,`...)
	case NoveltyUnknown:
	}
	if a.Failing {
		to = append(to, `"failing":true,`...)
	}
	if a.Repeats > 0 {
		to = append(to, `"repeats":`...)
		to = append(strconv.AppendInt(to, int64(a.Repeats), 10), ',')
	}
	to = appendEvent(to, "repeats_event_id", a.RepeatsEvent)
	to[len(to)-1] = '}'
	return bytes.Clone(to)
}

// appendIdentity appends a member whose value is the hash in 11 characters of base64, unless the hash is 0.
func appendIdentity(to []byte, name string, h unloop.Hash) []byte {
	if h == 0 {
		return to
	}
	to = append(append(append(to, '"'), name...), `":"`...)
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], uint64(h))
	to = base64.RawURLEncoding.AppendEncode(to, raw[:])
	return append(to, `",`...)
}

// appendEvent appends a member whose value is the id of an event, unless the id is "".
func appendEvent(to []byte, name, id string) []byte {
	if id == "" {
		return to
	}
	to = append(append(append(to, '"'), name...), `":`...)
	to, _ = jsontext.AppendQuote(to, id) // the error only reports that invalid UTF-8 was replaced
	return append(to, ',')
}

// Reanalyzed is a new analysis of a stored event.
type Reanalyzed struct {
	Arrival  int64 // of the event
	Run      int64 // of the event
	EventID  string
	Analysis []byte // as in Event
}
