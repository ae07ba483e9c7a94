package nettest

import "io"

// Chunks is a body that is read in pieces of the given sizes, in turn.
type Chunks struct {
	data  []byte
	sizes []int
	next  int // index of the size of the next piece
}

// NewChunks returns a body with the content. The sizes must be positive, and there must be one at least.
func NewChunks(content string, sizes ...int) *Chunks {
	return &Chunks{data: []byte(content), sizes: sizes}
}

func (c *Chunks) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.sizes[c.next])], c.data)
	c.data, c.next = c.data[n:], (c.next+1)%len(c.sizes)
	return n, nil
}
