package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/unloop-ai/unloop/internal/adaptertest"
)

func TestTheExampleIsStopped(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(answer))
	defer model.Close()
	var out strings.Builder
	if err := run(t.Context(), &out, anthropic.NewClient(option.WithBaseURL(model.URL), option.WithAPIKey("none"))); err != nil {
		t.Fatal(err)
	}
	if ran := strings.Count(out.String(), "find_order finds nothing"); ran == 0 || ran > 10 || !strings.Contains(out.String(), "stopped: ") {
		t.Errorf("it was not stopped after some calls:\n%s", &out)
	}
}

func TestTheCodeOfThePageIsPartOfTheExample(t *testing.T) {
	adaptertest.Documented(t, "anthropic-go.md", "main.go")
}
