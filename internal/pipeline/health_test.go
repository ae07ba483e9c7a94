package pipeline

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/unloop-ai/unloop/internal/store"
)

func TestHealthReportsAFailureForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var log bytes.Buffer
		p, stop := start(t, Options{Store: m, Log: slog.New(slog.NewTextHandler(&log, nil))})
		m.fail = errFull
		if _, err := p.Submit(t.Context(), &Submission{Events: calls("r", 1)}); !errors.Is(err, errFull) {
			t.Fatalf("error %v", err)
		}
		time.Sleep(59 * time.Second)
		if err := p.Health(); !errors.Is(err, errFull) {
			t.Errorf("after 59 seconds Health returns %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := p.Health(); err != nil {
			t.Errorf("after 61 seconds Health returns %v", err)
		}
		stop()
		if !strings.Contains(log.String(), "recording failed") {
			t.Errorf("the log is %q", log.String())
		}
	})
}

func TestAPipelineEndsAfterAnotherServerUsedItsStore(t *testing.T) {
	m := newMemory()
	p, err := New(t.Context(), Options{Profile: defaultProfile(t), Store: m, Metrics: NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(context.Background()) }()
	submit(t, p, calls("r", 1)...)
	m.mu.Lock()
	m.fail = store.ErrFenced
	m.mu.Unlock()
	if _, err := p.Submit(t.Context(), &Submission{Events: calls("r", 2)}); !errors.Is(err, ErrStore) {
		t.Errorf("the delivery has the error %v", err)
	}
	if err := <-ended; !errors.Is(err, store.ErrFenced) {
		t.Errorf("it ended with %v", err)
	}
	if _, err := p.Submit(t.Context(), &Submission{Events: calls("r", 2)}); !errors.Is(err, ErrClosed) {
		t.Errorf("the error of a later submission is %v", err)
	}
}

func TestAFullDiskIsLoggedOnceInTenSecondsAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		var log bytes.Buffer
		p, stop := start(t, Options{Store: m, Log: slog.New(slog.NewTextHandler(&log, nil))})
		m.fail = errFull
		for range 2 {
			for range 500 {
				if _, err := p.Submit(t.Context(), &Submission{Events: calls("r", 1)}); !errors.Is(err, errFull) {
					t.Fatalf("error %v", err)
				}
			}
			time.Sleep(logEvery)
		}
		if failures := testutil.ToFloat64(p.opts.Metrics.Failures); failures != 1000 {
			t.Errorf("%v failures are counted", failures)
		}
		m.fail = nil
		stop()
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "not_logged=499") {
			t.Errorf("the log has %d lines: %.1000s", lines, log.String())
		}
	})
}
