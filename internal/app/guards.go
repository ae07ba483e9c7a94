package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/guardio"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// maxGuards is how many profiles and settings agents may ask for over HTTP; the one that nobody asked longest is forgotten.
const maxGuards = 8

// guards answers for agents that ask over HTTP: one guard for each profile and settings, with the runs of all who ask for these.
type guards struct {
	judges judges
	runs   int   // about how many each holds
	bytes  int64 // of the runs of all; each alone has half
	signer *guardio.Signer
	second *guard.SecondOpinion // nil for none

	mu    sync.Mutex
	known []namedGuard // the latest asked in front
}

// newGuards returns guards whose snapshots are signed with keys that the store keeps.
func newGuards(ctx context.Context, s *sqlstore.Store, j judges, runs int, bytes int64) (*guards, error) {
	name := func(period int64) string { return fmt.Sprintf("guard_snapshots_%08d", period) }
	signer, err := guardio.NewSigner(func(period int64) ([]byte, error) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyPatience)
		defer cancel()
		return s.Secret(bounded, name(period))
	}, time.Now)
	if err == nil {
		err = s.DropSecrets(ctx, name(0), name(guardio.OldestPeriod(time.Now())))
	}
	return &guards{judges: j, runs: runs, bytes: bytes, signer: signer}, err
}

// keyPatience is how long an agent waits for a key that is not yet known: one each month.
const keyPatience = 5 * time.Second

type namedGuard struct {
	name  string
	guard *guardio.Server
}

// Guard returns the guard of a profile with some settings changed.
func (g *guards) Guard(profile string, settings map[string]string) (httpd.Guard, error) {
	if profile == "" {
		profile = g.judges.own.Name()
	}
	var name strings.Builder
	name.WriteString(profile)
	for _, setting := range slices.Sorted(maps.Keys(settings)) {
		name.WriteString("\x00" + setting + "\x00" + settings[setting])
	}
	if known := g.find(name.String()); known != nil {
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
	return g.add(name.String(), made), nil
}

// find returns a guard that is known, or nil.
func (g *guards) find(name string) *guardio.Server {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.front(name)
}

// front puts a guard that is known in front, and returns it, or nil. The lock is held.
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

// add makes a guard known, unless somebody else just did, and returns the one that is.
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

// makeRoom forgets the guards that nobody asked longest while there are too many, or their runs take too much memory. The lock
// is held.
func (g *guards) makeRoom() {
	bytes := int64(0)
	for k := range g.known {
		if bytes += g.known[k].guard.Bytes(); k == maxGuards || k > 0 && bytes > g.bytes {
			clear(g.known[k:]) // their runs leave memory
			g.known = g.known[:k]
			return
		}
	}
}
