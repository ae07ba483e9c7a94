package main

import (
	"strings"
	"testing"
)

func TestASampleBelongsToTheInnermostRoleOfItsStack(t *testing.T) {
	const traces = `Type: cpu
-----------+-------------------------------------------------------
    3000us   runtime.memmove
             github.com/unloop-ai/unloop/internal/store/sqlstore.(*Store).Commit
             github.com/unloop-ai/unloop/internal/pipeline.(*Pipeline).Run
-----------+-------------------------------------------------------
     500us   github.com/unloop-ai/unloop/internal/pipeline.(*Pipeline).Run
-----------+-------------------------------------------------------
     500us   runtime.mcall
-----------+-------------------------------------------------------
`
	got, err := readTraces(strings.NewReader(traces))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"store": 0.75, "fold and decide": 0.125, "scheduler and rest": 0.125}
	for k, r := range roles {
		if got[k] != want[r.name] {
			t.Errorf("%s has %v of the time, want %v", r.name, got[k], want[r.name])
		}
	}
}
