package httpd

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// Problem is an error answer as defined by RFC 9457, with the field that it concerns and the reason.
type Problem struct {
	api.Problem

	retry bool
}

// problem returns a Problem whose detail is field and reason in one sentence.
func problem(status int, field, reason string) *Problem {
	detail := reason
	if field != "" {
		detail = field + ": " + reason
	}
	return &Problem{Problem: api.Problem{Title: http.StatusText(status), Status: status, Detail: detail, Field: field, Reason: reason}}
}

// busy returns a Problem that the client should retry after a second.
func busy(status int, reason string) *Problem {
	p := problem(status, "", reason)
	p.retry = true
	return p
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	if !p.retry {
		return nil
	}
	return http.Header{"Retry-After": {"1"}}
}

// write sends the problem.
func (p *Problem) write(w http.ResponseWriter) {
	if p.retry {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	writeJSON(w, p.Status, p)
}

// problemOf maps an error of another package to an answer. It returns nil if the client has disconnected. No other code maps
// errors to statuses.
func (s *Server) problemOf(err error) *Problem {
	var p *Problem
	var bad *ingest.BadInput
	var alert *BadAlert
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &bad):
		return problem(http.StatusBadRequest, bad.Field, bad.Reason)
	case errors.Is(err, pipeline.ErrBusy):
		return busy(http.StatusTooManyRequests, pipeline.ErrBusy.Error())
	case errors.Is(err, pipeline.ErrClosed):
		return busy(http.StatusServiceUnavailable, "the server is shutting down")
	case errors.Is(err, pipeline.ErrStore): // the pipeline has logged it
		return busy(http.StatusServiceUnavailable, pipeline.ErrStore.Error()+"; the server's log has the reason")
	case errors.As(err, &alert):
		return problem(http.StatusUnprocessableEntity, alert.Field, alert.Reason)
	case errors.Is(err, store.ErrNoAlert):
		return problem(http.StatusNotFound, "id", store.ErrNoAlert.Error())
	case errors.Is(err, store.ErrCursor):
		return problem(http.StatusBadRequest, "cursor", store.ErrCursor.Error())
	case errors.Is(err, store.ErrBuckets):
		return problem(http.StatusBadRequest, "step", store.ErrBuckets.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return busy(http.StatusServiceUnavailable, "the request timed out or was cancelled")
	}
	s.failing.Do(func() { s.log.Error("a request failed", "error", err) })
	return problem(http.StatusInternalServerError, "", "internal error; the server's log has the reason")
}

// reshape turns the errors of huma, which concern parameters, into problems.
func reshape(_ huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	if model.Status == http.StatusUnsupportedMediaType {
		return problem(model.Status, "Content-Type", "want "+jsonType), nil
	}
	p := problem(model.Status, "", model.Detail)
	for i, e := range model.Errors {
		_, field, _ := strings.Cut(e.Location, ".")
		if i == 0 {
			p = problem(model.Status, field, e.Message)
			continue
		}
		p.Errors = append(p.Errors, api.EventError{Field: field, Reason: e.Message})
	}
	return p, nil
}

// notFound returns the answer for an unknown run.
func notFound() *Problem { return problem(http.StatusNotFound, "id", "there is no run with this id") }
