package httpd

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/unloop-ai/unloop/internal/ingest/otlp"
)

const (
	protobufType = "application/x-protobuf"
	jsonType     = "application/json"
	lineType     = "application/x-ndjson"
)

// message is an OTLP request or answer.
type message interface {
	MarshalProto() ([]byte, error)
	MarshalJSON() ([]byte, error)
}

// request is an OTLP request.
type request interface {
	UnmarshalProto(data []byte) error
	UnmarshalJSON(data []byte) error
}

func (s *Server) telemetryRoutes() {
	s.telemetryRoute("/v1/traces", "otlp-traces", "Send spans with OTLP", otlp.MeasureTraces, s.takeTraces)
	s.telemetryRoute("/v1/logs", "otlp-logs", "Send log records with OTLP", otlp.MeasureLogs, s.takeLogs)
}

// take decodes a request with decode and records it.
type take func(ctx context.Context, decode func(request) error) (message, error)

// measure estimates the size of a decoded protobuf request in bytes, or returns why it must not be decoded.
type measure func(request []byte) (size int64, err error)

func (s *Server) telemetryRoute(path, id, summary string, protobuf measure, do take) {
	op := s.operation(http.MethodPost, path, Ingest, "ingest", id, summary,
		"OTLP over HTTP, in protobuf or JSON, with or without gzip. The answer has the encoding of the request. partialSuccess has the "+
			"number of rejected items and the reason. A 200 answer means that the accepted items are on disk.")
	anything := &huma.Schema{Type: "object", Description: "A message as defined by opentelemetry-proto."}
	both := map[string]*huma.MediaType{jsonType: {Schema: anything}, protobufType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}}
	op.RequestBody = &huma.RequestBody{Required: true, Content: both}
	op.Responses["200"] = &huma.Response{Description: "Accepted, except for the items that partialSuccess counts.", Content: both}
	op.Responses["default"] = &huma.Response{Description: "A google.rpc.Status with code and message.", Content: both}
	s.api.OpenAPI().AddOperation(&op)
	s.mux.HandleFunc(http.MethodPost+" "+path, func(w http.ResponseWriter, r *http.Request) {
		kind := mediaType(r)
		if kind != protobufType && kind != jsonType {
			problem(http.StatusUnsupportedMediaType, "Content-Type", "want "+protobufType+" or "+jsonType).write(w)
			return
		}
		answer, err := s.telemetry(w, r, kind, protobuf, do)
		if err != nil {
			writeStatus(w, kind, s.problemOf(err))
			return
		}
		data, err := marshal(answer, kind)
		if err != nil {
			writeStatus(w, kind, s.problemOf(err))
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // an error means that the client has disconnected
	})
}

func (s *Server) telemetry(w http.ResponseWriter, r *http.Request, kind string, protobuf measure, do take) (message, error) {
	b, err := s.read(w, r)
	if err != nil {
		return nil, err
	}
	defer b.release()
	return do(r.Context(), func(to request) (err error) {
		defer func() {
			if recover() != nil { // the decoder of another project may panic at hostile input
				err = problem(http.StatusBadRequest, "body", "cannot be decoded")
			}
		}()
		var size int64
		unmarshal := to.UnmarshalProto
		if kind == jsonType {
			unmarshal = to.UnmarshalJSON
			size, err = sizeOfJSON(b.bytes, s.Limits.Levels)
		} else if size, err = protobuf(b.bytes); err != nil {
			err = problem(http.StatusBadRequest, "body", err.Error())
		}
		if err != nil {
			return err
		}
		if err := b.decoding(size); err != nil {
			return err
		}
		if err := unmarshal(b.bytes); err != nil {
			return problem(http.StatusBadRequest, "body", whyUndecoded(b.bytes, kind))
		}
		return nil
	})
}

// whyUndecoded returns why a body cannot be decoded. The decoder's own error describes its internals and quotes the request.
func whyUndecoded(body []byte, kind string) string {
	switch {
	case kind == protobufType:
		return "not an OTLP request in protobuf"
	case !json.Valid(body):
		return "not valid JSON"
	}
	return "not an OTLP request: a field has an invalid value; ids are hexadecimal strings, times and integers are decimal, values are objects such as {\"stringValue\": …}"
}

func (s *Server) takeTraces(ctx context.Context, decode func(request) error) (message, error) {
	sent := ptraceotlp.NewExportRequest()
	if err := decode(sent); err != nil {
		return nil, err
	}
	rejected, reason, err := s.Telemetry.Traces(ctx, sent.Traces())
	if err != nil {
		return nil, err
	}
	answer := ptraceotlp.NewExportResponse()
	if rejected > 0 {
		answer.PartialSuccess().SetRejectedSpans(int64(rejected))
		answer.PartialSuccess().SetErrorMessage(reason)
	}
	return answer, nil
}

func (s *Server) takeLogs(ctx context.Context, decode func(request) error) (message, error) {
	sent := plogotlp.NewExportRequest()
	if err := decode(sent); err != nil {
		return nil, err
	}
	rejected, reason, err := s.Telemetry.Logs(ctx, sent.Logs())
	if err != nil {
		return nil, err
	}
	answer := plogotlp.NewExportResponse()
	if rejected > 0 {
		answer.PartialSuccess().SetRejectedLogRecords(int64(rejected))
		answer.PartialSuccess().SetErrorMessage(reason)
	}
	return answer, nil
}

func marshal(m message, kind string) ([]byte, error) {
	if kind == jsonType {
		return m.MarshalJSON()
	}
	return m.MarshalProto()
}

// The codes of google.rpc.Status in answers.
const (
	rpcInvalid     = 3
	rpcExhausted   = 8
	rpcInternal    = 13
	rpcUnavailable = 14
)

// writeStatus answers with a google.rpc.Status, as OTLP requires for errors.
func writeStatus(w http.ResponseWriter, kind string, p *Problem) {
	code := rpcInvalid
	switch p.Status {
	case http.StatusTooManyRequests:
		code = rpcExhausted
	case http.StatusServiceUnavailable:
		code = rpcUnavailable
	case http.StatusInternalServerError:
		code = rpcInternal
	}
	if p.retry {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(p.Status)
	var data []byte
	if kind == jsonType {
		data, _ = json.Marshal(struct { // a number and a string
			Code    int    `json:"code"`
			Message string `json:"message"`
		}{code, p.Detail})
	} else {
		data = appendStatus(nil, code, p.Detail)
	}
	_, _ = w.Write(data) // an error means that the client has disconnected
}

// appendStatus appends a google.rpc.Status in protobuf: field 1 is the code, field 2 the message.
func appendStatus(to []byte, code int, message string) []byte {
	to = protowire.AppendVarint(protowire.AppendTag(to, 1, protowire.VarintType), uint64(code))
	return protowire.AppendString(protowire.AppendTag(to, 2, protowire.BytesType), message)
}
