package ingest

import (
	"bytes"
	"io"
)

// lineCounter is a reader that knows the line of each byte. It keeps the line ends between the last requested offset and the end
// of the read data, so its memory is bounded by the buffer of its reader.
type lineCounter struct {
	r      io.Reader
	read   int64   // bytes
	passed int     // line ends before the last requested offset
	ends   []int64 // offsets of later line ends
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for part := p[:n]; ; {
		k := bytes.IndexByte(part, '\n')
		if k < 0 {
			break
		}
		c.ends = append(c.ends, c.read+int64(n-len(part)+k))
		part = part[k+1:]
	}
	c.read += int64(n)
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
