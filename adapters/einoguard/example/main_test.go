package main

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

func TestTheExampleIsStopped(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, scripted{}); err != nil {
		t.Fatal(err)
	}
	if ran := strings.Count(out.String(), "find_order finds nothing"); ran == 0 || ran > 10 || !strings.Contains(out.String(), "stopped: ") {
		t.Errorf("it was not stopped after some calls:\n%s", &out)
	}
}

func TestTheCodeOfThePageIsPartOfTheExample(t *testing.T) {
	adaptertest.Documented(t, "eino.md", "main.go")
}
