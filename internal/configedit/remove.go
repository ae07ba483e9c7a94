package configedit

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"
)

// Remove removes the elements that match in arrays below the member at a path. It also removes arrays and objects that become
// empty, up to the member at the path, and an object in an array whose only array became empty, because it was the group of the
// elements. It returns the number of removed elements.
func (d *Document) Remove(match func(element json.RawMessage) bool, path ...string) (int, error) {
	for n := 0; ; n++ {
		chain := d.chainTo(match, path)
		if chain == nil {
			return n, nil
		}
		if err := d.cut(outermost(chain)); err != nil {
			return n, err
		}
	}
}

// link is a value within another one.
type link struct {
	parent *hujson.Value
	index  int // of the element or the member
}

func (l link) value() *hujson.Value {
	switch c := l.parent.Value.(type) {
	case *hujson.Object:
		return &c.Members[l.index].Value
	case *hujson.Array:
		return &c.Elements[l.index]
	}
	return nil
}

// hasComments reports whether the parent has a comment outside of the value.
func (l link) hasComments() bool {
	v := l.value()
	extras := []hujson.Extra{v.BeforeExtra, v.AfterExtra}
	if o, ok := l.parent.Value.(*hujson.Object); ok {
		extras = append(extras, o.Members[l.index].Name.BeforeExtra, o.Members[l.index].Name.AfterExtra)
	}
	_, after := lastOf(l.parent)
	return slices.ContainsFunc(append(extras, after), func(e hujson.Extra) bool { return !e.IsStandard() })
}

// siblings returns the number of values of the parent.
func (l link) siblings() int {
	switch c := l.parent.Value.(type) {
	case *hujson.Object:
		return len(c.Members)
	case *hujson.Array:
		return len(c.Elements)
	}
	return 0
}

// chainTo returns the path from the root to the first matching element, or nil.
func (d *Document) chainTo(match func(json.RawMessage) bool, path []string) []link {
	var chain []link
	v := &d.root
	for _, name := range path {
		o, ok := v.Value.(*hujson.Object)
		next := find(v, name)
		if !ok || next == nil {
			return nil
		}
		for k := range o.Members {
			if &o.Members[k].Value == next {
				chain = append(chain, link{v, k})
			}
		}
		v = next
	}
	return search(v, chain, match)
}

func search(v *hujson.Value, chain []link, match func(json.RawMessage) bool) []link {
	switch c := v.Value.(type) {
	case *hujson.Object:
		for k := range c.Members {
			if found := search(&c.Members[k].Value, append(chain, link{v, k}), match); found != nil {
				return found
			}
		}
	case *hujson.Array:
		for k := range c.Elements {
			here := append(chain, link{v, k})
			element := c.Elements[k].Clone()
			element.Minimize()
			element.BeforeExtra, element.AfterExtra = nil, nil
			if match(element.Pack()) {
				return here
			}
			if found := search(&c.Elements[k], here, match); found != nil {
				return found
			}
		}
	}
	return nil
}

// outermost returns the outermost value on the path that contains only the last one and no comment.
func outermost(chain []link) link {
	k := len(chain) - 1
	for k > 0 {
		l := chain[k]
		_, array := l.parent.Value.(*hujson.Array)
		alone := l.siblings() == 1 && !l.hasComments()
		if !array && k >= 1 {
			// A member is removed from its object. A group is removed with its only array, even if it has other members.
			_, grouped := chain[k-1].parent.Value.(*hujson.Array)
			_, list := l.value().Value.(*hujson.Array)
			alone = alone || grouped && list
		}
		if !alone {
			break
		}
		k--
	}
	return chain[k]
}

// cut removes a value from its parent, with one comma and the white space before it. Comments stay.
func (d *Document) cut(l link) error {
	v := l.value()
	start, before := v.StartOffset, v.BeforeExtra
	if o, ok := l.parent.Value.(*hujson.Object); ok {
		start, before = o.Members[l.index].Name.StartOffset, o.Members[l.index].Name.BeforeExtra
	}
	end := v.EndOffset
	begin := start - len(before) // after the bracket or the comma
	blank := begin
	if comment := bytes.TrimRight(before, " \t\r\n"); len(comment) > 0 {
		blank += len(comment) + bytes.IndexByte(before[len(comment):], '\n') + 1 // with the end of its line, which may end a comment
	}
	if comma := end + len(v.AfterExtra); d.data[d.offset+comma] == ',' {
		return d.splice(blank, comma+1, string(v.AfterExtra))
	}
	if l.index > 0 {
		return d.splice(begin-1, end, string(d.data[d.offset+begin:d.offset+blank]))
	}
	if _, after := lastOf(l.parent); blank == begin && len(bytes.TrimSpace(v.AfterExtra)) == 0 && len(bytes.TrimSpace(after)) == 0 {
		return d.splice(begin, l.parent.EndOffset-1, "")
	}
	return d.splice(blank, end, "")
}
