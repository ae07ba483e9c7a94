package boundedmap

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMap(t *testing.T) {
	t.Run("the most recently used keys are kept, and at most twice as many", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			m := Map[int, int]{Max: rapid.IntRange(1, 8).Draw(t, "max")}
			var used []int // the most recent last
			added, dropped := 0, 0
			for _, key := range rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "keys") {
				v, ok, n := m.Use(key)
				if ok && v != key {
					t.Fatalf("key %d has the value %d", key, v)
				}
				if !ok {
					n = m.Set(key, key)
					added++
				}
				dropped += n
				used = append(used, key)
				recent := map[int]bool{}
				for k := len(used) - 1; k >= 0 && len(recent) < m.Max; k-- {
					recent[used[k]] = true
				}
				for key := range recent {
					if _, ok := m.Get(key); !ok {
						t.Fatalf("after %v the key %d is missing", used, key)
					}
				}
				if m.Len() > 2*m.Max || m.Len() != added-dropped {
					t.Fatalf("%d keys of %d added and %d dropped, want at most %d", m.Len(), added, dropped, 2*m.Max)
				}
			}
		})
	})
	t.Run("a removed key is unknown", func(t *testing.T) {
		m := Map[string, int]{Max: 1}
		m.Set("a", 1)
		m.Set("b", 2) // a is old
		m.Remove("a")
		m.Remove("b")
		if m.Len() != 0 {
			t.Errorf("%d keys are left", m.Len())
		}
	})
	t.Run("a key that is set again has its new value and takes no room", func(t *testing.T) {
		for _, between := range [][]string{nil, {"b"}} { // a is young, or old
			m := Map[string, int]{Max: 1}
			m.Set("a", 1)
			for _, key := range between {
				m.Set(key, 2)
			}
			before := m.Len()
			if dropped := m.Set("a", 3); dropped != 0 || m.Len() != before {
				t.Errorf("after %v: %d keys were dropped and %d are left, want %d", between, dropped, m.Len(), before)
			}
			if v, _ := m.Get("a"); v != 3 {
				t.Errorf("after %v: the value is %d", between, v)
			}
		}
	})
}
