package guard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestAGroupEvictsGuardsBeyondItsBytes(t *testing.T) {
	const limit = 4 << 20
	group := NewGroup(load(t, "looplens"), nil, 0) // a profile that keeps inputs
	group.LimitBytes(limit)
	text := strings.Repeat("word ", 780)
	for k := range 40 {
		for n := range 100 {
			group.Run(fmt.Sprint("run", k)).Before(t.Context(), Call{Tool: fmt.Sprint("t", n), Args: json.RawMessage(fmt.Sprintf(`{"q":"%d %s"}`, n, text))})
		}
		if group.Bytes() > limit+16<<10 {
			t.Fatalf("after run %d the guards take %d bytes", k, group.Bytes())
		}
	}
	if dropped := group.Dropped(); dropped < 20 || dropped > 38 {
		t.Errorf("%d of 40 guards of half a megabyte were forgotten, where there is room for some eight", dropped)
	}
	for k := range 40 {
		group.End(fmt.Sprint("run", k))
	}
	if group.Bytes() != 0 {
		t.Errorf("an empty group has %d bytes", group.Bytes())
	}
}
