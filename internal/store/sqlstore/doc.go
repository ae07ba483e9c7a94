// Package sqlstore keeps the records of package store in SQLite, in one file beside the server, or in PostgreSQL. The pipeline
// writes through Commit, and the APIs read. Both databases get the same SQL, and storetest tests both for the same behaviour.
//
//	runs ─┬─ events       arrival; (run, id) is unique; read by (run, at_sequence, at_time, at_tie); SQLite: changed ones by (run, changed)
//	      ├─ warnings     (run, id); found by (rule, run); deliveries (warning, endpoint, level) belong to them
//	      ├─ decisions    (run, at_sequence, at_time, at_tie, number)
//	      ├─ checkpoints  (run, at_sequence, at_time, at_tie)
//	      └─ traces       (trace, run): the trace has events in the run; run 0: in none
//	                      └─ spans  (trace, id), which belong to the trace, not to a run
//	search                one row for each indexed event, with its words; ADR 14
//	reindex               SQLite: arrival of an event that changed after it was indexed; ADR 20
//	settings              name
//
// The tables have no foreign keys: checking one costs a lookup for each event. The only writer inserts a run before its records
// and deletes them together.
//
// Times are Unix nanoseconds, and 0 is the zero time. Times before 1678 or after 2261 become the nearest representable time. JSON
// and states are bytes. All other text has no NUL and no invalid UTF-8 (store.Text), and is compared byte by byte.
//
// SQLite has one connection for writing and several for reading, so readers and commits do not wait for each other. When Commit
// returns, the commit is in the write-ahead log on disk. A lock on the file beside the database keeps out a second server; for
// PostgreSQL, it is an advisory lock of the writing connection.
package sqlstore
