package detect

import "testing"

func TestReworded(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b string
		want bool
	}{
		"other words for one thing":              {`{"query":"boiling point of ethanol"}`, `{"query":"at what temperature is the boiling point of ethanol"}`, true},
		"another order":                          {`{"query":"ethanol boiling point"}`, `{"query":"boiling point ethanol"}`, true},
		"a text that is no object":               {`boiling point ethanol`, `ethanol: boiling point?`, true},
		"nothing in common":                      {`{"query":"boiling point of ethanol"}`, `{"query":"who discovered radium"}`, false},
		"one word in common":                     {`{"query":"ethanol density"}`, `{"query":"boiling ethanol"}`, false},
		"another item in the same sentence":      {`{"query":"opening hours museum Berlin"}`, `{"query":"opening hours museum Hamburg"}`, false},
		"another number":                         {`{"query":"state of order 4711 now"}`, `{"query":"what is the state of order 4712 now"}`, false},
		"another item and an option":             {`{"sku":"KLM-001","timeout":5}`, `{"sku":"KLM-002","timeout":9}`, false},
		"another option":                         {`{"id":"ord-1","timeout":5}`, `{"id":"ord-1","timeout":9}`, true},
		"another option that is a text":          {`{"id":"ord-1","description":"look at it"}`, `{"description":"see whether it came","id":"ord-1"}`, true},
		"only the names of members are the same": {`{"first name":"Ann","last name":"Li"}`, `{"first name":"Bo","last name":"Wu"}`, false},
		"the difference may be cut off":          {`{"query":"select a from b where…`, `{"query":"select a from b where…`, false},
		"nothing":                                {``, ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reworded(tc.a, tc.b); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
