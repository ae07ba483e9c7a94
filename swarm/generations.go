package swarm

// generations is a map that forgets what was idle longest. It surely knows the last max keys that were used, and never more
// than twice as many: when the young generation is full, all of the old one is dropped at once, and the young one is old
// from then on. A key that is used is young. Finding a young key writes nothing, which keeps many workers at once fast,
// and that is why there is no list in the order of use; adding a key is O(1) amortised.
type generations[K comparable, V any] struct {
	max        int
	young, old map[K]V
}

// get returns the value of a key that is known.
func (g *generations[K, V]) get(key K) (V, bool) {
	v, ok := g.young[key]
	if !ok {
		v, ok = g.old[key]
	}
	return v, ok
}

// use returns the value of a key that is known, which is now young, and how many keys were dropped for it.
func (g *generations[K, V]) use(key K) (v V, ok bool, dropped int) {
	if v, ok = g.young[key]; ok {
		return v, true, 0
	}
	if v, ok = g.old[key]; ok {
		delete(g.old, key)
		dropped = g.add(key, v)
	}
	return v, ok, dropped
}

// add adds a key that is not known. It is young. It returns how many keys were dropped for it.
func (g *generations[K, V]) add(key K, value V) (dropped int) {
	if len(g.young) >= g.max {
		dropped = g.turn()
	}
	if g.young == nil {
		g.young = make(map[K]V)
	}
	g.young[key] = value
	return dropped
}

// turn makes the young generation old and drops the one that was. It returns how many keys that were.
func (g *generations[K, V]) turn() (dropped int) {
	dropped = len(g.old)
	clear(g.old) // its memory serves again
	g.young, g.old = g.old, g.young
	return dropped
}

// remove forgets a key.
func (g *generations[K, V]) remove(key K) {
	delete(g.young, key)
	delete(g.old, key)
}
