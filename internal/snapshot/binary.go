package snapshot

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// mark is the first byte of a binary snapshot. No JSON begins with it.
const mark = 0xB1

// errBinary means that binary data is not valid for the type.
var errBinary = errors.New("the binary snapshot is damaged, or from another version of the program")

// IsBinary reports whether data is a binary snapshot instead of JSON.
func IsBinary(data []byte) bool { return len(data) > 0 && data[0] == mark }

// AppendBinary appends the binary form of a value, which DecodeBinary reads. It has about a third of the size of the JSON, takes
// a tenth of the time, and contains the same fields. It begins with a hash of the layout of the type, so that only a program with
// the same types can read it; JSON is the form to store or to send. A type with AppendBinary and UnmarshalBinary, or else with
// MarshalText and UnmarshalText, is encoded by these methods.
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

// DecodeBinary decodes a value into a pointer. The data may come from an untrusted source: the memory is at most a multiple of
// the length of data.
func DecodeBinary(data []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	p, hash := planOf(v.Type())
	if len(data) < 9 || data[0] != mark || binary.LittleEndian.Uint64(data[1:]) != hash || len(data) > MaxBytes {
		return errBinary
	}
	d := decoder{rest: data[9:]}
	d.value(p, v)
	if d.failed || len(d.rest) != 0 {
		return errBinary
	}
	return nil
}

var (
	binaryAppender  = reflect.TypeFor[encoding.BinaryAppender]()
	binaryReader    = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// plan is how values of a type are encoded.
type plan struct {
	kind      reflect.Kind
	own       bool // by their own methods for binary data
	text      bool // by their own methods for text
	fields    []fieldPlan
	key, elem *plan
}

type fieldPlan struct {
	index int
	plan  *plan
}

// plans has the layouts of types that were used, because making a plan takes longer than writing a small value.
var plans sync.Map // from reflect.Type to layout

// layout is the plan of a type with a hash of the names and kinds of all its fields.
type layout struct {
	plan *plan
	hash uint64
}

// planOf returns the plan of a type, and the hash of its layout.
func planOf(t reflect.Type) (*plan, uint64) {
	if known, ok := plans.Load(t); ok {
		return known.(layout).plan, known.(layout).hash
	}
	hash := fnv.New64a()
	made := layout{plan: newPlan(t, make(map[reflect.Type]*plan), hash)}
	made.hash = hash.Sum64()
	plans.Store(t, made)
	return made.plan, made.hash
}

func newPlan(t reflect.Type, known map[reflect.Type]*plan, layout io.Writer) *plan {
	if p, ok := known[t]; ok {
		io.WriteString(layout, t.Name()) // writing to a hash never fails
		return p
	}
	p := &plan{kind: t.Kind()}
	known[t] = p
	pointer := reflect.PointerTo(t)
	binaries := pointer.Implements(binaryAppender) && pointer.Implements(binaryReader)
	p.text = !binaries && pointer.Implements(textMarshaler) && pointer.Implements(textUnmarshaler)
	if p.own = binaries || p.text; p.own {
		io.WriteString(layout, "own "+t.Name())
		return p
	}
	io.WriteString(layout, p.kind.String()+" ")
	switch p.kind {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			embedded := f.Anonymous && f.Type.Kind() == reflect.Struct
			if !f.IsExported() && !embedded || f.Tag.Get("json") == "-" { // the same fields as in JSON
				continue
			}
			io.WriteString(layout, f.Name)
			p.fields = append(p.fields, fieldPlan{i, newPlan(f.Type, known, layout)})
		}
	case reflect.Map:
		p.key, p.elem = newPlan(t.Key(), known, layout), newPlan(t.Elem(), known, layout)
	case reflect.Array:
		io.WriteString(layout, strconv.Itoa(t.Len()))
		p.elem = newPlan(t.Elem(), known, layout)
	case reflect.Slice, reflect.Pointer:
		p.elem = newPlan(t.Elem(), known, layout)
	}
	return p
}

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

// decoder reads a binary snapshot. After an error it has no data left.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) fail() { d.rest, d.failed = nil, true }

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	part := d.rest[:n:n]
	d.rest = d.rest[n:]
	return part
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

func (d *decoder) fixed() uint64 {
	if raw := d.take(8); raw != nil {
		return binary.LittleEndian.Uint64(raw)
	}
	return 0
}

// length reads the length of a slice or a map; -1 means nil. Each element takes at least one byte, so a length beyond the rest of
// the data is an error.
func (d *decoder) length() int {
	n := d.uvarint()
	if n > uint64(len(d.rest))+1 {
		d.fail()
		return -1
	}
	return int(n) - 1
}

func (d *decoder) value(p *plan, v reflect.Value) {
	if d.failed {
		return
	}
	if p.own {
		d.own(p, v)
		return
	}
	switch p.kind {
	case reflect.Bool:
		if b := d.take(1); b != nil {
			v.SetBool(b[0] != 0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, n := binary.Varint(d.rest)
		if n <= 0 || v.OverflowInt(x) {
			d.fail()
			return
		}
		d.rest = d.rest[n:]
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		if x := d.uvarint(); v.OverflowUint(x) {
			d.fail()
		} else {
			v.SetUint(x)
		}
	case reflect.Uint64:
		v.SetUint(d.fixed())
	case reflect.Float32, reflect.Float64:
		x := math.Float64frombits(d.fixed())
		if math.IsNaN(x) || math.IsInf(x, 0) {
			d.fail() // JSON has none, so no other check finds them
		}
		v.SetFloat(x)
	case reflect.String:
		v.SetString(string(d.take(d.uvarint())))
	default:
		d.composite(p, v)
	}
}

func (d *decoder) own(p *plan, v reflect.Value) {
	raw := d.take(d.uvarint())
	if d.failed {
		return
	}
	var err error
	if p.text {
		err = v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(raw)
	} else {
		err = v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(raw)
	}
	if err != nil {
		d.fail()
	}
}

func (d *decoder) composite(p *plan, v reflect.Value) {
	switch p.kind {
	case reflect.Slice:
		n := d.length()
		if n < 0 {
			return
		}
		if p.elem.kind == reflect.Uint8 {
			v.SetBytes(bytes.Clone(d.take(uint64(n))))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := 0; i < n && !d.failed; i++ {
			d.value(p.elem, v.Index(i))
		}
	case reflect.Array:
		for i := 0; i < v.Len() && !d.failed; i++ {
			d.value(p.elem, v.Index(i))
		}
	case reflect.Pointer:
		if b := d.take(1); b != nil && b[0] != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			d.value(p.elem, v.Elem())
		}
	case reflect.Map:
		d.entries(p, v)
	case reflect.Struct:
		for _, f := range p.fields {
			d.value(f.plan, v.Field(f.index))
		}
	}
}

func (d *decoder) entries(p *plan, v reflect.Value) {
	n := d.length()
	if n < 0 {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		d.value(p.key, key)
		d.value(p.elem, value)
		if d.failed {
			return
		}
		v.SetMapIndex(key, value)
	}
}

// Decode decodes a snapshot in JSON or binary form. The data may come from an untrusted source: data that exceeds the limits of
// size and depth is an error.
func Decode(data []byte, into any) error {
	if IsBinary(data) {
		return DecodeBinary(data, into)
	}
	if err := Bounded(data); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
