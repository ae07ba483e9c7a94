package splice

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// The loops of this file repeat an action in the same or in different words.

func exactRepeat(p *generator) ([]entry, int) {
	return slices.Repeat([]entry{p.call()}, p.between(6, 14)), 1
}

// volatileResult has results with equal words and with new times, durations, ids and addresses.
func volatileResult(p *generator) ([]entry, int) {
	e, state := p.call(), p.phrase(3, 8)
	var results []func() json.RawMessage
	results = append(results,
		func() json.RawMessage { return object("request_id", p.uuid(), "state", state, "at", p.clock()) },
		func() json.RawMessage {
			return quoted(fmt.Sprintf("[%s] %s (took %d ms)", p.clock(), state, p.between(2, 900)))
		},
		func() json.RawMessage {
			return quoted(fmt.Sprintf("<Session at 0x%x> %s", 1<<40+p.Uint64N(1<<40), state))
		},
		func() json.RawMessage {
			return object("state", state, "elapsed", fmt.Sprintf("%d.%02ds", p.IntN(9), p.IntN(100)), "trace", p.uuid())
		},
	)
	result := results[p.IntN(len(results))]
	var entries []entry
	for range p.between(6, 14) {
		e.Result = result()
		entries = append(entries, e)
	}
	return entries, 1
}

func reorderedKeys(p *generator) ([]entry, int) {
	tool, result := p.pick("search_orders", "lookup", "list_flights"), quoted(p.page())
	values := map[string]any{}
	for len(values) < 4 {
		values[p.word()] = p.phrase(1, 3)
	}
	names := slices.Sorted(maps.Keys(values))
	var entries []entry
	for range p.between(6, 14) {
		var pairs []any
		for _, name := range p.shuffled(names...) {
			pairs = append(pairs, name, values[name])
		}
		entries = append(entries, call(tool, object(pairs...), result))
	}
	return entries, 1
}

// optionalArgument changes an argument that does not affect the result.
func optionalArgument(p *generator) ([]entry, int) {
	e := p.call()
	name := p.pick("timeout", "verbose", "max_results", "page_size", "include_metadata", "retries", "description")
	args := string(e.Args[:len(e.Args)-1])
	var entries []entry
	for k := range p.between(6, 14) {
		value := jsonOf(10*k + p.between(1, 9))
		if name == "description" {
			value = quoted(p.phrase(3, 6))
		}
		e.Args = json.RawMessage(fmt.Sprintf("%s,%q:%s}", args, name, value))
		entries = append(entries, e)
	}
	return entries, 1
}

// repeatBetweenOtherCalls has one or two calls of another kind, new each time, before each repeat.
func repeatBetweenOtherCalls(p *generator) (entries []entry, onset int) {
	same := p.call()
	entries = []entry{same}
	for range p.between(5, 10) {
		for range p.between(1, 2) {
			entries = append(entries, p.call())
		}
		if onset == 0 {
			onset = len(entries)
		}
		entries = append(entries, same)
	}
	return entries, onset
}

func oneFileByManyCommands(p *generator) ([]entry, int) {
	file, text := p.path(), quoted(p.page())
	var entries []entry
	for range p.between(6, 12) {
		command := p.pick("cat", "cat -n", "head -n 200", "head -500", "tail -n 300", "less", "more")
		entries = append(entries, call("bash", object("command", command+" "+file), text))
	}
	return entries, 1
}
