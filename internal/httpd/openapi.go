package httpd

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/unloop-ai/unloop/internal/api"
)

// describe returns the beginning of the OpenAPI document. Operations add themselves to it.
func (s *Server) describe() huma.Config {
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "unloop", Version: s.Version,
				Description: "Receives events of AI agents. Returns runs, warnings about loops, and decisions. Errors are problem details (RFC 9457).",
				License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token": {Type: "http", Scheme: "bearer", Description: "A token from the server's configuration. Required only if the configuration has tokens. Its scope is ingest, read or admin."},
				},
			},
			Tags: []*huma.Tag{
				{Name: "ingest", Description: "Send events and telemetry."},
				{Name: "guard", Description: "Check tool calls before and after they run."},
				{Name: "runs", Description: "Read runs, their warnings and decisions."},
				{Name: "rules", Description: "The rules and profiles that evaluate runs."},
				{Name: "acts", Description: "Label runs, acknowledge and mute warnings, set up alerts, and read the audit log."},
				{Name: "streams", Description: "Receive updates as server-sent events."},
				{Name: "server", Description: "Health and description of the server."},
			},
		},
		OpenAPIPath:   "",
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{reshape},
	}
	return config
}

// operation begins the description of an operation and records its scope.
func (s *Server) operation(method, path string, scope Scope, tag, id, summary, description string) huma.Operation {
	s.scopes[method+" "+path] = scope
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Description: description, Tags: []string{tag},
		Responses: map[string]*huma.Response{"default": {
			Description: "Problem details: the error, the field that it concerns, and the reason.",
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf[Problem](s)}},
		}},
	}
	if scope != Anyone {
		op.Security = []map[string][]string{{"token": {}}, {}}
	}
	return op
}

// query registers an operation whose requests and answers huma decodes and encodes.
func query[I, O any](s *Server, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, s.problemOf(err)
		}
		return out, nil
	})
}

// raw registers an operation that reads the request and writes the answer itself.
func (s *Server) raw(op huma.Operation, handler func(http.ResponseWriter, *http.Request) error) {
	s.api.OpenAPI().AddOperation(&op)
	s.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		if err := handler(w, r); err != nil {
			s.problemOf(err).write(w)
		}
	})
}

func schemaOf[T any](s *Server) *huma.Schema {
	return s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// content describes a body with one media type.
func content(kind string, schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{kind: {Schema: schema}}
}

// describeAll serves the OpenAPI document. It encodes the document at the first request, because that takes a large part of the
// start time of a server.
func (s *Server) describeAll() {
	op := s.operation(http.MethodGet, "/openapi.json", Anyone, "server", "openapi", "Get this description", "The description of the API in OpenAPI 3.1.")
	op.Responses["200"] = &huma.Response{Description: "The OpenAPI document.", Content: content("application/json", &huma.Schema{Type: "object"})}
	text := sync.OnceValue(func() []byte { return api.Encode(s.api.OpenAPI()) })
	s.raw(op, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		_, _ = w.Write(text()) // an error means that the client has disconnected
		return nil
	})
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	delete(schemas, "ErrorModel") // huma's own type, which Problem replaces
	delete(schemas, "ErrorDetail")
	s.describeNulls(schemas)
}

// describeNulls marks members that are pointers to structs as nullable, which huma does not.
func (s *Server) describeNulls(schemas map[string]*huma.Schema) {
	for name, schema := range schemas {
		of := s.api.OpenAPI().Components.Schemas.TypeFromRef("#/components/schemas/" + name)
		if of == nil || of.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(of) {
			member, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if p := schema.Properties[member]; p != nil && p.Ref != "" && field.Type.Kind() == reflect.Pointer {
				null := &huma.Schema{Type: "null"}
				schema.Properties[member] = &huma.Schema{AnyOf: []*huma.Schema{p, null}, Description: field.Tag.Get("doc")}
			}
		}
	}
}
