package einoguard

import (
	"errors"
	"io"

	"github.com/cloudwego/eino/schema"
)

// forward passes a stream on. At its end it calls end, once, with all chunks and the error of the stream, nil for none. It then passes on
// the chunks and the error that end returns. If the reader closes the stream early, end gets the chunks so far.
func forward[T any](from *schema.StreamReader[T], end func(chunks []T, err error) (more []T, last error)) *schema.StreamReader[T] {
	reader, writer := schema.Pipe[T](0)
	go func() { // ends with the stream, or when the reader closes it
		defer writer.Close()
		defer from.Close()
		var chunks []T
		for {
			chunk, err := from.Recv()
			if errors.Is(err, io.EOF) {
				err = nil
			} else if err == nil {
				chunks = append(chunks, chunk)
				if !writer.Send(chunk, nil) {
					continue
				}
			}
			more, last := end(chunks, err)
			for _, chunk := range more {
				writer.Send(chunk, nil)
			}
			if last != nil {
				var none T
				writer.Send(none, last)
			}
			return
		}
	}()
	return reader
}
