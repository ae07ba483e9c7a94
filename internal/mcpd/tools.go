package mcpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unloop-ai/unloop/internal/api"
)

// Limits of an answer.
const (
	maxRuns   = 1000
	maxEvents = 1000
)

type (
	nothing  struct{}
	runsArgs struct {
		Limit *int `json:"limit,omitempty" jsonschema:"maximum number of runs, 1 to 1000; default 20"`
	}
	runArgs struct {
		ID string `json:"run_id" jsonschema:"the run's id"`
	}
	eventsArgs struct {
		ID    string `json:"run_id" jsonschema:"the run's id"`
		Limit *int   `json:"limit,omitempty" jsonschema:"maximum number of events, 1 to 1000; default 100"`
	}

	// list is the output of a tool with several results. Clients of older revisions accept only an object.
	list[T any] struct {
		Result []T `json:"result" doc:"The list."`
	}
)

// tools are the tools of a source.
type tools struct{ Source }

func addTools(server *mcp.Server, s Source) {
	t := tools{s}
	add(server, "list_runs", "Lists runs of agents, the latest started first, each with its health and its number of warnings. "+
		"Use it to see which runs are stuck.", t.runs)
	add(server, "latest_run_diagnosis", "Reports whether the run that started last loops: a verdict in one sentence, then its warnings, "+
		"the most significant first, each with the supporting events and what to try.", t.latest)
	add(server, "get_run_diagnosis", "Reports whether a run loops: a verdict in one sentence, then its warnings, the most significant first, "+
		"each with the supporting events and what to try.", t.diagnosis)
	add(server, "get_run_warnings", "Lists the warnings of a run with all details, the most significant first.", t.warnings)
	add(server, "get_run_metrics", "Returns the totals of a run: events, calls, errors, tokens, cost, latencies and health.", t.metrics)
	add(server, "get_run_events", fmt.Sprintf("Lists the last events of a run in order: calls with their inputs and outputs, "+
		"messages, retries, handoffs. Inputs, outputs, errors, metadata and texts are cut to %d bytes; truncated lists the cut ones.",
		maxText), t.events)
}

// add adds a read-only tool. The text of its answer is for the agent; "" means the JSON of the output.
func add[In, Out any](server *mcp.Server, name, description string, answer func(context.Context, In) (Out, string, error)) {
	here := false
	tool := &mcp.Tool{
		Name: name, Description: description,
		OutputSchema: schemaOf[Out](),
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &here},
	}
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (r *mcp.CallToolResult, out Out, err error) {
		defer func() {
			if recover() != nil { // the panic may quote a run
				err = errors.New("the tool failed because of a bug in unloop")
			}
		}()
		out, text, err := answer(ctx, in)
		if err != nil || text == "" {
			return nil, out, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, out, nil
	})
}

// schemaOf returns the schema of an output. The members have their descriptions in the tag doc.
func schemaOf[T any]() any {
	output := reflect.TypeFor[T]()
	for output.Kind() == reflect.Pointer { // only an error has no output
		output = output.Elem()
	}
	schema, err := jsonschema.ForType(output, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, // any value
	}})
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", output, err)) // impossible: the types are fixed
	}
	describe(schema, output)
	return schema
}

// describe adds the descriptions of the members of t, and of what they contain.
func describe(schema *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice && schema.Items != nil {
		describe(schema.Items, t.Elem())
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if p := schema.Properties[name]; p != nil {
			p.Description = field.Tag.Get("doc")
			describe(p, field.Type)
		}
	}
}

// limit returns the requested limit, or the default.
func limit(given *int, otherwise, most int) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if *given < 1 || *given > most {
		return 0, fmt.Errorf("limit is %d; it must be from 1 to %d", *given, most)
	}
	return *given, nil
}

func (t tools) runs(ctx context.Context, in runsArgs) (list[summary], string, error) {
	most, err := limit(in.Limit, 20, maxRuns)
	if err != nil {
		return list[summary]{}, "", err
	}
	runs, err := t.Runs(ctx, most)
	return listOf(runs, summaryOf), "", err
}

// listOf returns the output with a result for each value of all. It lists no values as [], because null is no list.
func listOf[In, Out any](all []In, one func(*In) Out) list[Out] {
	l := list[Out]{make([]Out, 0, len(all))}
	for i := range all {
		l.Result = append(l.Result, one(&all[i]))
	}
	return l
}

func (t tools) latest(ctx context.Context, _ nothing) (*diagnosis, string, error) {
	runs, err := t.Runs(ctx, 1)
	if err != nil {
		return nil, "", err
	}
	if len(runs) == 0 {
		return nil, "", errors.New("there are no runs yet")
	}
	return t.diagnosisOf(ctx, &runs[0])
}

func (t tools) diagnosis(ctx context.Context, in runArgs) (*diagnosis, string, error) {
	run, err := t.Run(ctx, in.ID)
	if err != nil {
		return nil, "", err
	}
	return t.diagnosisOf(ctx, run)
}

func (t tools) diagnosisOf(ctx context.Context, run *api.RunSummary) (*diagnosis, string, error) {
	warnings, err := t.Warnings(ctx, run.ID)
	if err != nil {
		return nil, "", err
	}
	d := diagnose(run, warnings)
	return d, d.text(), nil
}

func (t tools) warnings(ctx context.Context, in runArgs) (list[titled], string, error) {
	warnings, err := t.Warnings(ctx, in.ID)
	return listOf(bySignificance(warnings), titledOf), "", err
}

func (t tools) metrics(ctx context.Context, in runArgs) (*api.Metrics, string, error) {
	m, err := t.Metrics(ctx, in.ID)
	return m, "", err
}

func (t tools) events(ctx context.Context, in eventsArgs) (list[shortened], string, error) {
	most, err := limit(in.Limit, 100, maxEvents)
	if err != nil {
		return list[shortened]{}, "", err
	}
	events, err := t.Events(ctx, in.ID, most)
	return listOf(events, shorten), "", err
}
