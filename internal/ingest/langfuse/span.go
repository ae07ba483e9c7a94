package langfuse

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

func (r record) span(traceID string) trace.Span {
	s := trace.Span{
		TraceID: traceID, ID: r.text("id"), ParentID: r.text("parentobservationid"), Title: r.text("name"),
		Start: ingest.Nanos(r["starttime"]), End: ingest.Nanos(r["endtime"]), Facts: r.facts(),
	}
	s.Failed = s.Refused || r.text("level") == "ERROR"
	if s.Failed {
		s.Reason = r.text("statusmessage")
	}
	if s.Refused && s.Reason == "" {
		s.Reason, s.Output = ingest.Content(jsontext.Value(s.Output)), ""
	}
	s.Refused = false
	s.Open = s.End == 0 && !s.Failed
	return s
}

func (r record) facts() trace.Facts {
	name := r.text("name")
	switch r.text("type") {
	case "TOOL":
		f := trace.Facts{Kind: trace.Tool, Tool: strings.TrimPrefix(name, "execute_tool "), Input: ingest.UnwrapArguments(r.json("input"))}
		f.Output, f.CallID, f.Refused = ingest.UnwrapResult(r.json("output"))
		return f
	case "GENERATION":
		f := trace.Facts{
			Kind: trace.Model, Model: cmp.Or(r.text("model"), r.text("providedmodelname")),
			Cost: r.cost(),
		}
		f.Usage, f.Tokens = r.usage()
		return f
	case "AGENT":
		return trace.Facts{Kind: trace.Agent, Agent: strings.TrimPrefix(name, "invoke_agent ")}
	case "CHAIN":
		return trace.Facts{Kind: trace.Workflow}
	}
	return trace.Facts{}
}

// cost returns the cost in US dollars.
func (r record) cost() float64 {
	for _, n := range []float64{
		r.number("totalcost"), r.number("calculatedtotalcost"), number(r.object("costdetails")["total"]),
	} {
		if n > 0 {
			return n
		}
	}
	return 0
}

// usage returns the tokens by kind and their total. The kinds of the details exclude each other if they add up to the total.
func (r record) usage() (trace.Usage, int64) {
	var u trace.Usage
	var total int64
	details := r.object("usagedetails")
	for name, v := range details {
		n := int64(number(v))
		switch {
		case name == "total":
			total = n
			continue
		case strings.Contains(name, "reasoning"):
			u.Reasoning += n
		case strings.Contains(name, "creation") || strings.Contains(name, "write"):
			u.CacheWrite += n
		case strings.Contains(name, "cache"):
			u.CachedInput += n
		}
		if strings.Contains(name, "output") || strings.Contains(name, "completion") || strings.Contains(name, "reasoning") {
			u.Output += n
		} else {
			u.Input += n
		}
	}
	if sum := u.Input + u.Output; total == 0 {
		total = sum
	} else if sum > total { // the kinds include each other
		u.Input, u.Output = int64(number(details["input"])), int64(number(details["output"]))
	}
	if total > 0 {
		return u, total
	}
	return r.oldUsage()
}

// oldUsage returns the usage of observations without details: an object, or members of the observation.
func (r record) oldUsage() (trace.Usage, int64) {
	usage := make(record)
	for name, v := range r.object("usage") {
		usage[plain(name)] = v
	}
	sum := func(names ...string) int64 {
		for _, name := range names {
			if n := max(usage.number(name), r.number(name)); n > 0 {
				return int64(n)
			}
		}
		return 0
	}
	u := trace.Usage{Input: sum("inputusage", "prompttokens"), Output: sum("outputusage", "completiontokens")}
	if u == (trace.Usage{}) { // beside a usage, "input" is the input of the observation
		u = trace.Usage{Input: int64(usage.number("input")), Output: int64(usage.number("output"))}
	}
	return u, max(sum("totalusage", "totaltokens"), int64(usage.number("total")), u.Input+u.Output)
}
