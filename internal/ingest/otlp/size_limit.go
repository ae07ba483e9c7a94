package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Errors of a request that must not be decoded.
var (
	ErrMalformed = errors.New("not an OTLP request in protobuf")
	ErrDeep      = fmt.Errorf("the request is nested more than %d deep", maxDepth)
)

// MeasureTraces estimates the size of a decoded ExportTraceServiceRequest in bytes. It rejects requests with deep nesting: the
// decoder calls itself for each level, and a stack overflow ends the process. It must be called before decoding. It takes time
// proportional to the number of fields, and allocates nothing.
func MeasureTraces(request []byte) (size int64, err error) { return tracesShape.measure(request) }

// MeasureLogs does the same for an ExportLogsServiceRequest.
func MeasureLogs(request []byte) (size int64, err error) { return logsShape.measure(request) }

// message is a kind of OTLP message.
type message uint8

// The kinds of messages; leaf is for fields that are not messages.
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

// shape is the tree of a request's messages with lists: the kind of each field of each message.
type shape [kinds][16]message

// The shapes of traces and logs.
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

// oldScopes is the field of scopes in old versions of OTLP. The decoder still reads it.
const oldScopes = 1000

// in returns the kind of the message in a field of another message.
func (s *shape) in(outer message, field uint64) message {
	if field < uint64(len(s[outer])) {
		return s[outer][field]
	}
	if field == oldScopes && outer == ofResource {
		return ofScope
	}
	return leaf
}

// weights are the approximate sizes in bytes of decoded messages without their text: fields and list elements.
var weights = [kinds]int64{
	ofResource: 160, ofScope: 140, item: 340, resource: 0, entity: 100, label: 32, scope: 0, event: 100, link: 130,
	keyValue: 100, anyValue: 48, array: 32, list: 32,
}

// maxDepth is the maximum nesting of messages. Protobuf's own libraries allow 100.
const maxDepth = 100

// frame is a message while it is measured.
type frame struct {
	kind message
	end  int
}

// measure implements MeasureTraces and MeasureLogs.
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

// readField reads the field at an offset in b. It returns the number of the field, and the length and the offset of its content.
// The number is 0 for a field that cannot be a message. A negative offset means invalid protobuf. It does not use protowire,
// which takes half as long again.
func readField(b []byte, at int) (number uint64, length, next int) {
	tag, n := binary.Uvarint(b[at:])
	if n <= 0 || bits.Len64(tag) > 32 { // the decoder would truncate the number of the field
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
	default: // OTLP has no groups
		return 0, 0, -1
	}
	if length > len(b)-at {
		return 0, 0, -1
	}
	return number, length, at
}
