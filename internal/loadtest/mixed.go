package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	idleConnections = 1000
	slowSenders     = 16
	hugeSenders     = 4
)

// idle keeps many connections open without sending anything on them, while another client sends events.
func idle(ctx context.Context, s *server, set settings) (string, error) {
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close() // nothing was sent
		}
	}()
	address := strings.TrimPrefix(s.url, "http://")
	for range idleConnections {
		c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return "", err
		}
		open = append(open, c)
	}
	timed, cancel := context.WithTimeout(ctx, set.time)
	defer cancel()
	summary, err := ordinary(timed, s)
	return peak(s, fmt.Sprintf("with %d idle connections, %s", idleConnections, summary), err)
}

// mixed measures ordinary senders beside slow senders, huge requests, malformed requests, and events in reverse order.
func mixed(ctx context.Context, s *server, set settings) (string, error) {
	timed, cancel := context.WithTimeout(ctx, set.time)
	defer cancel()
	var others sync.WaitGroup
	for range slowSenders {
		others.Go(func() { again(timed, func() { sendSlowly(timed, s) }) })
	}
	body := []byte(`{"run_id":"huge","type":"tool_call_started","tool":"write","input":"` + strings.Repeat("x", heavyBody-200) + `"}`)
	for range hugeSenders {
		others.Go(func() {
			again(timed, func() { _, _, _ = sendOnce(timed, http.DefaultClient, s.url+"/api/events", "application/json", body) }) // it may be rejected
		})
	}
	others.Go(func() { again(timed, func() { sendBroken(timed, s) }) })
	number := 1 << 40
	others.Go(func() {
		again(timed, func() {
			number--
			event := fmt.Sprintf(`{"event_id":"l%d","run_id":"late","sequence":%d,"type":"tool_call_started","tool":"grep","input":{"n":%d}}`, number, number, number)
			_, _, _ = sendOnce(timed, http.DefaultClient, s.url+"/api/events", "application/json", []byte(event)) // it may be rejected
		})
	})
	summary, err := ordinary(timed, s)
	cancel()
	others.Wait()
	return peak(s, fmt.Sprintf("among %d slow, %d huge, malformed and late senders, %s", slowSenders, hugeSenders, summary), err)
}

// again repeats a function until ctx ends, with a pause after each call.
func again(ctx context.Context, do func()) {
	for ctx.Err() == nil {
		do()
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// sendSlowly announces a huge body and sends it byte by byte.
func sendSlowly(ctx context.Context, s *server) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_, err = fmt.Fprintf(c, "POST /api/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n[", heavyBody)
	for err == nil {
		time.Sleep(100 * time.Millisecond)
		_, err = c.Write([]byte(" "))
	}
}

// sendBroken sends malformed events.
func sendBroken(ctx context.Context, s *server) {
	bodies := []string{
		strings.Repeat("[", 100_000), `{"run_id":"r","type":`, strings.Repeat(`{"run_id":"r"}`+"\n", 5000), `{"input":` + strings.Repeat(`{"a":`, 50_000), "\x00\xff",
	}
	body := bodies[rand.IntN(len(bodies))]
	for _, to := range []struct{ path, kind string }{{"/api/events", "application/json"}, {"/v1/traces", "application/x-protobuf"}, {"/v1/logs", "application/json"}} {
		_, _, _ = sendOnce(ctx, http.DefaultClient, s.url+to.path, to.kind, []byte(body)) // it is rejected
	}
}

// ordinary sends 100 events in each request over four connections until ctx ends, and returns the response times as a text.
func ordinary(ctx context.Context, s *server) (string, error) {
	const senders, size = 4, 100
	c := client(senders)
	var mu sync.Mutex
	var took []time.Duration
	failed := make(chan error, senders)
	for k := range senders {
		go func() {
			f := newFeed(fmt.Sprintf("ordinary%d", k), 25)
			for ctx.Err() == nil {
				body := f.fill(nil, size)
				begun := time.Now()
				if err := post(context.WithoutCancel(ctx), c, s.url, body); err != nil {
					failed <- err
					return
				}
				mu.Lock()
				took = append(took, time.Since(begun))
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
			}
			failed <- nil
		}()
	}
	var errs []error
	for range senders {
		errs = append(errs, <-failed)
	}
	if err := errors.Join(errs...); err != nil || len(took) == 0 {
		return "", errors.Join(err, errors.New("the ordinary senders did not get through"))
	}
	slices.Sort(took)
	part := func(p float64) time.Duration {
		return took[int(p*float64(len(took)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d ordinary requests of %d events took p50 %v, p99 %v, most %v", len(took), size, part(0.5), part(0.99), part(1)), nil
}
