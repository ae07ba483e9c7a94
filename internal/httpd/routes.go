package httpd

import (
	"context"
	"net/http"
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
		return &healthAnswer{Health{"healthy", "unloop", s.Version}}, nil
	})
}
