package main

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

func TestTheExampleIsNudgedAndThenStopped(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	nudged, stopped := strings.Index(out.String(), "[loop-guard]"), strings.Index(out.String(), "stopped at step ")
	if nudged < 0 || stopped < nudged {
		t.Errorf("it was not nudged and then stopped:\n%s", &out)
	}
}

func TestTheCodeOfThePageIsPartOfTheExample(t *testing.T) {
	adaptertest.Documented(t, "mcp-go.md", "main.go")
}
