package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"sync"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/suggest"
	"github.com/unloop-ai/unloop/profile"
)

// Bounds of the runs that suggestions replay.
const (
	suggestLabels = 200    // runs with the latest labels
	suggestOthers = 40     // runs that started last, including runs with a label
	suggestEvents = 20_000 // of a run; longer runs are left out
)

// tuner finds thresholds by replays, and writes them into the configuration file, or into the database of a cluster.
type tuner struct {
	judges
	store   *sqlstore.Store
	file    string // "" for none
	cluster bool
	base    config.Settings // of the configuration file, in a cluster
	use     func(*profile.Profile)
	mu      sync.Mutex // held while a setting is applied
}

// newTuner returns a tuner. When a setting is applied, it gives the recorder and the proxy the profile for new runs.
func (p *components) newTuner(j judges) *tuner {
	return &tuner{judges: j, store: p.store, file: p.file, cluster: p.cluster != nil, base: p.fileSettings, use: func(of *profile.Profile) {
		p.recorder.SetProfile(of)
		p.proxy.setProfile(of)
	}}
}

// Suggest replays the labelled runs and some other runs with other thresholds.
func (t *tuner) Suggest(ctx context.Context) (api.Suggestions, error) {
	file := t.file
	if t.cluster {
		file = clusterDatabase
	}
	answer := api.Suggestions{Profile: t.own().Name(), File: file, Writable: t.cluster || writable(file), Suggestions: []api.Suggestion{}}
	rows, runs, err := t.runsToReplay(ctx)
	if err != nil {
		return answer, err
	}
	found, complete, err := suggest.Find(ctx, suggest.Options{
		Profile: t.own(), Runs: runs,
		Valid: func(c suggest.Change) bool { _, err := t.changed(&c); return err == nil },
		Replay: func(ctx context.Context, k int, c *suggest.Change) ([]suggest.Pair, error) {
			p, err := t.changed(c)
			if err != nil {
				return nil, err
			}
			again, err := pipeline.Replay(ctx, t.events, p.Profile, rows[k], suggestEvents)
			if err != nil {
				return nil, err
			}
			return pairsOf(again.Warnings), nil
		},
	})
	if err != nil {
		return answer, err
	}
	answer.Complete, answer.Runs = complete, len(runs)
	for _, r := range runs {
		if r.Label != "" {
			answer.Labels++
		}
	}
	for _, s := range found {
		answer.Suggestions = append(answer.Suggestions, suggestionOf(s))
	}
	return answer, nil
}

// runsToReplay returns the labelled runs and some of the latest runs without a label.
func (t *tuner) runsToReplay(ctx context.Context) (rows []*store.Run, runs []suggest.Run, err error) {
	labels, err := t.store.Labels(ctx, suggestLabels)
	if err != nil {
		return nil, nil, err
	}
	known := make(map[string]bool)
	add := func(row *store.Run, label string) error {
		if known[row.ID] || row.Metrics.Events > suggestEvents || row.Profile != t.own().Name() {
			return nil
		}
		known[row.ID] = true
		warnings, err := t.store.Warnings(ctx, row.Number)
		rows, runs = append(rows, row), append(runs, suggest.Run{ID: row.ID, Label: label, Warnings: pairsOf(warnings)})
		return err
	}
	for _, l := range labels {
		row, err := t.store.Run(ctx, l.RunID)
		if err != nil {
			return nil, nil, err
		}
		if row == nil {
			continue // it was deleted in the meantime
		}
		if err := add(row, l.Label); err != nil {
			return nil, nil, err
		}
	}
	latest, _, err := t.store.Runs(ctx, store.Filter{}, store.Order{}, store.Page{Limit: suggestOthers})
	for k := range latest {
		if err == nil {
			err = add(&latest[k], "")
		}
	}
	return rows, runs, err
}

func pairsOf(warnings []store.Warning) (all []suggest.Pair) {
	for i := range warnings {
		all = append(all, suggest.Pair{Rule: warnings[i].Rule, Tool: warnings[i].Tool})
	}
	return all
}

// changed returns the server's profile with a change, which may be nil.
func (t *tuner) changed(c *suggest.Change) (*serverProfile, error) {
	own := t.server.Load()
	if c == nil {
		return own, nil
	}
	sets := maps.Clone(own.settings)
	if sets == nil {
		sets = make(config.Settings)
	}
	if err := change(sets, c); err != nil {
		return nil, err
	}
	p, err := profile.Load(profile.Source{Name: own.Name(), Sets: setsOf(sets)})
	return &serverProfile{p, sets}, err
}

// change sets a setting, for one tool or for all.
func change(sets config.Settings, c *suggest.Change) error {
	if c.Tool == "" {
		sets[c.Setting] = strconv.FormatFloat(c.Value, 'f', -1, 64)
		return nil
	}
	tools := make(map[string]map[string]any)
	if all := sets["tools"]; all != "" {
		if err := json.Unmarshal([]byte(all), &tools); err != nil {
			return fmt.Errorf("settings of tools: %w", err)
		}
	}
	if tools[c.Tool] == nil {
		tools[c.Tool] = make(map[string]any)
	}
	tools[c.Tool][c.Setting] = c.Value
	text, err := json.Marshal(tools)
	sets["tools"] = string(text)
	return err
}

func suggestionOf(s suggest.Suggestion) api.Suggestion {
	list := func(ids []string) []string { return append([]string{}, ids...) }
	return api.Suggestion{
		Rule: s.Rule, Tool: s.Tool, Setting: s.Setting, Present: s.Present, Value: s.Value, Kept: list(s.Kept), Dropped: list(s.Dropped),
		Remaining: list(s.Remain), Caught: list(s.Caught), Others: list(s.Others), YAML: config.Change(s.Change).YAML(),
	}
}

// Apply writes a setting where the server reads it at its next start, and applies it to new runs.
func (t *tuner) Apply(ctx context.Context, by *store.Act, s api.NewSetting) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := suggest.Change{Tool: s.Tool, Setting: s.Setting, Value: s.Value}
	own, err := t.changed(&c)
	if err != nil {
		return "", httpd.NotApplied(err.Error())
	}
	if t.cluster {
		by.Setting = &store.Setting{Profile: own.Name(), Tool: s.Tool, Name: s.Setting, Value: s.Value}
		if err := t.store.Act(ctx, by); err != nil {
			return "", err
		}
		return clusterDatabase, t.reload(ctx) // also what was applied at another server since the latest reload
	}
	err = config.Apply(t.file, config.Change(c))
	if errors.Is(err, os.ErrPermission) {
		return "", httpd.NotApplied("the server may not write its configuration file " + t.file)
	}
	if err != nil {
		return "", httpd.NotApplied(err.Error())
	}
	t.setProfile(own)
	return t.file, t.store.Act(ctx, by)
}

// clusterDatabase says in answers where a cluster keeps applied settings.
const clusterDatabase = "the database of the cluster"

// setProfile sets the profile of new runs.
func (t *tuner) setProfile(own *serverProfile) {
	t.use(own.Profile)
	t.server.Store(own)
}

// follow applies the settings that people applied at any server of the cluster.
func (t *tuner) follow(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reload(ctx)
}

// reload reads the applied settings from the database. Its caller holds mu.
func (t *tuner) reload(ctx context.Context) error {
	name := t.own().Name()
	sets, err := withApplied(ctx, t.store, name, t.base)
	if err != nil || maps.Equal(sets, t.server.Load().settings) {
		return err
	}
	p, err := profile.Load(profile.Source{Name: name, Sets: setsOf(sets)})
	if err != nil {
		return fmt.Errorf("applied settings: %w", err)
	}
	t.setProfile(&serverProfile{p, sets})
	return nil
}

// writable reports whether the server can replace a file.
func writable(path string) bool {
	if path == "" {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
