package httpd

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/unloop-ai/unloop/internal/pipeline"
)

// routes lists all that the server answers.
func (s *Server) routes() {
	s.healthRoutes()
	s.ingestRoutes()
	s.telemetryRoutes()
	s.guardRoutes()
	s.runRoutes()
	s.overviewRoutes()
	s.compareRoutes()
	s.replayRoutes()
	s.ruleRoutes()
	s.streamRoutes()
	s.describeAll()
}

// Health says that the server works.
type Health struct {
	Status  string `json:"status" enum:"healthy" doc:"Always healthy in a 200 answer. Other answers are problem details with another status."`
	Service string `json:"service" enum:"unloop" doc:"Name of the service."`
	Version string `json:"version" doc:"Version of the server."`
	GRPC    string `json:"grpc" enum:"on,off,taken" doc:"Whether the server accepts OTLP over gRPC. taken: another program uses the default port, and no port is configured."`

	Refolding  int `json:"refolding_runs" doc:"Number of runs whose warnings and decisions do not include their late events yet."`
	Unreadable int `json:"unreadable_events" doc:"Number of stored events that the server could not read since its start. It skips them. The count ends at 10,000."`
}

func (s *Server) healthRoutes() {
	op := s.operation(http.MethodGet, "/api/health", Anyone, "server", "health", "Get the server's health",
		"200 while the server accepts events and answers queries, else 503. The reason is given to tokens that may read, or to everybody if there are no tokens.")
	op.Responses["200"] = &huma.Response{Description: "The server works.", Content: content("application/json", schemaOf[Health](s))}
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
			writeJSON(w, http.StatusOK, Health{"healthy", "unloop", s.Version, s.GRPC, state.Refolding, state.Unreadable})
			return nil
		case s.auth.admit(r, Read) != nil: // the reason may name users, hosts and files
			return busy(http.StatusServiceUnavailable, "the server cannot record events; its log has the reason")
		}
		return busy(http.StatusServiceUnavailable, err.Error())
	})
}
