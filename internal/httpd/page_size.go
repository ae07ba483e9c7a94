package httpd

import (
	"context"
	"fmt"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// pageSize chooses the number of events to read from the store at once: few at first and if they are large, to limit memory, and
// many if they are small.
type pageSize struct{ events int }

const (
	firstPage, maxPage = 32, 1000
	pageBytes          = 1 << 20 // approximate size of a page
)

func (p *pageSize) next() int {
	if p.events == 0 {
		return firstPage
	}
	return p.events
}

// saw adapts the size to the events of a page.
func (p *pageSize) saw(events []store.Event) {
	size := 0
	for i := range events {
		size += len(events[i].Body)
	}
	switch {
	case size > pageBytes:
		p.events = max(p.next()/2, 1)
	case size < pageBytes/2:
		p.events = min(p.next()*2, maxPage)
	}
}

// maxAnswer is the approximate maximum size of a list of events in bytes. A longer list ends early, and its cursor continues it.
const maxAnswer = 32 << 20

// form is the encoding of a list of events.
type form struct {
	begin, between, end string
	add                 func(text []byte, run string, e *store.Event) []byte
}

var (
	// array has all members of each event, with null for unknown values.
	array = form{"[", ",", "]", api.AppendEvent}
	// lines are the events as they were recorded, byte by byte, so that they can be sent again.
	lines = form{"", "\n", "\n", func(text []byte, _ string, e *store.Event) []byte { return append(text, e.Body...) }}
)

// eventList returns a page of the events of a run, and the cursor of the next page.
func (s *Server) eventList(ctx context.Context, run *store.Run, p store.Page, f form) (text []byte, next string, err error) {
	done, err := s.build(ctx)
	if err != nil {
		return nil, "", err
	}
	defer done()
	var steps pageSize
	text, next = []byte(f.begin), p.Cursor
	for left := p.Limit; left > 0 && len(text) < maxAnswer; {
		events, cursor, err := s.Store.EventPage(ctx, run.Number, store.Page{Cursor: next, Limit: min(steps.next(), left), Backward: p.Backward})
		if err != nil {
			return nil, "", fmt.Errorf("list events: %w", err)
		}
		for i := range events {
			if len(text) > len(f.begin) {
				text = append(text, f.between...)
			}
			text = f.add(text, run.ID, &events[i])
		}
		if err := reserve(ctx, len(text)); err != nil {
			return nil, "", err
		}
		steps.saw(events)
		left -= len(events)
		if next = cursor; next == "" {
			break
		}
	}
	return append(text, f.end...), next, nil
}
