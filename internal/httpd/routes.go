package httpd

import (
	"context"
	"net/http"

	"github.com/unloop-ai/unloop/internal/pipeline"
)

// routes lists all that the server answers.
func (s *Server) routes() {
	s.healthRoutes()
	s.ingestRoutes()
	s.telemetryRoutes()
	s.guardRoutes()
	s.runRoutes()
	s.fleetRoutes()
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

	Refolding  int `json:"refolding_runs" doc:"Runs with late events that their warnings and decisions do not take into account yet."`
	Unreadable int `json:"unreadable_events" doc:"Events of the store that the server could not read since its start. It leaves them out; 10,000 are counted at most."`
}

type healthAnswer struct{ Body Health }

func (s *Server) healthRoutes() {
	op := s.operation(http.MethodGet, "/api/health", Anyone, "server", "health", "Whether the server works",
		"200 once it takes events and answers questions, else 503.")
	query(s, op, func(ctx context.Context, _ *struct{}) (*healthAnswer, error) {
		if s.Ready != nil {
			if err := s.Ready(ctx); err != nil {
				return nil, busy(http.StatusServiceUnavailable, err.Error())
			}
		}
		var state pipeline.State
		if s.Recording != nil {
			state = s.Recording()
		}
		return &healthAnswer{Health{Status: "healthy", Service: "unloop", Version: s.Version, Refolding: state.Refolding, Unreadable: state.Unreadable}}, nil
	})
}
