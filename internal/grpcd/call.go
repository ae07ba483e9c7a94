package grpcd

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"

	"github.com/unloop-ai/unloop/internal/ingest/otlp"
)

// register serves the only method of a service. It is declared as a stream, which a client cannot distinguish from a unary call.
// The handler then gets the metadata first and reads the message only if the caller is authorized.
func (s *Server) register(service string, export func(ctx context.Context, message []byte) (answer []byte, err error)) {
	s.grpc.RegisterService(&grpc.ServiceDesc{
		ServiceName: service,
		Streams: []grpc.StreamDesc{{StreamName: "Export", Handler: func(_ any, stream grpc.ServerStream) error {
			s.counts.calls.Add(1)
			err := s.call(stream, export)
			if err == nil {
				return nil
			}
			s.counts.refused.Add(1)
			return s.refuse(err)
		}}},
	}, nil)
}

// call answers one call.
func (s *Server) call(stream grpc.ServerStream, export func(context.Context, []byte) ([]byte, error)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			// The value may quote the request, so it is not logged.
			s.counts.panics.Add(1)
			s.log.Error("a gRPC call panicked", "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	ctx := stream.Context()
	if !s.authorized(ctx) {
		return errToken
	}
	if s.tokens {
		prove(ctx)
	}
	defer s.calls.Add(-1)
	if s.calls.Add(1) > int64(s.options.Calls) {
		s.sent.ExpireSlow(int64(s.options.Message)) // the place of a slow sender is free when the client retries
		return errCrowded
	}
	arrival := s.sent.Arrive(func() { cancel(ctx) })
	defer arrival.Release()
	// The length of a message is known only when it has arrived completely.
	if err := arrival.Grow(ctx, int64(s.options.Message)); err != nil {
		return err
	}
	var message mem.Buffer
	if err := stream.RecvMsg(&message); err != nil {
		if arrival.Expired() {
			return errSlow
		}
		return received{err}
	}
	defer message.Free()
	prove(ctx)
	arrival.Arrived(int64(message.Len()))
	answer, err := export(ctx, message.ReadOnlyData())
	if err != nil {
		return err
	}
	if err := stream.SendMsg(answer); err != nil {
		return received{err}
	}
	return nil
}

// authorized reports whether the caller may send.
func (s *Server) authorized(ctx context.Context) bool {
	if s.options.Authorize == nil {
		return true
	}
	token := ""
	if tokens := metadata.ValueFromIncomingContext(ctx, "authorization"); len(tokens) == 1 {
		scheme, rest, _ := strings.Cut(tokens[0], " ")
		if strings.EqualFold(scheme, "bearer") {
			token = strings.TrimSpace(rest)
		}
	}
	return s.options.Authorize(token)
}

// reserve takes the memory for the decoded message, until free is called.
func (s *Server) reserve(message []byte, measure func([]byte) (int64, error)) (free func(), err error) {
	size, err := measure(message)
	if err != nil {
		return nil, err
	}
	if size > s.options.Memory/2 { // the maximum of all calls
		return nil, errLarge
	}
	if s.memory.Add(size) > s.options.Memory/2 {
		s.memory.Add(-size)
		return nil, errCrowded
	}
	return func() { s.memory.Add(-size) }, nil
}

func (s *Server) traces(ctx context.Context, message []byte) ([]byte, error) {
	request, answer := ptraceotlp.NewExportRequest(), ptraceotlp.NewExportResponse()
	return s.export(message, &exchange{
		measure: otlp.MeasureTraces, request: request, answer: answer,
		record: func() (int, string, error) { return s.receiver.Traces(ctx, request.Traces()) },
		reject: func(spans int64, reason string) {
			answer.PartialSuccess().SetRejectedSpans(spans)
			answer.PartialSuccess().SetErrorMessage(reason)
		},
	})
}

func (s *Server) logs(ctx context.Context, message []byte) ([]byte, error) {
	request, answer := plogotlp.NewExportRequest(), plogotlp.NewExportResponse()
	return s.export(message, &exchange{
		measure: otlp.MeasureLogs, request: request, answer: answer,
		record: func() (int, string, error) { return s.receiver.Logs(ctx, request.Logs()) },
		reject: func(records int64, reason string) {
			answer.PartialSuccess().SetRejectedLogRecords(records)
			answer.PartialSuccess().SetErrorMessage(reason)
		},
	})
}

// exchange is a request and its answer.
type exchange struct {
	measure func([]byte) (int64, error)
	request interface{ UnmarshalProto(message []byte) error }
	record  func() (rejected int, reason string, err error)
	reject  func(rejected int64, reason string)
	answer  interface{ MarshalProto() ([]byte, error) }
}

// export decodes a message, records it and returns the encoded answer.
func (s *Server) export(message []byte, x *exchange) ([]byte, error) {
	free, err := s.reserve(message, x.measure)
	if err != nil {
		return nil, err
	}
	defer free()
	if err := x.request.UnmarshalProto(message); err != nil {
		return nil, errors.Join(otlp.ErrMalformed, err)
	}
	rejected, reason, err := x.record()
	if err != nil {
		return nil, err
	}
	if rejected > 0 || reason != "" {
		x.reject(int64(rejected), reason)
	}
	return x.answer.MarshalProto()
}
