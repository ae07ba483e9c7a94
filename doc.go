// Package unloop defines the types that every other package uses. An Event is something that happened in an agent's run.
// A Run is the bounded state that is folded from the events, and a Step is one tool call in it. A Detector is a rule over
// a run, and a Finding is what a rule reports.
//
//	bytes → ingest → Event → Run → detectors → Finding → policy → Decision → sinks
//
// Run.Add folds one event in amortised O(1). The memory of a run is bounded, whatever the run's length. A Detector reads a
// run and reports whether its rule holds at the latest event. Neither reads a clock, starts a goroutine or does I/O, so
// equal events give equal findings in every process.
package unloop
