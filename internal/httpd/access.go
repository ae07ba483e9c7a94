package httpd

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// logged returns a writer that records the status of the answer, and a function that writes the access log line. The line has
// neither query nor body, because they contain what users said. A path may contain the id of a run.
func (s *Server) logged(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, func()) {
	begin := time.Now()
	noted := &recordingWriter{ResponseWriter: w, status: http.StatusOK}
	return noted, func() {
		s.Access.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("path", s.RunID(r.URL.Path)),
			slog.Int("status", noted.status), slog.Int64("bytes", noted.bytes), slog.Duration("took", time.Since(begin)),
			slog.String("from", r.RemoteAddr))
	}
}

type recordingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (n *recordingWriter) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

func (n *recordingWriter) Write(b []byte) (int, error) {
	written, err := n.ResponseWriter.Write(b)
	n.bytes += int64(written)
	return written, err
}

// Unwrap implements the interface of http.ResponseController.
func (n *recordingWriter) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func stack() string { return string(debug.Stack()) }
