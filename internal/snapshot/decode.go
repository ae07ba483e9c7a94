package snapshot

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"
)

// Decode decodes a snapshot in JSON or binary form into a pointer. The data may come from an untrusted source: data that exceeds
// MaxBytes or MaxDepth is an error, and the memory is at most a multiple of its length.
func Decode(data []byte, into any) error {
	if isBinary(data) {
		return decodeBinary(data, into)
	}
	if err := checkLimits(data); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// decodeBinary decodes the output of AppendBinary.
func decodeBinary(data []byte, into any) error {
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
