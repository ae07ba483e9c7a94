// Package boundedmap has a map with a bounded number of keys. Servers and stores keep state by the ids that clients choose in it, so
// that clients cannot use memory without a limit.
package boundedmap

import (
	"iter"
	"maps"
)

// Map is a map with bounded size. It keeps the Max most recently used keys, and at most twice as many. A key that is used moves
// to the young generation. When the young generation is full, the old one is dropped, and the young one becomes old. The lookup
// of a young key writes nothing, which is faster than an LRU list if many goroutines share the map under a lock. Adding a key is
// amortised O(1). A Map with a positive Max is ready to use. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	Max        int
	young, old map[K]V
}

// Get returns the value of a key without marking the key as used.
func (m *Map[K, V]) Get(key K) (V, bool) {
	v, ok := m.young[key]
	if !ok {
		v, ok = m.old[key]
	}
	return v, ok
}

// Use returns the value of a key and marks the key as used. It returns the number of keys that were dropped for it.
func (m *Map[K, V]) Use(key K) (v V, ok bool, dropped int) {
	if v, ok = m.young[key]; ok {
		return v, true, 0
	}
	if v, ok = m.old[key]; ok {
		dropped = m.Set(key, v)
	}
	return v, ok, dropped
}

// Set sets the value of a key and marks the key as used. It returns the number of keys that were dropped for it.
func (m *Map[K, V]) Set(key K, value V) (dropped int) {
	delete(m.old, key)
	if _, isYoung := m.young[key]; !isYoung && len(m.young) >= m.Max {
		dropped = m.Age()
	}
	if m.young == nil {
		m.young = make(map[K]V)
	}
	m.young[key] = value
	return dropped
}

// Age drops the old generation and makes the young one old. It returns the number of dropped keys.
func (m *Map[K, V]) Age() (dropped int) {
	dropped = len(m.old)
	clear(m.old) // its memory is reused
	m.young, m.old = m.old, m.young
	return dropped
}

// Remove removes a key.
func (m *Map[K, V]) Remove(key K) {
	delete(m.young, key)
	delete(m.old, key)
}

// Young yields the keys of the young generation with their values, in any order.
func (m *Map[K, V]) Young() iter.Seq2[K, V] { return maps.All(m.young) }

// Old yields those of the old generation, which are dropped first.
func (m *Map[K, V]) Old() iter.Seq2[K, V] { return maps.All(m.old) }

// Len returns the number of keys.
func (m *Map[K, V]) Len() int { return len(m.young) + len(m.old) }
