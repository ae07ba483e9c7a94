package app

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/cluster"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// joinCluster makes the server a part of a cluster. The options are the total of its pipelines.
func (p *components) joinCluster(ctx context.Context, o pipeline.Options) (err error) {
	o = shareOf(o)
	var hub cluster.Hub
	if p.config.Cluster.Has(config.RoleAPI) {
		hub = p.hub
	}
	p.cluster, err = cluster.New(ctx, cluster.Options{
		Name: p.name, URL: p.config.Cluster.NATS, Replicas: p.config.Cluster.Replicas, StreamSize: int64(p.config.Cluster.StreamSize),
		Address: p.config.Addr, Works: p.config.Cluster.Has(config.RoleWork), Partitions: sqlstore.Partitions, Bytes: p.shares.Queue,
		Leases: p.store, Hub: hub, Mask: p.mask, Pipeline: o, Log: p.log,
		Drain: func() { _ = p.endAlerts(ctx) }, // its only errors are those of ending twice
		Open:  func(id int, epoch int64) cluster.Records { return p.store.Partition(id, epoch) },
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

// shareOf returns the options of one partition. A server may own all of them.
func shareOf(o pipeline.Options) pipeline.Options {
	o.QueueEvents = max(leastQueue, o.QueueEvents/sqlstore.Partitions)
	o.QueueBytes = max(leastBytes, o.QueueBytes/sqlstore.Partitions)
	o.LiveRuns = max(leastRuns, o.LiveRuns/sqlstore.Partitions)
	o.RunBytes = max(leastBytes, o.RunBytes/sqlstore.Partitions)
	o.TraceBytes = max(leastBytes, o.TraceBytes/sqlstore.Partitions)
	return o
}

// leads reports whether this server does the tasks that only one server of a cluster does.
func (p *components) leads() bool { return p.cluster == nil || p.cluster.Leads() }

// clusterHealth returns the state of the cluster for the health, or nil if it is not known.
func (p *components) clusterHealth() func(context.Context) *api.Cluster {
	if p.cluster == nil {
		return nil
	}
	var known *api.Cluster
	read := throttle(func(ctx context.Context) error {
		servers, partitions, err := p.store.Cluster(ctx)
		if err != nil {
			known = nil
			return err
		}
		owned := make(map[string]int)
		for _, x := range partitions {
			owned[x.Owner]++
		}
		c := &api.Cluster{Roles: strings.Split(p.config.Cluster.Roles, ","), Servers: make([]api.ClusterServer, 0, len(servers)), Unowned: len(partitions)}
		for _, s := range servers {
			c.Servers = append(c.Servers, api.ClusterServer{Address: s.Address, Works: s.Works, Partitions: owned[s.Name]})
			c.Unowned -= owned[s.Name]
		}
		for _, x := range p.cluster.Owned() {
			c.Lag += x.Lag
		}
		known = c
		return nil
	})
	var mu sync.Mutex
	return func(ctx context.Context) *api.Cluster {
		mu.Lock()
		defer mu.Unlock()
		if read(ctx) != nil {
			return nil
		}
		return known
	}
}

var (
	partitionLag   = describe("partition_lag", "Messages of a partition that are not recorded yet, of the partitions that the server owns.", "partition")
	partitionEpoch = describe("partition_epoch", "How often a partition got an owner, of the partitions that the server owns.", "partition")
	notPublished   = describe("publications_failed_total", "Messages that did not get into the stream, by reason: full or unreachable.", "reason")
)

// collectCluster collects the metrics of the cluster, if there is one.
func (s stats) collectCluster(to chan<- prometheus.Metric) {
	if s.parts.cluster == nil {
		return
	}
	for _, x := range s.parts.cluster.Owned() {
		to <- prometheus.MustNewConstMetric(partitionLag, prometheus.GaugeValue, float64(x.Lag), strconv.Itoa(x.ID))
		to <- prometheus.MustNewConstMetric(partitionEpoch, prometheus.GaugeValue, float64(x.Epoch), strconv.Itoa(x.ID))
	}
	full, unreachable := s.parts.cluster.Publications()
	to <- prometheus.MustNewConstMetric(notPublished, prometheus.CounterValue, float64(full), "full")
	to <- prometheus.MustNewConstMetric(notPublished, prometheus.CounterValue, float64(unreachable), "unreachable")
}
