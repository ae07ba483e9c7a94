package app

import (
	"context"
	"time"
)

const (
	indexEvery = time.Second      // how often it is seen whether there are new events
	indexOnce  = 500              // events that are indexed at once, while commits wait
	indexAgain = 10 * time.Second // the pause after an error
	indexRest  = 4                // how many times as long as it took to index events the next ones wait
)

// index adds new events to the full-text index until ctx is done. It works for at most a fifth of the time, so that events are
// recorded in the meantime; the index therefore lags while many events arrive.
func (p *components) index(ctx context.Context) error {
	if !p.config.Search {
		return nil
	}
	for {
		began := time.Now()
		events, err := 0, error(nil)
		if p.leads() {
			events, err = p.store.Index(ctx, indexOnce)
		}
		pause := indexRest * time.Since(began)
		if events == 0 {
			pause = indexEvery
		}
		if err != nil && ctx.Err() == nil {
			p.log.Error("indexing events did not succeed", "error", err)
			pause = indexAgain
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
