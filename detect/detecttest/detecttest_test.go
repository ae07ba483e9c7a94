package detecttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// often finds that a tool was called at least twice; spoil may then change the finding.
type often struct {
	spoil func(*unloop.Finding)
}

func (often) Info() unloop.Info { return unloop.Info{Name: "often", At: unloop.AtStart} }

func (d often) Check(r *unloop.Run) (unloop.Finding, bool) {
	tool := r.Current().Step.Tool
	n := r.Tool(tool).Calls
	if n < 2 {
		return unloop.Finding{}, false
	}
	now := r.Current().Ref
	f := unloop.Finding{
		Rule: "often", Subject: tool, Count: n, What: tool + " came often", First: now, Event: now, Evidence: []unloop.EventRef{now},
	}
	if d.spoil != nil {
		d.spoil(&f)
	}
	return f, true
}

// TestPlay plays a trace and tells the problems.
func TestPlay(t *testing.T) {
	same := func(n int) func(*unloop.Finding) { return func(f *unloop.Finding) { f.Count = n } }
	ref := func(id string, index int) unloop.EventRef { return unloop.EventRef{ID: id, Index: index} }
	const twice = "call a\ncall a // want often \"came\""
	for _, tc := range []struct {
		name, lines string
		spoil       func(*unloop.Finding)
		want        []string // beginnings
	}{
		{"all is as it should be", twice, nil, nil},
		{"nothing is wanted and nothing is found", "call a\ncall b", nil, nil},
		{"a wanted finding is missing", "call a // want often \"came\"", nil, []string{`x:2: want often "came", found nothing`}},
		{
			"the detector is not asked at such an event", "result a // want often \"came\"", nil,
			[]string{`x:2: want often "came", found nothing: by its Info().At`},
		},
		{"an unwanted finding is a problem", "call a\ncall a", nil, []string{`x:3: want nothing new, found often, subject "a", count 2: "a came often"`}},
		{"a finding with another text is a problem", "call a\ncall a // want often \"seldom\"", nil, []string{`x:3: want often "seldom", found often, subject "a"`}},
		{"another rule is wanted", "call a\ncall a // want seldom \"came\"", nil, []string{`x:3: want seldom "came", found often`}},
		{"a growing finding must be wanted", twice + "\ncall a", nil, []string{`x:4: want nothing new, found often, subject "a", count 3`}},
		{"a finding that does not grow need not be wanted", twice + "\ncall a\ncall a", same(2), nil},
		{"a finding that does not grow may be wanted", twice + "\ncall a // want often \"came\"", same(2), nil},
		{"another subject is new", twice + "\ncall b\ncall b", same(2), []string{`x:5: want nothing new, found often, subject "b"`}},
		{"in a repeat, the problem names the round", "repeat 3\ncall a\nend\n", same(2), []string{"x:3 (round 2): want nothing new"}},
		{
			"another rule than its own", twice, func(f *unloop.Finding) { f.Rule = "seldom" },
			[]string{`x:3: want often "came", found seldom`, `x:3: the finding is of rule "seldom", but Info().Name is "often"`},
		},
		{
			"no evidence", twice, func(f *unloop.Finding) { f.Evidence = nil },
			[]string{`x:3: often, subject "a", count 2: "a came often": 0 events as evidence`},
		},
		{
			"too much evidence", twice, func(f *unloop.Finding) { f.Evidence = make([]unloop.EventRef, 9) },
			[]string{`x:3: often, subject "a", count 2: "a came often": 9 events as evidence`},
		},
		{
			"evidence from nowhere", twice, func(f *unloop.Finding) { f.First, f.Evidence = ref("e1", 0), []unloop.EventRef{ref("e7", 1)} },
			[]string{`x:3: often, subject "a", count 2: "a came often": it names event "e7" (index 1), which is not in the trace so far`},
		},
		{
			"evidence from the future", twice + "\ncall b", func(f *unloop.Finding) { f.Evidence = []unloop.EventRef{ref("e3", 2)} },
			[]string{`x:3: often, subject "a", count 2: "a came often": it names event "e3" (index 2), which is not in the trace so far`},
		},
		{
			"evidence out of order", "call b\n" + twice,
			func(f *unloop.Finding) {
				f.First, f.Evidence = ref("e1", 0), []unloop.EventRef{ref("e2", 1), ref("e1", 0)}
			},
			[]string{`x:4: often, subject "a", count 2: "a came often": event e1 is named after e2`},
		},
		{
			"a first event behind the evidence", twice, func(f *unloop.Finding) { f.Evidence = []unloop.EventRef{ref("e1", 0)} },
			[]string{`x:3: often, subject "a", count 2: "a came often": event e1 is named after e2`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			trace, err := Parse("x", []byte("# x\n"+tc.lines))
			if err != nil {
				t.Fatal(err)
			}
			problems := play(trace, often{tc.spoil})
			if len(problems) != len(tc.want) {
				t.Fatalf("problems %v, want %q", problems, tc.want)
			}
			for k, want := range tc.want {
				if got := problems[k].Error(); !strings.HasPrefix(got, want) {
					t.Errorf("problem %q does not begin with %q", got, want)
				}
			}
		})
	}
}

func TestLoadRejectsAFolderWithoutAFindingOrANearMiss(t *testing.T) {
	const (
		fires = "# x\ncall a\ncall a // want often \"came\""
		quiet = "# x\ncall a"
	)
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  string // in the error; "" if there must be none
	}{
		{"a firing and a quiet trace", map[string]string{"a.trace": fires, "b.trace": quiet}, ""},
		{"no file", map[string]string{}, "no traces"},
		{"no folder", nil, "no such file"},
		{"no trace that fires", map[string]string{"a.trace": quiet, "b.trace": quiet}, "no trace expects a finding"},
		{"no trace that is quiet", map[string]string{"a.trace": fires}, "every trace expects a finding"},
		{"a trace that cannot be read", map[string]string{"a.trace": fires, "b.trace": "call a"}, "b.trace:1: a trace begins with a comment"},
		{"a file that nothing would play", map[string]string{"a.trace": fires, "b.trace": quiet, "c.trcae": quiet}, "c.trcae: the name must end in .trace"},
		{"a folder named like a trace", map[string]string{"a.trace": fires, "b.trace": quiet, "c.trace/d": ""}, "reading a trace"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "often")
			write(t, dir, tc.files)
			traces, err := load(dir)
			if tc.want == "" {
				if err != nil || len(traces) != len(tc.files) {
					t.Errorf("%d traces, error %v", len(traces), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// write makes a folder with files; none if files is nil.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if files == nil {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRun plays a folder as a user of the package would.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "often")
	write(t, dir, map[string]string{
		"a.trace": "# x\ncall a\ncall a // want often \"came\"",
		"b.trace": "# x\ncall a",
	})
	var played []string
	Run(t, dir, seen{often{}, &played})
	if diff := cmp.Diff([]string{"a", "a", "a"}, played); diff != "" {
		t.Error(diff)
	}
}

// seen notes the tools that a detector was asked about.
type seen struct {
	often
	tools *[]string
}

func (d seen) Check(r *unloop.Run) (unloop.Finding, bool) {
	*d.tools = append(*d.tools, r.Current().Step.Tool)
	return d.often.Check(r)
}
