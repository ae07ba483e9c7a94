package otlp

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/sink"
)

// eventName is the event of the GenAI semantic conventions for the result of an evaluation. A warning is one: of a run, by a rule.
const eventName = "gen_ai.evaluation.result"

// severities are those of log records, by the severity of the warning.
var severities = map[unloop.Severity]plog.SeverityNumber{
	unloop.SeverityInfo: plog.SeverityNumberInfo, unloop.SeverityWarning: plog.SeverityNumberWarn, unloop.SeverityCritical: plog.SeverityNumberError,
}

// logs returns one log record. Equal notices give equal records.
func (n *notifier) logs(notice *sink.Notice, span sink.Span) plog.Logs {
	all := plog.NewLogs()
	resource := all.ResourceLogs().AppendEmpty()
	scope := resource.ScopeLogs().AppendEmpty()
	n.identify(resource.Resource(), scope.Scope())

	r, warning := scope.LogRecords().AppendEmpty(), &notice.Warning
	r.SetEventName(eventName)
	r.SetTimestamp(timestamp(warning.UpdatedAt))
	r.SetSeverityNumber(severities[unloop.Severity(warning.Severity)])
	r.SetSeverityText(warning.Severity)
	r.Body().SetStr(warning.Message)
	var trace pcommon.TraceID
	if decode(trace[:], span.TraceID) {
		r.SetTraceID(trace)
	}
	r.Attributes().PutStr("log.record.uid", notice.ID)
	n.describe(attributes{r.Attributes()}, notice)
	return all
}

// identify names the sender.
func (n *notifier) identify(resource pcommon.Resource, scope pcommon.InstrumentationScope) {
	resource.Attributes().PutStr("service.name", "unloop")
	resource.Attributes().PutStr("service.version", n.Version)
	scope.SetName("github.com/unloop-ai/unloop")
	scope.SetVersion(n.Version)
}

// timestamp returns 0, which means unknown, for a text that is no time.
func timestamp(text string) pcommon.Timestamp {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return pcommon.NewTimestampFromTime(at)
}

// describe sets the attributes. docs/otlp-export.md lists them.
func (n *notifier) describe(to attributes, notice *sink.Notice) {
	run, warning := &notice.Run, &notice.Warning
	to.text("gen_ai.evaluation.name", warning.Type)
	to.text("gen_ai.evaluation.score.label", notice.Level)
	to.text("gen_ai.evaluation.explanation", warning.Message)
	to.textOrNull("gen_ai.tool.name", warning.Tool)
	if len(run.Agents) == 1 {
		to.text("gen_ai.agent.name", run.Agents[0])
	}
	to.text("unloop.run.id", run.ID)
	to.text("unloop.run.name", run.Name)
	to.text("unloop.run.project", run.Project)
	to.text("unloop.run.status", run.Status)
	to.text("unloop.run.url", sink.RunURL(n.URL, run.ID))
	to.number("unloop.run.health_score", run.HealthScore)
	to.textOrNull("unloop.run.guarded_by", run.GuardedBy)
	to.text("unloop.warning.id", warning.ID)
	to.text("unloop.warning.subject", warning.Subject)
	to.text("unloop.warning.severity", warning.Severity)
	to.text("unloop.warning.why", notice.Why)
	to.text("unloop.warning.try", notice.Try)
	to.textOrNull("unloop.warning.event_id", warning.EventID)
	if warning.Count != nil {
		to.number("unloop.warning.count", *warning.Count)
	}
	if d := notice.Decision; d != nil {
		to.text("unloop.decision.action", d.Action)
		to.text("unloop.decision.code", d.Code)
		to.text("unloop.decision.event_id", d.EventID)
		to.PutBool("unloop.decision.by_guard", d.ByGuard)
	}
}

// attributes leaves out texts that are empty or null.
type attributes struct{ pcommon.Map }

func (a attributes) text(key, value string) {
	if value != "" {
		a.PutStr(key, value)
	}
}

func (a attributes) textOrNull(key string, value *string) {
	if value != nil {
		a.text(key, *value)
	}
}

func (a attributes) number(key string, value int) { a.PutInt(key, int64(value)) }
