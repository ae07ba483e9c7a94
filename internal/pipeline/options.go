package pipeline

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// Options are the options of a pipeline. Zero values mean the defaults.
type Options struct {
	Profile *profile.Profile // required
	Store   Store            // required
	Sinks   []Sink
	Metrics *Metrics     // required
	Log     *slog.Logger // for failures; nil means no log

	// Mask hides secrets in each submission before anything else reads it. Prepare then completes an event, for example with its
	// cost. Both are called concurrently. Nil means no change.
	Mask    Mask
	Prepare func(*unloop.Event)

	// Notices returns the notices to people that an update makes due. They are written in the transaction of the update's records, which
	// may be repeated. It is called concurrently and must not block. Nil means none.
	Notices func(u *store.Update) []store.Notice

	// Ask receives the questions for second opinions of recorded runs. It must not block. The answers are submitted as events.
	// Nil means no second opinions.
	Ask func(run string, q policy.Question)

	// Partition is the part of a cluster's runs that the pipeline has; nil means all runs.
	Partition *Partition

	Shards      int           // goroutines that fold runs at the same time; default: the number of processors
	Content     Content       // the stored part of inputs, outputs, errors and messages; default: all
	Project     string        // the project of runs without one; default: "default"
	QueueEvents int           // maximum number of events in the queue; default: 50,000
	QueueBytes  int64         // maximum bytes in the queue; default: 128 MiB
	LiveRuns    int           // maximum number of runs in memory; default: 65,536; RunBytes is usually used up first
	RunBytes    int64         // maximum bytes of runs in memory; default: 1 GiB
	IdleMemory  time.Duration // time after which an idle run is evicted; default: 5 minutes
	IdleClose   time.Duration // time after which an idle run is closed; default: 30 minutes
	TraceBytes  int           // maximum bytes of traces in memory; default: 256 MiB
}

func (o *Options) fill() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Project == "" {
		o.Project = "default"
	}
	if o.Shards == 0 {
		o.Shards = runtime.GOMAXPROCS(0)
	}
	if o.QueueEvents == 0 {
		o.QueueEvents = 50_000
	}
	if o.QueueBytes == 0 {
		o.QueueBytes = 128 << 20
	}
	if o.LiveRuns == 0 {
		o.LiveRuns = 1 << 16
	}
	if o.RunBytes == 0 {
		o.RunBytes = 1 << 30
	}
	if o.IdleMemory == 0 {
		o.IdleMemory = 5 * time.Minute
	}
	if o.IdleClose == 0 {
		o.IdleClose = 30 * time.Minute
	}
	if o.TraceBytes == 0 {
		o.TraceBytes = 256 << 20
	}
}
