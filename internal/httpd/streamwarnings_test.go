package httpd

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// warned returns an update with an event and so many warnings of a kilobyte. The one that the event belongs to has grown.
func warned(arrival int64, warnings int) *store.Update {
	u := &store.Update{Run: store.Run{ID: "r", Number: 1, Status: "running", Arrival: arrival, Warnings: warnings}}
	u.Events = []store.Event{{Arrival: arrival, ID: fmt.Sprint("e", arrival), Body: []byte(`{"type":"x"}`)}}
	details := `{"why":"` + strings.Repeat("x", 700) + `"}`
	for i := range warnings {
		w := store.Warning{
			ID: fmt.Sprint("w", i), Rule: "same_call", Subject: fmt.Sprint("tool", i), Count: 3, Message: "it repeats", Details: []byte(details),
			Created: noon.Add(time.Duration(i) * time.Second), Updated: noon.Add(time.Duration(i) * time.Second),
		}
		if i == int(arrival)%warnings {
			w.Count, w.Updated = 3+int(arrival), noon.Add(time.Duration(warnings)*time.Second+time.Duration(arrival)*time.Second)
			u.Grown = []int{i}
		}
		u.Warnings = append(u.Warnings, w)
	}
	return u
}

func TestAnUpdateOfARunWithManyWarningsIsSmall(t *testing.T) {
	const warnings, updates = 1024, 20
	for query, most := range map[string]int{"": 64 << 10, "?warnings=all": 64 << 10, "?warnings=changed": 4 << 10} {
		t.Run("stream"+query, func(t *testing.T) {
			h := newTestServer(t, nil)
			w := watch(t, h.listen().URL+"/api/runs/r/stream"+query)
			for range 3 {
				w.block() // the third says that it is subscribed
			}
			h.hub.Publish(warned(1, warnings))
			first := as[api.RunUpdate](t, w.next())
			if query == "?warnings=changed" && (len(first.Warnings) != warnings || !first.Reset) || query != "?warnings=changed" && len(first.Warnings) != maxWarnings {
				t.Errorf("the first message has %d warnings, reset is %v", len(first.Warnings), first.Reset)
			}
			bytes := 0
			for i := int64(2); i < 2+updates; i++ {
				h.hub.Publish(warned(i, warnings))
				m := w.next()
				bytes += len(m.data)
				u := as[api.RunUpdate](t, m)
				grown := slices.ContainsFunc(u.Warnings, func(x api.Warning) bool { return x.ID == fmt.Sprint("w", i) && *x.Count == 3+int(i) })
				if !grown || u.Metrics.Warnings != warnings || u.Reset {
					t.Errorf("update %d has %d of %d warnings, with the one that has grown: %v", i, len(u.Warnings), u.Metrics.Warnings, grown)
				}
			}
			t.Logf("%d bytes an update", bytes/updates)
			if bytes/updates > most {
				t.Errorf("%d bytes an update, at most %d are wanted", bytes/updates, most)
			}
		})
	}
}

// TestChangesAddUpToTheWarnings has warnings come, grow, shrink and go, and clients come and go.
func TestChangesAddUpToTheWarnings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		feed := warningFeed{changes: true}
		has := map[string]int{}
		var now []store.Warning
		for range rapid.IntRange(1, 30).Draw(t, "updates") {
			if rapid.Bool().Draw(t, "warnings change") {
				counts := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), rapid.IntRange(1, 3)).Draw(t, "warnings")
				now = nil
				for _, id := range slices.Sorted(maps.Keys(counts)) {
					now = append(now, store.Warning{ID: id, Count: counts[id]})
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "connects again") == 0 {
				feed = warningFeed{changes: true}
			}
			changed, cleared, first := feed.change(now)
			if first {
				clear(has)
			}
			for _, id := range cleared {
				delete(has, id)
			}
			for _, w := range changed {
				if has[w.ID] == w.Count {
					t.Fatalf("%s is sent twice", w.ID)
				}
				has[w.ID] = w.Count
			}
			want := map[string]int{}
			for _, w := range now {
				want[w.ID] = w.Count
			}
			if diff := cmp.Diff(want, has); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestAStreamOfChangesBeginsWithAllWarnings(t *testing.T) {
	h := newTestServer(t, nil)
	events := looping("r", 12)
	h.send(events[:21]...)
	server := h.listen()
	want := get[[]api.Warning](h, "/api/runs/r/warnings")
	for _, last := range []string{"", "20", "21"} {
		w := watch(t, server.URL+"/api/runs/r/stream?warnings=changed", "Last-Event-ID", last)
		first := as[api.RunUpdate](t, w.next())
		if diff := cmp.Diff(want, first.Warnings); diff != "" || !first.Reset || len(want) == 0 {
			t.Errorf("behind %q: reset %v, %s", last, first.Reset, diff)
		}
		w.body.Close()
	}
	w := watch(t, server.URL+"/api/runs/r/stream?warnings=changed")
	for u := as[api.RunUpdate](t, w.next()); len(u.Decisions) == 0; u = as[api.RunUpdate](t, w.next()) {
		if u.Reset != (len(u.Events) > 0) {
			t.Errorf("reset is %v in %+v", u.Reset, u)
		}
	}
	h.send(events[21:23]...)
	if u := as[api.RunUpdate](t, w.next()); len(u.Warnings) == 0 || u.Reset {
		t.Errorf("a call more: %+v", u)
	}
	h.send(event("r", 90, "note", ""))
	if u := as[api.RunUpdate](t, w.next()); len(u.Warnings) > 0 || u.Metrics.Warnings != len(want) {
		t.Errorf("something else: %+v", u.Warnings)
	}
	if w := h.do(http.MethodGet, "/api/runs/r/stream?warnings=some", ""); w.Code != http.StatusBadRequest {
		t.Errorf("another word is answered with %d", w.Code)
	}
}
