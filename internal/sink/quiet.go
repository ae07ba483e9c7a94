package sink

import "time"

// QuietHours are a part of each day in which a target gets no notices. They wait until it is over.
type QuietHours struct {
	From, Until time.Duration // since midnight; an Until before From is that of the next day
	Zone        *time.Location
}

// left returns how long the quiet hours last from now on. It is 0 outside of them.
func (q *QuietHours) left(now time.Time) time.Duration {
	if q == nil {
		return 0
	}
	now = now.In(q.Zone)
	hour, minute, second := now.Clock()
	clock := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	quiet := q.From <= clock && clock < q.Until
	if q.Until < q.From {
		quiet = clock >= q.From || clock < q.Until
	}
	if !quiet {
		return 0
	}
	year, month, day := now.Date()
	if clock >= q.Until {
		day++
	}
	// The time of day, and not a number of hours from now, so that the night in which clocks are changed ends at the same time.
	end := time.Date(year, month, day, 0, int(q.Until/time.Minute), 0, 0, q.Zone)
	return max(end.Sub(now), time.Second)
}
