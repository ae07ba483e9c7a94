package proxy

import (
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// decoder makes the events of a run from items of its history.
type decoder struct {
	builder *ingest.EventBuilder
	events  []*unloop.Event // of the current item
}

func newDecoder(run string) *decoder {
	d := &decoder{}
	d.builder = ingest.NewEventBuilder(run, func(e *unloop.Event) error {
		d.events = append(d.events, e)
		return nil
	})
	return d
}

// decodedItem is an item, its hash, and its events.
type decodedItem struct {
	hash   uint64
	events []*unloop.Event
	err    error
}

// decode decodes the item with the index. A panic is an error.
func (d *decoder) decode(a api, i *item, index int) (decoded decodedItem) {
	defer func() {
		d.events = nil
		if cause := recover(); cause != nil {
			decoded.err = fmt.Errorf("%w: %v", errPanic, cause)
		}
	}()
	err := a.addEvents(d.builder, ingest.Location{Index: index}, i.value)
	return decodedItem{i.hash(), d.events, err}
}

// maxAhead is how many items are decoded before they are folded.
const maxAhead = 64

// foldItems folds items. Another goroutine decodes them meanwhile, because a long history takes less time then.
func (c *conversation) foldItems(a api, items []item) error {
	ahead := make(chan decodedItem, maxAhead) // the goroutine waits while it is full
	go func(index int) {
		defer close(ahead)
		for k := range items {
			decoded := c.decoder.decode(a, &items[k], index+k)
			ahead <- decoded
			if decoded.err != nil {
				return
			}
		}
	}(c.items)
	defer func() {
		for range ahead { // after a panic of a detector, so that the goroutine ends
		}
	}()
	for decoded := range ahead {
		for _, e := range decoded.events {
			c.foldEvent(e)
		}
		if decoded.err != nil {
			return decoded.err
		}
		c.items++
		c.chain = chained(c.chain, decoded.hash)
	}
	return nil
}

// foldEvent folds and records an event.
func (c *conversation) foldEvent(e *unloop.Event) {
	record := c.owner.record
	if isPersons(e) {
		if released := c.release(); released != nil && record != nil {
			record(released)
		}
	}
	c.add(e)
	first := c.sequence == 0
	c.sequence = e.Sequence
	if record == nil {
		return
	}
	recorded := *e
	if first {
		recorded.Metadata = c.owner.mark
	}
	record(&recorded)
}
