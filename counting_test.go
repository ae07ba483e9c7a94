package unloop

import (
	"fmt"
	"testing"
)

// A number that counts the attempts or the time, and a name that the agent's own call gave, are no progress.
func TestWhatCountsOnByItself(t *testing.T) {
	for name, c := range map[string]struct {
		round func(n int) []Event
		least float64
		most  float64
	}{
		"one command queued again, and a counter of what waits grows by one": {func(n int) []Event {
			return []Event{
				call("send_command", `{"meter":"SM-41257","command":"close"}`, fmt.Sprintf(`{"command_id":"cmd-%d3e","state":"accepted"}`, 4711+n*977)),
				call("get_meter", `{"meter":"SM-41257"}`, fmt.Sprintf(`{"meter":"SM-41257","relay":"open","waiting_commands":%d}`, n+1)),
			}
		}, 2, 4},
		"one command sent again, and a counter grows by what it did": {func(n int) []Event {
			return []Event{
				call("send_command", `{"meter":"SM-41257","command":"next"}`, fmt.Sprintf(`{"command_id":"cmd-%d3e","state":"accepted"}`, 4711+n*977)),
				call("get_meter", `{"meter":"SM-41257"}`, fmt.Sprintf(`{"meter":"SM-41257","relay":"open","rows_written":%d}`, 500*(n+1))),
			}
		}, 0, 1.5},
		"one command sent again, and it gets nearer to a total": {func(n int) []Event {
			return []Event{
				call("send_command", `{"meter":"SM-41257","command":"next"}`, fmt.Sprintf(`{"command_id":"cmd-%d3e","state":"accepted"}`, 4711+n*977)),
				call("get_meter", `{"meter":"SM-41257"}`, fmt.Sprintf(`{"meter":"SM-41257","relay":"open","pages_written":%d,"pages":9}`, n+1)),
			}
		}, 0, 1.5},
		"one question again, and the answers are numbered": {func(n int) []Event {
			return []Event{call("get_entry", `{"key":"kettle"}`, fmt.Sprintf(`{"seq":%d,"status":"not found"}`, 17+n))}
		}, 2, 4},
		"one question again, and the requests are numbered by threes": {func(n int) []Event {
			return []Event{call("get_entry", `{"key":"kettle"}`, fmt.Sprintf(`"request %d: the shop has no such entry"`, 17+3*n))}
		}, 2, 4},
		"one question again, and each answer begins with its number": {func(n int) []Event {
			return []Event{call("get_entry", `{"key":"kettle"}`, fmt.Sprintf(`"[%d] the shop has no such entry"`, 17+n))}
		}, 2, 4},
		"one question again, and it counts what is done": {func(n int) []Event {
			return []Event{call("get_entry", `{"key":"kettle"}`, fmt.Sprintf(`"processed %d files"`, 17+n))}
		}, 0, 1.5},
		"one question again, and it counts requests of a total": {func(n int) []Event {
			return []Event{call("get_entry", `{"key":"kettle"}`, fmt.Sprintf(`"request %d of 200"`, 17+n))}
		}, 0, 1.5},
		"the age of a source grows": {func(n int) []Event {
			return []Event{
				call("query", `{"text":"when was the source loaded"}`, fmt.Sprintf(`[('source orders, last loaded on Monday', '43:%02d:36')]`, 5+n*(n+1))),
				call("get_source", `{"source":"orders"}`, fmt.Sprintf(`{"source":"orders","state":"active","records":0,"lag_seconds":%d}`, 159181+90*n)),
			}
		}, 2, 4},
		"the lag of a replica falls": {func(n int) []Event {
			return []Event{
				call("get_source", `{"source":"orders"}`, fmt.Sprintf(`{"source":"orders","state":"active","records":0,"lag_seconds":%d}`, 900-90*n)),
			}
		}, 0, 1},
		"one search again, and what is left of a quota": {func(n int) []Event {
			return []Event{call("search", `{"query":"login page"}`, fmt.Sprintf(`{"results":[],"meta":{"credits_remaining":%d,"ratelimit_used":%d}}`, 4712-n, 30+n))}
		}, 2, 4},
		"one page again, and what a plan has used of its quota": {func(n int) []Event {
			return []Event{call("read_page", `{"page":"start"}`, fmt.Sprintf(`"Please log in first, with the name and the password of the shop.\nQuota used: %d"`, 210+7*n))}
		}, 2, 4},
		"one queue again, and what is left of it": {func(n int) []Event {
			return []Event{call("get_queue", `{"queue":"mail"}`, fmt.Sprintf(`{"queue":"mail","state":"draining","mails_remaining":%d}`, 4712-200*n))}
		}, 0, 1},
		"a migration generated anew fails under another id": {func(n int) []Event {
			return []Event{
				call("bash", fmt.Sprintf(`{"command":"rm versions/c18%df4ed6_unit.py; alembic revision --autogenerate -m unit"}`, n), fmt.Sprintf(`"INFO compare Detected added column orders.unit\nGenerating versions/c18%df4ed6_unit.py done"`, n+1)),
				call("upgrade", `{"to":"head"}`, fmt.Sprintf(`"Error: upgrade from 4919b27 to c18%df4ed6, add unit\nIntegrityError: column unit of relation orders contains null values"`, n+1)),
			}
		}, 1.2, 4},
		"an element of each new snapshot, and the page stays": {func(n int) []Event {
			page := ""
			for k, line := range []string{"link Orders", "link Customers of the shop", "heading Electric kettle with lid", "text In stock, delivered in two days", "select Quantity", "button Add to basket", "link Terms of delivery"} {
				page += fmt.Sprintf("uid=%d_%d %s\\n", n+2, k, line)
			}
			return []Event{call("click", fmt.Sprintf(`{"uid":"%d_5"}`, n+1), `"Clicked on the element\n`+page+`"`)}
		}, 1.2, 4},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wasted(5, c.round); got < c.least || got > c.most {
				t.Errorf("%.2f steps were wasted, want from %.1f to %.1f", got, c.least, c.most)
			}
		})
	}
}
