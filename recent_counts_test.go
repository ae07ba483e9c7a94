package unloop

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRecentCountsCounts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		steps []int // at which the same thing occurs
		want  Count
	}{
		{"once weighs one", []int{7}, Count{1, 1}},
		{"twice at once weighs two", []int{7, 7}, Count{2, 2}},
		{"an occurrence weighs half 24 steps later", []int{7, 31}, Count{2, 1.5}},
		{"a quarter after 48 steps", []int{7, 55}, Count{2, 1.25}},
		{"one of an earlier step that comes later weighs one", []int{8, 7, 10, 9}, Count{4, 3.886}},
		{"the numbers of steps wrap around", []int{1<<24 - 1, 1 << 24, 1<<24 - 1}, Count{3, 2.971}},
		{"far back it weighs nothing", []int{7, 7, 7, 10_000}, Count{4, 1}},
		{"every 24 steps it never weighs two", []int{0, 24, 48, 72, 96, 120, 144, 168, 192, 216}, Count{10, 1.998}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var tally recentCounts
			var got Count
			for _, step := range tc.steps {
				got = tally.add(1, step)
			}
			if got.N != tc.want.N || math.Abs(float64(got.Weight)-float64(tc.want.Weight)) > 0.01 {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestRecentCountsEvicts compares recentCounts with unbounded counts. A fingerprint is counted correctly if at most maxRecentCounts
// others occurred since, and the memory is bounded.
func TestRecentCountsEvicts(t *testing.T) {
	var tally recentCounts
	step := 0
	others := func(n int) {
		for range n {
			step++
			tally.add(Hash(1_000_000+step), step)
		}
	}
	tally.add(1, step)
	others(maxRecentCounts - 1)
	if n := tally.add(1, step).N; n != 2 {
		t.Errorf("after %d others it counts %d times, want 2", maxRecentCounts-1, n)
	}
	others(maxRecentCounts - 1)
	if n := tally.add(1, step).N; n != 3 {
		t.Errorf("after %d others it counts %d times, want 3", maxRecentCounts-1, n)
	}
	others(2 * maxRecentCounts)
	if n := tally.add(1, step).N; n != 1 {
		t.Errorf("after %d others the count is %d, so it was not evicted", 2*maxRecentCounts, n)
	}
	if kept := len(tally.young.entries) + len(tally.old.entries); kept > 2*maxRecentCounts {
		t.Errorf("%d entries are kept, more than %d", kept, 2*maxRecentCounts)
	}
}

func TestRecentCountsAgreesWithCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tally recentCounts
		at := map[Hash][]int{}
		step := 0
		for _, h := range rapid.SliceOfN(rapid.Uint64Range(0, 5), 1, 200).Draw(t, "things") {
			step += rapid.IntRange(0, 9).Draw(t, "steps since")
			at[Hash(h)] = append(at[Hash(h)], step)
			want := 0.0
			for _, before := range at[Hash(h)] {
				want += math.Exp2(float64(before-step) / 24)
			}
			got := tally.add(Hash(h), step)
			if int(got.N) != len(at[Hash(h)]) || want < 60 && math.Abs(float64(got.Weight)-want) > 0.05 {
				t.Fatalf("%d at step %d: got %+v, want %d weighing %.3f", h, step, got, len(at[Hash(h)]), want)
			}
		}
	})
}

func TestRecentCountsAreRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole recentCounts
		others := rapid.SampledFrom([]int{0, 10, maxRecentCounts - 1, maxRecentCounts + 5, 2 * maxRecentCounts}).Draw(t, "others before")
		for step := range others {
			whole.add(Hash(1000+step), step)
		}
		things := rapid.SliceOfN(rapid.Uint64Range(0, 9), 1, 40).Draw(t, "things")
		cut := rapid.IntRange(0, len(things)).Draw(t, "cut")
		for step, h := range things[:cut] {
			whole.add(Hash(h), others+step)
		}
		text, err := whole.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var restored recentCounts
		if err := restored.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		for step, h := range things[cut:] {
			if want, got := whole.add(Hash(h), others+cut+step), restored.add(Hash(h), others+cut+step); got != want {
				t.Fatalf("%d at step %d: got %+v, want %+v", h, others+cut+step, got, want)
			}
		}
		want, _ := whole.MarshalText()
		if got, err := restored.MarshalText(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("equal tallies write different snapshots (%v)", err)
		}
	})
}

func TestInvalidRecentCountsAreRejected(t *testing.T) {
	entries := func(young uint16, hashes ...uint64) string {
		raw := binary.LittleEndian.AppendUint16(nil, young)
		for _, h := range hashes {
			raw = binary.LittleEndian.AppendUint64(raw, h)
			raw = binary.LittleEndian.AppendUint64(raw, 1<<40)
		}
		return base64.StdEncoding.EncodeToString(raw)
	}
	many := make([]uint64, maxRecentCounts+1)
	for k := range many {
		many[k] = uint64(k)
	}
	for name, tc := range map[string]struct {
		text string
		good bool
	}{
		"an empty one":                     {entries(0), true},
		"one thing in both generations":    {entries(1, 7, 7), true},
		"no text":                          {"", false},
		"no base64":                        {"?", false},
		"half an entry":                    {entries(1, 7)[:12], false},
		"fewer things than are young":      {entries(2, 7), false},
		"one thing twice":                  {entries(2, 7, 7), false},
		"more young things than there can": {entries(maxRecentCounts+1, many...), false},
		"more old things than there can":   {entries(0, many...), false},
	} {
		t.Run(name, func(t *testing.T) {
			var tally recentCounts
			if err := tally.UnmarshalText([]byte(tc.text)); (err == nil) != tc.good {
				t.Errorf("got %v", err)
			}
		})
	}
}
