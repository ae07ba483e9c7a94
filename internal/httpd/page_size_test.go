package httpd

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

func TestThePageSizeDependsOnTheSizeOfEvents(t *testing.T) {
	var p pageSize
	var got []int
	for _, bytes := range []int{100, 100, 100, 100, 100, 100, 1000, 2000, 1 << 20, 1 << 20, 100} {
		n := p.next()
		got = append(got, n)
		events := make([]store.Event, n)
		for i := range events {
			events[i].Body = make([]byte, bytes)
		}
		p.saw(events)
	}
	want := []int{32, 64, 128, 256, 512, 1000, 1000, 1000, 500, 250, 125}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for range 20 {
		p.saw([]store.Event{{Body: make([]byte, 2<<20)}})
	}
	if p.next() != 1 {
		t.Errorf("%d of the largest at once, want 1", p.next())
	}
}

func TestAListOfLargeEventsEndsEarly(t *testing.T) {
	h := newTestServer(t, nil)
	large := `"text":"` + strings.Repeat("x", 1<<20) + `"`
	for i := range 34 {
		h.send(event("r", i+1, "x", large))
	}
	list := h.do(http.MethodGet, "/api/runs/r/events", "")
	if n := strings.Count(list.Body.String(), `"event_id":`); n != 32 {
		t.Errorf("%d events", n)
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(list.Header().Get("Link"), "<"), ">")
	if rest := get[[]api.Event](h, next); len(rest) != 2 || rest[1].ID != "r-34" {
		t.Errorf("%d events behind it", len(rest))
	}
}
