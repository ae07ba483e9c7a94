package app

import (
	"time"
)

// clock is the time for what cannot be undone. A clock of the day that is set forward must not delete runs, so its time counts only after it
// was kept for clockTrust. Its methods are for one goroutine.
type clock struct {
	now     func() time.Time     // the clock of the day
	elapsed func() time.Duration // of the running machine since the start of the server, whatever the clock of the day is set to

	known reading  // the latest one that counts
	ahead *reading // the first one of a clock of the day that was set forward; nil if it was not
}

// reading is a time of the clock of the day.
type reading struct {
	time    time.Time
	elapsed time.Duration // at the reading
}

// after returns the time at a later reading if the clock was not set.
func (r reading) after(elapsed time.Duration) time.Time { return r.time.Add(elapsed - r.elapsed) }

const (
	clockStep  = 7 * 24 * time.Hour // by which the clock of the day may be ahead without having been set: elapsed stands still in suspension
	clockTrust = 24 * time.Hour
)

func newClock() *clock {
	began := time.Now()
	return &clock{now: time.Now, elapsed: func() time.Duration { return time.Since(began) }, known: reading{time: began.Round(0)}}
}

// time returns the time, and whether the clock of the day has been set forward.
func (c *clock) time() (now time.Time, ahead bool) {
	r := reading{c.now().Round(0), c.elapsed()} // without the reading of the monotonic clock
	steady := c.known.after(r.elapsed)
	if r.time.Sub(steady) > clockStep {
		if c.ahead == nil || r.time.Sub(c.ahead.after(r.elapsed)).Abs() > clockStep {
			c.ahead = &r // the clock was set, again
		}
		if r.elapsed-c.ahead.elapsed < clockTrust {
			return steady, true
		}
	}
	c.known, c.ahead = r, nil
	return r.time, false
}
