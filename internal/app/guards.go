package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/guardio"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// maxGuards is the maximum number of guards. The least recently used one is evicted.
const maxGuards = 8

// guards holds the guards for agents that use HTTP: one for each profile and settings, with all their runs.
type guards struct {
	judges judges
	runs   int   // approximate maximum number of runs of each guard
	bytes  int64 // maximum size of the runs of all guards; one guard may have half of it
	signer *guardio.Signer
	second *guard.SecondOpinion // nil for none

	mu    sync.Mutex
	known []namedGuard // most recently used first
}

// newGuards returns guards that sign their snapshots with keys from the store.
func newGuards(ctx context.Context, s *sqlstore.Store, j judges, runs int, bytes int64) (*guards, error) {
	name := func(period int64) string { return fmt.Sprintf("guard_snapshots_%08d", period) }
	signer, err := guardio.NewSigner(func(period int64) ([]byte, error) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyTimeout)
		defer cancel()
		return s.Secret(bounded, name(period))
	}, time.Now)
	if err == nil {
		err = s.DropSecrets(ctx, name(0), name(guardio.OldestPeriod(time.Now())))
	}
	return &guards{judges: j, runs: runs, bytes: bytes, signer: signer}, err
}

// keyTimeout is the maximum time to read a key from the store. There is a new key each month.
const keyTimeout = 5 * time.Second

type namedGuard struct {
	name  string
	guard *guardio.Server
}

// Guard returns the guard of a profile with changed settings.
func (g *guards) Guard(profile string, settings map[string]string) (httpd.Guard, error) {
	own := g.judges.server.Load()
	if profile == "" {
		profile = own.Name()
	}
	sets := setsOf(settings)
	if profile == own.Name() { // its settings change when a suggestion is applied
		sets = append(setsOf(own.settings), sets...)
	}
	name := strings.Join(append([]string{profile}, sets...), "\x00")
	if known := g.find(name); known != nil {
		return known, nil
	}
	p, err := g.judges.load(profile, settings)
	if err != nil {
		return nil, err
	}
	made, err := guardio.New(p, g.runs, g.bytes/2, g.signer)
	if err != nil {
		return nil, err
	}
	made.Review(g.second)
	return g.add(name, made), nil
}

// find returns the guard with the name, or nil.
func (g *guards) find(name string) *guardio.Server {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.front(name)
}

// front moves the guard with the name to the front and returns it, or nil. The caller holds the lock.
func (g *guards) front(name string) *guardio.Server {
	at := slices.IndexFunc(g.known, func(k namedGuard) bool { return k.name == name })
	if at < 0 {
		return nil
	}
	found := g.known[at]
	copy(g.known[1:], g.known[:at])
	g.known[0] = found
	g.makeRoom()
	return found.guard
}

// add adds a guard and returns it. If another goroutine has added the same guard, add returns that one.
func (g *guards) add(name string, made *guardio.Server) *guardio.Server {
	g.mu.Lock()
	defer g.mu.Unlock()
	if other := g.front(name); other != nil {
		return other
	}
	g.known = slices.Insert(g.known, 0, namedGuard{name, made})
	g.makeRoom()
	return made
}

// makeRoom evicts the least recently used guards if there are too many or their runs take too much memory. The caller holds the
// lock.
func (g *guards) makeRoom() {
	bytes := int64(0)
	for k := range g.known {
		if bytes += g.known[k].guard.Bytes(); k == maxGuards || k > 0 && bytes > g.bytes {
			clear(g.known[k:]) // frees their runs
			g.known = g.known[:k]
			return
		}
	}
}
