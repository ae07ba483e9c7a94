package snapshot

import (
	"encoding"
	"hash/fnv"
	"io"
	"reflect"
	"strconv"
	"sync"
)

var (
	binaryAppender  = reflect.TypeFor[encoding.BinaryAppender]()
	binaryReader    = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// plan is how values of a type are encoded.
type plan struct {
	kind      reflect.Kind
	own       bool        // by their own methods, for binary data or for text
	text      bool        // these are the methods for text
	fields    []fieldPlan // of a struct
	key, elem *plan       // of a map; elem also of a slice, an array and a pointer
}

type fieldPlan struct {
	index int
	plan  *plan
}

// plans caches the layouts of types, because making one takes longer than writing a small value.
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

// newPlan returns the plan of a type, and writes the layout of the type. known has the plans of the types around it.
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
