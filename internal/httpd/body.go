package httpd

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/memory"
)

// body is the decompressed body of a request. Its bytes are valid until release.
type body struct {
	bytes        []byte
	server       *Server
	ctx          context.Context // of the request
	room         int             // maximum size; the memory may be larger, because it is reused
	small, large *memory.Arrival // of the server's pools
}

// firstBody is the initial size of a body in bytes. Bodies up to smallBody have their own pool, so that large ones do not block
// them. Buffers up to keepBody are reused.
const (
	firstBody = 16 << 10
	smallBody = 256 << 10
	keepBody  = 1 << 20
)

// work is the memory of a request in multiples of its body, until its events are recorded: the body, the copies in events, the
// masked copies, and the encoded rows.
const work = 4

// buffers are reusable buffers for small bodies.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// read returns the whole body. Its size is limited both compressed and decompressed, and so is the memory of all bodies together.
// A body that does not fit waits for a bounded time and is then rejected with a retry. Memory is taken as the body arrives, so an
// announced length that is not sent takes little.
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
			return nil, problem(http.StatusBadRequest, "body", "not valid gzip, although Content-Encoding is gzip")
		}
		from = unpacked
	default:
		return nil, problem(http.StatusUnsupportedMediaType, "Content-Encoding", "want gzip or no Content-Encoding")
	}
	end := func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) } // an error means that the client has disconnected
	b := &body{server: s, ctx: r.Context(), bytes: (*buffers.Get().(*[]byte))[:0], small: s.small.Arrive(end), large: s.large.Arrive(end)}
	if err := b.fill(from, r.ContentLength); err != nil {
		b.release()
		return nil, err
	}
	b.small.Arrived(math.MaxInt64)
	b.large.Arrived(math.MaxInt64)
	return b, nil
}

func (b *body) fill(from io.Reader, expected int64) error {
	limit := b.server.Limits.Body
	if err := b.grow(firstBody); err != nil {
		return err
	}
	for {
		n, err := from.Read(b.bytes[len(b.bytes):b.room])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case int64(len(b.bytes)) > limit:
			return b.server.tooLarge()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && (b.small.Expired() || b.large.Expired()):
			return busy(http.StatusServiceUnavailable, "the body arrived slowly while other requests waited for memory")
		case err != nil:
			return b.server.unreadable(err)
		}
		if len(b.bytes) == b.room {
			size := 2 * int64(b.room)
			if size > smallBody {
				size = max(size, expected+1) // in one step, so that growing bodies do not wait for each other
			}
			if err := b.grow(min(size, limit+1)); err != nil {
				return err
			}
		}
	}
}

// reserve takes bytes from the memory that all requests share.
func (b *body) reserve(size int64) error {
	pool := b.small
	if size > smallBody {
		pool = b.large
	}
	err := pool.Grow(b.ctx, size)
	if errors.Is(err, memory.ErrBusy) {
		return busy(http.StatusTooManyRequests, err.Error())
	}
	return err
}

// grow makes room for the given number of bytes.
func (b *body) grow(size int64) error {
	need := size
	if size > smallBody {
		need = work * size
	}
	if err := b.reserve(need); err != nil {
		return err
	}
	if int64(cap(b.bytes)) < size {
		b.bytes = append(make([]byte, 0, size), b.bytes...)
	}
	b.room = int(size)
	return nil
}

// decoding takes the memory to decode the body, besides the body. It rejects a body that can never fit.
func (b *body) decoding(size int64) error {
	all := int64(len(b.bytes)) + size
	if all > b.server.large.Size() {
		return problem(http.StatusBadRequest, "body", fmt.Sprintf("decoding it would take %d MiB; send a smaller request", size>>20))
	}
	return b.reserve(all)
}

// release returns the memory of the body.
func (b *body) release() {
	b.small.Release()
	b.large.Release()
	if cap(b.bytes) <= keepBody {
		buffers.Put(&b.bytes)
	}
}

func (s *Server) tooLarge() *Problem {
	return problem(http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("must not be longer than %d bytes, as sent or as unpacked", s.Limits.Body))
}

func (s *Server) unreadable(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return s.tooLarge()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF):
		return problem(http.StatusBadRequest, "body", "ends too early, or is not encoded as Content-Encoding says")
	}
	return problem(http.StatusBadRequest, "body", "read error: "+err.Error())
}

// mediaType returns the media type of a request's body in lower case, or "" for none.
func mediaType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
