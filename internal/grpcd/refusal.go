package grpcd

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/unloop-ai/unloop/internal/ingest/otlp"
	"github.com/unloop-ai/unloop/internal/memory"
)

// The errors of calls besides those of the receiver.
var (
	errToken   = errors.New("missing or unknown token: want the metadata authorization with Bearer TOKEN of the scope ingest")
	errCrowded = errors.New("too many calls are in progress")
	errSlow    = errors.New("the message arrived slowly while other calls waited for memory")
	errLarge   = errors.New("the message takes too much memory; send smaller batches")
	errPanic   = errors.New("internal error; a retry would fail, too")
)

// received is an error of the transport, which already has a code.
type received struct{ error }

// refusal is the answer to an error.
type refusal struct {
	err   error
	code  codes.Code
	again time.Duration // the delay after which the client should retry; 0 means unspecified
}

// refusals maps errors to codes. An exporter retries RESOURCE_EXHAUSTED if the answer has a delay, and UNAVAILABLE, CANCELLED and
// DEADLINE_EXCEEDED. It drops the data for all other codes.
func refusals(o *Options) []refusal {
	return []refusal{
		{errToken, codes.Unauthenticated, 0},
		{otlp.ErrMalformed, codes.InvalidArgument, 0},
		{otlp.ErrDeep, codes.InvalidArgument, 0},
		{errLarge, codes.ResourceExhausted, 0},
		{errCrowded, codes.ResourceExhausted, time.Second},
		{errSlow, codes.ResourceExhausted, time.Second},
		{memory.ErrBusy, codes.ResourceExhausted, time.Second},
		{o.Busy, codes.ResourceExhausted, time.Second},
		{o.Closed, codes.Unavailable, 0},
		{context.Canceled, codes.Canceled, 0},
		{context.DeadlineExceeded, codes.DeadlineExceeded, 0},
		{errPanic, codes.Internal, 0},
	}
}

// refuse returns the status of an error. An error that is not in the table usually comes from the store. It is logged and not
// sent to the client, which may retry.
func (s *Server) refuse(err error) error {
	if transport, ok := errors.AsType[received](err); ok {
		return transport.error
	}
	for _, r := range s.refusals {
		if !errors.Is(err, r.err) {
			continue
		}
		answer := status.New(r.code, r.err.Error())
		if r.again == 0 {
			return answer.Err()
		}
		detailed, err := answer.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.again)})
		if err != nil {
			return answer.Err()
		}
		return detailed.Err()
	}
	s.unrecorded.Do(func() { // Stats.Refused counts them all
		s.log.Error("telemetry over gRPC was not recorded", "error", err)
	})
	return status.Error(codes.Unavailable, "recording failed")
}
