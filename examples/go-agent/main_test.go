package main

import (
	"strings"
	"testing"
)

func TestTheAgentLoopsWithoutAGuardAndIsStoppedWithOne(t *testing.T) {
	var without strings.Builder
	if err := run(&without, ""); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(without.String(), "ran into the limit of 25 steps; the guard said 0 words") {
		t.Errorf("without a guard:\n%s", &without)
	}
	for _, name := range []string{"default", "cycles", "loopguard"} {
		var with strings.Builder
		if err := run(&with, name); err != nil {
			t.Fatal(err)
		}
		nudged, stopped := strings.Index(with.String(), "_loop_guard"), strings.Index(with.String(), "stopped: ")
		if nudged < 0 || stopped < nudged {
			t.Errorf("with %s the agent was not nudged and then stopped:\n%s", name, &with)
		}
	}
}
