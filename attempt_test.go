package unloop

import (
	"encoding/json"
	"testing"
)

// efforts returns the efforts of calls of one tool.
func efforts(tool string, calls ...[2]string) (all []Effort) {
	r := NewRun("r", measured)
	for _, c := range calls {
		output, _ := json.Marshal(c[1])
		r.Add(&Event{Type: ToolCallStarted, Tool: tool, Input: json.RawMessage(c[0])})
		r.Add(&Event{Type: ToolCallCompleted, Tool: tool, Output: output})
		all = append(all, r.Current().Step.Effort)
	}
	return all
}

func TestALimitNamesNoItem(t *testing.T) {
	for name, c := range map[string]struct {
		tool    string
		calls   [2]string
		another bool
	}{
		"other rows at most":               {"list_incidents", [2]string{`{"status":"open","limit":13}`, `{"status":"open","limit":25}`}, false},
		"another time at most":             {"read_page", [2]string{`{"page":"build","timeout_ms":4000}`, `{"page":"build","timeout_ms":9000}`}, false},
		"another remark about one command": {"bash", [2]string{`{"command":"make","description":"Build it"}`, `{"command":"make","description":"Try 2"}`}, false},
		"another description of a ticket":  {"create_ticket", [2]string{`{"title":"a","description":"Build 1"}`, `{"title":"a","description":"Try 2"}`}, true},
		"another limit that is set":        {"update_account", [2]string{`{"account":"a","limit":13}`, `{"account":"a","limit":25}`}, true},
		"another timeout that is set":      {"update_server", [2]string{`{"name":"web","timeout":4}`, `{"name":"web","timeout":9}`}, true},
		"other rows from another place":    {"list_incidents", [2]string{`{"offset":0,"limit":13}`, `{"offset":13,"limit":13}`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := efforts(c.tool, [2]string{c.calls[0], "x"}, [2]string{c.calls[1], "x"})[1]
			if another := e.Alike < 1 || e.Names != 0 || e.Item != 0; another != c.another {
				t.Errorf("another = %t, want %t: %+v", another, c.another, e)
			}
		})
	}
}

// The sheet is known. An outcome that has a word of its name tells of no new item.
func TestTheKnownPartOfAnIdentifierIsNoItem(t *testing.T) {
	first := "date protocol amount state\nMonday domain sensor transfer open today\nTuesday domain buffer move cancelled early\nFriday garden index list waiting long"
	rows := first + "\nSunday river engine cargo closed late"
	all := efforts("read_range",
		[2]string{`{"sheet":"s1","range":"Domain!A1:E16"}`, rows},
		[2]string{`{"sheet":"s1","range":"Domain!A1:E12"}`, first},
	)
	if all[1].Item == 0 || !all[1].Known || all[1].About {
		t.Errorf("the rows are known, and the range is new: %+v", all[1])
	}
}

func TestANameInAngleBracketsIsAWordOfACall(t *testing.T) {
	edit := func(header string) [2]string {
		return [2]string{`{"path":"a.cc","old":"#include <` + header + `>","new":"// #include <` + header + `>"}`, "The file a.cc has been edited."}
	}
	second := efforts("edit_file", edit("vector"), edit("sstream"))[1]
	if second.Fresh == 0 || second.Alike == 1 || second.Word == 0 {
		t.Errorf("the second edit is of another header: %+v", second)
	}
}
