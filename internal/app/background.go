package app

import (
	"context"
	"time"
)

// Pauses of work in the background.
const (
	idlePause  = time.Second      // the least one after nothing was due
	errorPause = 10 * time.Second // the least one after an error
	restFactor = 4                // how many times as long as the work a pause is
)

// inBackground repeats work until ctx is done, while this server leads. Work does a part of what is due, and returns the number of things that
// it has done. It runs for at most a fifth of the time, so that events are recorded in the meantime. Its errors are logged with the message.
func (p *components) inBackground(ctx context.Context, message string, work func(context.Context) (int, error)) error {
	for {
		began, pause := time.Now(), idlePause
		if p.leads() {
			done, err := work(ctx)
			if pause = restFactor * time.Since(began); done == 0 {
				pause = max(pause, idlePause)
			}
			if err != nil {
				pause = max(pause, errorPause)
				if ctx.Err() == nil {
					p.log.Error(message, "error", err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// indexBatch is the number of events that are indexed at once, while commits wait.
const indexBatch = 500

// index adds new events to the full-text index. It lags while many events arrive.
func (p *components) index(ctx context.Context) error {
	if !p.config.Search {
		return nil
	}
	return p.inBackground(ctx, "indexing events failed", func(ctx context.Context) (int, error) { return p.store.Index(ctx, indexBatch) })
}
