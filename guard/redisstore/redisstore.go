// Package redisstore keeps the state of guarded runs in Redis or Valkey, so that guards in many processes judge one run. Each method is
// one round trip.
//
//	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"redis:6379"}, AlwaysPipelining: true})
//	store, err := redisstore.New(client, 24*time.Hour)
//	g := guard.New(p, guard.Options{Run: conversation, Shared: &guard.Shared{Store: store, Project: "shop", OnError: report}})
//
// The runs of a project and its usage have one hash tag, so a Redis cluster has them on one node.
package redisstore

import (
	"context"
	_ "embed" // for the script
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/guard"
)

//go:embed save.lua
var saveScript string

// Store is a guard.Store in Redis.
type Store struct {
	client rueidis.Client
	expiry string // milliseconds
	save   *rueidis.Lua
}

var _ guard.Store = (*Store)(nil)

// New returns a store that uses the client, which the caller closes. The store removes a run that had no event for the time expiry, 1
// second to 1 year. The client should have AlwaysPipelining: without it, a call whose context is canceled waits until its deadline, and
// a late reply closes the connection.
func New(client rueidis.Client, expiry time.Duration) (*Store, error) {
	if expiry < time.Second || expiry > 365*24*time.Hour {
		return nil, fmt.Errorf("expiry of a run store in Redis is %v: it must be from 1 second to 1 year", expiry)
	}
	return &Store{client, strconv.FormatInt(expiry.Milliseconds(), 10), rueidis.NewLuaScript(saveScript)}, nil
}

// keys returns the key of the run and, if it has a project, that of the project's usage. The length of the project's name in the hash
// tag keeps projects apart whose names contain a brace.
func keys(run guard.RunKey) []string {
	if run.Project == "" {
		return []string{"unloop:run:" + run.ID}
	}
	project := fmt.Sprintf("{unloop:project:%s}:%d", run.Project, len(run.Project))
	return []string{project + ":run:" + run.ID, project + ":hour"}
}

// Load returns the latest snapshot of the run: see guard.Store.
func (s *Store) Load(ctx context.Context, run guard.RunKey) (guard.Saved, error) {
	if err := ctx.Err(); err != nil {
		return guard.Saved{}, fmt.Errorf("load a run: %w", err)
	}
	stored, err := s.client.Do(ctx, s.client.B().Hmget().Key(keys(run)[0]).Field("version", "data").Build()).ToArray()
	if err != nil || len(stored) != 2 {
		return guard.Saved{}, fmt.Errorf("load a run from Redis: %w", errors.Join(err, wrongLength(stored, 2)))
	}
	if stored[0].IsNil() {
		return guard.Saved{}, nil
	}
	version, err := stored[0].AsInt64()
	data, err2 := stored[1].AsBytes()
	if err := errors.Join(err, err2); err != nil {
		return guard.Saved{}, fmt.Errorf("load a run from Redis: %w", err)
	}
	return guard.Saved{Version: version, Data: data}, nil
}

// Save replaces the snapshot of the run: see guard.Store.
func (s *Store) Save(ctx context.Context, run guard.RunKey, c guard.Change) (guard.Saved, error) {
	if err := ctx.Err(); err != nil {
		return guard.Saved{}, fmt.Errorf("save a run: %w", err)
	}
	k := keys(run)
	if c.Use == (guard.Usage{}) && c.Limits == (guard.Usage{}) {
		k = k[:1]
	}
	args := []string{strconv.FormatInt(c.Version, 10), rueidis.BinaryString(c.Data), s.expiry}
	for _, u := range []guard.Usage{c.Use, c.Limits} {
		args = append(args, strconv.FormatInt(u.Calls, 10), strconv.FormatInt(u.Tokens, 10), strconv.FormatInt(int64(math.Round(u.Cost*1e6)), 10))
	}
	reply, err := s.save.Exec(ctx, s.client, k, args).ToArray()
	if err != nil {
		return guard.Saved{}, fmt.Errorf("save a run in Redis: %w", err)
	}
	saved, err := read(reply)
	if err != nil {
		return guard.Saved{}, fmt.Errorf("save a run in Redis: %w", err)
	}
	return saved, nil
}

// read reads the reply of the script.
func read(reply []rueidis.RedisMessage) (guard.Saved, error) {
	if err := wrongLength(reply, 6); err != nil {
		return guard.Saved{}, err
	}
	var numbers [6]int64
	for _, k := range []int{0, 1, 3, 4, 5} {
		n, err := reply[k].AsInt64()
		if err != nil {
			return guard.Saved{}, err
		}
		numbers[k] = n
	}
	saved := guard.Saved{Status: guard.Status(numbers[0]), Version: numbers[1]}
	saved.Used = guard.Usage{Calls: numbers[3], Tokens: numbers[4], Cost: float64(numbers[5]) / 1e6}
	if saved.Status == guard.Done || saved.Version == 0 {
		return saved, nil
	}
	var err error
	saved.Data, err = reply[2].AsBytes()
	return saved, err
}

func wrongLength(reply []rueidis.RedisMessage, want int) error {
	if len(reply) != want {
		return fmt.Errorf("the reply has %d values, want %d", len(reply), want)
	}
	return nil
}
