package cluster

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

const (
	renewEvery = 700 * time.Millisecond // the lease ends 3 s after its last renewal
	leaveTime  = 3 * time.Second        // maximum time to release the partitions at the end
	stopTime   = 20 * time.Second       // maximum time to record what was read at the end
)

// Run owns partitions until ctx ends. It then records the messages that it has read, releases the partitions, drains, and closes the node.
// What is not recorded in time stays in the stream, for the next owner, which begins an epoch in which this server cannot write.
func (n *Node) Run(ctx context.Context) error {
	var all sync.WaitGroup
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		n.renew(ctx, &all)
		select {
		case <-tick.C:
		case <-n.wake:
		case <-ctx.Done():
		}
	}
	n.stopAll()
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopTime):
		n.o.Log.Warn("partitions did not end in time; their next owner records what this server has read", "after", stopTime)
	}
	n.drain(context.WithoutCancel(ctx))
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	if err := n.o.Leases.Leave(bounded, n.o.Name); err != nil {
		n.o.Log.Warn("the partitions were not given up; other servers take them when the lease ends", "error", err)
	}
	n.tellOthers()
	_ = n.conn.FlushTimeout(time.Second) // the other servers look for free partitions periodically
	n.conn.Close()
	return nil
}

// drain releases the partitions and calls Drain. Until that returns, the lease is renewed, so that no other server takes what this one is
// sending for the work of one that was killed.
func (n *Node) drain(ctx context.Context) {
	if n.o.Drain == nil {
		return
	}
	keep := func(partitions ...int) {
		bounded, cancel := context.WithTimeout(ctx, leaveTime)
		defer cancel()
		_, err := n.o.Leases.Renew(bounded, store.Server{Name: n.o.Name, Address: n.o.Address})
		if err = cmp.Or(err, n.o.Leases.Release(bounded, n.o.Name, partitions)); err != nil {
			n.o.Log.Warn("the lease of this server was not renewed while it ends", "error", err)
		}
	}
	all := make([]int, n.o.Partitions)
	for k := range all {
		all[k] = k
	}
	keep(all...)
	n.tellOthers()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		n.o.Drain()
	}()
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-drained:
			return
		case <-tick.C:
			keep()
		}
	}
}

// renew renews the lease and starts and stops workers accordingly. A server without NATS cannot read its partitions, so it lets its lease
// end, and others take them.
func (n *Node) renew(ctx context.Context, all *sync.WaitGroup) {
	if !n.conn.IsConnected() {
		return
	}
	began := time.Now()
	owned, err := n.o.Leases.Renew(ctx, store.Server{Name: n.o.Name, Address: n.o.Address, Works: n.o.Works})
	if err != nil {
		if ctx.Err() == nil {
			n.o.Log.Warn("the lease of this server was not renewed", "error", err)
		}
		return
	}
	n.clock.Store(newDatabaseClock(owned.Now, began, time.Now()))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.renewed = time.Now()
	for id, w := range n.workers {
		if owned.Epochs[id] != w.epoch {
			w.drop() // another server has it
		}
	}
	for id, epoch := range owned.Epochs {
		if n.workers[id] == nil {
			n.start(ctx, id, epoch, all)
		}
	}
	n.releaseSurplus(owned.Surplus)
}

// start starts the worker of a partition. The caller holds the lock.
func (n *Node) start(ctx context.Context, id int, epoch int64, all *sync.WaitGroup) {
	w := newWorker(n, id, epoch)
	n.workers[id] = w
	all.Go(func() {
		err := w.run(context.WithoutCancel(ctx))
		if err != nil {
			n.o.Log.Warn("a partition is given up, to be opened again", "partition", id, "epoch", epoch, "error", err)
		}
		if err != nil || w.released.Load() {
			n.release(ctx, id)
		}
		n.mu.Lock()
		delete(n.workers, id)
		n.mu.Unlock()
		if w.released.Load() {
			n.tellOthers()
		}
	})
}

// release gives up a partition. It tries until it succeeds or the node ends, because after a failure this server, too, must open the
// partition in a new epoch: a commit whose outcome is unknown could otherwise end after the partition's position was read.
func (n *Node) release(ctx context.Context, id int) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, leaveTime)
		err := n.o.Leases.Release(bounded, n.o.Name, []int{id})
		cancel()
		if err == nil {
			return
		}
		n.o.Log.Warn("a partition was not given up", "partition", id, "error", err)
		select {
		case <-time.After(renewEvery):
		case <-ctx.Done():
		}
	}
}

// releaseSurplus releases a number of partitions. Their workers then end. The caller holds the lock.
func (n *Node) releaseSurplus(surplus int) {
	ids := make([]int, 0, len(n.workers))
	for id, w := range n.workers {
		if w.released.Load() {
			surplus--
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids[:min(len(ids), max(0, surplus))] {
		w := n.workers[id]
		w.released.Store(true)
		w.finish()
	}
}

func (n *Node) stopAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.workers {
		w.finish()
	}
}

// tellOthers wakes the other servers, which then look for free partitions.
func (n *Node) tellOthers() {
	_ = n.conn.Publish(changedSubject, nil) // they look for free partitions periodically
}
