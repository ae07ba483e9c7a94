package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/profile"
)

// staleLease is the time without a renewed lease after which a server cannot work.
const staleLease = 5 * time.Second

// Health returns why the server cannot take events now, or nil.
func (n *Node) Health() error {
	if !n.conn.IsConnected() {
		return errors.New("there is no connection to NATS")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.renewed.IsZero() {
		return errors.New("the server has not joined the cluster yet")
	}
	if since := time.Since(n.renewed); since > staleLease {
		return fmt.Errorf("the lease of the server was not renewed for %v", since.Round(time.Second))
	}
	return nil
}

// State returns the sums of the states of the server's partitions.
func (n *Node) State() (all pipeline.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.workers {
		if p := w.pipeline.Load(); p != nil {
			one := p.State()
			all.Refolding += one.Refolding
			all.Unreadable += one.Unreadable
		}
	}
	return all
}

// Owned returns the partitions of this server with their lags.
func (n *Node) Owned() (all []store.Partition) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.workers {
		all = append(all, store.Partition{
			ID: w.id, Owner: n.o.Name, Epoch: w.epoch, Sequence: w.recorded.Load(), Lag: int64(w.pending.Load()) + w.unrecorded.Load(),
		})
	}
	return all
}

// Publications returns the numbers of messages since the start that were not published: because the stream was full, and because it was
// unreachable.
func (n *Node) Publications() (refused, failed int64) { return n.refused.Load(), n.failed.Load() }

// SetProfile replaces the profile by the same one with other settings, for new runs in the partitions of this server.
func (n *Node) SetProfile(own *profile.Profile) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.profile.Store(own)
	for _, w := range n.workers {
		if p := w.pipeline.Load(); p != nil {
			p.SetProfile(own)
		}
	}
}
