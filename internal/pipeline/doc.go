// Package pipeline processes the events of many runs, from ingest to recorded decisions. The events of a run are ordered by
// sequence, else by time, else by arrival, whatever order they arrive in. A run is folded as its events arrive. If an event
// arrives late, the run is folded again from its sorted events.
//
//	Submit → queue → group → place → fold → batch → store → sinks
//	                                   ↑               │
//	                                   └─── refold ────┘ late events
//
// The edges (packages httpd, grpcd and cluster) call Submit, which masks a Submission and waits until it is recorded. The recorder, one
// goroutine in Pipeline.Run, takes the waiting submissions as a group (pipeline.go). It makes a commit of them (commit.go): it places each event
// in its run (run_change.go, order.go), folds the runs under the profile on all processors (fold.go, judge.go, shards.go), and makes the batch
// (batch.go). The writer stores the batch while the recorder makes the next commit (record.go, writer.go). Then the senders get their answers, and sinks
// and live subscribers the updates.
//
// An event that is late marks its run. The run is folded again later, from the events that it keeps in memory (recall.go) or from those of the
// store (refold.go, refolds.go). Spans become events in traces.go. What leaves memory is in eviction.go, and comes back from a
// checkpoint (checkpoint.go).
//
// The other files, by subject:
//
//   - What senders hand over and wait for: submission.go, queue.go, mask.go, control.go, forward.go (between the partitions of a cluster,
//     partition.go).
//   - A run in memory: run.go, item.go (its new events), join.go (the start of each call), kept.go (the events that refolds need), rows.go,
//     preview.go, title.go and guarded.go (its row in the list of runs), warnings.go, validate.go (of a restored fold).
//   - Stored events that change: replaced.go and trace_links.go (by spans of a trace), repair.go (duplicates that only the store finds),
//     deletion.go, analysis.go and finished_refolds.go (by a refold), content.go (what of an event is stored), unreadable.go.
//   - What the pipeline needs and offers: interfaces.go (its store and sinks), options.go, metrics.go, health.go, opinion.go (questions to a
//     second model), replay.go.
package pipeline
