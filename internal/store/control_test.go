package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheActsInForce(t *testing.T) {
	for name, tc := range map[string]struct {
		acts []Control
		want []string
	}{
		"a halt ends a pause":                           {[]Control{{Act: "pause"}, {Act: "halt"}}, []string{"halt 2"}},
		"a resume ends a halt":                          {[]Control{{Act: "halt"}, {Act: "resume"}}, nil},
		"a message of a person ends the halt before it": {[]Control{{Act: "halt"}, {Act: "resume", Ends: 1}}, nil},
		"a message of a person leaves a later halt":     {[]Control{{Act: "halt"}, {Act: "halt"}, {Act: "resume", Ends: 1}}, []string{"halt 2"}},
		"a message of a person leaves an allowed tool":  {[]Control{{Act: Allow, Tool: "ls"}, {Act: "pause"}, {Act: "resume", Ends: 2}}, []string{"allow 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for k := range tc.acts {
				tc.acts[k].Number = int64(k + 1)
			}
			for _, c := range Standing(tc.acts) {
				got = append(got, fmt.Sprint(c.Act, " ", c.Number))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
