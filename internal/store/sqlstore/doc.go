// Package sqlstore keeps the records of package store in SQLite, in one file beside the server, or in PostgreSQL. The pipeline
// stands before it and writes through Commit; those who answer questions stand behind it and read. Both databases get the same
// SQL, and storetest holds both to the same behaviour.
//
//	runs ─┬─ events       arrival; (run, id) is unique; read by (run, at_sequence, at_time, at_tie)
//	      ├─ warnings     (run, id); found by (rule, run); deliveries (warning, endpoint, level) belong to them
//	      ├─ decisions    (run, at_sequence, at_time, at_tie, number)
//	      ├─ checkpoints  (run, at_sequence, at_time, at_tie)
//	      └─ traces       (trace, run): the trace has events in the run; run 0: in none
//	                      └─ spans  (trace, id), which belong to the trace, not to a run
//	search                one row for each indexed event, with its words; ADR 14
//	settings              name
//
// Nothing declares these arrows to the database: checking a foreign key costs a look-up for each event, and there is one writer,
// which writes a run before what belongs to it and deletes them together.
//
// Times are Unix nanoseconds, 0 for the zero time; what lies outside the years 1678 to 2261 is moved to their ends. JSON and
// states are bytes, everything else with letters is text without NUL and bad UTF-8 (store.Text), compared byte by byte.
//
// SQLite has one connection that writes and some that read, so that a question never waits for a commit nor a commit for it.
// A commit is in the write-ahead log, and that on the disk, when Commit returns. A second server is kept out by a lock on the file
// beside the database, or by an advisory lock that PostgreSQL's writing connection holds.
package sqlstore
