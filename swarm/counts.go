package swarm

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/boundedmap"
)

// counts are the counts of one swarm in a Memory.
type counts struct {
	swarm   string
	mu      sync.Mutex
	tallies boundedmap.Map[unloop.Hash, *tally]
}

// tally is the count of one fingerprint. Names are interned: each is one pointer, and the process holds one copy.
type tally struct {
	calls   int
	tool    unique.Handle[string]
	workers []unique.Handle[string] // in the order of their first calls, at most MaxWorkers
}

// newCounts returns empty counts of a swarm with a capacity of the given number of fingerprints.
func newCounts(swarm string, fingerprints int) *counts {
	return &counts{swarm: strings.Clone(swarm), tallies: boundedmap.Map[unloop.Hash, *tally]{Max: fingerprints}}
}

// record counts calls and sets after to their counts. It returns the number of evicted fingerprints.
func (c *counts) record(calls []Call, after []Count) (dropped int) {
	workers := make([]unique.Handle[string], 0, 8) // avoids an allocation for batches of usual size
	for k := range calls {
		workers = append(workers, unique.Make(calls[k].Worker))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range calls {
		call := &calls[k]
		if call.Fingerprint == 0 {
			continue
		}
		t, ok, over := c.tallies.Use(call.Fingerprint)
		if !ok {
			t = &tally{tool: toolName(call.Tool)}
			over = c.tallies.Set(call.Fingerprint, t)
		}
		dropped += over
		after[k] = t.count(call.Tool, workers[k])
	}
	return dropped
}

func (t *tally) count(tool string, worker unique.Handle[string]) Count {
	t.calls++
	if t.tool.Value() != tool {
		t.tool = toolName(tool)
	}
	if len(t.workers) < MaxWorkers && !slices.Contains(t.workers, worker) {
		t.workers = append(t.workers, worker)
	}
	return Count{Calls: t.calls, Workers: len(t.workers), Tool: t.tool.Value()}
}

// toolName returns the part of a tool's name that is kept.
func toolName(name string) unique.Handle[string] {
	return unique.Make(strings.ToValidUTF8(name[:min(len(name), MaxName)], ""))
}

// list returns the tallies in the form and order of a snapshot.
func (c *counts) list() []Tally {
	list := c.collect()
	for k := range list {
		slices.Sort(list[k].Workers)
	}
	slices.SortFunc(list, func(a, b Tally) int { return cmp.Compare(a.Fingerprint, b.Fingerprint) })
	return list
}

func (c *counts) collect() []Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Tally, 0, c.tallies.Len())
	for fingerprint, t := range c.tallies.Young() {
		list = append(list, t.saved(fingerprint))
	}
	for fingerprint, t := range c.tallies.Old() {
		idle := t.saved(fingerprint)
		idle.Idle = true
		list = append(list, idle)
	}
	return list
}

func (t *tally) saved(fingerprint unloop.Hash) Tally {
	workers := make([]string, len(t.workers))
	for k, worker := range t.workers {
		workers[k] = worker.Value()
	}
	return Tally{Fingerprint: fingerprint, Tool: t.tool.Value(), Calls: t.calls, Workers: workers}
}

// restore adds the counts of a snapshot to c, which must be empty and not shared yet. It returns the number of fingerprints that
// exceeded the capacity.
func (c *counts) restore(s Snapshot) (dropped int) {
	put := func(idle bool) {
		for k := range s.Fingerprints {
			if from := &s.Fingerprints[k]; from.Idle == idle {
				dropped += c.tallies.Set(from.Fingerprint, from.restored())
			}
		}
	}
	put(true)
	dropped += c.tallies.Age()
	put(false)
	return dropped
}

func (t *Tally) restored() *tally {
	workers := make([]unique.Handle[string], len(t.Workers))
	for k, worker := range t.Workers {
		workers[k] = unique.Make(worker)
	}
	return &tally{calls: t.Calls, tool: toolName(t.Tool), workers: workers}
}
