// Package trace turns the spans of agents into events, independent of the encoding in which the spans arrive. Before it are
// decoders of spans, such as the package otlp; behind it is the pipeline.
//
// A Trace takes in the spans of one trace, in any order and in any pieces, and returns which events that adds, changes or
// removes. A span of a tool or of a model call gives two events, "<span id>.start" and "<span id>.end", so that a span that is
// sent again gives the same ids. One call may have three spans (the agent's, the MCP client's and the MCP server's) and counts
// once. A tool named transfer_to_X or handoff_to_X gives the handoff only. The root of a trace ends the run. The order of
// events is their time, and then Tie.
package trace
