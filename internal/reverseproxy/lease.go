package reverseproxy

import (
	"io"
	"net/http"
	"sync/atomic"

	"github.com/unloop-ai/unloop/internal/memory"
)

// The first bytes of a body whose memory is taken at once, and the most. The steps grow with the body, so a small request takes little
// while its call runs.
const (
	firstStep = 4 << 10
	maxStep   = 256 << 10
)

// LeaseFactor is the memory that a request takes in multiples of its body: the buffers in which it grows, its parsed items, and a
// changed copy.
const LeaseFactor = 4

// Lease is the memory of one request. It is taken from a pool as the body arrives, so a body that is only announced takes little. It
// returns to the pool when the last holder releases it.
type Lease struct {
	pool    *memory.Pool
	taken   int64 // changed by the goroutine that reads the body, before others hold the lease
	holders atomic.Int32
}

// NewLease returns an empty lease with one holder.
func NewLease(pool *memory.Pool) *Lease {
	l := &Lease{pool: pool}
	l.Hold()
	return l
}

// Hold adds a holder.
func (l *Lease) Hold() { l.holders.Add(1) }

// Release removes a holder.
func (l *Lease) Release() {
	if l.holders.Add(-1) == 0 {
		l.pool.Give(l.taken)
	}
}

// Reader returns a reader of r that takes the memory of what it reads. It returns memory.ErrBusy, and reads no more, when the pool has
// no free bytes.
func (l *Lease) Reader(r io.Reader) io.Reader { return &leasedReader{lease: l, from: r} }

type leasedReader struct {
	lease *Lease
	from  io.Reader
	taken int // bytes whose memory is taken
	room  int // those of them that are not read yet
}

func (r *leasedReader) Read(p []byte) (int, error) {
	if r.room == 0 {
		step := min(max(r.taken, firstStep), maxStep)
		bytes := LeaseFactor * int64(step)
		if !r.lease.pool.TryTake(bytes) {
			return 0, memory.ErrBusy
		}
		r.lease.taken += bytes
		r.taken += step
		r.room = step
	}
	n, err := r.from.Read(p[:min(len(p), r.room)])
	r.room -= n
	return n, err
}

// AfterBody returns a handler that calls sent, perhaps several times, once next has read the body of the request or closed it.
func AfterBody(next http.Handler, sent func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &sentBody{r.Body, sent}
		next.ServeHTTP(w, r)
	})
}

type sentBody struct {
	io.ReadCloser
	sent func()
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.sent()
	}
	return n, err
}

func (b *sentBody) Close() error {
	defer b.sent()
	return b.ReadCloser.Close()
}
