package main

import (
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

func TestTheExampleIsStopped(t *testing.T) {
	g := genkit.Init(t.Context())
	model := genkit.DefineModel(g, "example/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, answer)
	var out strings.Builder
	if err := run(t.Context(), &out, g, model); err != nil {
		t.Fatal(err)
	}
	if ran := strings.Count(out.String(), "find_order finds nothing"); ran == 0 || ran > 10 || !strings.Contains(out.String(), "stopped: ") {
		t.Errorf("it was not stopped after some calls:\n%s", &out)
	}
}

func TestTheCodeOfThePageIsPartOfTheExample(t *testing.T) {
	adaptertest.Documented(t, "genkit.md", "main.go")
}
