package guard

import (
	"container/list"
	"hash/maphash"
	"sync"

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
	most    int // guards in a shard
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
}

// NewGroup returns a group. Options gives those of each run's guard; nil for none. It holds at most about most guards; the one
// that was idle longest goes, and is counted in Dropped. 0 stands for 10,000.
func NewGroup(p *profile.Profile, options func(run string) Options, most int) *Group {
	if most <= 0 {
		most = 10_000
	}
	return &Group{profile: p, options: options, seed: maphash.MakeSeed(), most: (most + shards - 1) / shards}
}

// Run returns the guard of the run, a new one if the run is not known.
func (g *Group) Run(id string) *Guard {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.guards[id]; ok {
		p.used.MoveToFront(known)
		return known.Value.(*member).guard
	}
	o := Options{Run: id}
	if g.options != nil {
		o = g.options(id)
		o.Run = id
	}
	guard := New(g.profile, o)
	g.close(p.put(id, guard, g.most))
	return guard
}

// Put puts a guard, a restored one say, in the place of the run's.
func (g *Group) Put(id string, guard *Guard) {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	g.close(p.remove(id))
	g.close(p.put(id, guard, g.most))
}

// End forgets the run.
func (g *Group) End(id string) {
	p := &g.parts[maphash.String(g.seed, id)%shards]
	p.mu.Lock()
	defer p.mu.Unlock()
	g.close(p.remove(id))
}

// Close forgets all runs, and waits until their listeners have heard what was told.
func (g *Group) Close() {
	for k := range g.parts {
		for _, guard := range g.parts[k].clear() {
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
func (p *part) clear() (forgotten []*Guard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.guards {
		forgotten = append(forgotten, p.remove(id))
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
func (p *part) put(id string, guard *Guard, most int) (forgotten *Guard) {
	if p.guards == nil {
		p.guards = make(map[string]*list.Element)
	}
	if p.used.Len() >= most {
		forgotten = p.remove(p.used.Back().Value.(*member).run)
		p.dropped++
	}
	p.guards[id] = p.used.PushFront(&member{id, guard})
	return forgotten
}

// remove forgets a run and returns its guard, or nil if the run is not known. The lock is held.
func (p *part) remove(id string) *Guard {
	known, ok := p.guards[id]
	if !ok {
		return nil
	}
	delete(p.guards, id)
	p.used.Remove(known)
	return known.Value.(*member).guard
}
