package grpcd

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// rawClient sends bytes as they are, and reads no answer.
type rawClient struct{}

func (rawClient) Name() string { return "proto" }

func (rawClient) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("not bytes but %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (rawClient) Unmarshal(mem.BufferSlice, any) error { return nil }

func TestHostileMessagesAreRejected(t *testing.T) {
	o := options()
	o.Message, o.Memory = 1<<20, 4<<20
	to := &recorder{}
	r := start(t, to, o)
	for _, c := range []struct {
		what    string
		message []byte
		options []grpc.CallOption
		want    codes.Code
	}{
		{"none", nil, nil, codes.OK},
		{"noise", []byte("GET / HTTP/1.1"), nil, codes.InvalidArgument},
		{"a name that is no text", inSpan(5, []byte{0xff, 0xfe}), nil, codes.OK},
		{"an id that is too short", inSpan(1, []byte{1}), nil, codes.InvalidArgument},
		{"deep", inSpan(9, within(2, nested(1000))), nil, codes.InvalidArgument},
		{"too long", make([]byte, 1<<20+1), nil, codes.ResourceExhausted},
		{"long once it is unpacked", make([]byte, 8<<20), []grpc.CallOption{grpc.UseCompressor(gzip.Name)}, codes.ResourceExhausted},
		{"large once it is decoded", within(1, within(2, bytes.Repeat(within(2, nil), 10_000))), nil, codes.ResourceExhausted},
		{"a good one, packed", inSpan(5, []byte("good")), []grpc.CallOption{grpc.UseCompressor(gzip.Name)}, codes.OK},
	} {
		err := r.sendRaw(t.Context(), c.message, c.options...)
		if status.Code(err) != c.want {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
		if again := retryDelay(status.Convert(err)); again != 0 {
			t.Errorf("%s: is to be sent again after %s", c.what, again)
		}
	}
	if diff := cmp.Diff([]string{"\xff\xfe", "good"}, to.spans); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if held := r.memory.Load(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}

// occupied is a server that has one call at hand, which waits for release.
func occupied(t *testing.T, o Options) (r *rig, to *recorder, done chan error) {
	t.Helper()
	to = &recorder{enter: make(chan struct{}, 10), hold: make(chan struct{})}
	r = start(t, to, o)
	done = make(chan error, 1)
	go func() {
		_, err := r.send(context.WithoutCancel(t.Context()), "first")
		done <- err
	}()
	<-to.enter
	return r, to, done
}

func TestACallOverTheLimitIsRetryable(t *testing.T) {
	o := options()
	o.Calls = 1
	r, to, done := occupied(t, o)
	r.conn = dial(t, r.addr) // another connection, for one has its own limit of streams
	_, err := r.send(t.Context(), "second")
	if told := status.Convert(err); told.Code() != codes.ResourceExhausted || retryDelay(told) != time.Second {
		t.Errorf("answered %v", err)
	}
	close(to.hold)
	if err := <-done; err != nil {
		t.Errorf("the first call: %v", err)
	}
	if _, err := r.send(t.Context(), "third"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestMemoryIsSharedByCalls(t *testing.T) {
	o := options()
	o.Message, o.Memory = 1<<10, 2<<10
	r, to, done := occupied(t, o)
	if held := r.memory.Load(); held == 0 {
		t.Error("the first call has no memory")
	}
	r.memory.Add(1 << 10)
	_, err := r.send(t.Context(), "second")
	if told := status.Convert(err); told.Code() != codes.ResourceExhausted || retryDelay(told) != time.Second {
		t.Errorf("answered %v", err)
	}
	r.memory.Add(-1 << 10)
	close(to.hold)
	if err := <-done; err != nil {
		t.Errorf("the first call: %v", err)
	}
	if held := r.memory.Load(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}

func TestAMessageThatDoesNotArriveTimesOut(t *testing.T) {
	o := options()
	o.Timeout = time.Second
	r := start(t, &recorder{}, o)
	stream, err := r.conn.NewStream(t.Context(), &grpc.StreamDesc{StreamName: "Export", ClientStreams: true},
		"/opentelemetry.proto.collector.trace.v1.TraceService/Export")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(nil); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("answered %v", err)
	}
}

func TestCallsWhoseMessagesDoNotArriveMakeRoomForOthers(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"when the memory is taken":       func(o *Options) { o.Message, o.Memory = 1<<10, 4<<10 },
		"when as many calls as may open": func(o *Options) { o.Calls = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Timeout, o.Silence = time.Hour, time.Hour
			change(&o)
			r := start(t, &recorder{}, o)
			for range 2 {
				if _, err := dial(t, r.addr).NewStream(t.Context(), &grpc.StreamDesc{StreamName: "Export", ClientStreams: true},
					"/opentelemetry.proto.collector.trace.v1.TraceService/Export"); err != nil {
					t.Fatal(err)
				}
			}
			for r.counts.calls.Load() < 2 {
				runtime.Gosched()
			}
			patient, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, err := r.send(patient, "other")
			for retryDelay(status.Convert(err)) > 0 {
				_, err = r.send(patient, "other")
			}
			if err != nil {
				t.Errorf("another call: %v", err)
			}
		})
	}
}

func TestOneConnectionHasAQuarterOfTheCalls(t *testing.T) {
	o := options()
	o.Calls = 4
	r, to, done := occupied(t, o)
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := r.send(brief, "second"); status.Code(err) != codes.DeadlineExceeded || r.counts.calls.Load() != 1 {
		t.Errorf("%d calls, the second call: %v", r.counts.calls.Load(), err)
	}
	close(to.hold)
	if err := <-done; err != nil {
		t.Errorf("the first call: %v", err)
	}
}

func TestShutdownWaitsForCalls(t *testing.T) {
	r, to, done := occupied(t, options())
	down := make(chan error, 1)
	go func() { down <- r.Shutdown(context.Background()) }()
	for c, err := net.Dial("tcp", r.addr); err == nil; c, err = net.Dial("tcp", r.addr) {
		c.Close() // until nobody listens any more: then it has begun
	}
	select {
	case err := <-down:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	close(to.hold)
	if err := <-done; err != nil {
		t.Errorf("the call: %v", err)
	}
	if err := <-down; err != nil {
		t.Errorf("the shutdown: %v", err)
	}
}

func TestShutdownCancelsCallsAfterItsTimeout(t *testing.T) {
	r, to, done := occupied(t, options())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the shutdown: %v", err)
	}
	if err := <-done; status.Code(err) != codes.Unavailable {
		t.Errorf("the call: %v", err)
	}
	if to.spans != nil {
		t.Errorf("received %v", to.spans)
	}
}

// within puts content into a field of length-delimited content.
func within(field uint64, content []byte) []byte {
	b := binary.AppendUvarint(nil, field<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

// inSpan puts content into a field of a span of a request.
func inSpan(field uint64, content []byte) []byte {
	return within(1, within(2, within(2, within(field, content))))
}

// nested is a value of so many arrays in one another.
func nested(depth int) []byte {
	var value []byte
	for range depth {
		value = within(5, within(1, value))
	}
	return value
}
