package proxy

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestTheEndOfAValueIsWhereTheDecoderFindsIt(t *testing.T) {
	for _, value := range []string{
		`""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"]}\",["`, `1`, `-1.5e3`, `true`, `null`, `{}`, `[]`, `{"a":[1,{"b":"}"}],"c":"\\"}`, `[[],[[]], "x" ]`, `"é\u005d"`,
	} {
		for _, behind := range []string{`]`, `,1]`, ` , "a"]`} {
			dec := jsontext.NewDecoder(bytes.NewReader([]byte(value)))
			if _, err := dec.ReadValue(); err != nil {
				t.Fatal(err)
			}
			if got := valueEnd([]byte("[ "+value+behind), 2) - 2; got != len(value) && string(bytes.TrimSpace([]byte(value + behind)[:got])) != value {
				t.Errorf("%s%s ends at %d, want %d", value, behind, got, len(value))
			}
		}
	}
	for _, cut := range []string{``, `"`, `"a\"`, `{"a":"b"`, `[1`, `1`, `{"a":"}`} {
		if got := valueEnd([]byte(cut), 0); got >= 0 {
			t.Errorf("%s ends at %d", cut, got)
		}
	}
}

func TestAHistoryThatIsNoValidListIsNotRead(t *testing.T) {
	for _, body := range []string{
		`{"messages":[,]}`, `{"messages":[1,]}`, `{"messages":[1}`, `{"messages":[1],"messages":[2]}`, `{"messages":[{]}`, `{"messages":[1]`,
	} {
		if r, err := parse([]byte(body), "messages"); err == nil {
			t.Errorf("%s has %d items", body, len(r.items))
		}
	}
}
