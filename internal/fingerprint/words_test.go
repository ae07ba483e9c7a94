package fingerprint

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func wordsOf(text string) *Words {
	w := new(Words)
	w.Reset()
	w.Add([]byte(text))
	return w
}

func TestWordsClassifyAText(t *testing.T) {
	for text, want := range map[string]Ending{
		"The file main.go has been updated.":                     Done,
		"The file main.go has been edited.":                      Done,
		"Todos have been modified successfully. Please proceed.": Done,
		"(Bash completed with no output)":                        Nothing,
		"No matches found":                                       Nothing,
		"Nothing to commit, working tree clean":                  Nothing,
		"bash: hexdump: command not found":                       Refused,
		"Please always provide EXACTLY ONE action, found 3":      Refused,
		"Unable to verify if domain x is safe to fetch":          Refused,
		"Unknown column 'total' is an error in the field list":   Refused,
		"total 36 drwxr-xr-x 1 root":                             NoEnding,
		"package main func main":                                 NoEnding,
		strings.Repeat("word ", 40) + "error":                    NoEnding,
		"no errors, 3 warnings were not fixed":                   NoEnding,
		"Output: Error: (none) Exit Code: 0":                     NoEnding,
		"test result: 200 passed; 0 failed; 2 ignored":           Done,
		"Use -system-headers to display errors of all headers":   NoEnding,
		"Closed":                   Done,
		"The page has been closed": Refused,
		"<output>\\n</output>":     NoEnding,
		"429 Too Many Requests: rate limited, retry later":        NoEnding,
		"The edit failed: the two strings are identical, as said": Refused,
	} {
		if got := wordsOf(text).Ending; got != want {
			t.Errorf("the class of %q is %d, want %d", text, got, want)
		}
	}
}

func TestTheShapeOfATextOmitsNumbersAndIDs(t *testing.T) {
	a, b, c := wordsOf(`{"score":34,"id":"a8f3c2","hits":[]}`), wordsOf(`{"score":31.5,"id":"9bc01d","hits":[]}`), wordsOf(`{"score":34,"misses":[]}`)
	if a.Shape != b.Shape || a.Shape == c.Shape {
		t.Errorf("shapes %x, %x, %x", a.Shape, b.Shape, c.Shape)
	}
	if a.Count != 1 || a.Numbers[0] != 34 || b.Numbers[0] != 31.5 {
		t.Errorf("numbers %v and %v", a.Numbers[:a.Count], b.Numbers[:b.Count])
	}
}

func TestASerialNumberBehindItsPrefixIsAnID(t *testing.T) {
	for text, want := range map[string]WordKind{
		"tnd_8120967": Mixed,
		"LD-387672":   Mixed,
		"page_200":    Number,
		"9-8120967":   Number,
		"uid=3_12":    Mixed,
		"8120967":     Number,
	} {
		if got := wordsOf(text).List; got[len(got)-1].Kind != want {
			t.Errorf("the number in %s is of the kind %d, want %d", text, got[len(got)-1].Kind, want)
		}
	}
}

func TestASerialNumberOfAnAnswerIsAnID(t *testing.T) {
	for text, want := range map[string]WordKind{
		`{"status":"not found","seq":17`: Mixed,
		`heartbeat of worker a1 seq=17`:  Mixed,
		"request 7":                      Mixed,
		"request 7 of 200":               Number,
		"request 7/200":                  Number,
		"sending request 7 / 200":        Number,
		"handled request 7":              Number,
		`{"requests":7`:                  Number,
		"processed 7":                    Number,
		"[7] no such file":               Mixed,
		"#7: no such file":               Mixed,
		"[7]":                            Number,
		"[7, 8] are the rows":            Number,
		"[7%] built":                     Number,
		"7 files":                        Number,
		"files [7] are there, the rest":  Number,
	} {
		list := wordsOf(text).List
		k := slices.IndexFunc(list, func(w Word) bool { return w.Hash == wordsOf("7").List[0].Hash || w.Hash == wordsOf("17").List[0].Hash })
		if k < 0 || list[k].Kind != want {
			t.Errorf("%s: the words are %v, want a number of the kind %d", text, list, want)
		}
	}
}

func TestOnlyTheBeginningAndTheEndOfALongTextAreRead(t *testing.T) {
	w := wordsOf("first " + strings.Repeat("x y ", 1<<20) + " last")
	if n := len(w.List); n > readHead+readTail {
		t.Errorf("%d words were read", n)
	}
	if first, last := wordsOf("first").List[0], wordsOf("last").List[0]; w.List[0].Hash != first.Hash || w.List[len(w.List)-1].Hash != last.Hash {
		t.Error("the first or the last word is not read")
	}
}

func TestAnOutcomeOfOnlyAStatusIsUnclassified(t *testing.T) {
	if w := wordsOf(`<returncode>1</returncode>\n<output>\n</output> exit status 1`); w.Says != 0 {
		t.Errorf("%d words have a class", w.Says)
	}
}

func TestCompletionOfATextIsRead(t *testing.T) {
	type completion struct{ done, of float64 }
	for text, want := range map[string]completion{
		"processed 40 of 200 files":       {40, 200},
		"12.5 % of the pages are indexed": {12.5, 0},
		"3 out of 9 replicas are up":      {3, 9},
		"page 2 of 38.\n====":             {2, 38},
		"attempt 4 failed":                {},
		"version 1.2/stable":              {},
		"on 3/4/2024":                     {},
		"there are 20 files":              {},
	} {
		if done, of := Completion(text); (completion{done, of}) != want {
			t.Errorf("%.40q: %v of %v, want %v", text, done, of, want)
		}
	}
}

// The number of a stream that goes elsewhere is taken for a word, which harms nothing.
func TestCommandsOfACommandLine(t *testing.T) {
	for line, want := range map[string]string{
		`strings a.dat | grep -E "a|b" 2>/dev/null`: "strings a.dat;| grep -E a|b 2;",
		`make || ls |` + "\n" + `wc -l`:             "make;ls;| wc -l;",
		`cd /app && sudo rm -r b > out.txt`:         "cd /app;rm -r b;>",
		`cat <<'EOF' > x.py` + "\nrm -rf /\nEOF":    "cat;>",
		`: ls -la`:                                  ": ls -la;",
		`make 2>&1`:                                 "make 2;",
		`make &> log.txt`:                           "make;>",
	} {
		got := ""
		if Commands([]byte(line), func(words [][]byte, piped bool) {
			if piped {
				got += "| "
			}
			for k, w := range words {
				if k > 0 {
					got += " "
				}
				got += string(w)
			}
			got += ";"
		}) {
			got += ">"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A word of letters is the same, wherever in a text and however it is read.
func TestAWordIsTheSameAtEveryPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z]{1,20}|[a-z]{1,9}_[a-z]{1,9}|(exit|status|code|tmp|pid|go-build|tool_call_id|proc|é|x1)[a-z]{0,9}`).Draw(t, "word")
		end := rapid.SampledFrom([]string{" ", ".", "\"", "\n", "_", "-", "/"}).Draw(t, "end")
		alone, within := wordsOf(word+end), wordsOf(word+end+strings.Repeat(" ", 40))
		if !slices.Equal(alone.List, within.List) || alone.Says != within.Says || alone.Shape != within.Shape {
			t.Errorf("alone %+v, within a text %+v", alone, within)
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add([]byte(`{"a":"1.5 of 3","b":"<x>\\n0x12345678"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		w := wordsOf(string(text))
		if len(w.List) > len(text) || w.Count > len(w.Numbers) || w.Says > len(w.List) {
			t.Errorf("%d words, %d numbers, %d with a class", len(w.List), w.Count, w.Says)
		}
		Completion(string(text))
	})
}

func TestWordsMarkTheBeginningsOfLinesSentencesAndMembers(t *testing.T) {
	for text, want := range map[string]string{
		`"one two\nthree"`:             "101",
		`{"a":"b c","d":1}`:            "10010",
		`["a", "b"]`:                   "11",
		`"{\"a\":\"b\",\"c\":\"d\"}"`:  "1010",
		"No. It is closed, I think.":   "110000",
		"v1.2.3 of a.b":                "10000",
		"<output>first</output>second": "11",
	} {
		got := ""
		for _, word := range wordsOf(text).List {
			if word.First {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWordsRecogniseThatNothingWasDone(t *testing.T) {
	for text, want := range map[string]Ending{
		"0 replacements made in a.go":    Nothing,
		"The file was not modified.":     Nothing,
		"You can't go that way.":         Refused,
		"0\nRunning Sphinx, output done": Done,
		"updated 3 files":                Done,
	} {
		if got := wordsOf(text).Ending; got != want {
			t.Errorf("%s: the class is %d, want %d", text, got, want)
		}
	}
}

func TestAnEmptyValueInAnEnvelopeIsVoid(t *testing.T) {
	for text, want := range map[string]bool{
		`{"result":"[]"}`: true, `{"result": []}`: true, `{"data":{"items":null}}`: true, `[{"type":"text","text":"[]"}]`: true, `{"output":""}`: true,
		`{"result":"[1]"}`: false, `{"status":"[]"}`: false, `{"result":[],"total":3}`: false, `[{"type":"text","text":"Sent"}]`: false, `{"result":"ok"}`: false,
		`{"result":`: false, `"`: false, `{"data":{"items":[`: false,
	} {
		var w Words
		if w.Add([]byte(text)); w.Void != want {
			t.Errorf("%s: void = %t, want %t", text, w.Void, want)
		}
	}
}

func TestACountOfZeroIsRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		"id name\n(0 rows)":                   true,
		"Searched 12 files: 0 matches":        true,
		"(20 rows)":                           false,
		"No matches found":                    false,
		"(Bash completed with no output)":     false,
		"test result: 200 passed; 0 failed; ": false,
		`{"total":0,"start":0,"issues":[]}`:   true,
		`{"total":20,"start":0}`:              false,
		`{"failed_count":0,"passed_count":4}`: false,
	} {
		if got := wordsOf(text).Zero; got != want {
			t.Errorf("%q: Zero is %v", text, got)
		}
	}
}

func TestTailIsTheLastLineWithFigures(t *testing.T) {
	for text, want := range map[string]float64{
		"2 files read\nFound 78 errors":                                  78,
		"Found 78 errors\ndone":                                          78,
		"Found 78 errors\n[Command finished with exit code 1]":           78,
		"Found 78 errors\nExit Code: 1\nRan for 3 rounds of the checker": 3,
	} {
		tail := wordsOf(text).Tail
		if tail.Count != 1 || tail.Numbers[0] != want {
			t.Errorf("%q: the tail has %d numbers, the first %v, want 1 and %v", text, tail.Count, tail.Numbers[0], want)
		}
	}
}

func TestATimeThatPassesIsNoContent(t *testing.T) {
	for text, want := range map[string]struct {
		kind WordKind
		left float64
	}{
		"age 43:05:36":         {Volatile, 0},
		"age 112:00:09":        {Volatile, 0},
		"10:20:3":              {Number, 0},
		"a ratio of 43:75:36":  {Number, 0},
		`{"lag_seconds":159}`:  {Volatile, 159},
		`{"lag":159}`:          {Number, 0},
		`{"total_seconds":15}`: {Number, 0},
	} {
		got := wordsOf(text)
		if last := got.List[len(got.List)-1]; last.Kind != want.kind || got.Left != want.left {
			t.Errorf("the end of %s is of the kind %d with %g left, want %d with %g", text, last.Kind, got.Left, want.kind, want.left)
		}
	}
}
