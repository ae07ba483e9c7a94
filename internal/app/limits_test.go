package app

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/grpcd"
	"github.com/unloop-ai/unloop/internal/httpd"
	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/proxy"
)

// limitRow matches a row of the table of limits: what is limited, the default up to a remark, and the setting.
var limitRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| ([^|;]+)(?:;[^|]*)? \\| (?:`([a-z_.]+)` )?\\|$")

// grouped writes a number with commas between groups of three digits, below 1,000,000.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// inUnits writes a size as pages do: with a space before the unit.
func inUnits(bytes int64) string {
	text := config.Size(bytes).String()
	digits := strings.TrimRight(text, "KMGiB")
	return digits + " " + text[len(digits):]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// partOfMemory names the part of the memory that is a share.
func partOfMemory(share func(memory.Shares) int64) string {
	const budget = 1 << 30
	switch parts := budget / share(memory.Split(budget)); parts {
	case 8:
		return "an eighth of `memory`"
	case 16:
		return "a sixteenth of `memory`"
	default:
		return fmt.Sprint("1/", parts, " of `memory`")
	}
}

func TestThePageOnSecurityHasTheLimitsOfTheProgram(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Limits\n")
	text, _, _ = strings.Cut(text, "\n## ")
	type limit struct{ Default, Setting string }
	got := make(map[string]limit)
	for _, row := range limitRow.FindAllStringSubmatch(text, -1) {
		if row[1] != "what" {
			got[row[1]] = limit{row[2], row[3]}
		}
	}
	c, http, grpc := config.Default(), httpd.DefaultLimits(), grpcd.DefaultOptions()
	want := map[string]limit{
		"body of a request, as sent and as unpacked": {inUnits(int64(c.Limits.Body)), "limits.body"},
		"events in a request":                        {grouped(c.Limits.Batch), "limits.batch"},
		"depth of an event's JSON":                   {fmt.Sprint(c.Limits.Depth, " levels"), "limits.depth"},
		"id or name":                                 {fmt.Sprint(http.Name, " bytes"), ""},
		"connections, of HTTP and of gRPC each":      {grouped(c.Limits.Connections), "limits.connections"},
		"silence of such a client":                   {seconds(http.Silence), ""},
		"streams at once":                            {grouped(http.Streams), ""},
		"header of a request":                        {inUnits(int64(http.Header)), ""},
		"time to send a header, a request":           {seconds(http.HeaderTime) + ", " + seconds(http.ReadTime), ""},
		"time in which a client reads an answer, or a part of a stream":                 {seconds(http.WriteTime), ""},
		"calls of gRPC at once, a quarter of them of one connection; time of a call":    {fmt.Sprint(grpc.Calls, ", ", seconds(grpc.Timeout)), ""},
		"time in which a request arrives while another one waits for its memory":        {seconds(memory.Patience), ""},
		"answers of more than 64 KiB, and parts of streams, that clients have not read": {partOfMemory(func(s memory.Shares) int64 { return s.Answers }), ""},
		"updates that wait in streams":                                                  {partOfMemory(func(s memory.Shares) int64 { return s.Updates }), ""},
		"events that wait to be recorded":                                               {grouped(c.Limits.QueueEvents), "limits.queue_events"},
		"the same in bytes":                                                             {partOfMemory(func(s memory.Shares) int64 { return s.Queue }), "limits.queue_bytes"},
		"traces in memory, in bytes":                                                    {partOfMemory(func(s memory.Shares) int64 { return s.Traces }), "limits.trace_bytes"},
		"runs in memory":                                                                {grouped(c.LiveRuns), "live_runs"},
		"request that `unloop proxy` judges, as sent and as unpacked":                   {inUnits(proxy.MaxBody), ""},
		"memory of all requests that `unloop proxy` reads, judges and sends": {
			"an eighth of the memory of the machine or container, in a server of `memory`, and at least " + inUnits(proxy.LeastBodies), "",
		},
		"text that one secret rule examines":  {fmt.Sprint(mask.MaxReach, " bytes"), ""},
		"levels of escapes that are resolved": {fmt.Sprint(mask.MaxDepth), ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/security.md (-the program +the page):\n%s", diff)
	}
	// The two servers take the same connections and requests.
	if http.Body != int64(c.Limits.Body) || http.Events != c.Limits.Batch || http.Levels != c.Limits.Depth || http.Connections != c.Limits.Connections ||
		grpc.Message != int(http.Body) || grpc.Silence != http.Silence {
		t.Errorf("other defaults than the configuration: HTTP %+v, gRPC %+v, configuration %+v", http, grpc, c.Limits)
	}
}
