package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/unloop-ai/unloop/internal/natstest"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// onePartition is a lease on one partition, which the server that asks gets.
type onePartition struct {
	Leases

	mu       sync.Mutex
	epoch    int64
	owned    bool
	renewals int
	lost     int // releases that still fail
	left     int // calls of Leave
}

func (p *onePartition) Renew(context.Context, store.Server) (owned sqlstore.Owned, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renewals++
	if !p.owned {
		p.owned = true
		p.epoch++
	}
	return sqlstore.Owned{Epochs: map[int]int64{0: p.epoch}}, nil
}

func (p *onePartition) Release(context.Context, string, []int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost > 0 {
		p.lost--
		return errors.New("the connection is lost")
	}
	p.owned = false
	return nil
}

func (p *onePartition) Leave(context.Context, string) error {
	p.left++
	return nil
}

// failing are records that cannot be read.
type failing struct{ Records }

func (failing) Position(context.Context) (sqlstore.Position, error) {
	return sqlstore.Position{}, errors.New("no connection")
}

func TestAPartitionThatFailedIsOpenedInAnotherEpoch(t *testing.T) {
	conn, err := nats.Connect(natstest.Start(t, 0).ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var opened []int64
	leases := &onePartition{lost: 1}
	n := &Node{conn: conn, workers: make(map[int]*worker), wake: make(chan struct{}, 1), o: Options{
		Leases: leases, Log: slog.New(slog.DiscardHandler),
		Open: func(_ int, epoch int64) Records {
			if opened = append(opened, epoch); len(opened) == 2 {
				cancel()
			}
			return failing{}
		},
	}}
	if err := n.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 2}, opened); diff != "" {
		t.Errorf("epochs (-want +got):\n%s", diff)
	}
	if leases.left != 1 {
		t.Errorf("a server that ended released its partitions %d times, want once", leases.left)
	}
	if renewEvery > time.Second {
		t.Errorf("a server looks for free partitions every %v, want at most 1s", renewEvery)
	}
}

func TestAServerWithoutNATSLetsItsLeaseEnd(t *testing.T) {
	server := natstest.Start(t, 0)
	ctx, disconnected := context.WithCancel(t.Context())
	onLoss := nats.DisconnectErrHandler(func(*nats.Conn, error) { disconnected() })
	conn, err := nats.Connect(server.ClientURL(), nats.Timeout(time.Minute), onLoss)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	leases := &onePartition{}
	n := &Node{conn: conn, workers: make(map[int]*worker), o: Options{
		Leases: leases, Log: slog.New(slog.DiscardHandler), Open: func(int, int64) Records { return failing{} },
	}}
	var all sync.WaitGroup
	n.renew(t.Context(), &all)
	all.Wait()
	server.Shutdown()
	<-ctx.Done()
	n.renew(t.Context(), &all)
	all.Wait()
	if leases.renewals != 1 {
		t.Errorf("the lease was renewed %d times, want once", leases.renewals)
	}
}
