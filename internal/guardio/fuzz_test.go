package guardio

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzServe: whatever comes in, each line is answered by one line of JSON, and by the same one where it does not come from a stream.
func FuzzServe(f *testing.F) {
	snapshot := string(read(f, answers(f, load(f, "default"), before, after, before, `{"op":"snapshot"}`)[3]).Snapshot)
	f.Add([]byte(before + "\n" + after + "\n" + before + "\n" + after + "\n" + before))
	f.Add([]byte(`{"op":"restore","snapshot":` + snapshot + "}\n" + after + "\n" + before + "\n" + `{"op":"state"}`))
	f.Add([]byte("\n{\n[]\n{\"op\":\"text\",\"role\":\"user\",\"text\":\"\xff\",\"id\":\"\xff\"}\n"))
	f.Add([]byte(`{"op":"after","tool":"t","error":"\ud800","result":{"a":[1e999]},"duration_ms":1e9,"annotations":{}}` + "\n" + `{"op":"progress","text":"t"}` + "\n" + `{"op":"allow"}`))
	p := load(f, "default")
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := Serve(t.Context(), p, Extras{}, bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		s, err := New(p, maxRuns, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := s.Answer(t.Context(), in, &again); err != nil || !bytes.Equal(again.Bytes(), out.Bytes()) {
			t.Fatalf("error %v, answers %q, from a stream %q", err, again.Bytes(), out.Bytes())
		}
		lines := bytes.Count(in, []byte("\n"))
		if len(in) > 0 && in[len(in)-1] != '\n' {
			lines++
		}
		got := bytes.Split(out.Bytes(), []byte("\n"))
		if len(got)-1 != lines || len(got[lines]) != 0 {
			t.Fatalf("%d answers to %d lines", len(got)-1, lines)
		}
		for _, line := range got[:lines] {
			if !json.Valid(line) || !utf8.Valid(line) {
				t.Errorf("not JSON: %q", line)
			}
		}
	})
}
