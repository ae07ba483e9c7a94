package guard

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/profile"
)

// shards is into how many parts a Group is split, each with a lock of its own.
const shards = 64

// Group guards many runs under one profile, each by a guard of its own. It is safe for concurrent use; runs do not wait for
// one another, and a panic fails the guard of its run alone: see Guard.Failed.
type Group struct {
	profile *profile.Profile
	options func(run string) Options
	seed    maphash.Seed
	most    int          // guards in a shard
	limit   int64        // bytes of all guards; 0 for none
	bytes   atomic.Int64 // of all guards, as far as they were measured
	next    atomic.Uint64
	parts   [shards]part
	closing sync.WaitGroup // guards whose listeners are still being told
}

type part struct {
	mu      sync.Mutex
	guards  map[string]*list.Element // of *Guard with its run's id
	used    list.List                // the latest in front
	dropped int
}

type member struct {
	run   string
	guard *Guard
	bytes int64 // when it was last asked for
}

// NewGroup returns a group. Options gives those of each run's guard; nil for none. It holds at most about most guards; the one
// that was idle longest goes, and is counted in Dropped. 0 stands for 10,000.
func NewGroup(p *profile.Profile, options func(run string) Options, most int) *Group {
	if most <= 0 {
		most = 10_000
	}
	return &Group{profile: p, options: options, seed: maphash.MakeSeed(), most: (most + shards - 1) / shards}
}

// LimitBytes bounds the memory of all guards together, in bytes: where they take more, those that were idle longest go, and are
// counted in Dropped. A guard is measured when it is asked for. It is called before the group is used.
func (g *Group) LimitBytes(bytes int64) { g.limit = bytes }

// Bytes estimates the memory of all guards together. It is 0 where LimitBytes was not called.
func (g *Group) Bytes() int64 { return g.bytes.Load() }

// Run returns the guard of the run, a new one if the run is not known.
func (g *Group) Run(id string) *Guard {
	guard := g.find(id)
	g.makeRoom(guard)
	return guard
}

// makeRoom forgets guards while all take too much memory: of one shard after the other the one that was idle longest, but not
// the one at hand.
func (g *Group) makeRoom(atHand *Guard) {
	for tried := 0; g.limit > 0 && tried < shards && g.bytes.Load() > g.limit; tried++ {
		p := &g.parts[g.next.Add(1)%shards]
		p.mu.Lock()
		if oldest := p.used.Back(); oldest != nil && oldest.Value.(*member).guard != atHand {
			g.close(g.remove(p, oldest.Value.(*member).run))
			p.dropped++
			tried = 0
		}
		p.mu.Unlock()
	}
}

// weigh brings what is known of a guard's memory up to date. The lock of its shard is held.
func (g *Group) weigh(m *member) {
	if g.limit > 0 {
		size := int64(m.guard.Size())
		g.bytes.Add(size - m.bytes)
		m.bytes = size
	}
}

func (g *Group) find(id string) *Guard {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.guards[id]; ok {
		p.used.MoveToFront(known)
		g.weigh(known.Value.(*member))
		return known.Value.(*member).guard
	}
	o := Options{Run: id}
	if g.options != nil {
		o = g.options(id)
		o.Run = id
	}
	guard := New(g.profile, o)
	g.close(g.put(p, id, guard))
	return guard
}

// Put puts a guard, a restored one say, in the place of the run's.
func (g *Group) Put(id string, guard *Guard) {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	g.close(g.remove(p, id))
	g.close(g.put(p, id, guard))
}

// End forgets the run.
func (g *Group) End(id string) {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	g.close(g.remove(p, id))
}

// Close forgets all runs, and waits until their listeners have heard what was told.
func (g *Group) Close() {
	for k := range g.parts {
		for _, guard := range g.clear(&g.parts[k]) {
			g.close(guard)
		}
	}
	g.closing.Wait()
}

// close ends the listeners of a guard that was forgotten, without making anybody wait for them. It may be nil.
func (g *Group) close(guard *Guard) {
	if guard != nil {
		g.closing.Go(guard.Close)
	}
}

// Dropped returns how many guards went because there were too many.
func (g *Group) Dropped() int {
	n := 0
	for k := range g.parts {
		n += g.parts[k].lost()
	}
	return n
}

// clear forgets all runs and returns their guards.
func (g *Group) clear(p *part) (forgotten []*Guard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.guards {
		forgotten = append(forgotten, g.remove(p, id))
	}
	return forgotten
}

// lost returns how many guards went because there were too many.
func (p *part) lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// put adds a guard. If there are too many, it returns the one that was idle longest, which is forgotten. The lock is held.
func (g *Group) put(p *part, id string, guard *Guard) (forgotten *Guard) {
	if p.guards == nil {
		p.guards = make(map[string]*list.Element)
	}
	if p.used.Len() >= g.most {
		forgotten = g.remove(p, p.used.Back().Value.(*member).run)
		p.dropped++
	}
	m := &member{run: id, guard: guard}
	g.weigh(m)
	p.guards[id] = p.used.PushFront(m)
	return forgotten
}

// remove forgets a run and returns its guard, or nil if the run is not known. The lock is held.
func (g *Group) remove(p *part, id string) *Guard {
	known, ok := p.guards[id]
	if !ok {
		return nil
	}
	delete(p.guards, id)
	p.used.Remove(known)
	g.bytes.Add(-known.Value.(*member).bytes)
	return known.Value.(*member).guard
}
