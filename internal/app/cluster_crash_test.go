package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// clusterRounds is how many faults a cluster has to stand.
const clusterRounds = 30

// TestAClusterLosesNothingThatItAcknowledged kills servers, NATS servers and connections of PostgreSQL under load, and stops servers until
// their lease has ended. A round ends when events are acknowledged again. At the end the test compares what was acknowledged with what is
// recorded, and what was found with what a scan finds in the same events and spans.
func TestAClusterLosesNothingThatItAcknowledged(t *testing.T) {
	hooks := newHookLog(t)
	c := startCluster(t, 3, 3, hooks.URL+"/a,"+hooks.URL+"/b")
	load := &clusterLoad{cluster: c, acked: make(map[string]bool), spans: &spanSender{random: rand.New(rand.NewPCG(3, 3))}}
	load.begin(crashSenders)
	reading, stop := context.WithCancel(t.Context())
	one := &streamReader{path: "/api/runs/s0-1/stream", random: rand.New(rand.NewPCG(1, 1))}
	all := &streamReader{path: "/api/stream", random: rand.New(rand.NewPCG(2, 2)), counts: make(map[string]int)}
	var readers sync.WaitGroup
	for _, r := range []*streamReader{one, all} {
		readers.Go(func() { r.read(reading, c) })
	}
	c.takeOver(c.servers[0])
	random := rand.New(rand.NewPCG(clusterRounds, 7))
	faults := []func(*rand.Rand){c.killServer, c.disconnectDatabase, c.stopServer, c.killLeader, c.continueServer}
	for k := range clusterRounds {
		faults[k%len(faults)](random)
		before := load.count()
		eventually(t, time.Minute, "nothing is acknowledged any more", func() bool { return load.count() > before+20 })
	}
	load.end()
	c.drained(t)
	c.streamed(load, one, all)
	c.told()
	stop()
	readers.Wait()
	for k := range crashSenders {
		for run := range 2 {
			compareToScan(t, c.servers[k%len(c.servers)].url, fmt.Sprint("s", k, "-", run))
		}
	}
	load.spans.compareToScans(t, c.servers[0].url)
	c.end()
	compareToAcknowledged(t, c.db, load.acked)
	load.spans.check(t, c.db)
	one.checkRun(t, load.acked, "s0-1")
	hooks.compareToStore(t, c.db)
	hooks.comeAgain(t, 2*(1+2*clusterRounds/len(faults))) // by each endpoint: servers that were killed, and servers that stood still
}

// told waits until all notices are sent.
func (c *testCluster) told() {
	c.t.Helper()
	eventually(c.t, time.Minute, "notices are still due", func() bool {
		var due int
		postgres.Value(c.t, c.db, `SELECT COUNT(*) FROM deliveries WHERE due IS NOT NULL`, &due)
		return due == 0
	})
}

// streamed waits until streams have told all that is recorded.
func (c *testCluster) streamed(load *clusterLoad, one, all *streamReader) {
	c.t.Helper()
	want, ofOne := make(map[string]int), 0
	for key := range load.acked {
		run, _, _ := strings.Cut(key, " ")
		if want[run]++; run == "s0-1" {
			ofOne++
		}
	}
	eventually(c.t, time.Minute, "the stream of a run lacks events", func() bool { return one.has(ofOne) })
	diff := ""
	defer func() {
		if diff != "" {
			c.t.Logf("numbers of events (-acknowledged +told):\n%s", diff)
		}
	}()
	eventually(c.t, time.Minute, "the stream of all runs told other numbers of events", func() bool {
		diff = all.sameCounts(want)
		return diff == ""
	})
}

// takeOver kills a server, says how long it takes until others own its partitions, and starts it again.
func (c *testCluster) takeOver(s *process) {
	c.t.Helper()
	eventually(c.t, time.Minute, "a server owns no partition", func() bool { return c.owned(s) > 0 })
	began := time.Now()
	s.kill()
	eventually(c.t, 30*time.Second, "no other server takes the partitions of one that was killed", func() bool { return c.owned(s) == 0 })
	c.t.Logf("%v after a server was killed, others own its partitions", time.Since(began).Round(10*time.Millisecond))
	c.restart(s)
}

// killServer kills one of the servers and starts it again.
func (c *testCluster) killServer(random *rand.Rand) {
	s := c.servers[random.IntN(len(c.servers))]
	s.kill()
	c.restart(s)
}

// endServer asks one of the servers to end, which hands its partitions over, and starts it again.
func (c *testCluster) endServer(random *rand.Rand) {
	s := c.servers[random.IntN(len(c.servers))]
	s.send(syscall.SIGTERM)
	s.wait()
	c.restart(s)
}

// restart starts a server again.
func (c *testCluster) restart(s *process) {
	url, kill, send, wait := s.start()
	c.mu.Lock()
	defer c.mu.Unlock()
	s.url, s.kill, s.send, s.wait = url, kill, send, wait
}

// stopServer stops one of the servers that own partitions. While it stands still, the leader of the stream is killed.
func (c *testCluster) stopServer(random *rand.Rand) {
	c.stopped = c.servers[random.IntN(len(c.servers))]
	eventually(c.t, time.Minute, "a server owns no partition", func() bool { return c.owned(c.stopped) > 0 })
	c.stopped.send(syscall.SIGSTOP)
}

// continueServer waits until the lease of the stopped server has ended and others own its partitions, and lets it go on. Then it asks
// one of the servers to end.
func (c *testCluster) continueServer(random *rand.Rand) {
	eventually(c.t, time.Minute, "no other server takes the partitions of one that stands still", func() bool { return c.owned(c.stopped) == 0 })
	c.stopped.send(syscall.SIGCONT)
	c.endServer(random)
}

// owned returns the number of partitions that a server owns.
func (c *testCluster) owned(s *process) (n int) {
	postgres.Value(c.t, c.db, `SELECT COUNT(*) FROM partitions JOIN servers ON owner = name WHERE 'http://' || address = '`+s.url+`'`, &n)
	return n
}

// killLeader kills the NATS server that leads the stream, and starts it again.
func (c *testCluster) killLeader(*rand.Rand) {
	n := c.nats[c.leader()]
	n.kill()
	n.restart()
}

// disconnectDatabase ends all connections of the servers to the database.
func (c *testCluster) disconnectDatabase(*rand.Rand) {
	var ended int
	postgres.Value(c.t, c.db, `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name = '`+clusterName+`' AND pid <> pg_backend_pid()`, &ended)
	if ended == 0 {
		c.t.Error("the servers have no connections to the database")
	}
}

// clusterLoad sends from several connections to any server of a cluster, and keeps what was acknowledged.
type clusterLoad struct {
	cluster *testCluster
	stopped chan struct{}
	all     sync.WaitGroup
	mu      sync.Mutex
	acked   map[string]bool
	spans   *spanSender
}

func (l *clusterLoad) begin(senders int) {
	l.stopped = make(chan struct{})
	if l.spans != nil {
		l.all.Go(func() { l.sendSpans(l.spans) })
	}
	for k := range senders {
		s := &crashSender{name: fmt.Sprint("s", k), timeout: time.Second, random: rand.New(rand.NewPCG(uint64(k), 1))}
		l.all.Go(func() { l.send(s) })
	}
}

func (l *clusterLoad) send(s *crashSender) {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		if s.pending == nil {
			s.pending = s.next(1 + s.random.IntN(10))
		}
		if s.send(l.cluster.anyURL(s.random)) {
			l.mu.Lock()
			for _, e := range s.pending {
				l.acked[e.RunID+" "+e.ID] = true
			}
			l.mu.Unlock()
			s.pending = nil
			select {
			case <-l.stopped: // with nothing that is half sent
				return
			default:
			}
		}
		<-pause.C
	}
}

func (l *clusterLoad) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

func (l *clusterLoad) end() {
	close(l.stopped)
	l.all.Wait()
}

// anyURL returns the address of one of the servers.
func (c *testCluster) anyURL(random *rand.Rand) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[random.IntN(len(c.servers))].url
}

// drained waits until every message of the stream is recorded.
func (c *testCluster) drained(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, "messages of the stream are not recorded", func() bool {
		var recorded []int64 // first: a message for another partition is there before the one that causes it is recorded
		postgres.Value(t, c.db, `SELECT array_agg(sequence ORDER BY id) FROM partitions`, &recorded)
		for id, sequence := range recorded {
			if c.lastMessage(t, id) > uint64(sequence) {
				return false
			}
		}
		return true
	})
}

// end asks the servers to end, and waits until they have. A server that does not end prints its goroutines.
func (c *testCluster) end() {
	for _, s := range c.servers {
		s.send(syscall.SIGTERM)
	}
	for k, s := range c.servers {
		late := time.AfterFunc(2*time.Minute, func() {
			c.t.Errorf("server %d does not end", k)
			s.send(syscall.SIGQUIT)
		})
		s.wait()
		late.Stop()
	}
}
