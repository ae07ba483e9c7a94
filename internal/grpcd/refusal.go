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

// What a call is refused for, beside what its receiver says.
var (
	errToken   = errors.New("a bearer token that may send is needed in the metadata, as authorization")
	errCrowded = errors.New("too many calls are at hand")
	errLarge   = errors.New("the message takes too much memory; send smaller batches")
	errPanic   = errors.New("the call failed, and would fail again")
)

// received is an error of the transport, which has its code already.
type received struct{ error }

// refusal says how an error is answered.
type refusal struct {
	err   error
	code  codes.Code
	again time.Duration // after which the client should send once more; 0 says nothing of that
}

// refusals is the one table from errors to codes. An exporter sends again what is RESOURCE_EXHAUSTED if it is told when, and
// what is UNAVAILABLE, CANCELLED or DEADLINE_EXCEEDED; all else it drops.
func refusals(o *Options) []refusal {
	return []refusal{
		{errToken, codes.Unauthenticated, 0},
		{otlp.ErrMalformed, codes.InvalidArgument, 0},
		{otlp.ErrDeep, codes.InvalidArgument, 0},
		{errLarge, codes.ResourceExhausted, 0},
		{errCrowded, codes.ResourceExhausted, time.Second},
		{memory.ErrBusy, codes.ResourceExhausted, time.Second},
		{o.Busy, codes.ResourceExhausted, time.Second},
		{o.Closed, codes.Unavailable, 0},
		{context.Canceled, codes.Canceled, 0},
		{context.DeadlineExceeded, codes.DeadlineExceeded, 0},
		{errPanic, codes.Internal, 0},
	}
}

// refuse returns the status of an error. An error that the table does not know is that of the store, as a rule: it is logged,
// not told, and what was sent is welcome again.
func (s *Server) refuse(err error) error {
	if transport, ok := errors.AsType[received](err); ok {
		return transport.error
	}
	for _, r := range s.refusals {
		if !errors.Is(err, r.err) {
			continue
		}
		told := status.New(r.code, r.err.Error())
		if r.again == 0 {
			return told.Err()
		}
		detailed, err := told.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.again)})
		if err != nil {
			return told.Err()
		}
		return detailed.Err()
	}
	s.unrecorded.Do(func() { // Stats.Refused counts them all
		s.log.Error("what came over gRPC was not recorded", "error", err)
	})
	return status.Error(codes.Unavailable, "recording failed")
}
