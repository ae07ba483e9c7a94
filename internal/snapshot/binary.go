package snapshot

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// mark is the first byte of a binary snapshot. No JSON begins with it.
const mark = 0xB1

// errBinary means that binary data is not valid for the type.
var errBinary = errors.New("the binary snapshot is damaged, or from another version of the program")

// isBinary reports whether data is a binary snapshot instead of JSON.
func isBinary(data []byte) bool { return len(data) > 0 && data[0] == mark }

// AppendBinary appends the binary form of a value. It has about a third of the size of the JSON, takes a tenth of the time, and
// contains the same fields. It begins with a hash of the layout of the type, so only a program with the same types can read it: a
// snapshot that another version may read must be JSON. A type with AppendBinary and UnmarshalBinary, or else with MarshalText and
// UnmarshalText, is encoded by these methods.
func AppendBinary(to []byte, value any) ([]byte, error) {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	p, hash := planOf(v.Type())
	to = append(to, mark)
	to = binary.LittleEndian.AppendUint64(to, hash)
	return p.append(to, v)
}

// append appends a value of the plan's type.
func (p *plan) append(to []byte, v reflect.Value) (_ []byte, err error) {
	if p.own {
		return p.appendOwn(to, v)
	}
	switch p.kind {
	case reflect.Bool:
		if v.Bool() {
			return append(to, 1), nil
		}
		return append(to, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(to, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return binary.AppendUvarint(to, v.Uint()), nil
	case reflect.Uint64:
		return binary.LittleEndian.AppendUint64(to, v.Uint()), nil // most are hashes
	case reflect.Float32, reflect.Float64:
		return binary.LittleEndian.AppendUint64(to, math.Float64bits(v.Float())), nil
	case reflect.String:
		to = binary.AppendUvarint(to, uint64(v.Len()))
		return append(to, v.String()...), nil
	case reflect.Slice:
		if v.IsNil() {
			return append(to, 0), nil
		}
		to = binary.AppendUvarint(to, uint64(v.Len())+1)
		if p.elem.kind == reflect.Uint8 {
			return append(to, v.Bytes()...), nil
		}
		return p.appendElements(to, v)
	case reflect.Array:
		return p.appendElements(to, v)
	case reflect.Pointer:
		if v.IsNil() {
			return append(to, 0), nil
		}
		return p.elem.append(append(to, 1), v.Elem())
	case reflect.Map:
		return p.appendMap(to, v)
	case reflect.Struct:
		for _, f := range p.fields {
			if to, err = f.plan.append(to, v.Field(f.index)); err != nil {
				return to, err
			}
		}
		return to, nil
	}
	return to, fmt.Errorf("write a binary snapshot: a %v has no binary form", v.Type())
}

// appendOwn appends a value by its own methods, after its length.
func (p *plan) appendOwn(to []byte, v reflect.Value) (_ []byte, err error) {
	if !v.CanAddr() {
		addressable := reflect.New(v.Type()).Elem()
		addressable.Set(v)
		v = addressable
	}
	var own []byte
	switch a := v.Addr().Interface().(type) {
	case encoding.BinaryAppender:
		own, err = a.AppendBinary(nil)
	case encoding.TextMarshaler:
		own, err = a.MarshalText()
	}
	to = binary.AppendUvarint(to, uint64(len(own)))
	return append(to, own...), err
}

func (p *plan) appendElements(to []byte, v reflect.Value) (_ []byte, err error) {
	for i := range v.Len() {
		if to, err = p.elem.append(to, v.Index(i)); err != nil {
			return to, err
		}
	}
	return to, nil
}

// appendMap appends the entries sorted by key, so that equal maps have equal snapshots.
func (p *plan) appendMap(to []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(to, 0), nil
	}
	to = binary.AppendUvarint(to, uint64(v.Len())+1)
	keys := v.MapKeys()
	if p.key.kind == reflect.String {
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	}
	for _, key := range keys {
		if to, err = p.key.append(to, key); err != nil {
			return to, err
		}
		if to, err = p.elem.append(to, v.MapIndex(key)); err != nil {
			return to, err
		}
	}
	return to, nil
}
