package httpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/live"
)

// A stream first sends the recorded events after Last-Event-ID from the store, then the updates of the hub. To neither miss nor
// repeat an event, it reads the store to the end, subscribes to the hub, reads the store to the end again, and then skips the
// updates whose events it has read. A commit becomes visible in the store at once and is published afterwards, so an update was
// read either completely or not at all.

func (s *Server) streamRoutes() {
	describe := func(path, id, summary, description string, message *huma.Schema) huma.Operation {
		op := s.operation(http.MethodGet, path, Read, "streams", id, summary, description)
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: "Last-Event-ID", In: "header", Schema: &huma.Schema{Type: "integer"},
			Description: "The id of the last message received. The stream resumes after it.",
		})
		op.Responses["200"] = &huma.Response{
			Description: "Server-sent events. The data of a message is JSON as below; its id is the arrival of its last event. An idle stream sends a " +
				"comment every 15 seconds. A token is sent in the Authorization header and never in the URL. Browsers therefore read the " +
				"stream with fetch, because EventSource sends no headers. A client that does not keep up gets an event named dropped with the reason, and the connection ends.",
			Content: content("text/event-stream", message),
		}
		return op
	}
	op := describe("/api/runs/{id}/stream", "stream-run", "Stream a run",
		"Sends first all existing events, or those after Last-Event-ID, in one or more messages, and then new events. If the run does not exist yet, the stream waits for it.",
		schemaOf[api.RunUpdate](s))
	op.Parameters = append(op.Parameters, &huma.Param{Name: "id", In: "path", Required: true, Description: "The run's id.", Schema: &huma.Schema{Type: "string"}})
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "warnings", In: "query", Schema: &huma.Schema{Type: "string", Enum: []any{"all", "changed"}, Default: "all"},
		Description: "Which warnings a message has. all: the run's warnings, 32 at most. changed: only the warnings that changed. The first message of " +
			"each connection then has all warnings, without a limit, and warnings_reset.",
	})
	s.raw(op, s.streamRun)
	s.raw(describe("/api/stream", "stream-all", "Stream all runs",
		"Sends updates from now on. With Last-Event-ID, it first sends the runs deleted or changed after it (0 for all runs). If a run "+
			"changes faster than the client reads, intermediate states are skipped.", schemaOf[api.OverviewUpdate](s)), s.streamAll)
}

// stream is an open answer of server-sent events.
type stream struct {
	server  *Server
	w       http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context // ends with the client or the server
	cancel  context.CancelFunc
	head    []byte // of a message, before its data
}

// open begins a stream, which the caller closes. It returns nil for a HEAD request.
func (s *Server) open(w http.ResponseWriter, r *http.Request) (*stream, error) {
	h := w.Header()
	if r.Method == http.MethodHead {
		h.Set("Content-Type", "text/event-stream")
		return nil, nil
	}
	if n := s.streams.Add(1); n > int64(s.Limits.Streams) {
		s.streams.Add(-1)
		return nil, busy(http.StatusServiceUnavailable, "too many streams are open")
	}
	st := &stream{server: s, w: w, control: http.NewResponseController(w)}
	st.ctx, st.cancel = context.WithCancel(r.Context())
	unbind := context.AfterFunc(s.running, st.cancel)
	context.AfterFunc(st.ctx, func() {
		unbind()
		s.streams.Add(-1)
	})
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // tells proxies not to buffer
	w.WriteHeader(http.StatusOK)
	return st, st.write("retry: 1000\n\n")
}

// lastEventID returns the Last-Event-ID of a client; known is false without one. If the server has never sent that id, for
// example because its store was replaced, the id is 0.
func (s *Server) lastEventID(r *http.Request) (id int64, known bool, err error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		return 0, false, nil
	}
	id, err = strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0, false, problem(http.StatusBadRequest, "Last-Event-ID", "want the id of a message, an integer from 0")
	}
	if id <= s.Hub.Latest() {
		return id, true, nil
	}
	// The hub knows only the arrivals since the start, so the store is asked, too.
	runs, err := s.Store.RunsSince(r.Context(), id-1, 1)
	if err != nil {
		return 0, false, fmt.Errorf("find the last event of a stream: %w", err)
	}
	if len(runs) == 0 {
		return 0, true, nil
	}
	return id, true, nil
}

// write sends text immediately.
func (st *stream) write(text string) error { return st.put(true, []byte(text)) }

// send sends a message; an id of 0 means none. Without flush, it is sent together with the next one. The memory of the message is
// reserved until it is sent, and data is not copied.
func (st *stream) send(id int64, data []byte, flush bool) error {
	if err := reserve(st.ctx, len(data)); err != nil {
		return err
	}
	defer release(st.ctx)
	st.head = st.head[:0]
	if id > 0 {
		st.head = append(strconv.AppendInt(append(st.head, "id: "...), id, 10), '\n')
	}
	st.head = append(st.head, "data: "...)
	return st.put(flush, st.head, data, []byte("\n\n"))
}

func (st *stream) put(flush bool, parts ...[]byte) error {
	if err := st.control.SetWriteDeadline(time.Now().Add(st.server.Limits.WriteTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, part := range parts {
		if _, err := st.w.Write(part); err != nil {
			return err
		}
	}
	if !flush {
		return nil
	}
	return st.control.Flush()
}

// sendBuilt sends a message that encode builds. It reserves the memory of the message while it is built, and then sends it. Encode keeps
// nothing that it read, so that a client that does not read holds only the message.
func (st *stream) sendBuilt(encode func() (id int64, data []byte, err error)) error {
	done, err := st.server.build(st.ctx)
	if err != nil {
		return err
	}
	id, data, err := encode()
	if err == nil && len(data) > 0 {
		err = reserve(st.ctx, len(data))
	}
	done()
	if err != nil || len(data) == 0 {
		return err
	}
	return st.send(id, data, true)
}

// next returns the next update of a subscription, and sends keepalive comments until there is one. Without an update and an
// error, the stream has ended; a client that was too slow has received the reason.
func (st *stream) next(sub *live.Subscription) (*live.Message, error) {
	for {
		wait, cancel := context.WithTimeout(st.ctx, st.server.Limits.KeepAlive)
		m, err := sub.Next(wait)
		cancel()
		switch {
		case err == nil:
			return m, nil
		case errors.Is(err, live.ErrSlow):
			return nil, st.write("event: dropped\ndata: " + string(api.Encode(map[string]string{"reason": err.Error()})) + "\n\n")
		case st.ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return nil, nil
		}
		if err := st.write(": keepalive\n\n"); err != nil {
			return nil, err
		}
	}
}

// ended returns the result of the handler for the error that ended a stream. The answer has begun, so the error is only logged.
func (s *Server) ended(err error) error {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.Debug("a stream ended", "error", err)
	}
	return nil
}
