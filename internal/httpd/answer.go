package httpd

import (
	"context"
	"net/http"
	"runtime"

	"github.com/unloop-ai/unloop/internal/memory"
)

// smallAnswer is the maximum size in bytes of a write that takes no memory of the pool of answers.
const smallAnswer = 64 << 10

// answer is the answer to a request. A reader can hold it open until the write times out, so large parts take memory that all
// answers share. An answer without memory becomes a problem that asks the client to retry. A stream without memory ends.
type answer struct {
	http.ResponseWriter
	pool     *memory.Pool
	reserved int64 // bytes of the pool until the request ends
	status   int   // of a header that is not sent; 0 for none
	begun    bool  // the header is sent
	refused  bool  // a problem is sent, and the rest is dropped
}

// answerKey is the key of a request's *answer in its context.
type answerKey struct{}

// answered calls the handler of a request with a writer that bounds the memory of all answers.
func (s *Server) answered(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, pool: s.answers}
	defer func() { a.pool.Give(a.reserved) }()
	s.mux.ServeHTTP(a, r.WithContext(context.WithValue(r.Context(), answerKey{}, a)))
	a.begin()
}

// places returns the maximum number of lists of events, and of parts of streams, that are built at once. Further ones wait. None waits
// for a client. A few for each processor suffice, and each one takes several times the memory of what it builds.
func places() int { return min(16, 2*runtime.GOMAXPROCS(0)) }

// build reserves a place to build a list of events or a part of a stream, until done is called.
func (s *Server) build(ctx context.Context) (done func(), err error) {
	select {
	case s.building <- struct{}{}:
		return func() { <-s.building }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reserve takes memory for an answer of the given size that is being built.
func reserve(ctx context.Context, size int) error {
	a, ok := ctx.Value(answerKey{}).(*answer)
	if !ok {
		return nil
	}
	more := min(int64(size), a.pool.Size()) - a.reserved
	if size <= smallAnswer || more <= 0 {
		return nil
	}
	if !a.pool.TryTake(more) {
		return noMemory()
	}
	a.reserved += more
	return nil
}

// release gives back the memory of a part of a stream that was sent.
func release(ctx context.Context) {
	if a, ok := ctx.Value(answerKey{}).(*answer); ok {
		a.pool.Give(a.reserved)
		a.reserved = 0
	}
}

func noMemory() *Problem {
	return busy(http.StatusServiceUnavailable, "other answers that their clients have not read take too much memory; retry, or ask for less")
}

// WriteHeader implements http.ResponseWriter. It keeps the status until the first write, which can become a problem.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// begin sends the header.
func (a *answer) begin() {
	if !a.begun && a.status != 0 {
		a.ResponseWriter.WriteHeader(a.status)
	}
	a.begun = true
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	if a.refused {
		return len(p), nil
	}
	var bytes int64
	if len(p) > smallAnswer {
		if bytes = min(int64(len(p)), a.pool.Size()) - a.reserved; bytes > 0 && !a.pool.TryTake(bytes) {
			return a.refuse(len(p))
		}
		bytes = max(bytes, 0)
	}
	defer a.pool.Give(bytes)
	a.begin()
	return a.ResponseWriter.Write(p)
}

// refuse sends a problem in place of an answer, or ends an answer that has begun.
func (a *answer) refuse(size int) (int, error) {
	if a.begun {
		return 0, memory.ErrBusy
	}
	for _, name := range []string{"Content-Length", "Content-Encoding", "ETag", "Link", "X-Next-Cursor", "X-Total-Count"} {
		a.Header().Del(name)
	}
	noMemory().write(a.ResponseWriter)
	a.begun, a.refused = true, true
	return size, nil
}

// FlushError implements the interface of http.ResponseController.
func (a *answer) FlushError() error {
	a.begin()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() } // the next write returns the error

// Unwrap implements the interface of http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
