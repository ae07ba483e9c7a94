package httpd

import (
	"context"
	"net/http"

	"github.com/unloop-ai/unloop/internal/api"
)

type (
	rulesAnswer    struct{ Body []api.Rule }
	profilesAnswer struct{ Body []api.Profile }
)

func (s *Server) ruleRoutes() {
	op := s.operation(http.MethodGet, "/api/rules", Read, "rules", "list-rules", "List the rules",
		"What fires each rule, why it matters and what to try, as printed by unloop explain.")
	query(s, op, func(context.Context, *struct{}) (*rulesAnswer, error) { return &rulesAnswer{s.Judge.Rules()}, nil })
	op = s.operation(http.MethodGet, "/api/profiles", Read, "rules", "list-profiles", "List the profiles",
		"The profiles with their rules and settings.")
	query(s, op, func(context.Context, *struct{}) (*profilesAnswer, error) {
		return &profilesAnswer{s.Judge.Profiles()}, nil
	})
}
