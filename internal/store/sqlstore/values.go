package sqlstore

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// The times that fit into nanoseconds.
var (
	earliest = time.Unix(0, math.MinInt64)
	latest   = time.Unix(0, math.MaxInt64)
)

// toNanos returns the stored form of a time.
func toNanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Before(earliest):
		return math.MinInt64
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// fromNanos returns the time of a stored form.
func fromNanos(stamp int64) time.Time {
	if stamp == 0 {
		return time.Time{}
	}
	return time.Unix(0, stamp).UTC()
}

// finite returns f, 0 for NaN, and the nearest finite number for an infinity.
func finite(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, -math.MaxFloat64), math.MaxFloat64)
}

// optional returns nil for no bytes.
func optional(bytes []byte) any {
	if len(bytes) == 0 {
		return nil
	}
	return bytes
}

// name returns the text, or nil for nil.
func name(s *string) any {
	if s == nil {
		return nil
	}
	return store.Text(*s)
}

// object returns stored JSON; nil for none.
func object(bytes []byte) json.RawMessage {
	if len(bytes) == 0 {
		return nil
	}
	return bytes
}

// quoted returns a tool as it is stored in a list of tools. No stored tool is a part of another.
func quoted(tool string) string { return "\n" + strconv.Quote(store.Text(tool)) + "\n" }

// list returns the stored form of tools: one per line, with a line end at both ends.
func list(tools []string) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	for _, tool := range tools {
		b.WriteByte('\n')
		b.WriteString(strconv.Quote(store.Text(tool)))
	}
	b.WriteByte('\n')
	return b.String()
}

// listed reads the output of list.
func listed(kept string) (tools []string, err error) {
	for line := range strings.Lines(strings.Trim(kept, "\n")) {
		tool, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// refold returns the stored form of the mark of a run.
func refold(r *store.Refold) string {
	if r == nil {
		return ""
	}
	kept := *r
	kept.Name = store.Text(r.Name)
	text, err := json.Marshal(kept)
	if err != nil {
		panic(fmt.Sprintf("a refold is numbers and text: %v", err))
	}
	return string(text)
}

// refolded reads the output of refold.
func refolded(kept string) (r *store.Refold, err error) {
	if kept != "" {
		err = json.Unmarshal([]byte(kept), &r)
	}
	return r, err
}

// encodePreview returns the JSON of a preview as the database stores it.
func encodePreview(g *store.Preview) string {
	text, err := json.Marshal(g)
	if err != nil {
		return "" // it has a number that JSON cannot represent
	}
	return string(text)
}

// decodePreview returns the preview that encodePreview wrote.
func decodePreview(kept string) (g store.Preview, err error) {
	if kept != "" {
		err = json.Unmarshal([]byte(kept), &g)
	}
	return g, err
}
