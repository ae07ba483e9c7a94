package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop/internal/cluster"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// joinCluster makes the server one of a cluster. The options are those of its pipelines together.
func (p *components) joinCluster(ctx context.Context, o pipeline.Options, registry *prometheus.Registry) (err error) {
	o = shareOf(o)
	p.cluster, err = cluster.New(ctx, cluster.Options{
		URL: p.config.Cluster.NATS, Replicas: p.config.Cluster.Replicas, StreamSize: int64(p.config.Cluster.StreamSize),
		Address: p.config.Addr, Works: p.config.Cluster.Works, Partitions: sqlstore.Partitions, Bytes: p.shares.Queue,
		Leases: p.store, Hub: p.hub, Mask: p.mask, Pipeline: o, Log: p.log,
		Open: func(id int, epoch int64) cluster.Records { return p.store.Partition(id, epoch) },
	})
	if err != nil {
		return err
	}
	p.recorder = p.cluster
	return nil
}

// Bounds of a partition.
const (
	leastQueue = 4096    // events in its queue
	leastRuns  = 64      // in memory
	leastBytes = 4 << 20 // of runs, traces and the queue each
)

// shareOf returns the options of one of the partitions that a server can own together.
func shareOf(o pipeline.Options) pipeline.Options {
	o.QueueEvents = max(leastQueue, o.QueueEvents/sqlstore.Partitions)
	o.QueueBytes = max(leastBytes, o.QueueBytes/sqlstore.Partitions)
	o.LiveRuns = max(leastRuns, o.LiveRuns/sqlstore.Partitions)
	o.RunBytes = max(leastBytes, o.RunBytes/sqlstore.Partitions)
	o.TraceBytes = max(leastBytes, o.TraceBytes/sqlstore.Partitions)
	return o
}

// leads reports whether this server does what one server does for the whole database.
func (p *components) leads() bool { return p.cluster == nil || p.cluster.Leads() }
