package grpcd

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// codec passes messages unchanged, so that a call can measure its message before it decodes it. It reads into a *mem.Buffer,
// which the call frees, and writes a []byte.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("an answer must be bytes, not %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*mem.Buffer)
	if !ok {
		return fmt.Errorf("a message is read into a buffer, not %T", v)
	}
	if *b != nil {
		return fmt.Errorf("a call has one message")
	}
	*b = data.MaterializeToBuffer(mem.DefaultBufferPool())
	return nil
}
