package app

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/cluster"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// TestEventsWaitInTheStreamWhilePostgreSQLIsSlow locks the table of events, so that the transactions of a server do not end. Meanwhile the
// server acknowledges several times as many events as it has room for, and reads only what it has room for. At the end it records all of them.
func TestEventsWaitInTheStreamWhilePostgreSQLIsSlow(t *testing.T) {
	const (
		requests = 200
		batch    = 4        // events of a run in a request, and so in a message
		length   = 20 << 10 // bytes of an event's text
		room     = leastBytes / (batch * length)
		ahead    = 64 // messages that the server may have read besides
	)
	c := startCluster(t, 1, 1, "http://127.0.0.1:9/")
	server := c.servers[0]
	sender := &crashSender{name: "s0", timeout: time.Minute, random: rand.New(rand.NewPCG(5, 5))}
	acked := make(map[string]bool)
	send := func() {
		sender.pending = sender.next(2 * batch)
		for _, e := range sender.pending {
			e.Text = strings.Repeat("x", length)
			acked[e.RunID+" "+e.ID] = true
		}
		if !sender.send(server.url) {
			t.Fatal("events were not acknowledged although the stream has room")
		}
	}
	send()
	c.drained(t) // so the partitions of both runs are open
	unlock := postgres.Lock(t, c.db, "events")
	for range requests {
		send()
	}
	for _, run := range []string{"s0-0", "s0-1"} {
		partition := cluster.PartitionOf(run, sqlstore.Partitions)
		eventually(t, time.Minute, "the server does not read the stream", func() bool { return c.read(t, partition) > room/2 })
		if n := c.read(t, partition); n > room+ahead {
			t.Errorf("the server has read %d of %d messages of a partition and recorded none: want at most %d", n, requests, room+ahead)
		}
	}
	unlock()
	c.drained(t)
	c.end()
	compareToAcknowledged(t, c.db, acked)
}

// read returns how many messages of a partition its owner has read since it opened the partition.
func (c *testCluster) read(t *testing.T, partition int) (messages int) {
	t.Helper()
	consumers := c.stream(t).ListConsumers(t.Context())
	for info := range consumers.Info() {
		if info.Config.FilterSubject == fmt.Sprint("unloop.in.", partition) {
			messages = max(messages, int(info.Delivered.Consumer))
		}
	}
	if err := consumers.Err(); err != nil {
		t.Fatal(err)
	}
	return messages
}
