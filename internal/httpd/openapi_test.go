package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// description returns what /openapi.json says.
func description(t *testing.T, h *testServer) (whole map[string]any) {
	t.Helper()
	w := h.do(http.MethodGet, "/openapi.json", "")
	if err := json.Unmarshal(w.Body.Bytes(), &whole); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v", w.Code, err)
	}
	return whole
}

func TestEveryOperationAndFieldIsDescribed(t *testing.T) {
	whole := description(t, newTestServer(t, nil))
	if whole["openapi"] != "3.1.0" {
		t.Errorf("openapi %v", whole["openapi"])
	}
	operations := 0
	for path, item := range whole["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			operations++
			o := op.(map[string]any)
			at := method + " " + path
			for _, wanted := range []string{"summary", "description", "operationId", "tags", "responses"} {
				if o[wanted] == nil || o[wanted] == "" {
					t.Errorf("%s has no %s", at, wanted)
				}
			}
			if takesBody := method == "post" && path != "/api/alerts/{id}/test"; takesBody != (o["requestBody"] != nil) {
				t.Errorf("%s: body %v", at, o["requestBody"])
			}
			parameters, _ := o["parameters"].([]any)
			for _, p := range parameters {
				if p.(map[string]any)["description"] == nil {
					t.Errorf("%s: parameter %v has no description", at, p)
				}
			}
			if n := strings.Count(path, "{"); n > len(parameters) {
				t.Errorf("%s: %d parameters", at, len(parameters))
			}
			for status, answer := range o["responses"].(map[string]any) {
				a := answer.(map[string]any)
				if a["description"] == nil || a["content"] == nil && status != "204" {
					t.Errorf("%s: answer %s is %v", at, status, a)
				}
			}
		}
	}
	if operations != 38 {
		t.Errorf("%d operations, want 38", operations)
	}
	for name, s := range whole["components"].(map[string]any)["schemas"].(map[string]any) {
		properties, _ := s.(map[string]any)["properties"].(map[string]any)
		for field, p := range properties {
			if m := p.(map[string]any); m["description"] == nil && m["$ref"] == nil {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
}

func TestTheDocsListEveryPath(t *testing.T) {
	page, err := os.ReadFile("../../docs/server.md")
	if err != nil {
		t.Fatal(err)
	}
	for path := range description(t, newTestServer(t, nil))["paths"].(map[string]any) {
		if !regexp.MustCompile("[` ]" + regexp.QuoteMeta(path) + "[`?]").Match(page) {
			t.Errorf("docs/server.md does not list %s", path)
		}
	}
}

// TestResponsesConformToTheOpenAPIDocument holds what is answered to the schemas.
func TestResponsesConformToTheOpenAPIDocument(t *testing.T) {
	h := newTestServer(t, nil)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:///openapi.json", description(t, h)); err != nil {
		t.Fatal(err)
	}
	h.send(looping("a", 6)...)
	h.send(event("b", 1, "run_started", `"metadata":{"k":1}`), event("b", 2, "run_failed", `"error":"no"`))
	for _, tc := range []struct{ method, path, body, operation, status string }{
		{"GET", "/api/health", "", "/api/health", "200"},
		{"GET", "/api/runs", "", "/api/runs", "200"},
		{"GET", "/api/runs/a", "", "/api/runs/{id}", "200"},
		{"GET", "/api/runs/a/events", "", "/api/runs/{id}/events", "200"},
		{"GET", "/api/runs/a/warnings", "", "/api/runs/{id}/warnings", "200"},
		{"GET", "/api/runs/a/decisions", "", "/api/runs/{id}/decisions", "200"},
		{"GET", "/api/runs/a/metrics", "", "/api/runs/{id}/metrics", "200"},
		{"GET", "/api/runs/b/metrics", "", "/api/runs/{id}/metrics", "200"},
		{"GET", "/api/compare?a=a&b=b", "", "/api/compare", "200"},
		{"GET", "/api/compare?a=a&b=a", "", "/api/compare", "200"},
		{"GET", "/api/overview", "", "/api/overview", "200"},
		{"GET", "/api/overview?since=2026-05-01T12:00:00Z", "", "/api/overview", "200"},
		{"GET", "/api/rules", "", "/api/rules", "200"},
		{"GET", "/api/profiles", "", "/api/profiles", "200"},
		{"POST", "/api/runs/a/replay", `{"settings":{"n":3}}`, "/api/runs/{id}/replay", "200"},
		{"POST", "/api/runs/a/replay", `{"profile":"wrong"}`, "/api/runs/{id}/replay", "default"},
		{"POST", "/api/runs", `{"id":"c"}`, "/api/runs", "201"},
		{"POST", "/api/events", event("a", 99, "x", ""), "/api/events", "201"},
		{"POST", "/api/events", "[" + event("a", 100, "x", "") + ",7]", "/api/events", "201"},
		{"POST", "/api/events", "[7]", "/api/events", "default"},
		{"GET", "/api/runs/nobody", "", "/api/runs/{id}", "default"},
	} {
		t.Run(tc.method+" "+tc.path+" "+tc.status, func(t *testing.T) {
			kind := "application~1json"
			if tc.status == "default" {
				kind = "application~1problem+json"
			}
			at := fmt.Sprintf("mem:///openapi.json#/paths/%s/%s/responses/%s/content/%s/schema",
				strings.NewReplacer("/", "~1", "{", "%7B", "}", "%7D").Replace(tc.operation), strings.ToLower(tc.method), tc.status, kind)
			schema, err := compiler.Compile(at)
			if err != nil {
				t.Fatal(err)
			}
			w := h.do(tc.method, tc.path, tc.body)
			answer, err := jsonschema.UnmarshalJSON(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(answer); err != nil {
				t.Error(err)
			}
		})
	}
}
