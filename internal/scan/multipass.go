package scan

import (
	"context"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/pipeline"
)

// room is the capacity of one pass over an input with interleaved runs.
type room struct {
	tracks int   // runs at once; the events of further runs are kept in files
	sorted int64 // bytes of events that are sorted in memory at once
}

var defaultRoom = room{tracks: 4096, sorted: 256 << 20}

// stream scans an input with one run after another.
func (src *source) stream(result *Result) error {
	var t *runScan
	err := src.decode(src.first, true, func(e *unloop.Event) error {
		if t != nil && t.id != e.RunID {
			if err := t.finish(result); err != nil {
				return err
			}
			t = nil
		}
		if t == nil {
			t = src.scanRun(e.RunID)
		}
		t.add(e)
		return nil
	})
	if err != nil || t == nil {
		return err
	}
	return t.finish(result)
}

// passes scans an input whose runs are interleaved and whose events may be out of order. The first pass folds each run while its
// events arrive. At a late event it stops folding the run; the events of these runs are then read again and sorted. The events of
// runs beyond the capacity are spread over temporary files, and each file is scanned in the same way. Memory is therefore bounded
// for any size of the input, and the time is proportional to the number of events for any number of runs.
func (src *source) passes(ctx context.Context, result *Result) error {
	first := func(emit ingest.Emit) error { return src.decode(src.first, true, emit) }
	again := func(emit ingest.Emit) error { return src.reread(ctx, emit) }
	return src.pass(ctx, 0, first, again, result)
}

// events emits the events of an input or of a part of it.
type events func(emit ingest.Emit) error

// pass folds the runs of first within the capacity, and then the others. The function again emits the events of first once more.
func (src *source) pass(ctx context.Context, depth int, first, again events, result *Result) error {
	p := filePass{src: src, rest: overflow{depth: depth}}
	defer p.rest.close()
	if err := first(p.add); err != nil {
		return err
	}
	if err := p.finish(again, result); err != nil {
		return err
	}
	p.tracks, p.order = nil, nil
	for k, part := range p.rest.parts {
		if part == nil {
			continue
		}
		each := func(emit ingest.Emit) error { return part.each(ctx, emit) }
		err := src.pass(ctx, depth+1, each, each, result)
		if err := errors.Join(err, part.file.Close()); err != nil {
			return err
		}
		p.rest.parts[k] = nil
	}
	return nil
}

// reread decodes the input again.
func (src *source) reread(ctx context.Context, emit ingest.Emit) error {
	r, err := src.again(ctx)
	if err != nil {
		return err
	}
	defer r.Close() // a file that is only read has no error to report
	return src.decode(r, false, emit)
}

// filePass folds the runs of an input in one reading.
type filePass struct {
	src    *source
	tracks map[string]*runScan
	order  []*runScan // in the order in which they appeared
	rest   overflow   // of runs beyond the capacity
}

func (p *filePass) add(e *unloop.Event) error {
	p.src.scan.folded++
	t := p.tracks[e.RunID]
	if t == nil {
		if t = p.admit(e.RunID); t == nil {
			return p.rest.put(e)
		}
	}
	t.size += int64(len(e.Input)+len(e.Output)+len(e.Error)+len(e.Metadata)+len(e.Text)) + eventSize
	if t.late {
		return nil
	}
	switch t.placing.Place(e) {
	case pipeline.Next:
		t.add(e)
	case pipeline.Late:
		t.postpone()
	}
	return nil
}

// eventSize is the approximate memory of an event besides its content, in bytes.
const eventSize = 512

// admit adds a run. It returns nil if the capacity is reached.
func (p *filePass) admit(id string) *runScan {
	if len(p.tracks) >= p.src.room.tracks {
		return nil
	}
	t := p.src.scanRun(id)
	if p.tracks == nil {
		p.tracks = make(map[string]*runScan)
	}
	p.tracks[id] = t
	p.order = append(p.order, t)
	return t
}

// finish reports the runs whose events were in order, then sorts and reports the others.
func (p *filePass) finish(again events, result *Result) error {
	var late []*runScan
	for _, t := range p.order {
		if t.late {
			late = append(late, t)
			continue
		}
		if err := t.finish(result); err != nil {
			return err
		}
	}
	return p.src.sortLate(late, again, result)
}

// sortLate scans the runs whose events were out of order, as many at once as the capacity allows.
func (src *source) sortLate(late []*runScan, again events, result *Result) error {
	for len(late) > 0 {
		n, size := 0, int64(0)
		batch := make(map[string][]*unloop.Event)
		for n < len(late) && (n == 0 || size+late[n].size <= src.room.sorted) {
			size += late[n].size
			batch[late[n].id] = nil
			n++
		}
		if size > src.room.sorted {
			return fmt.Errorf("%s: the events of run %s are out of order and too large to be sorted in memory (%d MiB, at most %d): sort the file by sequence",
				src.name, late[0].id, size>>20, src.room.sorted>>20)
		}
		err := again(func(e *unloop.Event) error {
			if events, ok := batch[e.RunID]; ok {
				batch[e.RunID] = append(events, e.Clone())
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, given := range late[:n] {
			t := src.scanRun(given.id)
			for _, e := range pipeline.Sort(batch[given.id]) {
				t.add(e)
			}
			if err := t.finish(result); err != nil {
				return err
			}
		}
		late = late[n:]
	}
	return nil
}
