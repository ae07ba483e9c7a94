package httpd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/ingest/native"
	"github.com/unloop-ai/unloop/internal/names"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

func (s *Server) ingestRoutes() {
	op := s.operation(http.MethodPost, "/api/runs", Ingest, "ingest", "create-run", "Create or update a run",
		"Sets name, project and metadata of a run. An id or a name has at most 512 bytes; a longer one is shortened. If the run exists, it is updated. Its events may arrive before or after this request.")
	op.RequestBody = &huma.RequestBody{Required: true, Content: content("application/json", schemaOf[api.NewRun](s))}
	op.Responses["201"] = &huma.Response{Description: "The run.", Content: content("application/json", schemaOf[api.Run](s))}
	s.raw(op, s.createRun)

	op = s.operation(http.MethodPost, "/api/events", Ingest, "ingest", "send-events", "Send events",
		"Accepts one event, an array of events, or one event per line (NDJSON), with or without gzip. An invalid event does not affect the "+
			"others. An id or a name has at most 512 bytes; a longer one is shortened, and notices lists it. A 201 answer means that the "+
			"accepted events are on disk. Events may be sent again: an id counts once in its run.")
	one := schemaOf[api.NewEvent](s)
	many := &huma.Schema{Type: "array", Items: one}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json":     {Schema: &huma.Schema{OneOf: []*huma.Schema{one, many}}},
		"application/x-ndjson": {Schema: one},
	}}
	op.Responses["201"] = &huma.Response{
		Description: "For one event: the event as recorded. For several: counts and errors. If a non-empty request has no valid event, the status is 400.",
		Content:     content("application/json", &huma.Schema{OneOf: []*huma.Schema{schemaOf[api.Event](s), schemaOf[api.Batch](s)}}),
	}
	s.raw(op, s.sendEvents)
}

func (s *Server) createRun(w http.ResponseWriter, r *http.Request) error {
	b, err := s.read(w, r)
	if err != nil {
		return err
	}
	defer b.release()
	var request api.NewRun
	if err := jsonv2.Unmarshal(b.bytes, &request, api.JSON); err != nil {
		return problem(http.StatusBadRequest, "body", "want a JSON object with the strings id, name and project, and metadata")
	}
	info, err := s.infoOf(&request)
	if err != nil {
		return err
	}
	submission := &pipeline.Submission{Runs: []pipeline.Info{info}}
	if _, err := s.Pipeline.Submit(r.Context(), submission); err != nil {
		return err
	}
	run, err := s.runOf(r.Context(), submission.Runs[0].ID)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, api.RunOf(run))
	return nil
}

func (s *Server) infoOf(request *api.NewRun) (pipeline.Info, error) {
	name := func(text string) string { return s.shortName(store.Text(text), s.Limits.Name) }
	info := pipeline.Info{ID: s.shortID(store.Text(request.ID), s.Limits.Name), Name: name(request.Name), Project: name(request.Project), Ended: request.Ended}
	if info.ID == "" {
		info.ID = newRunID()
	}
	if info.Name == "" && !info.Ended {
		info.Name = info.ID
	}
	switch {
	case len(request.Metadata) == 0 || request.Metadata[0] == 'n':
	case request.Metadata[0] == '{' && native.Within(request.Metadata, s.Limits.Levels):
		info.Metadata = append(json.RawMessage(nil), request.Metadata...)
	default:
		return info, problem(http.StatusBadRequest, "metadata", fmt.Sprintf("want an object of at most %d levels", s.Limits.Levels))
	}
	return info, nil
}

// shortName returns a name of at most most bytes. It masks secrets before it cuts, because a cut secret is not recognised. The
// size of the body limits the cost.
func (s *Server) shortName(name string, most int) string {
	if len(name) <= most {
		return name // the pipeline masks it
	}
	return names.Shorten(s.Name(name), most)
}

// shortID is shortName for an id, whose short form stays unique.
func (s *Server) shortID(id string, most int) string {
	if len(id) <= most {
		return id
	}
	return names.Shorten(s.RunID(id), most)
}

// newRunID returns a new random id.
func newRunID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return "run_" + hex.EncodeToString(b[:])
}

func (s *Server) sendEvents(w http.ResponseWriter, r *http.Request) error {
	b, err := s.read(w, r)
	if err != nil {
		return err
	}
	defer b.release()
	sent, err := native.ReadRequest(b.bytes, isLines(mediaType(r)), native.Limits{
		Events: s.Limits.Events, Levels: s.Limits.Levels, Name: s.Limits.Name, Shorten: s.shortName, ShortenID: s.shortID,
	})
	if err != nil {
		return err
	}
	submission := submissionOf(sent.Items)
	warnings := s.warningsOf(sent)
	addHints(submission, warnings)
	var ack pipeline.Ack
	if len(sent.Items) > 0 {
		if ack, err = s.Pipeline.Submit(r.Context(), submission); err != nil {
			return err
		}
	}
	if !sent.One {
		return answerMany(w, sent, ack, warnings)
	}
	if len(sent.Bad) > 0 {
		return problem(http.StatusBadRequest, sent.Bad[0].Field, sent.Bad[0].Reason)
	}
	recorded, err := s.recorded(r.Context(), submission.Events[0], ack, noticesOf(sent), warnings)
	if err != nil {
		return err
	}
	writeText(w, http.StatusCreated, recorded)
	return nil
}

// isLines reports whether a media type is newline-delimited JSON.
func isLines(kind string) bool {
	switch strings.TrimPrefix(kind, "application/") {
	case "x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines":
		return true
	}
	return false
}

// submissionOf returns the events with the information about their runs. Information that repeats an earlier event is omitted.
func submissionOf(items []native.Item) *pipeline.Submission {
	d := &pipeline.Submission{Events: make([]*unloop.Event, len(items))}
	var last string // consecutive events often have the same run
	var known map[string]int
	for i := range items {
		e := items[i].Event
		d.Events[i] = e
		starts := e.Type == unloop.RunStarted
		if items[i].Project == "" && !starts || !starts && e.RunID == last {
			continue
		}
		last = e.RunID
		at, found := known[e.RunID]
		if !found {
			if known == nil {
				known = make(map[string]int)
			}
			at = len(d.Runs)
			known[e.RunID] = at
			d.Runs = append(d.Runs, pipeline.Info{ID: e.RunID})
		}
		info := &d.Runs[at]
		if items[i].Project != "" {
			info.Project = items[i].Project
		}
		if starts {
			info.Name, info.Metadata = e.Name, e.Metadata
		}
	}
	return d
}

// recorded returns the recorded form of the first event. If the event is a duplicate, that is the earlier copy.
func (s *Server) recorded(ctx context.Context, e *unloop.Event, ack pipeline.Ack, notices, warnings []api.EventError) ([]byte, error) {
	result := ack.Events[0]
	if result.Duplicate {
		run, err := s.runOf(ctx, e.RunID)
		if err != nil {
			return nil, err
		}
		events, err := s.Store.EventsOf(ctx, run.Number, []string{result.ID})
		if err != nil {
			return nil, fmt.Errorf("read the earlier copy of the event: %w", err)
		}
		if len(events) > 0 {
			return api.AppendEvent(nil, run.ID, &events[0]), nil
		}
	}
	answer := api.EventOf(e, ack.Received)
	answer.ID, answer.Notices, answer.Warnings = result.ID, notices, warnings
	return api.Encode(&answer), nil // a pointer, because encoding a value copies it
}

// noticesOf returns the notices about shortened ids and names.
func noticesOf(sent *native.Request) (notices []api.EventError) {
	for _, cut := range sent.Cut {
		notices = append(notices, api.EventError{Index: cut.Index, Field: cut.Field, Reason: cut.Reason})
	}
	return notices
}

func answerMany(w http.ResponseWriter, sent *native.Request, ack pipeline.Ack, warnings []api.EventError) error {
	batch := api.Batch{Warnings: warnings, Accepted: len(sent.Items), Rejected: len(sent.Bad), Errors: make([]api.EventError, 0, len(sent.Bad)), Notices: noticesOf(sent)}
	for _, result := range ack.Events {
		if result.Duplicate {
			batch.Duplicates++
		}
	}
	for _, bad := range sent.Bad {
		batch.Errors = append(batch.Errors, api.EventError{Index: bad.Index, Field: bad.Field, Reason: bad.Reason})
	}
	if batch.Accepted == 0 && batch.Rejected > 0 {
		p := problem(http.StatusBadRequest, sent.Bad[0].Field, sent.Bad[0].Reason)
		p.Detail, p.Errors = "none of the events is valid", batch.Errors
		return p
	}
	writeJSON(w, http.StatusCreated, batch)
	return nil
}
