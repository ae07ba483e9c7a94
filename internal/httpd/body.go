package httpd

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// body is the unpacked body of a request. Its bytes are valid until it is released.
type body struct {
	bytes    []byte
	server   *Server
	reserved int64
}

// smallBody is what a body takes at first, in bytes; keepBody is what is kept of one for the next.
const (
	smallBody = 16 << 10
	keepBody  = 1 << 20
)

// buffers keeps the memory of bodies that are not large.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// read returns the whole body. It is bounded both as sent and unpacked, and so is the memory of all bodies together: what does
// not fit there is asked to come again.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (*body, error) {
	if r.ContentLength > s.Limits.Body {
		return nil, s.tooLarge()
	}
	sent := http.MaxBytesReader(w, r.Body, s.Limits.Body)
	var from io.Reader = sent
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(sent)
		if err != nil {
			return nil, problem(http.StatusBadRequest, "body", "it is not packed with gzip, as Content-Encoding says")
		}
		from = unpacked
	default:
		return nil, problem(http.StatusUnsupportedMediaType, "Content-Encoding", "gzip or none is wanted")
	}
	b := &body{server: s, bytes: (*buffers.Get().(*[]byte))[:0]}
	if err := b.fill(from, r.ContentLength); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (b *body) fill(from io.Reader, expected int64) error {
	limit := b.server.Limits.Body
	if err := b.grow(max(min(expected+1, limit+1), smallBody)); err != nil {
		return err
	}
	for {
		n, err := from.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case int64(len(b.bytes)) > limit:
			return b.server.tooLarge()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return b.server.unreadable(err)
		}
		if len(b.bytes) == cap(b.bytes) {
			if err := b.grow(min(2*int64(cap(b.bytes)), limit+1)); err != nil {
				return err
			}
		}
	}
}

// reserve takes so many bytes, in all, of what all requests may use together. One alone may use more.
func (b *body) reserve(size int64) error {
	more := size - b.reserved
	if total := b.server.bodies.Add(more); total > b.server.Limits.Bodies && total > size {
		b.server.bodies.Add(-more)
		return busy(http.StatusTooManyRequests, "too many large requests at once")
	}
	b.reserved = size
	return nil
}

// grow sees to it that the body has room for so many bytes.
func (b *body) grow(size int64) error {
	if err := b.reserve(size); err != nil {
		return err
	}
	if int64(cap(b.bytes)) < size {
		b.bytes = append(make([]byte, 0, size), b.bytes...)
	}
	return nil
}

// release gives the body's memory back.
func (b *body) release() {
	b.server.bodies.Add(-b.reserved)
	b.reserved = 0
	if cap(b.bytes) <= keepBody {
		buffers.Put(&b.bytes)
	}
}

func (s *Server) tooLarge() *Problem {
	return problem(http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("longer than %d bytes, as sent or unpacked", s.Limits.Body))
}

func (s *Server) unreadable(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return s.tooLarge()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF):
		return problem(http.StatusBadRequest, "body", "it ends too early, or is not packed as Content-Encoding says")
	}
	return problem(http.StatusBadRequest, "body", "it could not be read: "+err.Error())
}

// mediaType returns the media type of a request's body in lower case, or "" for none.
func mediaType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
