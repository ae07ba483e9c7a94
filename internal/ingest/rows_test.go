package ingest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	for _, tc := range []struct {
		name, input string
		want        []string // line and row
		wrong       string
	}{
		{"a field with line ends, and the line of the next row", "a,b\n1,\"x\ny\"\n2,z\n", []string{"2 [1 x\ny]", "4 [2 z]"}, ""},
		{"a byte order mark", "\ufeffa\n1\n", []string{"2 [1]"}, ""},
		{"a row that is too short", "a,b\n1,2\n3\n", []string{"2 [1 2]"}, "f.csv:3: not valid CSV: wrong number of fields"},
		{"no header", "", nil, "f.csv:1: the header is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := NewInput("f.csv", "f", strings.NewReader(tc.input))
			var got []string
			err := in.Rows(func(header, row []string) error {
				if header[0] != "a" {
					t.Errorf("header %q", header)
				}
				got = append(got, fmt.Sprint(in.Line(), " ", row))
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if (err == nil) != (tc.wrong == "") || err != nil && err.Error() != tc.wrong {
				t.Errorf("error %v, want %q", err, tc.wrong)
			}
		})
	}
}

func TestAValueOverTheLimitEndsTheInput(t *testing.T) {
	t.Run("a value", func(t *testing.T) {
		source := valueReader{r: strings.NewReader(strings.Repeat("x", 1000)), limit: 100}
		n, err := io.Copy(io.Discard, iotest.OneByteReader(&source))
		if !errors.Is(err, errLarge) || n > 200 {
			t.Errorf("read %d bytes, error %v", n, err)
		}
	})
	t.Run("many values", func(t *testing.T) {
		source := valueReader{r: strings.NewReader(strings.Repeat("x", 1000)), limit: 100}
		for {
			_, err := source.Read(make([]byte, 10))
			source.value = source.read
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("the error says what is allowed", func(t *testing.T) {
		if got := NewInput("f", "f", strings.NewReader("")).badElement(errLarge).Error(); got != "f: a value is larger than 256 MiB" {
			t.Error(got)
		}
	})
}

func TestMember(t *testing.T) {
	for name, tc := range map[string]struct{ head, want string }{
		"the value and what follows":    {`{"a":{"b":1},"data" : [{"c":2},`, `[{"c":2},`},
		"a value before it that is cut": {`{"a":{"b":`, ""},
		"a member that is deeper":       {`{"a":{"data":1}}`, ""},
		"a list":                        {`[{"data":1}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Member([]byte(tc.head), "data")); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
