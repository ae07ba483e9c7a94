package httpd

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// maxWarnings is the maximum number of warnings in a message with all warnings. The looplens client expects this limit.
const maxWarnings = 32

// warningFeed tracks the warnings that a client of a run's stream has received.
type warningFeed struct {
	changes bool                      // send only changes; otherwise each message has all warnings, up to maxWarnings
	sent    map[string]*store.Warning // by id; nil at the beginning
	last    []store.Warning           // the list that was last compared
}

// newWarningFeed returns the feed that the client requests.
func newWarningFeed(r *http.Request) (warningFeed, error) {
	switch r.URL.Query().Get("warnings") {
	case "", "all":
		return warningFeed{}, nil
	case "changed":
		return warningFeed{changes: true}, nil
	}
	return warningFeed{}, problem(http.StatusBadRequest, "warnings", "want all or changed")
}

// change returns the warnings that are new or changed, and the ids of those that no longer hold. The first call returns all
// warnings and sets first.
func (f *warningFeed) change(now []store.Warning) (changed []store.Warning, cleared []string, first bool) {
	if first = f.sent == nil; first {
		f.sent = make(map[string]*store.Warning, len(now))
	} else if len(now) == len(f.last) && (len(now) == 0 || &now[0] == &f.last[0]) {
		return nil, nil, false // the pipeline makes a new list if a warning changes
	}
	for i := range now {
		w := &now[i]
		if old := f.sent[w.ID]; old == nil || !equal(old, w) {
			changed = append(changed, *w)
		}
		f.sent[w.ID] = w
	}
	if len(f.sent) > len(now) {
		cleared = f.clear(now)
	}
	f.last = now
	return changed, cleared, first
}

// clear removes the warnings that no longer hold, and returns their ids.
func (f *warningFeed) clear(now []store.Warning) (ids []string) {
	known := make(map[string]bool, len(now))
	for i := range now {
		known[now[i].ID] = true
	}
	for id := range f.sent {
		if !known[id] {
			ids = append(ids, id)
			delete(f.sent, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func equal(a, b *store.Warning) bool {
	return a.Count == b.Count && a.EventID == b.EventID && a.Severity == b.Severity && a.Message == b.Message &&
		a.Updated.Equal(b.Updated) && bytes.Equal(a.Details, b.Details)
}

// latest returns the maxWarnings warnings that changed last, the first raised first.
func latest(warnings []store.Warning) []store.Warning {
	if len(warnings) <= maxWarnings {
		return api.InOrder(warnings)
	}
	sorted := slices.Clone(warnings)
	slices.SortStableFunc(sorted, func(a, b store.Warning) int { return b.Updated.Compare(a.Updated) })
	return api.InOrder(sorted[:maxWarnings])
}
