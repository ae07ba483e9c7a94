// Package redisstore keeps the counts of swarms in Redis or Valkey, so that workers in many processes share them. Each method is one
// script that the server runs, and so one round trip.
//
//	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"redis:6379"}, AlwaysPipelining: true})
//	store, err := redisstore.New(client, redisstore.DefaultOptions())
//	g := guard.New(p, guard.Options{Swarm: &guard.Swarm{Store: store, Name: goal, Worker: run, OnError: report}})
//
// A swarm is two hashes with one hash tag, so a Redis cluster keeps both on one node.
package redisstore

import (
	"cmp"
	"context"
	_ "embed" // for the scripts
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/swarm"
)

// Options are the bounds of the counts.
type Options struct {
	Fingerprints int           // of each swarm, 1 to 1,000,000: that many of the most recently used are kept, and at most twice as many
	Expiry       time.Duration // a swarm is removed when it was not used for that long; 1 second to 1 year
}

// DefaultOptions returns 2048 fingerprints and 24 hours.
func DefaultOptions() Options { return Options{Fingerprints: 2048, Expiry: 24 * time.Hour} }

// Validate returns an error that joins all options out of range.
func (o Options) Validate() error {
	var mistakes []error
	if o.Fingerprints < 1 || o.Fingerprints > 1_000_000 {
		mistakes = append(mistakes, fmt.Errorf("fingerprints is %d: it must be from 1 to 1000000", o.Fingerprints))
	}
	if o.Expiry < time.Second || o.Expiry > 365*24*time.Hour {
		mistakes = append(mistakes, fmt.Errorf("expiry is %v: it must be from 1 second to 1 year", o.Expiry))
	}
	return errors.Join(mistakes...)
}

// Store is a swarm.Store in Redis. A failed call is not repeated, because it may have been counted.
type Store struct {
	client      rueidis.Client
	most        int
	bound, left string // Fingerprints and Expiry, as arguments of the scripts
	scripts     scripts
}

var _ swarm.Store = (*Store)(nil)

type scripts struct{ record, snapshot, restore *rueidis.Lua }

//go:embed record.lua
var recordScript string

//go:embed snapshot.lua
var snapshotScript string

//go:embed restore.lua
var restoreScript string

// New returns a store that uses the client, which the caller closes. The client should have AlwaysPipelining: without it, a call whose
// context is canceled waits until its deadline, and a late reply closes the connection. A call that has to connect first waits until
// its deadline or the client's Dialer.Timeout, also if its context is canceled. Invalid options are an error.
func New(client rueidis.Client, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("options of a swarm store in Redis: %w", err)
	}
	return &Store{
		client: client, most: o.Fingerprints, bound: strconv.Itoa(o.Fingerprints), left: strconv.FormatInt(o.Expiry.Milliseconds(), 10),
		scripts: scripts{
			record: rueidis.NewLuaScript(recordScript), snapshot: rueidis.NewLuaScript(snapshotScript), restore: rueidis.NewLuaScript(restoreScript),
		},
	}, nil
}

// keys returns the keys of the recently used fingerprints of a swarm, and of those that are evicted next.
func keys(name string) []string {
	return []string{"{unloop:swarm:" + name + "}:young", "{unloop:swarm:" + name + "}:old"}
}

var maxWorkers = strconv.Itoa(swarm.MaxWorkers)

// Record counts the calls: see swarm.Store. The calls of a batch are counted atomically.
func (s *Store) Record(ctx context.Context, name string, calls []swarm.Call) ([]swarm.Count, error) {
	if err := errors.Join(ctx.Err(), swarm.Check(name, calls)); err != nil {
		return nil, fmt.Errorf("count %d calls of a swarm: %w", len(calls), err)
	}
	counts := make([]swarm.Count, len(calls))
	args := make([]string, 0, 3+3*len(calls))
	args = append(args, s.bound, s.left, maxWorkers)
	for k := range calls {
		if call := &calls[k]; call.Fingerprint != 0 {
			counts[k].Tool = toolName(call.Tool)
			args = append(args, field(call.Fingerprint), counts[k].Tool, call.Worker)
		}
	}
	if len(args) == 3 {
		return counts, nil
	}
	after, err := s.scripts.record.Exec(ctx, s.client, keys(name), args).AsIntSlice()
	if err == nil && len(after) != 2*(len(args)-3)/3 {
		err = fmt.Errorf("the script returned %d numbers for %d calls", len(after), (len(args)-3)/3)
	}
	if err != nil {
		return nil, fmt.Errorf("count %d calls of a swarm in Redis: %w", len(calls), err)
	}
	for k := range calls {
		if calls[k].Fingerprint != 0 {
			counts[k].Calls, counts[k].Workers = int(after[0]), int(after[1])
			after = after[2:]
		}
	}
	return counts, nil
}

// toolName returns the part of a tool's name that is kept.
func toolName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), swarm.MaxName)], "")
}

// field returns the field of a fingerprint in its hash.
func field(fingerprint unloop.Hash) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(fingerprint))
	return string(b[:])
}

// Snapshot returns the counts of the swarm: see swarm.Store. It blocks the server, for about a millisecond for 1,000
// fingerprints.
func (s *Store) Snapshot(ctx context.Context, name string) ([]byte, error) {
	if err := errors.Join(ctx.Err(), swarm.Check(name, nil)); err != nil {
		return nil, fmt.Errorf("save a swarm: %w", err)
	}
	lists, err := s.scripts.snapshot.Exec(ctx, s.client, keys(name), nil).ToArray()
	if err != nil {
		return nil, fmt.Errorf("read a swarm from Redis: %w", err)
	}
	state := swarm.Snapshot{Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{}}
	for k := range lists {
		list, err := lists[k].ToArray()
		if err != nil {
			return nil, fmt.Errorf("read a swarm from Redis: %w", err)
		}
		for n := range list {
			tally, err := tallyOf(list[n])
			if err != nil {
				return nil, fmt.Errorf("read a swarm from Redis: %w", err)
			}
			tally.Idle = k == 1
			state.Fingerprints = append(state.Fingerprints, tally)
		}
	}
	slices.SortFunc(state.Fingerprints, func(a, b swarm.Tally) int { return cmp.Compare(a.Fingerprint, b.Fingerprint) })
	return json.Marshal(state)
}

func tallyOf(m rueidis.RedisMessage) (swarm.Tally, error) {
	parts, err := m.AsStrSlice()
	if err != nil {
		return swarm.Tally{}, err
	}
	if len(parts) < 4 || len(parts[0]) != 8 {
		return swarm.Tally{}, errors.New("a tally is damaged")
	}
	calls, err := strconv.Atoi(parts[1])
	if err != nil {
		return swarm.Tally{}, err
	}
	workers := parts[3:]
	slices.Sort(workers)
	fingerprint := unloop.Hash(binary.BigEndian.Uint64([]byte(parts[0])))
	return swarm.Tally{Fingerprint: fingerprint, Calls: calls, Tool: parts[2], Workers: workers}, nil
}

// Restore replaces the counts of the swarm: see swarm.Store. If the snapshot exceeds the bounds, a part of it is dropped, idle
// fingerprints first.
func (s *Store) Restore(ctx context.Context, name string, data []byte) error {
	from, err := swarm.ParseSnapshot(data)
	if err := errors.Join(ctx.Err(), swarm.Check(name, nil), err); err != nil {
		return fmt.Errorf("restore a swarm: %w", err)
	}
	kept := from.Fingerprints
	slices.SortStableFunc(kept, func(a, b swarm.Tally) int { return cmp.Compare(idle(a), idle(b)) })
	kept = kept[:min(len(kept), 2*s.most)]
	args := []string{s.left}
	for k, tally := range kept {
		key := "1"
		if tally.Idle || k >= s.most {
			key = "2"
		}
		args = append(args, key, field(tally.Fingerprint), strconv.Itoa(tally.Calls), toolName(tally.Tool), strconv.Itoa(len(tally.Workers)))
		args = append(args, tally.Workers...)
	}
	if err := s.scripts.restore.Exec(ctx, s.client, keys(name), args).Error(); err != nil && !rueidis.IsRedisNil(err) {
		return fmt.Errorf("restore a swarm in Redis: %w", err)
	}
	return nil
}

func idle(t swarm.Tally) int {
	if t.Idle {
		return 1
	}
	return 0
}

// Clear removes the counts of the swarm: see swarm.Store.
func (s *Store) Clear(ctx context.Context, name string) error {
	if err := errors.Join(ctx.Err(), swarm.Check(name, nil)); err != nil {
		return fmt.Errorf("clear a swarm: %w", err)
	}
	if err := s.client.Do(ctx, s.client.B().Unlink().Key(keys(name)...).Build()).Error(); err != nil {
		return fmt.Errorf("clear a swarm in Redis: %w", err)
	}
	return nil
}
