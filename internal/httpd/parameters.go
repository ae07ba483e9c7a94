package httpd

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/unloop-ai/unloop/internal/settings"
)

// parametersOf returns the query parameters of each described operation, by its pattern.
func (s *Server) parametersOf() map[string][]string {
	all := make(map[string][]string)
	for path, item := range s.api.OpenAPI().Paths {
		if !strings.HasPrefix(path, "/api/") {
			continue // OTLP and the dashboard
		}
		for pattern := range s.scopes {
			method, of, _ := strings.Cut(pattern, " ")
			if of != path {
				continue
			}
			op := map[string]**huma.Operation{
				http.MethodGet: &item.Get, http.MethodPost: &item.Post, http.MethodDelete: &item.Delete, http.MethodPut: &item.Put, http.MethodPatch: &item.Patch,
			}[method]
			if op == nil || *op == nil {
				continue
			}
			names := []string{}
			for _, p := range (*op).Parameters {
				if p.In == "query" {
					names = append(names, p.Name)
				}
			}
			slices.Sort(names)
			all[pattern] = names
		}
	}
	return all
}

// unknownParameter returns the problem that a query has a parameter that the operation does not take, or nil.
func (s *Server) unknownParameter(pattern string, r *http.Request) *Problem {
	known, described := s.parameters[pattern]
	if r.URL.RawQuery == "" || !described {
		return nil
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // what cannot be parsed is left out
	for name := range query {
		if !slices.Contains(known, name) {
			allowed := "it takes none"
			if len(known) > 0 {
				allowed = "allowed: " + strings.Join(known, ", ")
			}
			return problem(http.StatusUnprocessableEntity, name, fmt.Sprintf("unknown parameter%s; %s", settings.DidYouMeanWithin(name, known), allowed))
		}
	}
	return nil
}
