package reverseproxy

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
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

// stalledBody is a body that does not arrive.
type stalledBody struct{ begun, end chan struct{} }

func (b stalledBody) Read([]byte) (int, error) {
	b.begun <- struct{}{}
	<-b.end
	return 0, io.ErrUnexpectedEOF
}

func TestBodiesThatAreOnlyAnnouncedTakeLittleMemory(t *testing.T) {
	const bodies = 200
	body := stalledBody{make(chan struct{}), make(chan struct{})}
	pool := memory.NewPool(1 << 30)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for range bodies {
		all.Go(func() {
			r := httptest.NewRequest(http.MethodPost, "/", body)
			r.ContentLength = 15 << 20
			lease := NewLease(pool)
			defer lease.Release()
			if _, err := ReadBody(r, 16<<20, lease); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	for range bodies {
		<-body.begun
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / bodies; took > 256<<10 {
		t.Errorf("a body takes %d KiB before it arrives", took>>10)
	}
	close(body.end)
	all.Wait()
}
