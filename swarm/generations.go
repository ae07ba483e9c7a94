package swarm

// generations is a map with bounded size. It keeps the max most recently used keys, and at most twice as many. A key that is
// used moves to the young generation. When the young generation is full, the old one is dropped, and the young one becomes
// old. The lookup of a young key writes nothing, which is faster than an LRU list if many workers use the map. Adding a key
// is amortised O(1).
type generations[K comparable, V any] struct {
	max        int
	young, old map[K]V
}

// get returns the value of a key without marking the key as used.
func (g *generations[K, V]) get(key K) (V, bool) {
	v, ok := g.young[key]
	if !ok {
		v, ok = g.old[key]
	}
	return v, ok
}

// use returns the value of a key and moves the key to the young generation. It returns the number of keys that were dropped
// for it.
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

// add adds an unknown key to the young generation. It returns the number of keys that were dropped for it.
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

// turn drops the old generation and makes the young one old. It returns the number of dropped keys.
func (g *generations[K, V]) turn() (dropped int) {
	dropped = len(g.old)
	clear(g.old) // its memory is reused
	g.young, g.old = g.old, g.young
	return dropped
}

// remove removes a key.
func (g *generations[K, V]) remove(key K) {
	delete(g.young, key)
	delete(g.old, key)
}
