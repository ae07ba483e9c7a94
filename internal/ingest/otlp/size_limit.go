package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Errors of a request that is not to be decoded.
var (
	ErrMalformed = errors.New("not an OTLP request in protobuf")
	ErrDeep      = fmt.Errorf("the request is nested more than %d deep", maxDepth)
)

// MeasureTraces estimates the bytes that an ExportTraceServiceRequest takes once it is decoded, and refuses what is nested too
// deeply: the decoder calls itself for each level, and a stack that runs over ends the process. Ask it before you decode. It takes
// time in proportion to the number of fields, and no memory.
func MeasureTraces(request []byte) (size int64, err error) { return tracesShape.measure(request) }

// MeasureLogs does the same for an ExportLogsServiceRequest.
func MeasureLogs(request []byte) (size int64, err error) { return logsShape.measure(request) }

// message is a message of OTLP.
type message uint8

// The messages; leaf is for fields whose content is no message.
const (
	leaf message = iota
	whole
	ofResource // ResourceSpans or ResourceLogs
	ofScope    // ScopeSpans or ScopeLogs
	item       // trace.Span or LogRecord
	resource
	entity
	label // a string in a list of strings
	scope
	event
	link
	keyValue
	anyValue
	array
	list // of key values
	kinds
)

// shape is the tree of a request's messages, as far as lists are in it: for each message, which of its fields are messages.
type shape [kinds][16]message

// The shapes of both signals.
var (
	tracesShape = shapeOf([16]message{9: keyValue, 11: event, 13: link})
	logsShape   = shapeOf([16]message{5: anyValue, 6: keyValue})
)

func shapeOf(fields [16]message) shape {
	return shape{
		whole:      {1: ofResource},
		ofResource: {1: resource, 2: ofScope},
		ofScope:    {1: scope, 2: item},
		item:       fields,
		resource:   {1: keyValue, 3: entity},
		entity:     {3: label, 4: label},
		scope:      {3: keyValue},
		event:      {3: keyValue},
		link:       {4: keyValue},
		keyValue:   {2: anyValue},
		anyValue:   {5: array, 6: list},
		array:      {1: anyValue},
		list:       {1: keyValue},
	}
}

// oldScopes is the field in which old senders put scopes. The decoder still looks there.
const oldScopes = 1000

// in returns the kind of the message in a field of another.
func (s *shape) in(outer message, field uint64) message {
	if field < uint64(len(s[outer])) {
		return s[outer][field]
	}
	if field == oldScopes && outer == ofResource {
		return ofScope
	}
	return leaf
}

// weights are the bytes that a decoded message takes beside its text, about: its fields, and its place in a list that grows.
var weights = [kinds]int64{
	ofResource: 160, ofScope: 140, item: 340, resource: 0, entity: 100, label: 32, scope: 0, event: 100, link: 130,
	keyValue: 100, anyValue: 48, array: 32, list: 32,
}

// maxDepth is how many messages stand in one another at most. Protobuf's own libraries stop at 100.
const maxDepth = 100

// frame is a message that is being measured.
type frame struct {
	kind message
	end  int
}

// measure does what MeasureTraces says.
func (s *shape) measure(b []byte) (size int64, err error) {
	var stack [maxDepth]frame
	depth := 0
	stack[0] = frame{whole, len(b)}
	size = int64(len(b))
	for at := 0; ; {
		for at == stack[depth].end {
			if depth == 0 {
				return size, nil
			}
			depth--
		}
		top := stack[depth]
		field, length, next := readField(b[:top.end], at)
		if next < 0 {
			return 0, ErrMalformed
		}
		at = next + length
		child := s.in(top.kind, field)
		size += weights[child]
		if child == leaf || child == label {
			continue
		}
		if depth+1 == maxDepth {
			return 0, ErrDeep
		}
		depth++
		stack[depth] = frame{child, next + length}
		at = next
	}
}

// readField reads the field at a place in b: where its content begins and how long that is. The number is 0 for a field that
// can be no message. A place below 0 says that there is no field.
func readField(b []byte, at int) (number uint64, length, next int) {
	tag, n := binary.Uvarint(b[at:])
	if n <= 0 || bits.Len64(tag) > 32 { // the decoder would cut the number of the field
		return 0, 0, -1
	}
	at += n
	switch tag & 7 {
	case 0:
		_, n := binary.Uvarint(b[at:])
		length = n
		if n <= 0 {
			return 0, 0, -1
		}
	case 1:
		length = 8
	case 5:
		length = 4
	case 2:
		l, n := binary.Uvarint(b[at:])
		if n <= 0 || bits.Len64(l) > 31 {
			return 0, 0, -1
		}
		number, length, at = tag>>3, int(l), at+n
	default: // groups are not in OTLP
		return 0, 0, -1
	}
	if length > len(b)-at {
		return 0, 0, -1
	}
	return number, length, at
}
