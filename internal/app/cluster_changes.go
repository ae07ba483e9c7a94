package app

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/suggest"
)

// followEvery is the interval of checks for changes at other servers of the cluster.
const followEvery = time.Second

// applySettings adds the settings that people applied in the cluster to those of the configuration.
func (p *components) applySettings(ctx context.Context) (err error) {
	own := *p.config
	p.fileSettings = own.Settings
	own.Settings, err = withApplied(ctx, p.store, own.Profile, own.Settings)
	p.config = &own
	return err
}

// follow applies changes of alerts and settings at other servers of the cluster, until ctx is done. It reads them again when the audit log has a
// new act, because each change is an act. Mutes are read from the database at each use.
func (p *components) follow(ctx context.Context) error {
	if p.cluster == nil {
		return nil
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	known := int64(-1)
	for {
		if err := p.followOnce(ctx, &known); err != nil && ctx.Err() == nil {
			p.log.Warn("changes at other servers are not applied yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *components) followOnce(ctx context.Context, known *int64) error {
	latest, err := p.store.LastAct(ctx)
	if err != nil || latest == *known {
		return err
	}
	if err := errors.Join(p.alerts.load(ctx), p.tuner.follow(ctx)); err != nil {
		return err
	}
	*known = latest
	return nil
}

// withApplied adds to settings the ones that people applied to a profile in a cluster.
func withApplied(ctx context.Context, s *sqlstore.Store, profile string, sets config.Settings) (config.Settings, error) {
	applied, err := s.Applied(ctx)
	if err != nil {
		return nil, err
	}
	sets = maps.Clone(sets)
	if sets == nil {
		sets = make(config.Settings)
	}
	for _, a := range applied {
		if a.Profile != profile {
			continue
		}
		if err := change(sets, &suggest.Change{Tool: a.Tool, Setting: a.Name, Value: a.Value}); err != nil {
			return nil, err
		}
	}
	return sets, nil
}
