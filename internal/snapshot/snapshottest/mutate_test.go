package snapshottest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestChangedSnapshotsStayBounded: a value that holds itself would have no end, and one that is shared and doubled grows by
// powers.
func TestChangedSnapshotsStayBounded(t *testing.T) {
	data := []byte(`{"a":[1,2,{"b":"` + strings.Repeat("text", 50) + `","c":[[],{},null,true]}],"d":{"e":{"f":[3]}}}`)
	choice := rapid.Custom(func(t *rapid.T) byte {
		return rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 3, 201, 207, 225})).Draw(t, "byte")
	})
	rapid.Check(t, func(t *rapid.T) {
		choices := rapid.SliceOfN(choice, 0, 40).Draw(t, "choices")
		changed, err := Mutate(data, choices)
		if err != nil || !json.Valid(changed) {
			t.Fatalf("%v: %.200s", err, changed)
		}
		// A text in place of a number, 300 copies of null or a name per change are not counted.
		if most := len(data) + maxAdded + 10*(6000+300*20); len(changed) > most {
			t.Fatalf("%d bytes, want at most %d", len(changed), most)
		}
		if again, _ := Mutate(data, choices); !bytes.Equal(again, changed) {
			t.Fatal("equal choices make different changes")
		}
	})
}
