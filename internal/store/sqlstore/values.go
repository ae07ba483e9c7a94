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

// The range of times in nanoseconds.
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

// optional returns nil for empty bytes.
func optional(bytes []byte) any {
	if len(bytes) == 0 {
		return nil
	}
	return bytes
}

// name returns the text, or nil for nil.
func name(s *string) *string {
	if s == nil {
		return nil
	}
	text := store.Text(*s)
	return &text
}

// object returns stored JSON, or nil for none.
func object(bytes []byte) json.RawMessage {
	if len(bytes) == 0 {
		return nil
	}
	return bytes
}

// quoted returns a name as it is stored in a list of names. No stored name is a part of another.
func quoted(tool string) string { return "\n" + strconv.Quote(store.Text(tool)) + "\n" }

// list returns the stored form of names: one per line, with a line end at both ends.
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

// shown are the figures of a run that no query reads.
type shown struct {
	Metrics store.Metrics `json:"metrics"`
	Preview store.Preview `json:"preview"`
	Guard   store.Guard   `json:"guard,omitzero"`
	Untimed bool          `json:"untimed,omitzero"`
	Hints   []string      `json:"hints,omitempty"`

	Controls []store.Control `json:"controls,omitempty"`
}

// encodeShown returns the stored JSON of the figures. Numbers that JSON does not support are dropped.
func encodeShown(r *store.Run) string {
	kept := shown{r.Metrics, r.Preview, r.Guard, r.Untimed, r.Hints, r.Controls}
	kept.Guard.ShadowedBy = store.Text(r.Guard.ShadowedBy)
	m := &kept.Metrics
	for _, number := range []*float64{&m.Duration, &m.Cost, &m.MeanLatency, &m.MaxLatency} {
		*number = store.Finite(*number)
	}
	m.BusiestTool, m.BusiestAgent = name(m.BusiestTool), name(m.BusiestAgent)
	text, err := json.Marshal(kept)
	if err != nil { // the preview has a number that is not finite
		kept.Preview = store.Preview{}
		text, _ = json.Marshal(kept)
	}
	return string(text)
}

// decodeShown sets the figures from the output of encodeShown.
func decodeShown(text string, r *store.Run) error {
	kept := shown{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return err
		}
	}
	r.Metrics, r.Preview, r.Guard, r.Untimed, r.Hints = kept.Metrics, kept.Preview, kept.Guard, kept.Untimed, kept.Hints
	r.Controls = kept.Controls
	return nil
}

// toInt returns the stored form of a truth value.
func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
