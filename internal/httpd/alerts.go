package httpd

import (
	"context"
	"net/http"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Alerts manages the webhooks that people set up. The errors of an alert that does not exist, or is in the configuration file, are
// store.ErrNoAlert and BadAlert.
type Alerts interface {
	// List returns all alerts, those of the configuration file first.
	List(ctx context.Context) ([]api.Alert, error)
	// Add adds an alert. The act says who does it and when, as for the others.
	Add(ctx context.Context, by store.Act, a *api.NewAlert) (*api.Alert, error)
	Change(ctx context.Context, by store.Act, id string, a *api.NewAlert) (*api.Alert, error)
	Delete(ctx context.Context, by store.Act, id string) error
	// Test sends a message and waits for the answer.
	Test(ctx context.Context, id string) (api.AlertTest, error)
}

// BadAlert says which member of an alert is wrong, and what is allowed.
type BadAlert struct{ Field, Reason string }

func (e *BadAlert) Error() string { return e.Field + ": " + e.Reason }

type (
	// AlertPath is embedded, so that huma finds it only under an exported name.
	AlertPath struct {
		ID string `path:"id" maxLength:"32" doc:"The alert's id."`
	}
	addAlertQuery struct {
		Person
		Body api.NewAlert
	}
	changeAlertQuery struct {
		Person
		AlertPath
		Body api.NewAlert
	}
	deleteAlertQuery struct {
		Person
		AlertPath
	}
	alertsAnswer    struct{ Body []api.Alert }
	alertAnswer     struct{ Body api.Alert }
	alertTestAnswer struct{ Body api.AlertTest }
)

func (s *Server) alertRoutes() {
	query(s, s.operation(http.MethodGet, "/api/alerts", Read, "acts", "list-alerts", "List alerts",
		"The webhooks of the configuration file and those that people set up, without addresses and secrets."), s.listAlerts)
	add := s.operation(http.MethodPost, "/api/alerts", Admin, "acts", "add-alert", "Add an alert",
		"Adds a webhook that gets one message for each run and level. On a server with tokens, its address must be public; other endpoints need to be in "+
			"the configuration file. The act is written to the audit log, as for changes and deletions.")
	query(s, add, s.addAlert)
	query(s, s.operation(http.MethodPost, "/api/alerts/{id}", Admin, "acts", "change-alert", "Change an alert",
		"Omitted members keep their values."), s.changeAlert)
	query(s, s.operation(http.MethodDelete, "/api/alerts/{id}", Admin, "acts", "delete-alert", "Delete an alert", "Deletes a webhook and drops its waiting messages."), s.deleteAlert)
	query(s, s.operation(http.MethodPost, "/api/alerts/{id}/test", Admin, "acts", "test-alert", "Send a test message",
		"Sends a message of the type test to the endpoint, once, also in quiet hours, and waits for the answer."), s.testAlert)
}

func (s *Server) listAlerts(ctx context.Context, _ *struct{}) (*alertsAnswer, error) {
	all, err := s.Alerts.List(ctx)
	if err != nil {
		return nil, err
	}
	return &alertsAnswer{append([]api.Alert{}, all...)}, nil
}

func (s *Server) addAlert(ctx context.Context, q *addAlertQuery) (*alertAnswer, error) {
	return alertOr(s.Alerts.Add(ctx, s.by(q.Authorization), s.masked(&q.Body)))
}

func (s *Server) changeAlert(ctx context.Context, q *changeAlertQuery) (*alertAnswer, error) {
	return alertOr(s.Alerts.Change(ctx, s.by(q.Authorization), q.ID, s.masked(&q.Body)))
}

// masked masks the projects of an alert as those of runs are masked, so that the names are equal.
func (s *Server) masked(a *api.NewAlert) *api.NewAlert {
	if a.Projects != nil {
		for k, name := range *a.Projects {
			(*a.Projects)[k] = s.Name(name)
		}
	}
	return a
}

func (s *Server) deleteAlert(ctx context.Context, q *deleteAlertQuery) (*struct{}, error) {
	return nil, s.Alerts.Delete(ctx, s.by(q.Authorization), q.ID)
}

func (s *Server) testAlert(ctx context.Context, q *AlertPath) (*alertTestAnswer, error) {
	result, err := s.Alerts.Test(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	return &alertTestAnswer{result}, nil
}

// by returns the beginning of an act: who and when.
func (s *Server) by(authorization string) store.Act {
	return store.Act{At: time.Now(), Who: s.actor(authorization)}
}

func alertOr(a *api.Alert, err error) (*alertAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &alertAnswer{*a}, nil
}
