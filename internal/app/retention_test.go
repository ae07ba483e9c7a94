package app

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/config"
)

// assembled starts the parts of a server that take and record events, without those that act in the background. It returns the parts and the
// server's URL. The server ends with the test.
func assembled(t *testing.T, c *config.Config) (p *components, url string) {
	t.Helper()
	s := Serve{Config: c, Log: slog.New(slog.DiscardHandler)}
	p, err := s.assemble(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	recording := begin(func() error { return p.recorder.Run(ctx) })
	web := httptest.NewServer(p.http)
	t.Cleanup(func() {
		web.Close()
		stop()
		if err := recording.wait(); err != nil {
			t.Error(err)
		}
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, web.URL
}

func TestAClockThatIsSetForwardDeletesNoRunsForADay(t *testing.T) {
	c := config.Default()
	c.GRPCAddr, c.DB = config.Off, filepath.Join(t.TempDir(), "clock.db")
	c.Retention.Age = config.Duration(90 * 24 * time.Hour)
	p, url := assembled(t, c)
	post(t, url+"/api/events", "application/x-ndjson", loop("r", 3))

	start, elapsed, ahead := time.Now(), time.Duration(0), time.Duration(0)
	p.clock = &clock{
		now: func() time.Time { return start.Add(elapsed + ahead) }, elapsed: func() time.Duration { return elapsed }, known: reading{time: start},
	}
	for _, step := range []struct {
		name           string
		elapsed, ahead time.Duration
		kept           bool
	}{
		{"the clock is right", time.Minute, 0, true},
		{"it is set back by a year", 2 * time.Minute, -8760 * time.Hour, true},
		{"it is set right again", 3 * time.Minute, 0, true},
		{"it is set forward by ten years", 4 * time.Minute, 87600 * time.Hour, true},
		{"it is still so 23 hours later", 23 * time.Hour, 87600 * time.Hour, true},
		{"it is set right", 24 * time.Hour, 0, true},
		{"it is set forward again", 25 * time.Hour, 87600 * time.Hour, true},
		{"it is so 23 hours later", 48 * time.Hour, 87600 * time.Hour, true},
		{"it is so a day later", 49 * time.Hour, 87600 * time.Hour, false},
	} {
		elapsed, ahead = step.elapsed, step.ahead
		if err := p.retainNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		run, err := p.store.Run(t.Context(), "r")
		if err != nil || (run != nil) != step.kept {
			t.Errorf("%s: the run is there: %v, want %v (%v)", step.name, run != nil, step.kept, err)
		}
	}
}

func TestAClockIsFollowedAfterASuspension(t *testing.T) {
	start, elapsed, suspended := time.Now(), time.Duration(0), time.Duration(0)
	c := &clock{
		now: func() time.Time { return start.Add(elapsed + suspended) }, elapsed: func() time.Duration { return elapsed }, known: reading{time: start},
	}
	for range 30 {
		elapsed, suspended = elapsed+8*time.Hour, suspended+64*time.Hour
		if now, ahead := c.time(); ahead || !now.Equal(c.now()) {
			t.Fatalf("after %v without the processor: %v instead of %v", suspended, now, c.now())
		}
	}
}

func TestAClockThatWasRightInBetweenIsNotTrustedSooner(t *testing.T) {
	start, elapsed, ahead := time.Now(), time.Duration(0), time.Duration(0)
	c := &clock{
		now: func() time.Time { return start.Add(elapsed + ahead) }, elapsed: func() time.Duration { return elapsed }, known: reading{time: start},
	}
	for _, step := range []struct {
		elapsed, ahead time.Duration
		set            bool
	}{{time.Hour, 87600 * time.Hour, true}, {2 * time.Hour, 0, false}, {30 * time.Hour, 87600 * time.Hour, true}, {55 * time.Hour, 87600 * time.Hour, false}} {
		elapsed, ahead = step.elapsed, step.ahead
		if _, set := c.time(); set != step.set {
			t.Errorf("after %v, %v ahead: the clock was set forward: %v, want %v", elapsed, ahead, set, step.set)
		}
	}
}
