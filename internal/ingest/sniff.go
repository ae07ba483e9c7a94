package ingest

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Member returns the part of head that begins with the value of a member of the first JSON object in head, or nil if head has no
// such member before a value that is cut off.
func Member(head []byte, name string) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(head), lenient)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil
	}
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return nil
		}
		if key.String() == name {
			return bytes.TrimLeft(head[dec.InputOffset():], " \t\r\n:")
		}
		if dec.SkipValue() != nil {
			return nil
		}
	}
}

// Members returns the members of the first JSON object in head, each with its value as far as head contains it. The value is ""
// if it is cut off or is an object or array; only the presence of the key counts then. If the value is an array, the result is
// for its first element, and list is true. Invalid JSON ends the members.
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
