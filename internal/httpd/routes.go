package httpd

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
)

// routes registers all routes.
func (s *Server) routes() {
	s.healthRoutes()
	s.ingestRoutes()
	s.telemetryRoutes()
	s.guardRoutes()
	s.controlRoutes()
	s.runRoutes()
	s.overviewRoutes()
	s.compareRoutes()
	s.replayRoutes()
	s.ruleRoutes()
	s.actRoutes()
	s.alertRoutes()
	s.streamRoutes()
	s.describeAll()
}

func (s *Server) healthRoutes() {
	op := s.operation(http.MethodGet, "/api/health", Anyone, "server", "health", "Get the server's health",
		"200 while the server accepts events and answers queries, else 503. The answer has the reason for tokens with the scope read, and for everybody if there are no tokens.")
	op.Responses["200"] = &huma.Response{Description: "The server works.", Content: content("application/json", schemaOf[api.Health](s))}
	s.raw(op, func(w http.ResponseWriter, r *http.Request) error {
		var err error
		if s.Ready != nil {
			err = s.Ready(r.Context())
		}
		switch {
		case err == nil:
			var state pipeline.State
			if s.Recording != nil {
				state = s.Recording()
			}
			health := api.Health{
				Status: "healthy", Service: "unloop", Version: s.Version, GRPC: s.GRPC, Refolding: state.Refolding, Unreadable: state.Unreadable,
			}
			if s.Cluster != nil && s.auth.admit(r, Read) == nil { // it names hosts
				health.Cluster = s.Cluster(r.Context())
			}
			writeJSON(w, http.StatusOK, health)
			return nil
		case s.auth.admit(r, Read) != nil: // the reason may name users, hosts and files
			return busy(http.StatusServiceUnavailable, "the server cannot record events; its log has the reason")
		}
		return busy(http.StatusServiceUnavailable, err.Error())
	})
}
