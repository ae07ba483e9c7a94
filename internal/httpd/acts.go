package httpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Acts records what people do and say.
type Acts interface {
	// Act carries out the action and writes it to the audit log. The error is store.ErrNoMute for the end of a mute that does not
	// exist.
	Act(ctx context.Context, a *store.Act) error
	// Acts returns a page of the audit log, the latest first, and the cursor of the next.
	Acts(ctx context.Context, p store.Page) (acts []store.Act, next string, err error)
	// Mutes returns the mutes in force.
	Mutes(ctx context.Context) ([]store.Act, error)
	// LabelOf returns the label of a run; its Label is "" for none.
	LabelOf(ctx context.Context, run int64) (store.Label, error)
	// Labels returns the labels of runs, the latest first: at most limit labels.
	Labels(ctx context.Context, most int) ([]store.Label, error)
	// Acknowledged returns the warnings of a run that people have acknowledged.
	Acknowledged(ctx context.Context, run int64) ([]store.Acknowledgement, error)
}

type (
	// Person is embedded, so that huma finds it only under an exported name.
	Person struct {
		Authorization string `header:"Authorization" hidden:"true"`
	}
	actQuery struct {
		Person
		Body api.NewAct
	}
	actAnswer struct{ Body api.Act }
	actsQuery struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of results."`
		Cursor string `query:"cursor" doc:"X-Next-Cursor of the previous page."`
	}
	actsAnswer struct {
		NextPage
		Body []api.Act
	}
	mutesAnswer struct{ Body []api.Act }
	labelsQuery struct {
		Limit int `query:"limit" minimum:"1" maximum:"10000" default:"10000" doc:"Maximum number of results."`
	}
	labelsAnswer struct{ Body []api.Label }
	reviewAnswer struct{ Body api.Review }
)

func (s *Server) actRoutes() {
	op := s.operation(http.MethodPost, "/api/acts", Admin, "acts", "act", "Label, acknowledge or mute",
		"Labels a run, acknowledges a warning, or mutes a rule for a tool or a project. Muted and acknowledged warnings are recorded and not alerted. The act is written to the audit log.")
	query(s, op, s.act)
	query(s, s.operation(http.MethodGet, "/api/acts", Read, "acts", "list-acts", "List the audit log", "What people did, the latest first."), s.listActs)
	query(s, s.operation(http.MethodGet, "/api/mutes", Read, "acts", "list-mutes", "List mutes", "The mutes that hold, the oldest first."), s.listMutes)
	query(s, s.operation(http.MethodGet, "/api/labels", Read, "acts", "list-labels", "List labels", "The labels of runs, the latest first."), s.listLabels)
	query(s, s.operation(http.MethodGet, "/api/runs/{id}/review", Read, "acts", "get-review", "Get a run's review",
		"The run's label, its acknowledged warnings, and the mutes of its project."), s.getReview)
}

// actor returns the name of the token that a request carries. Several tokens of one name are one person to the audit log.
func (s *Server) actor(authorization string) string {
	if len(s.auth.tokens) == 0 {
		return "local"
	}
	return s.auth.nameOf(secretOf(authorization))
}

func (s *Server) act(ctx context.Context, q *actQuery) (*actAnswer, error) {
	b := &q.Body
	a := store.Act{
		At: time.Now(), Who: s.actor(q.Authorization), Action: b.Action, RunID: b.RunID, Warning: b.Warning, Rule: s.Name(b.Rule), Tool: s.Name(b.Tool),
		Project: s.Name(b.Project), Value: s.Name(b.Value), Note: s.Name(b.Note), // masked as in events, so that a mute matches their names
	}
	var err error
	switch b.Action {
	case store.ActMute:
		if b.Rule == "" {
			err = problem(http.StatusUnprocessableEntity, "rule", "a mute needs a rule")
		}
	case store.ActUnmute:
	default:
		err = s.ofRun(ctx, &a)
	}
	if err == nil {
		err = s.Store.Act(ctx, &a)
	}
	if errors.Is(err, store.ErrNoMute) {
		return nil, problem(http.StatusNotFound, "value", store.ErrNoMute.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("act: %w", err)
	}
	return &actAnswer{api.ActOf(&a)}, nil
}

// ofRun checks an act on a run, and sets the run and the project of it. The error is a problem if the run, the label or the warning is invalid.
func (s *Server) ofRun(ctx context.Context, a *store.Act) error {
	run, err := s.Store.Run(ctx, store.Text(a.RunID))
	if err != nil {
		return err
	}
	if run == nil {
		return problem(http.StatusNotFound, "run_id", "there is no run with this id")
	}
	a.Run, a.RunID, a.Project = run.Number, run.ID, run.Project
	if a.Action == store.ActLabel {
		if a.Value != "" && !slices.Contains([]string{store.LabelLoop, store.LabelNotALoop, store.LabelMissedLoop}, a.Value) {
			return problem(http.StatusUnprocessableEntity, "value", "want loop, not_a_loop or missed_loop, or nothing to remove the label")
		}
		return nil
	}
	warnings, err := s.Store.Warnings(ctx, run.Number)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(warnings, func(w store.Warning) bool { return w.ID == a.Warning })
	if at < 0 {
		return problem(http.StatusNotFound, "warning_id", "the run has no warning with this id")
	}
	a.Rule, a.Tool = warnings[at].Rule, warnings[at].Tool
	return nil
}

func (s *Server) listActs(ctx context.Context, q *actsQuery) (*actsAnswer, error) {
	acts, next, err := s.Store.Acts(ctx, store.Page{Cursor: q.Cursor, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	again := url.Values{"limit": {fmt.Sprint(q.Limit)}}
	return &actsAnswer{pageOf("/api/acts", again, next), api.ActsOf(acts)}, nil
}

func (s *Server) listMutes(ctx context.Context, _ *struct{}) (*mutesAnswer, error) {
	mutes, err := s.Store.Mutes(ctx)
	if err != nil {
		return nil, err
	}
	return &mutesAnswer{api.ActsOf(mutes)}, nil
}

func (s *Server) listLabels(ctx context.Context, q *labelsQuery) (*labelsAnswer, error) {
	labels, err := s.Store.Labels(ctx, q.Limit)
	if err != nil {
		return nil, err
	}
	all := make([]api.Label, 0, len(labels))
	for i := range labels {
		all = append(all, api.LabelOf(&labels[i]))
	}
	return &labelsAnswer{all}, nil
}

func (s *Server) getReview(ctx context.Context, q *RunPath) (*reviewAnswer, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	review := api.Review{Acknowledged: []api.Acknowledgement{}, Mutes: []api.Act{}}
	label, err := s.Store.LabelOf(ctx, run.Number)
	if err != nil {
		return nil, err
	}
	if label.Label != "" {
		review.Label = api.OrNull(api.LabelOf(&label))
	}
	seen, err := s.Store.Acknowledged(ctx, run.Number)
	if err != nil {
		return nil, err
	}
	for _, x := range seen {
		review.Acknowledged = append(review.Acknowledged, api.Acknowledgement{Warning: x.Warning, Who: x.Who, At: api.Timestamp(x.At)})
	}
	mutes, err := s.Store.Mutes(ctx)
	if err != nil {
		return nil, err
	}
	for i := range mutes {
		if m := &mutes[i]; m.Project == "" || m.Project == run.Project {
			review.Mutes = append(review.Mutes, api.ActOf(m))
		}
	}
	return &reviewAnswer{review}, nil
}
