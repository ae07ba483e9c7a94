package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/zeebo/xxh3"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// lenient are the options with which requests are read. A request that an upstream would refuse reaches it, so that it can.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// request is a request with its history.
type request struct {
	body    []byte
	members members
	items   []item // of the history; without the first ones if the request continues a known one
	skipped int    // how many of the first ones are left out
	end     int    // the offset of the bracket that ends the history
}

// item is one item of a history.
type item struct {
	value jsontext.Value
	end   int    // the offset behind it
	sum   uint64 // what hash returned; 0 before its first call
}

// members are the members of a request that the proxy reads beside the history.
type members struct {
	Model         string
	Stream        bool
	Unstored      bool   // the API does not keep the answer
	Previous      string // the id of the response that the request continues
	Conversation  string // the id of a conversation at the API's side
	IncludeUsage  bool
	HistoryIsText bool // the history is one string, which a person said
}

// textItem returns the item that stands for a history of one text.
func textItem(text jsontext.Value) jsontext.Value {
	return slices.Concat(jsontext.Value(`{"role":"user","content":`), text, jsontext.Value("}"))
}

// errNoHistory is the error of a request without a history that can be judged.
var errNoHistory = errors.New("no history")

// firstItems returns a hash of the history's first items, up to the first one of a person, by which a history is known again.
// It reads the body up to there.
func firstItems(body []byte, list string) (uint64, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), lenient)
	if dec.PeekKind() != '{' {
		return 0, errNoHistory
	}
	if _, err := dec.ReadToken(); err != nil {
		return 0, err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return 0, err
		}
		isList := name.String() == list
		if kind := dec.PeekKind(); !isList || kind != '[' {
			value, err := dec.ReadValue()
			if err != nil {
				return 0, err
			}
			if isList && kind == '"' {
				return chained(0, hashItem(textItem(value))), nil
			}
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			return 0, err
		}
		return hashFirst(dec)
	}
	return 0, errNoHistory
}

// hashFirst returns the hash of the first items of the list that dec is in.
func hashFirst(dec *jsontext.Decoder) (uint64, error) {
	sum := uint64(0)
	for range 4 {
		if dec.PeekKind() == ']' {
			break
		}
		value, err := dec.ReadValue()
		if err != nil {
			return 0, err
		}
		sum = chained(sum, hashItem(value))
		if bytes.Contains(value, []byte(`"user"`)) {
			break
		}
	}
	return sum, nil
}

// parse reads the body of a request, whose history is the member list. It does not check members that the proxy does not read.
func parse(body []byte, list string) (*request, error) {
	r := &request{body: body, end: -1}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), lenient)
	if dec.PeekKind() != '{' {
		return nil, errNoHistory
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if err := r.readMembers(dec, list, 0); err != nil {
		return nil, err
	}
	if r.end < 0 && !r.members.HistoryIsText {
		return nil, errNoHistory
	}
	return r, nil
}

// readMembers reads the members of the object that dec is in, to its end. Offset is that of the first byte of dec's input in the body.
func (r *request) readMembers(dec *jsontext.Decoder, list string, offset int) error {
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if name == list && dec.PeekKind() == '[' {
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
			if err := r.readItems(int(dec.InputOffset()) + offset); err != nil {
				return err
			}
			return r.readBehind(list)
		}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if name == list && value.Kind() == '"' {
			r.members.HistoryIsText = true
			r.items = []item{{value: textItem(value)}}
		}
		r.members.take(name, value)
	}
	_, err := dec.ReadToken()
	return err
}

// readBehind reads the members behind the history.
func (r *request) readBehind(list string) error {
	const object = `{"":0` // stands for the members that were read
	dec := jsontext.NewDecoder(bytes.NewBuffer(slices.Concat([]byte(object), r.body[r.end+1:])), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	return r.readMembers(dec, list, r.end+1-len(object))
}

// errCut is the error of a history that has no end, or no comma between two items.
var errCut = errors.New("the history is no valid list")

// readItems reads the rest of the list that the body has at an offset. It finds the items only; who reads them finds whether they are valid.
func (r *request) readItems(at int) error {
	for first := r.skipped+len(r.items) == 0; ; first = false {
		at = behindSpace(r.body, at)
		if at < len(r.body) && r.body[at] == ']' {
			r.end = at
			return nil
		}
		if !first {
			if at == len(r.body) || r.body[at] != ',' {
				return errCut
			}
			at = behindSpace(r.body, at+1)
		}
		end := valueEnd(r.body, at)
		if end <= at {
			return errCut
		}
		r.items = append(r.items, item{value: r.body[at:end], end: end})
		at = end
	}
}

// resume reads a body whose first bytes, up to the offset from, are known: they end with the item number skipped-1 of the
// history, and known are the members before the history.
func resume(body []byte, from, skipped int, known members, list string) (*request, error) {
	r := &request{body: body, members: known, skipped: skipped}
	if err := r.readItems(from); err != nil {
		return nil, err
	}
	return r, r.readBehind(list)
}

// take keeps a member, if the proxy reads it.
func (m *members) take(name string, value jsontext.Value) {
	switch name {
	case "model":
		m.Model = ingest.UnquoteText(value)
	case "stream":
		m.Stream = value.Kind() == 't'
	case "store":
		m.Unstored = value.Kind() == 'f'
	case "previous_response_id":
		m.Previous = ingest.UnquoteText(value)
	case "conversation":
		var object struct {
			ID string `json:"id"`
		}
		_ = jsonv2.Unmarshal(value, &object, lenient) // another form is the id
		m.Conversation = cmp.Or(object.ID, ingest.UnquoteText(value))
	case "stream_options":
		var options struct {
			IncludeUsage bool `json:"include_usage"`
		}
		_ = jsonv2.Unmarshal(value, &options, lenient) // another form asks for nothing
		m.IncludeUsage = options.IncludeUsage
	}
}

// hash returns a hash of the item without its cache_control, which marks the newest item of each request and is taken off
// again in the next.
func (i *item) hash() uint64 {
	if i.sum == 0 {
		i.sum = hashItem(i.value)
	}
	return i.sum
}

func hashItem(value jsontext.Value) uint64 {
	mark := []byte(`"cache_control"`)
	if !containsQuoted(value, mark) {
		return xxh3.Hash(value)
	}
	h := xxh3.New()
	dec := jsontext.NewDecoder(bytes.NewBuffer(value), lenient)
	done := 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			_, _ = h.Write(value[done:]) // a hash cannot fail
			return h.Sum64()
		}
		end := int(dec.InputOffset())
		kind, n := dec.StackIndex(dec.StackDepth())
		if kind != '{' || n%2 == 0 || !bytes.HasSuffix(value[:end], mark) || dec.SkipValue() != nil {
			continue
		}
		from, to := cutMember(value, end-len(mark), int(dec.InputOffset()))
		if from >= done {
			_, _ = h.Write(value[done:from])
		}
		done = to
	}
}

// appendItem returns the body with one more item at the end of the history.
func (r *request) appendItem(value []byte) ([]byte, error) {
	if r.end < 0 {
		return nil, fmt.Errorf("append to the history: %w", errNoHistory)
	}
	if r.skipped+len(r.items) > 0 {
		value = append([]byte{','}, value...)
	}
	return slices.Concat(r.body[:r.end], value, r.body[r.end:]), nil
}
