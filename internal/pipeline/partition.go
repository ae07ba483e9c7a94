package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Partition is a part of the runs of a cluster. Each partition has a pipeline of its own, in the server that owns it. The rows of its
// runs are written with each commit, because any server may read them, and streams go on from their arrival.
type Partition struct {
	ID, Of int64
	Now    func() time.Time      // the same clock for all servers
	Has    func(run string) bool // tells whether the partition has the run

	// Forward brings changes to the partitions of their runs, and returns when they are on disk there. They come from the spans of a
	// submission.
	Forward func(ctx context.Context, from *Submission, changes []Change) error
}

// Arrival returns an arrival after the last one: that of the time, if it is later. Modulo Of it is the partition.
func (p *Partition) Arrival(last int64) int64 {
	return max(last+p.Of, store.ArrivalAt(p.Now(), p.Of)+p.ID)
}

// newArrival returns the number of the next event.
func (p *Pipeline) newArrival() int64 {
	p.arrival++
	if own := p.opts.Partition; own != nil {
		p.arrival = own.Arrival(p.arrival - 1)
	}
	return p.arrival
}
