package swarm

// recent is a map of bounded size that knows in which order its keys were used: when it is full, a new key takes the place
// of the one that was idle longest. Using, adding and removing a key are O(1): the nodes of the map are linked into a ring,
// and a node that is pushed out serves again.
type recent[K comparable, V any] struct {
	max   int
	nodes map[K]*node[K, V]
	ring  node[K, V] // between the newest, which is older than it, and the oldest, which is newer
}

type node[K comparable, V any] struct {
	older, newer *node[K, V]
	key          K
	value        V
}

// bound makes r ready for at most max keys.
func (r *recent[K, V]) bound(max int) {
	r.max, r.nodes = max, make(map[K]*node[K, V])
	r.ring.older, r.ring.newer = &r.ring, &r.ring
}

// peek returns the key's value, or nil if there is none.
func (r *recent[K, V]) peek(key K) *V {
	if n := r.nodes[key]; n != nil {
		return &n.value
	}
	return nil
}

// use returns the key's value, or nil if there is none. The key is now the newest.
func (r *recent[K, V]) use(key K) *V {
	n := r.nodes[key]
	if n == nil {
		return nil
	}
	if n != r.ring.older {
		n.unlink()
		r.link(n)
	}
	return &n.value
}

// add puts in a key that is not there yet, as the newest. It returns its value, and whether another key had to go.
func (r *recent[K, V]) add(key K, value V) (v *V, dropped bool) {
	var n *node[K, V]
	if dropped = len(r.nodes) >= r.max; dropped {
		n = r.ring.newer
		n.unlink()
		delete(r.nodes, n.key)
	} else {
		n = new(node[K, V])
	}
	n.key, n.value = key, value
	r.nodes[key] = n
	r.link(n)
	return &n.value, dropped
}

// remove takes the key out, if it is there.
func (r *recent[K, V]) remove(key K) {
	if n := r.nodes[key]; n != nil {
		n.unlink()
		delete(r.nodes, key)
	}
}

// all yields keys and values, the longest idle first.
func (r *recent[K, V]) all(yield func(K, *V) bool) {
	for n := r.ring.newer; n != &r.ring; n = n.newer {
		if !yield(n.key, &n.value) {
			return
		}
	}
}

func (r *recent[K, V]) link(n *node[K, V]) {
	n.older, n.newer = r.ring.older, &r.ring
	n.older.newer, n.newer.older = n, n
}

func (n *node[K, V]) unlink() {
	n.older.newer, n.newer.older = n.newer, n.older
}
