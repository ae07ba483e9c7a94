package app

import (
	"sync/atomic"
	"testing"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/natstest"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// site is where clients send events and ask: one server, or the servers of a cluster. Requests go to the servers in turns.
type site struct {
	servers []string // their URLs
	turn    atomic.Int64
	cluster *testCluster // nil for one server
}

// url returns the URL of the next server.
func (s *site) url() string { return s.servers[int(s.turn.Add(1))%len(s.servers)] }

// settle waits until queries at any server see all that is acknowledged. At one server they do at once.
func (s *site) settle(t *testing.T) {
	t.Helper()
	if s.cluster != nil {
		s.cluster.drained(t)
	}
}

// siteKinds are the kinds of site that suites run against.
var siteKinds = map[string]startSite{
	"one server": func(t *testing.T, change func(*config.Config)) *site {
		return &site{servers: []string{serve(t, change)}}
	},
	"a cluster": clusterSite,
}

// startSite starts a site of some kind. Change alters the configuration of its servers, and may be nil.
type startSite func(t *testing.T, change func(*config.Config)) *site

// onEachKindOfSite runs a suite against one server, and against a cluster of two.
func onEachKindOfSite(t *testing.T, suite func(t *testing.T, start startSite)) {
	t.Helper()
	for kind, start := range siteKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			suite(t, start)
		})
	}
}

// clusterSite starts a cluster of two servers in this process, beside a NATS server.
func clusterSite(t *testing.T, change func(*config.Config)) *site {
	t.Helper()
	c := &testCluster{t: t, db: postgres.Database(t), url: natstest.Start(t, 0).ClientURL()}
	s := &site{cluster: c}
	for range 2 {
		s.servers = append(s.servers, serve(t, func(o *config.Config) {
			c.configure(o)
			if change != nil {
				change(o)
			}
		}))
	}
	return s
}

// configure makes a configuration one of the cluster.
func (c *testCluster) configure(o *config.Config) {
	o.DB, o.Cluster.NATS, o.Cluster.Replicas, o.Cluster.StreamSize = c.db, c.addresses(), 1, 64<<20
}
