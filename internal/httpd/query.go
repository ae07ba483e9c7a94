package httpd

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/errgroup"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// runOf returns the run with the id, or notFound.
func (s *Server) runOf(ctx context.Context, id string) (*store.Run, error) {
	run, err := s.Store.Run(ctx, store.Text(id))
	if err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	if run == nil {
		return nil, notFound()
	}
	return run, nil
}

type (
	// RunPath is exported because huma reads only exported embedded structs.
	RunPath struct {
		ID string `path:"id" doc:"The run's id. The ids . and .. and / are written .~ and ..~ and %2F~. Ids that are one of these followed by ~ get one more ~."`
	}
	deleteQuery struct {
		RunPath
		Person
	}
	runsQuery struct {
		RunFilter
		Sort   string `query:"sort" enum:"started,name,project,status,health,decision,warnings,novelty,tool,events,tokens,cost,duration,updated" default:"started" doc:"What the runs are sorted by."`
		Order  string `query:"order" enum:"asc,desc" default:"desc" doc:"asc: the smallest first; desc: the largest or latest first."`
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of results."`
		Cursor string `query:"cursor" doc:"X-Next-Cursor of the previous page."`
	}
	eventsQuery struct {
		RunPath
		Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"10000" doc:"Maximum number of results."`
		Cursor string `query:"cursor" doc:"X-Next-Cursor of the previous page."`
	}
	eventLines struct {
		RunPath
		Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"10000" doc:"Maximum number of results."`
		Cursor string `query:"cursor" doc:"X-Next-Cursor of the previous page."`
		Order  string `query:"order" enum:"asc,desc" default:"asc" doc:"asc: in the order of the run; desc: from its end to its beginning."`
		Accept string `header:"Accept" doc:"application/x-ndjson returns the events as recorded, one per line."`
	}
	// NextPage are the headers of a list with a next page.
	NextPage struct {
		Link   string `header:"Link" doc:"URL of the next page, if there is one: <…>; rel=\"next\"."`
		Cursor string `header:"X-Next-Cursor" doc:"Cursor of the next page, if there is one."`
	}
	runsAnswer struct {
		NextPage
		Total string `header:"X-Total-Count" doc:"Number of runs on all pages. Only on the first page."`
		Body  []api.RunSummary
	}
	runAnswer     struct{ Body api.RunDetails }
	metricsAnswer struct{ Body api.Metrics }
	eventsAnswer  struct {
		NextPage
		Kind string `header:"Content-Type" doc:"Media type of the answer: application/json or application/x-ndjson."`
		Body []byte
	}
	warningsAnswer  struct{ Body []api.Warning }
	decisionsAnswer struct {
		NextPage
		Body []api.Decision
	}
)

// run returns the id of the run in the path.
func (p RunPath) run() string { return store.IDOf(p.ID) }

func (s *Server) runRoutes() {
	get := func(path, id, summary, description string) huma.Operation {
		return s.operation(http.MethodGet, path, Read, "runs", id, summary, description)
	}
	query(s, get("/api/runs", "list-runs", "List runs", "Runs that meet all conditions. The total number is in X-Total-Count, the next page in X-Next-Cursor."), s.listRuns)
	query(s, get("/api/runs/{id}", "get-run", "Get a run", "The current state of the run."), s.getRun)
	query(s, get("/api/runs/{id}/metrics", "get-metrics", "Get a run's totals", "Counts, tokens, cost, latencies and health."), s.getMetrics)
	list := get("/api/runs/{id}/events", "list-events", "List a run's events", "Events in the order of the run, or from its end. A page ends at about 32 MiB, even if it has fewer events than limit.")
	list.Responses["200"] = &huma.Response{
		Description: "An array with all members of each event. With Accept: application/x-ndjson, one event per line, as recorded.",
		Content: map[string]*huma.MediaType{
			jsonType: {Schema: &huma.Schema{Type: "array", Items: schemaOf[api.Event](s)}},
			lineType: {Schema: schemaOf[api.NewEvent](s)},
		},
	}
	query(s, list, s.listEvents)
	query(s, get("/api/runs/{id}/warnings", "list-warnings", "List a run's warnings", "All warnings of the run, the first raised first."), s.listWarnings)
	query(s, get("/api/runs/{id}/decisions", "list-decisions", "List a run's decisions",
		"The events at which the profile's policy would have nudged, blocked or halted, in the order of the run."), s.listDecisions)
	op := s.operation(http.MethodDelete, "/api/runs/{id}", Admin, "runs", "delete-run", "Delete a run", "Deletes the run with its events, warnings and decisions.")
	query(s, op, s.deleteRun)
}

func (s *Server) listRuns(ctx context.Context, q *runsQuery) (*runsAnswer, error) {
	f, err := q.filter(time.Now())
	if err != nil {
		return nil, err
	}
	var runs []store.Run
	var next, total string
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		runs, next, err = s.Store.Runs(ctx, f, store.Order{Key: q.Sort, Ascending: q.Order == "asc"}, store.Page{Cursor: q.Cursor, Limit: q.Limit})
		return err
	})
	if q.Cursor == "" {
		both.Go(func() error {
			n, err := s.Store.CountRuns(ctx, f)
			total = strconv.Itoa(n)
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	again := q.values(&f)
	again.Set("limit", strconv.Itoa(q.Limit))
	again.Set("sort", q.Sort)
	again.Set("order", q.Order)
	answer := &runsAnswer{NextPage: pageOf("/api/runs", again, next), Total: total, Body: make([]api.RunSummary, 0, len(runs))}
	for i := range runs {
		answer.Body = append(answer.Body, api.SummaryOf(&runs[i]))
	}
	return answer, nil
}

// moment parses a time in RFC 3339, or a duration before now.
func moment(field, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if ago, err := time.ParseDuration(strings.TrimPrefix(text, "-")); err == nil {
		return now.Add(-ago), nil
	}
	return time.Time{}, problem(http.StatusBadRequest, field, "want a time in RFC 3339, or a duration before now, such as 24h")
}

// stable returns an absolute time for the URL of the next page, because now changes.
func stable(text string, t time.Time) string {
	if text == "" {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func pageOf(path string, query url.Values, next string) NextPage {
	if next == "" {
		return NextPage{}
	}
	query.Set("cursor", next)
	return NextPage{Link: "<" + path + "?" + query.Encode() + `>; rel="next"`, Cursor: next}
}

func (s *Server) getRun(ctx context.Context, q *RunPath) (*runAnswer, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	return &runAnswer{api.DetailsOf(run)}, nil
}

func (s *Server) getMetrics(ctx context.Context, q *RunPath) (*metricsAnswer, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	return &metricsAnswer{api.MetricsOf(run)}, nil
}

func (s *Server) listEvents(ctx context.Context, q *eventLines) (*eventsAnswer, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	kind, written := jsonType, array
	if strings.Contains(q.Accept, lineType) {
		kind, written = lineType, lines
	}
	text, next, err := s.eventList(ctx, run, store.Page{Cursor: q.Cursor, Limit: q.Limit, Backward: q.Order == "desc"}, written)
	if err != nil {
		return nil, err
	}
	again := url.Values{"limit": {fmt.Sprint(q.Limit)}}
	if q.Order == "desc" {
		again.Set("order", q.Order)
	}
	return &eventsAnswer{pageOf(runPath(run.ID, "events"), again, next), kind, text}, nil
}

func runPath(id, list string) string { return "/api/runs/" + store.PathOf(id) + "/" + list }

func (s *Server) listWarnings(ctx context.Context, q *RunPath) (*warningsAnswer, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	warnings, err := s.Store.Warnings(ctx, run.Number)
	if err != nil {
		return nil, fmt.Errorf("list warnings: %w", err)
	}
	return &warningsAnswer{api.WarningsOf(run.ID, api.InOrder(warnings))}, nil
}

func (s *Server) listDecisions(ctx context.Context, q *eventsQuery) (*decisionsAnswer, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	decisions, next, err := s.Store.Decisions(ctx, run.Number, store.Page{Cursor: q.Cursor, Limit: q.Limit})
	if err != nil {
		return nil, fmt.Errorf("list decisions: %w", err)
	}
	again := url.Values{"limit": {fmt.Sprint(q.Limit)}}
	return &decisionsAnswer{pageOf(runPath(run.ID, "decisions"), again, next), api.DecisionsOf(run.ID, decisions)}, nil
}

func (s *Server) deleteRun(ctx context.Context, q *deleteQuery) (*struct{}, error) {
	run, err := s.runOf(ctx, q.run())
	if err != nil {
		return nil, err
	}
	if _, err = s.Pipeline.Submit(ctx, &pipeline.Submission{Deleted: []string{run.ID}}); err != nil {
		return nil, err
	}
	return nil, s.Store.Act(ctx, &store.Act{At: time.Now(), Who: s.actor(q.Authorization), Action: store.ActDelete, Run: run.Number, RunID: run.ID, Project: run.Project})
}
