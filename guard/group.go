package guard

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/profile"
)

// shards is the number of parts of a Group. Each has its own lock.
const shards = 64

// Group guards many runs under one profile, each with its own guard. It is safe for concurrent use, and runs do not wait for
// one another. A panic fails only the guard of its run: see Guard.Failed.
type Group struct {
	profile *profile.Profile
	options func(run string) Options
	seed    maphash.Seed
	most    int          // maximum guards in a shard
	limit   int64        // maximum bytes of all guards; 0 means no limit
	bytes   atomic.Int64 // of all guards, as last measured
	next    atomic.Uint64
	parts   [shards]part
	closing sync.WaitGroup // closed guards whose listeners still have notices
}

type part struct {
	mu      sync.Mutex
	guards  map[string]*list.Element // to elements of used
	used    list.List                // *member values, most recently used first
	dropped int
}

type member struct {
	run   string
	guard *Guard
	bytes int64 // at its latest use
}

// NewGroup returns an empty group. The function options returns the Options for the guard of a run, whose Run is then set; nil
// means the zero Options. The group holds about most guards, or 10,000 if most is not positive. Beyond that, it evicts the
// least recently used guard, which Dropped counts.
func NewGroup(p *profile.Profile, options func(run string) Options, most int) *Group {
	if most <= 0 {
		most = 10_000
	}
	return &Group{profile: p, options: options, seed: maphash.MakeSeed(), most: (most + shards - 1) / shards}
}

// LimitBytes limits the memory of all guards, in bytes. Beyond it, the group evicts guards that were idle long, which Dropped
// counts. The memory of a guard is estimated at each use. 0 means no limit. LimitBytes must be called before the group is
// used.
func (g *Group) LimitBytes(bytes int64) { g.limit = bytes }

// Bytes estimates the memory of all guards, in bytes. It is 0 without a limit.
func (g *Group) Bytes() int64 { return g.bytes.Load() }

// Run returns the guard of the run. If there is none, or it was evicted, Run makes a new one.
func (g *Group) Run(id string) *Guard {
	guard := g.find(id)
	g.makeRoom(guard)
	return guard
}

// makeRoom evicts guards while the memory is over the limit. It takes the least recently used guard of each shard in turn. It
// does not evict inUse.
func (g *Group) makeRoom(inUse *Guard) {
	for tried := 0; g.limit > 0 && tried < shards && g.bytes.Load() > g.limit; tried++ {
		p := &g.parts[g.next.Add(1)%shards]
		p.mu.Lock()
		if oldest := p.used.Back(); oldest != nil && oldest.Value.(*member).guard != inUse {
			g.close(g.remove(p, oldest.Value.(*member).run))
			p.dropped++
			tried = 0
		}
		p.mu.Unlock()
	}
}

// weigh updates the known memory of a guard. The caller holds the lock of its shard.
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

// Put replaces the guard of the run, for example by a restored one.
func (g *Group) Put(id string, guard *Guard) {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	g.close(g.remove(p, id))
	g.close(g.put(p, id, guard))
}

// End removes the guard of the run, which closes in the background.
func (g *Group) End(id string) {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	g.close(g.remove(p, id))
}

// Close removes all guards and waits until their listeners have received all notices.
func (g *Group) Close() {
	for k := range g.parts {
		for _, guard := range g.clear(&g.parts[k]) {
			g.close(guard)
		}
	}
	g.closing.Wait()
}

// close closes a removed guard in the background. The guard may be nil.
func (g *Group) close(guard *Guard) {
	if guard != nil {
		g.closing.Go(guard.Close)
	}
}

// Dropped returns the number of guards that were evicted because of the limits.
func (g *Group) Dropped() int {
	n := 0
	for k := range g.parts {
		n += g.parts[k].lost()
	}
	return n
}

// clear removes and returns all guards of a shard.
func (g *Group) clear(p *part) (forgotten []*Guard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.guards {
		forgotten = append(forgotten, g.remove(p, id))
	}
	return forgotten
}

// lost returns the number of evicted guards.
func (p *part) lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// put adds a guard. If there are too many, it removes and returns the least recently used one. The caller holds the lock.
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

// remove removes and returns the guard of a run, or nil if there is none. The caller holds the lock.
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
