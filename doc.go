// Package unloop is the language of the project: what happens in an agent's run (Event), what a run keeps of it
// (Run, Step), and what can be said about it (Detector, Finding). Everything else is built on these.
//
//	bytes → ingest → Event → Run → detectors → Finding → policy → Decision → sinks
//
// A Run is a fold: Add takes one event in O(1), and the facts that it keeps are bounded, however long the run. A
// Detector reads a run and says what is true now. Neither reads a clock, starts a goroutine or does I/O, so equal
// events give equal findings wherever they are folded.
package unloop
