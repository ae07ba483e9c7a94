package httpd

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// maxWarnings is how many warnings a message has at most where each has all that matter, as the looplens client expects.
const maxWarnings = 32

// warningFeed knows which warnings a client of a run's stream has been told.
type warningFeed struct {
	changes bool                      // only what changed is told; else each message has all, up to maxWarnings
	told    map[string]*store.Warning // by id; nil at the beginning
	last    []store.Warning           // as they were told last
}

// newWarningFeed reads what the client asks for.
func newWarningFeed(r *http.Request) (warningFeed, error) {
	switch r.URL.Query().Get("warnings") {
	case "", "all":
		return warningFeed{}, nil
	case "changed":
		return warningFeed{changes: true}, nil
	}
	return warningFeed{}, problem(http.StatusBadRequest, "warnings", "want all or changed")
}

// change is what a message says of warnings: those that are new or other than they were told, and the ids of those that no longer
// hold. The first one has all, and says so.
func (f *warningFeed) change(now []store.Warning) (changed []store.Warning, cleared []string, first bool) {
	if first = f.told == nil; first {
		f.told = make(map[string]*store.Warning, len(now))
	} else if len(now) == len(f.last) && (len(now) == 0 || &now[0] == &f.last[0]) {
		return nil, nil, false // the pipeline makes a new list when a warning changes
	}
	for i := range now {
		w := &now[i]
		if old := f.told[w.ID]; old == nil || !equal(old, w) {
			changed = append(changed, *w)
		}
		f.told[w.ID] = w
	}
	if len(f.told) > len(now) {
		cleared = f.clear(now)
	}
	f.last = now
	return changed, cleared, first
}

// clear forgets the warnings that are told no more, and returns their ids.
func (f *warningFeed) clear(now []store.Warning) (ids []string) {
	known := make(map[string]bool, len(now))
	for i := range now {
		known[now[i].ID] = true
	}
	for id := range f.told {
		if !known[id] {
			ids = append(ids, id)
			delete(f.told, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func equal(a, b *store.Warning) bool {
	return a.Count == b.Count && a.EventID == b.EventID && a.Severity == b.Severity && a.Message == b.Message &&
		a.Updated.Equal(b.Updated) && bytes.Equal(a.Details, b.Details)
}

// latest returns the warnings that changed last, as many as a message may have, the first raised first.
func latest(warnings []store.Warning) []store.Warning {
	if len(warnings) <= maxWarnings {
		return api.InOrder(warnings)
	}
	sorted := slices.Clone(warnings)
	slices.SortStableFunc(sorted, func(a, b store.Warning) int { return b.Updated.Compare(a.Updated) })
	return api.InOrder(sorted[:maxWarnings])
}
