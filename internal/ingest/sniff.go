package ingest

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Members tells the shape of the first JSON value in head: the members of an object at its top, each with its value
// as far as head holds it ("" where it is cut off or is itself an object or array; for those the key's presence is
// what counts). If the value is an array, it is the array's first element that is told, and list is true.
// It never fails: what cannot be read ends the telling.
func Members(head []byte) (members map[string]string, list bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(head), lenient)
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, false
	}
	if tok.Kind() == '[' {
		list = true
		if tok, err = dec.ReadToken(); err != nil {
			return nil, list
		}
	}
	if tok.Kind() != '{' {
		return nil, list
	}
	members = make(map[string]string)
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return members, list
		}
		name := key.String()
		members[name] = ""
		switch dec.PeekKind() {
		case '"', '0', 't', 'f', 'n':
			value, err := dec.ReadToken()
			if err != nil {
				return members, list
			}
			members[name] = value.String()
		default:
			if dec.SkipValue() != nil {
				return members, list
			}
		}
	}
}
