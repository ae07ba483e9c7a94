package reverseproxy

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/memory"
)

func TestALeaseTakesMemoryAsTheBodyArrives(t *testing.T) {
	const size = 1 << 20
	post := func(text string) *http.Request {
		return &http.Request{ContentLength: int64(len(text)), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
	}
	isFree := func(p *memory.Pool, bytes int64) bool {
		free := p.TryTake(bytes)
		if free {
			p.Give(bytes)
		}
		return free
	}
	t.Run("a small one takes little", func(t *testing.T) {
		pool := memory.NewPool(size)
		if _, err := ReadBody(post("{}"), 1<<30, NewLease(pool)); err != nil || !isFree(pool, size-LeaseFactor*firstStep) {
			t.Errorf("a body of two bytes takes more than a step, or %v", err)
		}
	})
	t.Run("it returns when the last holder releases it", func(t *testing.T) {
		pool := memory.NewPool(size)
		l := NewLease(pool)
		l.Hold()
		text := strings.Repeat("a", size/LeaseFactor/2)
		if body, err := ReadBody(post(text), 1<<30, l); err != nil || len(body) != len(text) || isFree(pool, size/2+1) {
			t.Fatalf("%d of %d bytes, %v, or their memory is not taken", len(body), len(text), err)
		}
		l.Release()
		if isFree(pool, size/2+1) {
			t.Error("the memory is free although the lease is held")
		}
		l.Release()
		if !isFree(pool, size) {
			t.Error("the memory is not free after the request")
		}
	})
	t.Run("a body that finds none is put back", func(t *testing.T) {
		text := strings.Repeat("ab", size)
		r, l := post(text), NewLease(memory.NewPool(size))
		if _, err := ReadBody(r, 1<<30, l); !errors.Is(err, memory.ErrBusy) {
			t.Fatalf("read with %v", err)
		}
		if got, err := io.ReadAll(r.Body); err != nil || string(got) != text {
			t.Errorf("%d of %d bytes are put back, %v", len(got), len(text), err)
		}
	})
}
