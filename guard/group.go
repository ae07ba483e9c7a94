package guard

import (
	"container/list"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/profile"
)

// shardCount is the number of shards of a Group.
const shardCount = 64

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
	shards  [shardCount]shard
	closing sync.WaitGroup // closed guards whose listeners still have notices
}

// shard is a part of a Group with its own lock.
type shard struct {
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
	return &Group{profile: p, options: options, seed: maphash.MakeSeed(), most: (most + shardCount - 1) / shardCount}
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
	for tried := 0; g.limit > 0 && tried < shardCount && g.bytes.Load() > g.limit; tried++ {
		s := &g.shards[g.next.Add(1)%shardCount]
		s.mu.Lock()
		if oldest := s.used.Back(); oldest != nil && oldest.Value.(*member).guard != inUse {
			g.close(g.remove(s, oldest.Value.(*member).run))
			s.dropped++
			tried = 0
		}
		s.mu.Unlock()
	}
}

// measure updates the known memory of a guard. The caller holds the lock of its shard.
func (g *Group) measure(m *member) {
	if g.limit > 0 {
		size := int64(m.guard.Size())
		g.bytes.Add(size - m.bytes)
		m.bytes = size
	}
}

// shardOf returns the shard of a run.
func (g *Group) shardOf(id string) *shard { return &g.shards[maphash.String(g.seed, id)%shardCount] }

// find returns the guard of a run, and makes one if there is none.
func (g *Group) find(id string) *Guard {
	s := g.shardOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.guards[id]; ok {
		s.used.MoveToFront(known)
		g.measure(known.Value.(*member))
		return known.Value.(*member).guard
	}
	o := Options{Run: id}
	if g.options != nil {
		o = g.options(id)
		o.Run = id
	}
	guard := New(g.profile, o)
	g.close(g.put(s, id, guard))
	return guard
}

// Put replaces the guard of the run, for example by a restored one.
func (g *Group) Put(id string, guard *Guard) {
	s := g.shardOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	g.close(g.remove(s, id))
	g.close(g.put(s, id, guard))
}

// End removes the guard of the run, which closes in the background.
func (g *Group) End(id string) {
	s := g.shardOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	g.close(g.remove(s, id))
}

// Close removes all guards and waits until their listeners have received all notices. A listener must not call it, because it would wait for
// itself.
func (g *Group) Close() {
	for k := range g.shards {
		for _, guard := range g.clear(&g.shards[k]) {
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
	for k := range g.shards {
		n += g.shards[k].evictions()
	}
	return n
}

// clear removes and returns all guards of a shard.
func (g *Group) clear(s *shard) (removed []*Guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.guards {
		removed = append(removed, g.remove(s, id))
	}
	return removed
}

// evictions returns the number of evicted guards.
func (s *shard) evictions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// put adds a guard. If there are too many, it removes and returns the least recently used one. The caller holds the lock.
func (g *Group) put(s *shard, id string, guard *Guard) (evicted *Guard) {
	if s.guards == nil {
		s.guards = make(map[string]*list.Element)
	}
	if s.used.Len() >= g.most {
		evicted = g.remove(s, s.used.Back().Value.(*member).run)
		s.dropped++
	}
	m := &member{run: id, guard: guard}
	g.measure(m)
	s.guards[id] = s.used.PushFront(m)
	return evicted
}

// remove removes and returns the guard of a run, or nil if there is none. The caller holds the lock.
func (g *Group) remove(s *shard, id string) *Guard {
	known, ok := s.guards[id]
	if !ok {
		return nil
	}
	delete(s.guards, id)
	s.used.Remove(known)
	g.bytes.Add(-known.Value.(*member).bytes)
	return known.Value.(*member).guard
}
