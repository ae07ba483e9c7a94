// Package trace turns the spans of agents into events, independent of the encoding of the spans. Decoders of spans such as
// package otlp provide the spans, and the pipeline uses the events.
//
// A Trace takes the spans of one trace, in any order and in any parts, and returns the events that this adds, changes or removes.
// A span of a tool or of a model call gives two events, "<span id>.start" and "<span id>.end", so a span that is sent again gives
// the same ids. One call may have three spans (of the agent, the MCP client and the MCP server) and counts once. A tool named
// transfer_to_X or handoff_to_X gives only the handoff. The root of a trace ends the run. Events are ordered by time, then Tie.
//
// A model call repeats its conversation. A decoder keeps only the messages after the latest answer in it, and the answer of the call
// (Messages). Their events have the ids "<span id>.input0" and so on, and "<span id>.answer", or ".reply" for a call without a duration. The
// first call with a message, by time, gives its event. Of several conversations in a trace only the one that begins first is read.
package trace
