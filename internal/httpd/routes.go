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
	Status  string `json:"status" enum:"healthy" doc:"Another answer than this one has a status of its own, and is a problem."`
	Service string `json:"service" enum:"unloop" doc:"Who answers."`
	Version string `json:"version" doc:"Of the server."`
	GRPC    string `json:"grpc" enum:"on,off,taken" doc:"Whether OTLP is taken over gRPC. taken: another program had its port, which nobody had asked for."`

	Refolding  int `json:"refolding_runs" doc:"Runs with late events that their warnings and decisions do not take into account yet."`
	Unreadable int `json:"unreadable_events" doc:"Events of the store that the server could not read since its start. It leaves them out; 10,000 are counted at most."`
}

func (s *Server) healthRoutes() {
	op := s.operation(http.MethodGet, "/api/health", Anyone, "server", "health", "Whether the server works",
		"200 while it takes events and answers questions, else 503. The reason is told to a token that may read, or where there are no tokens.")
	op.Responses["200"] = &huma.Response{Description: "It works.", Content: content("application/json", schemaOf[Health](s))}
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
			return busy(http.StatusServiceUnavailable, "the server cannot record at the moment; its log says why")
		}
		return busy(http.StatusServiceUnavailable, err.Error())
	})
}
