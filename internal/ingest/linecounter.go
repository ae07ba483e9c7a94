package ingest

import (
	"bytes"
	"errors"
	"io"
)

// errLarge is the error of a valueReader for a value over its limit.
var errLarge = errors.New("a value is too large")

// valueReader bounds the memory of a decoder: it ends with errLarge if more than limit bytes are read after the last value.
type valueReader struct {
	r     io.Reader
	limit int64
	value int64 // offset of the end of the last value
	read  int64 // bytes
}

func (v *valueReader) Read(p []byte) (int, error) {
	if v.read-v.value > v.limit {
		return 0, errLarge
	}
	n, err := v.r.Read(p)
	v.read += int64(n)
	return n, err
}

// lineCounter is a valueReader that knows the line of each byte. It keeps the line ends between the last requested offset and the
// end of the read data, so its memory is bounded by the buffer of its reader.
type lineCounter struct {
	valueReader
	passed int     // line ends before the last requested offset
	ends   []int64 // offsets of later line ends
}

func (c *lineCounter) Read(p []byte) (int, error) {
	before := c.read
	n, err := c.valueReader.Read(p)
	for part := p[:n]; ; {
		k := bytes.IndexByte(part, '\n')
		if k < 0 {
			break
		}
		c.ends = append(c.ends, before+int64(n-len(part)+k))
		part = part[k+1:]
	}
	return n, err
}

// lineAt returns the line of the byte at the offset, from 1. Offsets must not decrease from call to call.
func (c *lineCounter) lineAt(offset int64) int {
	k := 0
	for k < len(c.ends) && c.ends[k] < offset {
		k++
	}
	c.passed += k
	c.ends = append(c.ends[:0], c.ends[k:]...)
	return c.passed + 1
}
