package app

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// python returns the path of a Python with what the agents in testdata/python import.
func python(t *testing.T) string {
	t.Helper()
	var wrong bytes.Buffer
	c := exec.Command("../../scripts/python-env", "../../sdk/python/requirements-test.txt")
	c.Stderr = &wrong
	path, err := c.Output()
	if err != nil {
		t.Fatalf("make a Python for traced agents: %v\n%s", err, wrong.String())
	}
	return strings.TrimSpace(string(path))
}

func TestALangGraphAgentTracedByOpenInference(t *testing.T) {
	url := serve(t, nil)
	c := exec.Command(python(t), "testdata/python/langgraph_agent.py")
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OTEL_") }),
		"OTEL_EXPORTER_OTLP_ENDPOINT="+url, "NO_PROXY=*", "LANGSMITH_TRACING=false")
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(said))); err != nil || n < 5 {
		t.Errorf("the output is %q, want 5 requests or more", said)
	}
	asked := playedStep{tool: "ask_agent", input: `{"agent": "curator", "question": "where is it"}`, output: `"ask me tomorrow"`}
	work := played{"archivist", append(searching("search", 6), playedStep{}, asked, playedStep{})}
	want := work.reference(t)
	want.ID, want.Name, want.Project = "thread-7", "find the lost letter", "archive"
	if diff := cmp.Diff(want, onlyRun(t, url)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
