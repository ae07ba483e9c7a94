// Package trace turns the spans of agents into events, independent of the encoding of the spans. Decoders of spans such as
// package otlp provide the spans, and the pipeline uses the events.
//
// A Trace takes the spans of one trace, in any order and in any parts, and returns the events that this adds, changes or removes.
// A span of a tool or of a model call gives two events, "<span id>.start" and "<span id>.end", so a span that is sent again gives
// the same ids. One call may have three spans (of the agent, the MCP client and the MCP server) and counts once. A tool named
// transfer_to_X or handoff_to_X gives only the handoff. The root of a trace ends the run. Events are ordered by time, then Tie.
package trace
