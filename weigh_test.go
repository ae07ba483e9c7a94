package unloop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// wasted returns how much of the latest steps was wasted, in a run of rounds. A round is made of calls with their outputs.
func wasted(rounds int, round func(n int) []Event) float64 {
	r := NewRun("r", measured)
	for n := range rounds {
		for _, e := range round(n) {
			r.Add(&Event{Type: ToolCallStarted, Tool: e.Tool, Input: e.Input})
			r.Add(&Event{Type: ToolCallCompleted, Tool: e.Tool, Output: e.Output})
		}
	}
	return r.Meter().Wasted
}

func call(tool, input, output string) Event {
	return Event{Tool: tool, Input: json.RawMessage(input), Output: json.RawMessage(output)}
}

func TestWhatIsWasted(t *testing.T) {
	for name, c := range map[string]struct {
		round func(n int) []Event
		least float64
		most  float64
	}{
		"one value written again, and the cell stays as it is": {func(n int) []Event {
			return []Event{
				call("update_cells", fmt.Sprintf(`{"range":"A!F23","values":["%d.5"],"mode":"ENTERED"}`, 8300+97*n), `{"range":"A!F23","rows":1,"columns":1,"cells":1}`),
				call("get_cells", `{"range":"A!F23:F23"}`, `{"range":"A!F23","dimension":"ROWS","values":["1432.53"]}`),
			}
		}, 2, 4},
		"one patch sent again with another comment": {func(n int) []Event {
			return []Event{
				call("submit_patch", fmt.Sprintf(`{"message":"as %s said, this is done","diff":"@@ -12,4 +12,7 @@ def load(path): file = open(path) return json.load(file)"}`, cities[n]), fmt.Sprintf(`"Patch set %d uploaded."`, n+1)),
			}
		}, 1.5, 6},
		"one report in another order under another name": {func(n int) []Event {
			facts := []string{"all 40 tests pass", "the build has no warnings", "the documentation is complete", "no interface has changed", "the packages are up to date", "ready to be deployed", "12 files are changed"}
			text := fmt.Sprintf("# %s report", cities[n])
			for k := range facts {
				text += "\\n- " + facts[(n+k*(1+n))%len(facts)]
			}
			return []Event{call("write_file", fmt.Sprintf(`{"path":"%s.md","text":"%s"}`, cities[n], text), fmt.Sprintf(`"Created %s.md."`, cities[n]))}
		}, 2, 4},
		"one manifest for each service, in the same order": {func(n int) []Event {
			text := fmt.Sprintf(`kind: one more service\nname: %s\nimage is built of main\nreplicas are three always\nports are open inside\nprobes ask for health`, cities[n])
			return []Event{call("write_file", fmt.Sprintf(`{"path":"%s.yaml","text":"%s"}`, cities[n], text), fmt.Sprintf(`"Created %s.yaml."`, cities[n]))}
		}, 0, 0.5},
		"other patches sent": {func(n int) []Event {
			return []Event{
				call("submit_patch", fmt.Sprintf(`{"message":"as %s said","diff":"the port of %s gets a crane, a tower of stone and %d more piers"}`, cities[n], cities[n], n+2), fmt.Sprintf(`"Patch set %d uploaded."`, n+1)),
			}
		}, 0, 0.5},
		"other places changed, and the status stays as it is": {func(n int) []Event {
			return []Event{
				call("edit_file", fmt.Sprintf(`{"path":"%s.go","text":"the capital %s has %d harbours and a road to the north"}`, cities[n], cities[n], n), `"edited"`),
				call("git_status", `{}`, `"On branch main, with changes that are not staged for commit"`),
			}
		}, 0, 1.5},
		"one large sum by other means": {func(n int) []Event {
			return []Event{call("python", fmt.Sprintf(`{"code":"print(sum_%s(df['amount']))"}`, cities[n]), `"313314.62"`)}
		}, 1.5, 4},
		"other sums": {func(n int) []Event {
			return []Event{call("python", fmt.Sprintf(`{"code":"print(sum_%s(df['amount']))"}`, cities[n]), fmt.Sprintf(`"%d.62"`, 313314+7919*n*n))}
		}, 0, 1},
		"a shell that finds an empty list in other words": {func(n int) []Event {
			return []Event{call("bash", fmt.Sprintf(`{"command":"python3 -c 'print(find(%q))' page.html"}`, cities[n%3]), `"[]\n[Command finished with exit code 0]"`)}
		}, 1, 4},
		"the stock of one place after another, which is empty": {func(n int) []Event {
			return []Event{call("query_stock", fmt.Sprintf(`{"sku":"SKU-4","place":"%s"}`, cities[n]), `{"on_hand":0,"reserved":0}`)}
		}, 0, 1},
		"the stock of one place again and again": {func(int) []Event {
			return []Event{call("query_stock", `{"sku":"SKU-4","place":"Lima"}`, `{"on_hand":0,"reserved":0}`)}
		}, 2, 4},
		"one partition after another, with one acknowledgement": {func(n int) []Event {
			return []Event{call("run_query", fmt.Sprintf(`{"sql":"VACUUM visits_2026_%02d"}`, n+1), `"VACUUM"`)}
		}, 0, 1},
		"a shell that changes one file after another in silence": {func(n int) []Event {
			return []Event{call("bash", fmt.Sprintf(`{"command":"mv %s.txt archive/%s-%d.txt"}`, cities[n], cities[n], n), `"\n[Command finished with exit code 0]"`)}
		}, 0, 0.5},
		"one setting after another, each on a page of its own": {func(n int) []Event {
			page := func(state string) string {
				return fmt.Sprintf(`"App notifications\n%s\nAll %s notifications: %s\nAllow sounds and banners"`, cities[n], cities[n], state)
			}
			return []Event{
				call("tap", fmt.Sprintf(`{"action":"click","target":"%s"}`, cities[n]), page("on")),
				call("tap", fmt.Sprintf(`{"action":"click","target":"All %s notifications"}`, cities[n]), page("off")),
			}
		}, 0, 2},
		"a list that counts the settings changed so far": {func(n int) []Event {
			return []Event{
				call("edit_setting", fmt.Sprintf(`{"name":"%s","value":"off"}`, cities[n]), `"saved"`),
				call("show_list", `{}`, fmt.Sprintf(`"All apps of this device\nThe notifications of %d apps are off"`, n)),
				call("show_help", `{"topic":"apps"}`, `"Choose an app to change its notifications, then go back to the list"`),
			}
		}, 0, 0.9},
		"a list with a count that goes up and down": {func(n int) []Event {
			return []Event{
				call("edit_setting", fmt.Sprintf(`{"name":"%s","value":"off"}`, cities[n]), `"saved"`),
				call("show_list", `{}`, fmt.Sprintf(`"All apps of this device\nThe notifications of %d apps are off"`, n%2)),
				call("show_help", `{"topic":"apps"}`, `"Choose an app to change its notifications, then go back to the list"`),
			}
		}, 1, 4},
		"a calibration whose error gets smaller on each axis": {func(n int) []Event {
			axis, um := n/3, []int{962, 320, 160}[n%3]
			return []Event{call("calibrate_axis", fmt.Sprintf(`{"axis":"%c","feed":600}`, 'x'+axis), fmt.Sprintf(`{"axis":"%c","error_um":%d,"ok":false}`, 'x'+axis, um))}
		}, 0, 1.5},
		"a calibration whose error goes up and down": {func(n int) []Event {
			return []Event{call("calibrate_axis", `{"axis":"x","feed":600}`, fmt.Sprintf(`{"axis":"x","error_um":%d,"ok":false}`, []int{962, 940, 971}[n%3]))}
		}, 2, 4},
		"one button that shows another page each time": {func(n int) []Event {
			return []Event{
				call("list_elements", `{"device":"emulator"}`, fmt.Sprintf(`[{"type":"TextView","text":"The harbour of %s","coordinates":{"x":84,"y":1310,"width":912,"height":96}},{"type":"Button","text":"Next","coordinates":{"x":420,"y":2040,"width":240,"height":120}}]`, cities[n])),
				call("click", `{"x":540,"y":2100}`, `"Clicked at 540, 2100"`),
			}
		}, 0, 0.5},
		"one button that shows the same page": {func(n int) []Event {
			return []Event{
				call("list_elements", `{"device":"emulator"}`, `[{"type":"TextView","text":"The harbour of Lima","coordinates":{"x":84,"y":1310,"width":912,"height":96}},{"type":"Button","text":"Next","coordinates":{"x":420,"y":2040,"width":240,"height":120}}]`),
				call("click", `{"x":540,"y":2100}`, `"Clicked at 540, 2100"`),
			}
		}, 2, 4},
		"one account locked after another": {func(n int) []Event {
			return []Event{call("lock_account", fmt.Sprintf(`{"account":"%s","period":"2026-05"}`, cities[n]), fmt.Sprintf(`{"account":"%s","period":"2026-05","locked":true,"locked_at":"2026-06-25T12:01:46Z"}`, cities[n]))}
		}, 0, 0.2},
		"a draft that comes back with one more revision": {func(n int) []Event {
			return []Event{
				call("edit_line", fmt.Sprintf(`{"line":7,"comment":"the purpose of this dinner was the city of %s and its harbour"}`, cities[n]), `{"line":7,"receipt":null,"saved":true}`),
				call("submit_report", `{"report":"EXP-1"}`, fmt.Sprintf(`{"report":"EXP-1","outcome":"returned","revision":%d,"violations":["line 7: a receipt must be attached to expenses over 25 EUR"]}`, n+2)),
			}
		}, 1, 4},
		"one recording transcribed with other settings": {func(n int) []Event {
			return []Event{call("transcribe_audio", fmt.Sprintf(`{"file":"call.mp3","model":"%s"}`, []string{"base", "small", "large"}[n%3]), `{"text":"[Music]","language":"en"}`)}
		}, 2, 4},
		"each breaker switched off and on again": {func(n int) []Event {
			turn := func(way string) Event {
				return call("call_service", fmt.Sprintf(`{"service":"turn_%s","target":"breaker_%s"}`, way, cities[n]), fmt.Sprintf(`"Service switch.turn_%s called. 1 entity affected."`, way))
			}
			return []Event{turn("off"), call("get_state", `{"entity_id":"sensor.main_power"}`, fmt.Sprintf(`{"entity_id":"sensor.main_power","state":"%d"}`, 412+n*5%7)), turn("on")}
		}, 0, 1},
		"one table selected from in other words": {func(n int) []Event {
			return []Event{call("execute_sql", fmt.Sprintf(`{"sql":"SELECT sum(total) AS s%d FROM bills WHERE city IS NOT NULL"}`, n), `"[{\"sum\":\"none so far\"}]"`)}
		}, 0.8, 4},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wasted(len(cities), c.round); got < c.least || got > c.most {
				t.Errorf("%.2f steps were wasted, want from %.1f to %.1f", got, c.least, c.most)
			}
		})
	}
}

func TestANewLineInTheAnswerToAnEqualCallIsNovelty(t *testing.T) {
	titles := []string{"Welcome to Portal", "Share with your team", "Your data stays here", "Works without a network", "Choose your language", "Set a daily goal"}
	got := wasted(len(titles), func(n int) []Event {
		return []Event{
			call("list_elements", `{"device":"emulator"}`, fmt.Sprintf(`[{"type":"TextView","text":"%s","coordinates":{"x":84,"y":1310,"width":912,"height":96}},{"type":"Button","text":"Next","coordinates":{"x":420,"y":2040,"width":240,"height":120}}]`, titles[n])),
			call("click", `{"x":540,"y":2100}`, `"Clicked at 540, 2100"`),
		}
	})
	if got >= 2 {
		t.Errorf("wasted %.2f, want less than 2: each page has another title", got)
	}
}

func TestAnIDThatARepeatedCallReturnedNamesNoNewItem(t *testing.T) {
	for _, c := range []struct {
		carriers []string
		names    bool
	}{
		{[]string{"Oakline", "Castor", "Oakline"}, false},
		{[]string{"Oakline", "Castor", "Meridian"}, true},
	} {
		r := NewRun("r", measured)
		var look Effort
		for n, carrier := range c.carriers {
			tender := fmt.Sprintf("tnd_%d", 7023917+37*n)
			effortOf(t, r, "tender_load", fmt.Sprintf(`{"load":"LD-387672","carrier":"%s"}`, carrier), fmt.Sprintf(`{"tender_id":"%s","status":"pending"}`, tender))
			look = effortOf(t, r, "get_tender", fmt.Sprintf(`{"tender_id":"%s"}`, tender), fmt.Sprintf(`{"tender_id":"%s","carrier":"%s","status":"declined"}`, tender, carrier))
		}
		if got := look.Names != 0; got != c.names || (look.Alike == 1) == c.names {
			t.Errorf("of the carriers %v: the last tender is a new item: %v, want %v; the look at it is alike an earlier one to %.2f", c.carriers, got, c.names, look.Alike)
		}
	}
}

// An outcome that the run knows is new to an agent that makes the call for the first time.
func TestAnOutcomeThatIsNewToItsAgent(t *testing.T) {
	agents := func(names ...string) *Meter {
		r := NewRun("r", measured)
		for _, name := range names {
			r.Add(&Event{Type: ToolCallStarted, Agent: name, Tool: "read_diff", Input: json.RawMessage(`{"number":398}`)})
			r.Add(&Event{Type: ToolCallCompleted, Agent: name, Tool: "read_diff", Output: json.RawMessage(`"the ferry leaves from another pier, and the ticket office closes at noon"`)})
		}
		return r.Meter()
	}
	others, same := agents("naming", "types", "docs", "security", "speed"), agents("naming", "naming", "naming", "naming", "naming")
	if others.Wasted > 0.7 || others.Certain != 0 {
		t.Errorf("five agents read it once: %.2f wasted, %.2f certain", others.Wasted, others.Certain)
	}
	if same.Wasted < 2 || same.Certain < 2 {
		t.Errorf("one agent reads it five times: %.2f wasted, %.2f certain", same.Wasted, same.Certain)
	}
}

// A tool that acknowledges in one word changes known values, and what the agent looks at stays as it is.
func TestKnownValuesWithAShortAcknowledgement(t *testing.T) {
	for name, c := range map[string]struct {
		round func(n int) []Event
		least float64
		most  float64
	}{
		"three modes and three fans in turn, and the valve stays closed": {func(n int) []Event {
			return []Event{
				call("set_mode", fmt.Sprintf(`{"zone":"north","mode":"%s","fan":"%s"}`, [...]string{"eco", "boost", "away"}[n%3], [...]string{"low", "half", "full"}[(n+n/3)%3]), `"ok"`),
				call("read_zone", `{"zone":"north"}`, `"the valve of this zone is still closed"`),
			}
		}, 2.8, 4},
		"three senders with three marks in turn, and the preview stays empty": {func(n int) []Event {
			return []Event{
				call("save_rule", fmt.Sprintf(`{"sender":"%s","mark":"%s","active":true}`, [...]string{"bank", "shop", "post"}[n%3], [...]string{"due", "paid", "late"}[(n+n/3)%3]), `{"saved":true}`),
				call("preview_mail", `{"folder":"bills"}`, `"the preview of the folder shows mail without marks"`),
			}
		}, 2.8, 4},
		"lamps switched on, off and dimmed, and the picture stays dark": {func(n int) []Event {
			return []Event{
				call("switch_lamp", fmt.Sprintf(`{"lamp":"%s","to":"%s"}`, [...]string{"hall", "desk", "wall"}[n%3], [...]string{"on", "off", "dim"}[(n+n/3)%3]), `"done"`),
				call("look_at_room", `{"room":"hall"}`, `"a dark room with a door and two chairs"`),
			}
		}, 2.8, 4},
		"the mode of other zones, and each valve is closed": {func(n int) []Event {
			return []Event{
				call("set_mode", fmt.Sprintf(`{"zone":"%s","mode":"eco"}`, cities[n]), `"ok"`),
				call("read_zone", fmt.Sprintf(`{"zone":"%s"}`, cities[n]), `"the valve of this zone is still closed"`),
			}
		}, 0, 1.5},
		"other rules, and the preview stays empty": {func(n int) []Event {
			return []Event{
				call("save_rule", fmt.Sprintf(`{"text":"mark mail of %s as due"}`, cities[n]), `{"saved":true}`),
				call("preview_mail", `{"folder":"bills"}`, `"the preview of the folder shows mail without marks"`),
			}
		}, 0, 1.5},
		"other lamps switched on, and the picture stays dark": {func(n int) []Event {
			return []Event{
				call("switch_lamp", fmt.Sprintf(`{"lamp":"%s","to":"on"}`, cities[n]), `"done"`),
				call("look_at_room", `{"room":"hall"}`, `"a dark room with a door and two chairs"`),
			}
		}, 0, 1.5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wasted(5, c.round); got < c.least || got > c.most {
				t.Errorf("%.2f steps were wasted, want from %.1f to %.1f", got, c.least, c.most)
			}
		})
	}
}

func TestANewThoughtWastesNothingWhateverItsToolReturns(t *testing.T) {
	evidence := func(thought, result string) float64 {
		return wasted(8, func(n int) []Event {
			input := strings.ReplaceAll(thought, "#", string(rune('a'+n)))
			return []Event{{Tool: "think", Input: []byte(`{"thought":"` + input + `"}`), Output: []byte(result)}}
		})
	}
	const fresh, same = "I compare part# with row# and cell# before I change the file.", "I compare it again."
	for _, result := range []string{`""`, `"Your thought has been logged."`} {
		if w := evidence(fresh, result); w != 0 {
			t.Errorf("new thoughts with the result %s waste %v steps", result, w)
		}
	}
	if evidence(same, `"Your thought has been logged."`) == 0 {
		t.Error("the same thought wastes nothing")
	}
}
